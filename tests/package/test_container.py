"""The Dockerfile and the GitHub action do what they say, without a daemon or a runner (``make package``)."""

import os
import re
import subprocess
import sys
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
def installed(tmp_path_factory):
    """The folder of programs after the first RUN of the Dockerfile, in an environment of its own."""
    folder = tmp_path_factory.mktemp("image")
    folder.chmod(0o755)
    folder.parent.chmod(0o755)
    folder.parent.parent.chmod(0o755)
    uv = Path(sys.executable).parent / "uv"
    python = ["--seed", "--python", "/usr/bin/python3"]  # one that other users may run
    subprocess.run([uv, "venv", "--quiet", *python, folder / "venv"], check=True)
    ignored = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    (folder / "src").mkdir()
    for name in ignored:
        subprocess.run(["cp", "-r", ROOT / name, folder / "src" / name], check=True)
    (step, _) = re.findall(r"^RUN (.*)$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    path = f"{folder / 'venv' / 'bin'}:/usr/bin:/bin"
    done = shell(step.replace("/src", str(folder / "src")), env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr
    assert not (folder / "src").exists()
    return folder / "venv" / "bin"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_the_entry_point_runs_as_a_user_who_may_write_nothing_else(installed, tmp_path):
    (entry,) = re.findall(r'^ENTRYPOINT \["(.*)"\]$', (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    work = tmp_path / "work"
    work.mkdir()
    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o755)
    os.chown(work, NOBODY, NOBODY)
    (work / "rows.parquet").write_bytes(SAMPLE.read_bytes())
    done = shell(
        f"{installed / entry} boundary rows.parquet --precision 0.7 -o rule.json --report page.html",
        cwd=work,
        env={"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "PATH": "/usr/bin:/bin"},
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
    )
    assert done.returncode == 0, done.stderr
    assert (work / "rule.json").stat().st_uid == NOBODY
    assert "<svg" in (work / "page.html").read_text()


def steps():
    """The steps of the action that run a script, by name."""
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    return {step["name"]: step for step in action["runs"]["steps"] if "run" in step}, action


def run_action(installed, folder, **inputs):
    """Run the action's last step as a runner does: inputs become variables of the environment."""
    named, action = steps()
    step = named["Run uqcli"]
    given = {
        **{name: properties.get("default", "") for name, properties in action["inputs"].items()},
        **inputs,
    }
    variables = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], value)
        for name, value in step["env"].items()
    }
    summary = folder / "summary.md"
    path = f"{installed}:/usr/bin:/bin"
    done = shell(
        step["run"], cwd=folder, env={**variables, "GITHUB_STEP_SUMMARY": str(summary), "PATH": path}
    )
    return done, summary.read_text() if summary.exists() else ""


def test_the_action_shows_the_report_and_passes(installed, tmp_path):
    line = f"boundary '{SAMPLE}' --precision 0.7 -o rule.json"
    done, summary = run_action(
        installed, tmp_path, command=line, **{"fail-if": "recall < 0.2\n\nrows < 100\n"}
    )
    assert done.returncode == 0, done.stderr
    assert summary.startswith("# Boundary (smooth) for target precision")
    assert (tmp_path / "rule.json").exists()


def test_the_action_fails_by_a_check_and_still_shows_why(installed, tmp_path):
    line = f"boundary '{SAMPLE}' --precision 0.7 -o rule.json"
    done, summary = run_action(installed, tmp_path, command=line, **{"fail-if": "recall < 0.99"})
    assert done.returncode == 6
    assert "check failed" in summary
    assert not (tmp_path / "rule.json").exists()


def test_a_check_is_no_shell_code(installed, tmp_path):
    line = f"boundary '{SAMPLE}' --precision 0.7"
    done, _ = run_action(
        installed, tmp_path, command=line, **{"fail-if": "recall < 0.2; $(touch broken) `touch broken`"}
    )
    assert done.returncode == 2
    assert not (tmp_path / "broken").exists()


def test_the_action_follows_the_schema_of_github():
    done = subprocess.run(
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
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action_installs_from_its_own_folder():
    named, _ = steps()
    assert '"$SOURCE[$EXTRAS]"' in named["Install uqcli"]["run"]
