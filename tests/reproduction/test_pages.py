"""Tests of the pages of results: they are reproducible, and the smallest study runs end to end."""

import json
import time

import pytest

from reproduction import __main__ as runner
from reproduction.page import markdown_table, releases_section, results_page
from reproduction.picture import Picture, draw_svg
from reproduction.program import Program, ProgramError
from reproduction.releases import RECORD, lines
from reproduction.spread import spread
from reproduction.studies import STUDIES, truth
from reproduction.study import Outcome, Scale, Sheet, Status, Study

SMALLEST = Scale(seeds=1, few_seeds=1, rows=1_000, grids=1, repetitions=2)


def test_a_published_value_is_in_the_range_of_the_seeds_or_outside():
    summary = spread([0.1, 0.2, 0.30004, 0.4], 0.3, digits=2)
    assert (summary.low, summary.median, summary.high) == (0.1, 0.25, 0.4)
    assert summary.inside
    assert not spread([0.1, 0.2], 0.3, digits=1).inside


def test_a_table_escapes_its_cells():
    assert markdown_table(["a", "b"], [["1|2", "3"]]) == "| a | b |\n| --- | --- |\n| 1\\|2 | 3 |\n"


def test_costs_beside_an_earlier_version_are_ratios_by_size():
    measured = [("bin", 10, 2.0), ("bin", 100, 1.03), ("tce", 100, 0.5), ("show", 10, 1.0)]
    names = ("command", "rows", "ratio")
    named = [dict(zip(names, line, strict=True)) for line in measured]
    record = {"version": "0.1.0", "why": {"show": "it shows more"}, "lines": named}
    text = releases_section(record)
    assert "## Beside 0.1.0\n" in text
    assert "at 10 and 100 rows" in text
    assert text.endswith("- Faster: tce -, 0.50.\n- Alike: show 1.00 (it shows more); bin 2.00, 1.03.")


def test_the_page_of_times_shows_what_is_kept_of_all_commands():
    record = json.loads(RECORD.read_text())
    assert {line["command"] for line in record["lines"]} == {name for name, _ in lines()}
    assert releases_section(record) in (RECORD.parent / "results/speed.md").read_text()


@pytest.fixture
def study():
    def run(program, scale, say):
        say("at work")
        (program.folder / "a.csv").write_text("score,label\n0.5,1\n")
        report = program.run("tce", "a.csv")
        sheet = Sheet(
            title="T",
            text=["words"],
            header=["rows"],
            rows=[[str(report["source"]["rows"])]],
            status=Status.EXACT,
            verdict="made",
            pictures=[Picture(name="a.svg", title="A", caption="Words.", svg="<svg/>")],
        )
        return Outcome(sheets=[sheet], times=[["what", "s"], ["it", "1"]], text_of_times="Seconds of it.")

    return Study(name="bins", heading="One study", run=run)


@pytest.mark.thorough
def test_pages_are_reproducible_and_use_kept_results(study, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "STUDIES", (study,))
    options = ["--quick", "--keep", str(tmp_path / "kept"), "--out", str(tmp_path / "pages")]
    runner.main(options)
    first = (tmp_path / "pages/reproduction.md").read_bytes()
    assert b"words" in first
    assert b"| one study | T | exact: made |" in first
    assert b"![A](images/a.svg)\n\n**A.** Words.\n" in first
    assert (tmp_path / "pages/images/a.svg").read_text() == "<svg/>"
    assert b"|  | Table 13 | not yet run: " in first  # a paper is named once for its tables
    assert (
        "Seconds of it.\n\n| what | s |\n| --- | --- |\n| it | 1 |"
        in (tmp_path / "pages/speed.md").read_text()
    )
    capsys.readouterr()
    runner.main(options)
    assert "bins: kept" in capsys.readouterr().out
    assert (tmp_path / "pages/reproduction.md").read_bytes() == first
    runner.main([*options, "--again"])
    assert "at work" in capsys.readouterr().out
    assert (tmp_path / "pages/reproduction.md").read_bytes() == first


def test_a_stopped_study_leaves_no_result(study, tmp_path, monkeypatch):
    def run(program, scale, say):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "STUDIES", (Study(name="bins", heading="", run=run),))
    with pytest.raises(KeyboardInterrupt):
        runner.main(["--quick", "--keep", str(tmp_path / "kept"), "--out", str(tmp_path)])
    assert not list((tmp_path / "kept/quick").iterdir())


@pytest.mark.thorough
def test_a_failing_study_is_reported_and_the_others_finish(study, tmp_path, monkeypatch, capsys):
    def run(program, scale, say):
        raise ProgramError("uqcli tce: exit 3")

    broken = Study(name="mixes", heading="Broken", run=run)
    monkeypatch.setattr(runner, "STUDIES", (broken, study))
    options = ["--quick", "--keep", str(tmp_path / "kept"), "--out", str(tmp_path)]
    (tmp_path / "kept/quick").mkdir(parents=True)
    (tmp_path / "kept/quick/mixes.json").write_text("of an earlier run")
    assert runner.main([*options, "--again"]) == 1
    assert "mixes FAILED: ProgramError: uqcli tce: exit 3" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "kept/quick").iterdir()] == ["bins.json"]
    assert "| one study | T | exact: made |" in (tmp_path / "reproduction.md").read_text()


def test_a_timed_study_runs_alone(tmp_path, monkeypatch):
    running, studies_at_once = [], []

    def study_of(name, *, runs_alone=False):
        def run(program, scale, say):
            running.append(name)
            time.sleep(0.05)
            studies_at_once.append((name, len(running)))
            running.remove(name)
            return Outcome(sheets=[])

        return Study(name=name, heading=name, run=run, runs_alone=runs_alone)

    monkeypatch.setattr(
        runner, "STUDIES", (study_of("recall", runs_alone=True), study_of("bins"), study_of("mixes"))
    )
    assert runner.main(["--quick", "--keep", str(tmp_path), "--out", str(tmp_path)]) == 0
    assert studies_at_once[-1] == ("recall", 1)
    assert {name for name, _ in studies_at_once} == {"recall", "bins", "mixes"}


def test_pictures_are_reproducible_byte_for_byte():
    def draw(panels):
        for axes in panels:
            axes.plot([0, 1], [0, 1], label="a line")

    first = draw_svg(2, draw, below=0.35)
    assert first.count("a line") == 1
    assert first == draw_svg(2, draw, below=0.35)


def test_a_failing_command_is_an_error(tmp_path):
    program = Program(folder=tmp_path)
    with pytest.raises(ProgramError, match="exit"):
        program.run("tce", "missing.csv")


@pytest.mark.thorough
def test_the_smallest_study_runs_end_to_end(tmp_path):
    outcome = truth.run(Program(folder=tmp_path), SMALLEST, lambda text: None)
    kept = json.loads(json.dumps(outcome.content()))
    assert Outcome.from_content(kept) == outcome
    page = results_page([(truth.STUDY, outcome)], [], "")
    assert "| 1,000 |" in page
    assert len(outcome.sheets[0].rows) == 1


def test_names_of_studies_are_unique():
    assert len({study.name for study in STUDIES}) == len(STUDIES)
