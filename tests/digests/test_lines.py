"""Tests that the recorded lines are complete, and that a difference of outputs is found."""

from tests.digests import lines, run


def test_every_option_of_every_command_occurs():
    words = [set(line.split()) | {line.split()[0]} for line in lines.option_lines()]
    for command, options in lines.options_by_command().items():
        for option in options:
            assert any({command, option} <= line for line in words), f"{command} {option}"


def test_changed_new_and_lost_outputs_are_listed():
    recorded = {("uqcli a", "exit"): "0", ("uqcli a", "out"): "12ab", ("uqcli b", "out"): "-"}
    actual = {("uqcli a", "exit"): "3", ("uqcli a", "out"): "12ab", ("uqcli c", "err"): "34cd"}
    assert list(run.differences(recorded, actual)) == [
        "changed\texit 0 -> 3\tuqcli a",
        "gone\tout\tuqcli b",
        "new\terr\tuqcli c",
    ]
    assert not list(run.differences(recorded, recorded))


def test_a_line_gives_its_exit_code_its_output_and_its_files(tmp_path, capfd):
    (tmp_path / "d.csv").write_text("score,uncertainty,label\n0.9,0,1\n0.1,0,0\n")
    line = "bin d.csv --score-bins 2 -o grid.json"
    with capfd.disabled():
        digests = [dict(run.run_line(line, tmp_path, run.Folders(tmp_path))) for _ in range(2)]
    outputs = {output: digest for (_, output), digest in digests[0].items()}
    assert outputs["exit"] == "0"
    assert outputs["err"] == "-"
    assert len(outputs["out"]) == len(outputs["grid.json"]) == 32
    assert not (tmp_path / "grid.json").exists()
    assert digests[0] == digests[1]
