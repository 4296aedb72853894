"""Every pair of options that drop, select, group or weight rows, of every command.

Each pair is run on a file with holes in every column that it reads. It is refused in one sentence, or has the
numbers of the file without these rows, of the same rows in another order, split, in Parquet and as 32-bit
numbers, and of repeated rows in place of weights.
"""

import itertools

import polars as pl
import pytest

from tests.crossings.lines import LINES, RULES, WEIGHT, Option
from tests.crossings.rows import repeated, rows, shuffled, with_holes
from uqcli.cli.app import run

NONE = Option("")


def pairs():
    """Yield each line with each pair of its different options, each option alone, and none."""
    for name, line in LINES.items():
        for first, second in (
            (NONE, NONE),
            *((NONE, option) for option in line.options),
            *itertools.combinations(line.options, 2),
        ):
            if first.words[:1] == second.words[:1] != ():
                continue
            label = " ".join(filter(None, (name, first.text, second.text)))
            yield pytest.param((line, first, second), id=label.replace(" ", "_"))


PAIRS = list(pairs())


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """Return a folder with the rules that lines read."""
    folder = tmp_path_factory.mktemp("rules")
    rows(seed=2).write_csv(folder / "fit.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, line in RULES.items():
            assert run([*line.split(), "-q", "--no-config", "-o", f"{name}.json"]) == 0, line
    return folder


@pytest.fixture
def folder(rules, tmp_path, monkeypatch):
    """Work in a folder with the rules."""
    for path in rules.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(uqcli, line, options, files, *more):
    """Run a line on files; return its exit code, and its JSON, or None if it is refused."""
    words = [file for word in line.text.split() for file in (files if word == "{}" else [word])]
    words += [word for option in options for word in option.words]
    outcome = uqcli(*words, *more, "--on-invalid", "drop", "--json", "--no-config")
    assert outcome.code in {0, 2, 3, 4, 6}, f"{' '.join(words)}: {outcome.err}"
    if outcome.code in {2, 3}:
        *cautions, error = outcome.err.splitlines()
        assert error.startswith("error: "), outcome.err
        assert all(sentence.startswith("caution: ") for sentence in cautions)
        return outcome.code, None
    return outcome.code, outcome.json


TEXTS = {"odd", "form", "cautions", "notes", "doubts", "notices", "verdicts", "sentences"}
NUMBERS_READ = {"dropped", "rows", "read"}
BY_PLACE = {"first_rows"}
"""What depends on the place of rows: of equal scores at the cut the first are taken, as by ``apply``."""


def alike(answer):
    """Return exit code and JSON without sentences and numbers of rows read."""
    code, content = answer
    if content is None:
        return answer
    content = without_share({key: value for key, value in content.items() if key not in TEXTS | BY_PLACE})
    if isinstance(source := content.get("source"), dict):
        content["source"] = {key: value for key, value in source.items() if key not in NUMBERS_READ}
    return code, content


def without_share(content):
    """Return the JSON without the share of rows left out, which each of several results has."""
    if isinstance(content, list):
        return [without_share(part) for part in content]
    if not isinstance(content, dict):
        return content
    return {key: without_share(value) for key, value in content.items() if key != "dropped_share"}


def holes_of(pair):
    """Return the rows with holes in all columns that a line may read."""
    line, *options = pair
    columns = {*line.drops, *(column for option in options for column in (*option.drops, *option.keeps))}
    return with_holes(rows(), sorted(columns))


def usable(holes, answer, pair):
    """Return the rows that a line does not drop: those with a value in all columns that it says it reads."""
    line, *options = pair
    drops = {column for option in options for column in option.drops}
    if answer[1] is None or "columns" not in answer[1].get("source", {}) or line.text.startswith("watch"):
        drops |= {*line.drops}
    else:
        columns = answer[1]["source"]["columns"].items()
        drops |= {column for role, column in columns if not role.startswith(("features.", "audit."))}
    return holes.drop_nulls(sorted(drops & {*holes.columns}))


def close(one, other, path=""):
    """Fail unless two JSON values are equal but for the last digits of 32-bit numbers."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for key in one:
            close(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), path
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            close(left, right, f"{path}[{index}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=2e-3, abs=2e-5), path
    else:
        assert one == other, path


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.covering("thorough", every=60)
def test_a_pair_is_refused_or_has_the_numbers_of_its_rows(uqcli, folder, pair):
    line, *options = pair
    holes = holes_of(pair)
    holes.write_csv("rows.csv")
    found = said(uqcli, line, options, ["rows.csv"])
    if line.draws_by_row:
        return
    usable(holes, found, pair).write_csv("rows.csv")
    assert alike(found) == alike(said(uqcli, line, options, ["rows.csv"]))
    if not any(option.draws_by_value for option in options):
        close(alike(found), alike(said(uqcli, line, options, parts_of(shuffled(holes), line))))
    if WEIGHT in options:
        weights_are_repeated_rows(uqcli, line, options)


def parts_of(frame, line):
    """Write the rows to two Parquet files, or to one if the line takes no more; return their names."""
    files = (
        ["one.parquet"] if "--on" in line.text or "--target" in line.text else ["one.parquet", "two.parquet"]
    )
    size = len(frame) // len(files)
    for index, file in enumerate(files):
        frame[index * size : (index + 1) * size].write_parquet(file)
    return files


def weights_are_repeated_rows(uqcli, line, options):
    """Check that a row of weight 2 is the row twice."""
    whole = rows()
    whole.write_csv("rows.csv")
    code, weighted = alike(said(uqcli, line, options, ["rows.csv"]))
    repeated(whole, "w").write_csv("rows.csv")
    others = [option for option in options if option is not WEIGHT]
    other_code, plain = alike(said(uqcli, line, others, ["rows.csv"], "--no-weight"))
    if weighted is not None:
        weighted["source"]["columns"].pop("weight", None)
        for content in (weighted, plain):
            content["source"].pop("positives")  # rows of the file
            content.pop("could_be_uncertainty", None)  # columns, of which one is the weight
        assert (code, weighted) == (other_code, plain)


@pytest.mark.thorough
@pytest.mark.parametrize("pair", PAIRS)
def test_order_format_and_split_change_nothing(uqcli, folder, pair):
    line, *options = pair
    if line.draws_by_row:
        pytest.skip("rows are drawn by their place")
    holes_of(pair).write_csv("rows.csv")
    found = said(uqcli, line, options, ["rows.csv"])
    moved = shuffled(pl.read_csv("rows.csv"))  # 64-bit numbers, as the text says
    assert alike(found) == alike(said(uqcli, line, options, parts_of(moved, line)))
