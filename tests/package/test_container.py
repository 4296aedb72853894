"""Tests of the Dockerfile and the GitHub action, without a daemon or a runner (``make package``)."""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_data" / "census_calibration.parquet"
NOBODY = 65534


def shell(script, **options):
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture(scope="module")
def folder():
    """Make a folder that other users may enter: pytest closes its own whenever another run of it starts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(scope="module")
def installed(folder):
    """Install as the first RUN of the Dockerfile does, with no variable but those of the package index."""
    uv = Path(sys.executable).parent / "uv"
    python = ["--seed", "--python", "/usr/bin/python3"]  # one that other users may run
    subprocess.run([uv, "venv", "--quiet", *python, folder / "venv"], check=True)
    copied = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    (folder / "src").mkdir()
    for name in copied:
        subprocess.run(["cp", "-r", ROOT / name, folder / "src" / name], check=True)
    (step, _) = re.findall(r"^RUN (.*)$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    path = f"{folder / 'venv' / 'bin'}:/usr/bin:/bin"
    index = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "UV_", "SSL_"))}
    home = {"HOME": str(folder), "PATH": path}
    process = shell(step.replace("/src", str(folder / "src")), env={**index, **home})
    assert process.returncode == 0, process.stderr
    assert not (folder / "src").exists()
    return folder / "venv" / "bin"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_the_entry_point_runs_as_a_user_who_may_write_nothing_else(installed, folder):
    (entry,) = re.findall(r'^ENTRYPOINT \["(.*)"\]$', (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    work = folder / "work"
    work.mkdir()
    os.chown(work, NOBODY, NOBODY)
    (work / "rows.parquet").write_bytes(SAMPLE.read_bytes())
    process = shell(
        f"{installed / entry} boundary rows.parquet --precision 0.7 -o rule.json --report page.html",
        cwd=work,
        env={"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "PATH": "/usr/bin:/bin"},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
    )
    assert process.returncode == 0, process.stderr
    assert (work / "rule.json").stat().st_uid == NOBODY
    assert "<svg" in (work / "page.html").read_text()


def test_the_image_exports_what_the_docs_export(installed, folder):
    for target, name in (("sql", "rule.sql"), ("python", "rule.py"), ("onnx", "rule.onnx")):
        process = shell(
            f"cd {folder} && export PATH={installed}:$PATH && "
            f"uqcli boundary {SAMPLE} --precision 0.7 --algorithm st -q -o r.json && "
            f"uqcli export r.json --to {target} -o {name} --check {SAMPLE}",
            env={"HOME": "/nonexistent", "PATH": "/usr/bin:/bin"},
        )
        assert process.returncode == 0, process.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a user")
def test_the_user_has_a_number(folder):
    text = (ROOT / "Dockerfile").read_text()
    (_, step) = re.findall(r"^RUN (.*)$", text, flags=re.MULTILINE)
    (user,) = re.findall(r"^USER (\d+)$", text, flags=re.MULTILINE)
    (folder / "root" / "etc").mkdir(parents=True)
    process = shell(
        step.replace("useradd", f"useradd --prefix {folder / 'root'}"),
        env={"PATH": "/usr/sbin:/usr/bin:/bin"},
    )
    assert process.returncode == 0, process.stderr
    assert re.match(f"uqcli:[^:]*:{user}:", (folder / "root" / "etc" / "passwd").read_text())


@pytest.mark.parametrize("command", ["show --schema boundary", "schema boundary"])
def test_commands_without_reports_run_in_the_action(command, installed, tmp_path):
    process, summary = run_action(installed, tmp_path, command=command)
    assert (process.returncode, summary) == (0, ""), process.stderr
    assert '"$schema"' in process.stdout
    (tmp_path / "uqcli-report.md").write_text("of another step")
    assert run_action(installed, tmp_path, command=command)[1] == ""


def steps():
    """Return the steps of the action that run a script, by name, and the action."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    return {step["name"]: step for step in action["runs"]["steps"] if "run" in step}, action


