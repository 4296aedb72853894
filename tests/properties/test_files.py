"""Property tests of rule files: equal bytes for equal rows in any format, decisions that match the fit."""

import json

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.strategies import data_sets
from uqcli.base.choices import Algorithm, GridBinning
from uqcli.cli.app import run

OPTIONS = st.tuples(
    st.sampled_from(Algorithm),
    st.sampled_from(GridBinning),
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from(["1", "4", "500", "all"]),
    st.sampled_from(["0.3", "0.5", "0.75", "1"]),
)


def rule_file_of(folder, options, *inputs):
    """Return the bytes of the rule file, or the exit code if there is none."""
    algorithm, binning, uncertainty_bins, score_bins, precision = options
    output = folder / "b.json"
    output.unlink(missing_ok=True)
    code = run(
        [
            "boundary",
            *map(str, inputs),
            "--algorithm",
            algorithm,
            "--binning",
            binning,
            "--weight",
            "w",
            "--uncertainty-bins",
            uncertainty_bins,
            "--score-bins",
            score_bins,
            "--precision",
            precision,
            "-q",
            "-o",
            str(output),
        ]
    )
    return output.read_bytes() if code == 0 else code


@settings(max_examples=40)
@given(data_sets(), OPTIONS, st.randoms(use_true_random=False), st.integers(0, 24))
def test_format_order_and_split_do_not_change_the_rule_and_apply_agrees(
    tmp_path_factory, data, options, random, cut
):
    folder = tmp_path_factory.mktemp("files")
    names = ["score", "uncertainty", "label", "w"]
    frame = pl.DataFrame(data, schema=names, orient="row")
    frame.write_parquet(folder / "d.parquet")
    frame.write_csv(folder / "d.csv")
    shuffled = pl.DataFrame(random.sample(data, len(data)), schema=names, orient="row")
    shuffled[: cut % len(data)].write_csv(folder / "a.csv.gz", compression="gzip")
    shuffled[cut % len(data) :].write_ipc(folder / "b.arrow")
    for day, part in (("1", shuffled[: cut % len(data)]), ("2", shuffled[cut % len(data) :])):
        (folder / "days" / f"day={day}").mkdir(parents=True)
        part.write_ndjson(folder / "days" / f"day={day}" / "rows.jsonl")
    expected = rule_file_of(folder, options, folder / "d.parquet")
    assert rule_file_of(folder, options, folder / "d.csv") == expected
    assert rule_file_of(folder, options, folder / "b.arrow", folder / "a.csv.gz") == expected
    assert rule_file_of(folder, options, folder / "days") == expected
    if expected in (2, 4):
        return
    fit = json.loads(expected)["fit"]
    applied = folder / "o.parquet"
    assert run(["apply", str(folder / "b.json"), str(folder / "d.csv"), "-q", "-o", str(applied)]) == 0
    rows = pl.read_parquet(applied).with_columns(pl.col("label") == "true", pl.col("w").cast(pl.Int64))
    chosen = rows.filter("decision")
    assert chosen["w"].sum() == fit["selected"]
    assert chosen.filter("label")["w"].sum() == fit["true_positives"]