def run_action(installed, folder, **inputs):
    """Run the action's last step as a runner does: inputs become variables of the environment."""
    steps_by_name, action = steps()
    step = steps_by_name["Run uqcli"]
    values = {
        **{name: properties.get("default", "") for name, properties in action["inputs"].items()},
        **inputs,
    }
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: values[match[1]], value)
        for name, value in step["env"].items()
    }
    summary = folder / "summary.md"
    path = f"{installed}:/usr/bin:/bin"
    process = shell(
        step["run"], cwd=folder, env={**variables, "GITHUB_STEP_SUMMARY": str(summary), "PATH": path}
    )
    return process, summary.read_text() if summary.exists() else ""


def test_the_action_shows_the_report_and_passes(installed, tmp_path):
    line = f"boundary '{SAMPLE}' --precision 0.7 -o rule.json"
    process, summary = run_action(
        installed, tmp_path, command=line, **{"fail-if": "recall < 0.2\n\nrows < 100\n"}
    )
    assert process.returncode == 0, process.stderr
    assert summary.startswith("# Flags 2,723 of 14,653 rows")
    assert (tmp_path / "rule.json").exists()


def test_a_failed_check_fails_the_action_and_its_report_says_why(installed, tmp_path):
    line = f"boundary '{SAMPLE}' --precision 0.7 -o rule.json"
    process, summary = run_action(installed, tmp_path, command=line, **{"fail-if": "recall < 0.99"})
    assert process.returncode == 6
    assert summary.startswith("# Check failed: recall < 0.99 (recall is 0.54")
    assert not (tmp_path / "rule.json").exists()


def test_a_check_is_no_shell_code(installed, tmp_path):
    line = f"boundary '{SAMPLE}' --precision 0.7"
    process, _ = run_action(
        installed, tmp_path, command=line, **{"fail-if": "recall < 0.2; $(touch broken) `touch broken`"}
    )
    assert process.returncode == 2
    assert not (tmp_path / "broken").exists()


def test_a_command_is_no_shell_code(installed, tmp_path):
    line = f"tce '{SAMPLE}' --score 'a b' `touch broken` $(touch broken) > broken; touch broken"
    process, _ = run_action(installed, tmp_path, command=line)
    assert process.returncode == 3
    assert not (tmp_path / "broken").exists()
    unbalanced, _ = run_action(installed, tmp_path, command="tce 'rows.csv")
    assert unbalanced.returncode != 0


def test_the_runner_obeys_no_line_of_the_output(installed, tmp_path):
    process, _ = run_action(installed, tmp_path, command=f"boundary '{SAMPLE}' --precision 0.7")
    first, *lines, last = process.stdout.splitlines()
    assert re.fullmatch("::stop-commands::[0-9a-f]{32}", first)
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert not [line for line in lines if line.startswith("::")]


def test_the_action_follows_the_schema_of_github():
    process = subprocess.run(
        [
            Path(sys.executable).parent / "check-jsonschema",
            "--builtin-schema",
            "vendor.github-actions",
            ROOT / "action.yml",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_the_action_installs_from_its_own_folder():
    steps_by_name, _ = steps()
    assert '"$SOURCE[$EXTRAS]"' in steps_by_name["Install uqcli"]["run"]


def test_the_workflow_follows_the_schema_of_github():
    workflow = ROOT / ".github" / "workflows" / "test.yml"
    program = Path(sys.executable).parent / "check-jsonschema"
    process = subprocess.run(
        [program, "--builtin-schema", "vendor.github-workflows", workflow],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_the_workflow_runs_on_every_system_and_every_python_that_is_promised():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "windows", "macos"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = {text.split(" :: ")[-1] for text in project["classifiers"] if ":: Python :: 3." in text}
    assert promised <= set(matrix["python"])
