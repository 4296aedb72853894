"""Write the saved files of a release: ``python -m tests.saved.make VERSION``.

Run it once, with the version that is released, and never again for that version. It writes rules of every
kind, states of ``watch``, exported programs, and a file of all column types as ``apply`` writes it. The
results of this version are beside them, in ``expected.json``.
"""

import contextlib
import datetime as dt
import decimal
import shutil
import sys
import tempfile
from pathlib import Path

from uqcli.base.running.rounding import round_alike

round_alike()  # as commands do
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from tests.saved.test_saved_artifacts import HERE, write_expected_results  # noqa: E402
from uqcli.cli.app import run  # noqa: E402

SAMPLE = HERE.parents[1] / "sample_data"

BOUNDARY = "boundary fit.parquet "
BINARY = "calibrate fit.parquet --bootstrap 0 --method "
CLASSES = "calibrate classes.csv --proba p_* --bootstrap 0 --method "
SETS = "conformal classes.csv --proba p_* "
SHIFT = "shift classes.csv --target new_classes.csv --proba p_* --bootstrap 20 "
FEATURES = "heterogeneous --features age,hours_per_week,education --min-leaf 300 "
OTHER_COLUMNS = "--precision 0.7 --score ensemble_score --uncertainty ensemble_uncertainty"

RULES = {
    "shift_binary": "shift fit.parquet --target rows.csv --bootstrap 20",
    "shift_known": "shift fit.parquet --estimator known --prior 0.8,0.2 --bootstrap 0",
    "shift_bbse_classes": SHIFT,
    "shift_soft_classes": SHIFT + "--confusion soft",
    "shift_em_classes": SHIFT + "--estimator em",
    "grid_shared": "bin fit.parquet --binning shared --uncertainty-bins 4 --score-bins 12",
    "grid_equi_weight": "bin fit.parquet --score-bins 10",
    "grid_equi_span": "bin fit.parquet --binning equi-span --score-bins 10",
    "grid_quantile": "bin fit.parquet --binning quantile",
    "grid_pava": "bin fit.parquet --binning pava",
    "grid_pava_bc": "bin fit.parquet --binning pava-bc",
    "grid_equispaced": "bin fit.parquet --binning equispaced",
    "boundary_default": BOUNDARY + "--precision 0.7",
    "boundary_margin": BOUNDARY + "--precision 0.7 --margin 1 --uncertainty-bins 2",
    "boundary_vw_dpmt": BOUNDARY + "--precision 0.7 --algorithm vw-dpmt --score-bins all",
    "boundary_ew_dpmt": BOUNDARY + "--precision 0.7 --algorithm ew-dpmt",
    "boundary_mist": BOUNDARY + "--precision 0.7 --algorithm mist",
    "boundary_gmt": BOUNDARY + "--precision 0.7 --algorithm gmt",
    "boundary_hr": BOUNDARY + "--precision 0.7 --algorithm hr",
    "boundary_st": BOUNDARY + "--precision 0.7 --algorithm st",
    "boundary_recall": BOUNDARY + "--recall 0.6",
    "boundary_pair": BOUNDARY + "--precision 0.5 --recall 0.6",
    "boundary_rows": BOUNDARY + "--max-selected 300",
    "boundary_share": BOUNDARY + "--max-selected 5%",
    "boundary_fpr": BOUNDARY + "--max-fpr 0.05",
    "boundary_value": BOUNDARY + "--gain 3 --cost 1",
    "boundary_amounts": BOUNDARY + "--gain age --cost hours_per_week",
    "boundary_weight": BOUNDARY + "--precision 0.7 --weight weight",
    "boundary_positive": BOUNDARY + "--precision 0.9 --label sex --positive Male",
    "boundary_cluster": BOUNDARY + "--precision 0.7 --cluster customer",
    "boundary_shift": BOUNDARY + "--precision 0.7 --shift shift_known.json --algorithm vw-dpmt",
    "boundary_grid": "boundary --grid grid_shared.json --precision 0.6",
    "boundary_groups": BOUNDARY + "--precision 0.7 --by sex",
    "boundary_each_group": BOUNDARY + "--precision 0.7 --by sex --bound each",
    "boundary_accepted_classes": "boundary classes.csv --proba p_* --precision 0.97 --min-group 20",
    "boundary_review": BOUNDARY + "--precision 0.7 --review 10%",
    "boundary_miss": BOUNDARY + "--precision 0.7 --miss 0.1",
    "boundary_certified": BOUNDARY + "--precision 0.6 --certify 0.1",
    "boundary_certified_recall": BOUNDARY + "--recall 0.5 --certify 0.1",
    "boundary_certified_fpr": BOUNDARY + "--max-fpr 0.1 --certify 0.1",
    "boundary_certified_pair": BOUNDARY + "--precision 0.4 --recall 0.3 --certify 0.2",
    "boundary_certified_groups": BOUNDARY + "--precision 0.5 --certify 0.2 --by sex --bound each",
    "boundary_certified_review": BOUNDARY + "--precision 0.5 --certify 0.2 --review 10%",
    "boundary_other_column": BOUNDARY + OTHER_COLUMNS,
    "boundary_scores": "boundary scores.parquet --precision 0.6",
    "boundary_reversed": BOUNDARY + "--precision 0.6 --uncertainty=-uncertainty",
    "boundary_specificity": BOUNDARY + "--min-specificity 0.95",
    "boundary_several": BOUNDARY + "--precision 0.6 --max-fpr 0.05 --max-selected 10% --recall 0.3",
    "boundary_day": BOUNDARY + "--precision 0.7 --day day",
    "boundary_certified_st": BOUNDARY + "--precision 0.6 --certify 0.1 --algorithm st",
    "boundary_certified_pilot": BOUNDARY + "--precision 0.6 --certify 0.1 --pilot older.parquet",
    "boundary_certified_several": BOUNDARY + "--precision 0.5 --max-fpr 0.1 --certify 0.2",
    "boundary_certified_omission": BOUNDARY + "--max-omission 0.2 --certify 0.1",
    "boundary_certified_zones": BOUNDARY + "--precision 0.5 --max-omission 0.15 --certify 0.2",
    "boundary_first_rows": BOUNDARY + "--top 5 --per day",
    "calibrator_surface": BINARY + "surface",
    "calibrator_auto": BINARY + "auto",
    "calibrator_platt": BINARY + "platt",
    "calibrator_logit": BINARY + "platt --logit --score log_odds",
    "calibrator_temperature": BINARY + "temperature",
    "calibrator_beta": BINARY + "beta",
    "calibrator_isotonic": BINARY + "isotonic",
    "calibrator_histogram": BINARY + "histogram",
    "calibrator_mist": BINARY + "mist",
    "calibrator_spline": BINARY + "spline",
    "calibrator_venn_abers": BINARY + "venn-abers --score rounded",
    "calibrator_prior": "calibrate fit.parquet --undersampled 3 --bootstrap 0",
    "calibrator_undersampled": BINARY + "platt --undersampled 3",
    "calibrator_shift": BINARY + "platt --shift shift_known.json",
    "calibrator_cluster": BINARY + "beta --cluster customer",
    "calibrator_tree": BINARY + FEATURES,
    "calibrator_forest": BINARY + FEATURES + "--partitioner forest --max-depth 2 --leaf-method beta",
    "calibrator_boosted": BINARY + FEATURES + "--partitioner boosted --max-depth 1",
    "calibrator_partition": BINARY + "heterogeneous --partition sex --leaf-method isotonic",
    "calibrator_classes_auto": CLASSES + "auto",
    "calibrator_classes_temperature": CLASSES + "temperature",
    "calibrator_classes_vector": CLASSES + "vector",
    "calibrator_classes_matrix": CLASSES + "matrix",
    "calibrator_classes_isotonic": CLASSES + "isotonic",
    "calibrator_classes_venn_abers": CLASSES + "venn-abers",
    "calibrator_classes_histogram": CLASSES + "histogram",
    "conformal_aps": SETS,
    "conformal_aps_plain": SETS + "--no-randomize",
    "conformal_lac": SETS + "--method lac",
    "conformal_conditional": SETS + "--mode label-conditional --alpha-by-class 3=0.2",
    "conformal_shift": SETS + "--mode label-shift --shift shift_bbse_classes.json",
    "conformal_cluster": SETS + "--cluster half",
    "conformal_groups": "conformal fit.parquet --method lac --by sex",
    "conformal_binary": "conformal fit.parquet --alpha 0.2",
}  # fmt: skip
"""Command lines by the name of the rule, without ``-o``; they run in this order, in one folder."""

STATES = {
    "state_batches": "watch boundary_default.json rows.csv",
    "state_days": "watch boundary_default.json rows.csv --day day --matured 1",
    "state_customers": "watch boundary_default.json rows.csv --cluster customer",
    "state_alarm": "watch boundary_default.json rows.csv --day id --bound 0.99",
    "state_promises": "watch boundary_certified_pair.json rows.csv",
    "state_several": "watch boundary_certified_several.json rows.csv",
    "state_omission": "watch boundary_certified_omission.json rows.csv",
    "state_groups": "watch boundary_certified_groups.json rows.csv",
    "state_sets": "watch conformal_conditional.json new_classes.csv",
    "state_first_rows": "watch boundary_first_rows.json rows.csv --day day --bound 0.1",
}

EXPORTED = (
    *("boundary_default", "boundary_groups", "boundary_review", "boundary_accepted_classes", "grid_shared"),
    *("calibrator_spline", "calibrator_venn_abers", "calibrator_isotonic", "calibrator_tree"),
    "conformal_lac",
)
EXPORTS = {"python": "py.txt", "sql": "sql"}


def main(version):
    """Make the folder of a version."""
    folder = HERE / version
    folder.mkdir()
    shutil.rmtree(HERE / f"{version}.dev0", ignore_errors=True)  # rules of this version before its release
    with tempfile.TemporaryDirectory() as temporary, contextlib.chdir(temporary):
        make_rows()
        for name, line in (RULES | STATES).items():
            option = "--state" if name in STATES else "-o"
            code = run([*line.split(), option, f"{name}.json", "-q", "--no-config"])
            assert code == (6 if name == "state_alarm" else 0), line
        for name in EXPORTED:
            for target, ending in EXPORTS.items():
                assert run(["export", f"{name}.json", "--to", target, "-q", "-o", f"{name}.{ending}"]) == 0
        line = "apply boundary_default.json types.parquet -q -o types_applied.parquet"
        assert run(line.split()) == 0
        for name in ("rows.csv", "new_classes.csv", "types.parquet", "types_applied.parquet"):
            shutil.copy(name, folder)
        for name in ("*_*.json", *(f"*.{ending}" for ending in EXPORTS.values())):
            for path in Path().glob(name):
                shutil.copy(path, folder)
    write_expected_results(folder)


def make_rows():
    """Write the rows that rules are fitted on, and those that they are applied to."""
    census = pl.read_parquet(SAMPLE / "census_calibration.parquet")
    with_more_columns(census.head(4000)).write_parquet("fit.parquet")
    census.head(4000).drop("uncertainty").write_parquet("scores.parquet")
    census.slice(4000, 1500).write_parquet("older.parquet")
    new = pl.read_parquet(SAMPLE / "census_test.parquet").head(120)
    with_more_columns(new).write_csv("rows.csv")
    for source, rows, name in (("holdout", 300, "classes.csv"), ("new", 60, "new_classes.csv")):
        digits = pl.read_csv(SAMPLE / f"digits_proba_{source}.csv", schema_overrides={"id": pl.String})
        half = pl.format("h{}", pl.int_range(pl.len()) // 2)
        digits.head(rows).with_columns(half=half).write_csv(name)
    pq.write_table(all_types(), "types.parquet")


def with_more_columns(frame):
    """Add what some rules need: log-odds, weights, customers, days."""
    position = pl.int_range(pl.len())
    return frame.with_columns(
        id=pl.format("{}", position).str.zfill(5),
        rounded=pl.col("score").round(2),
        log_odds=(pl.col("score") / (1 - pl.col("score"))).log().round(6),
        weight=position % 3,
        customer=pl.format("c{}", position // 4),
        day=pl.lit(dt.date(2026, 1, 1)) + pl.duration(days=position // 40),
    )


def all_types():
    """Make a table with a column of each type, pandas' metadata, and a required column."""
    rows = 7
    score = np.linspace(0.05, 0.99, rows)
    frame = pd.DataFrame(
        {
            "score": score,
            "uncertainty": -2 * score[::-1],
            "name": pd.Series(["a", None, "ß", "", "quote\"d", "new\nline", "x"], dtype="string"),
            "number": pd.Series([1, None, 3, 4, 5, 6, 7], dtype="Int64"),
            "kind": pd.Categorical(list("abcabca")),
            "when": pd.date_range("2026-01-01", periods=rows, tz="Europe/Berlin"),
        },
        index=pd.Index(range(100, 100 + rows), name="key"),
    )  # fmt: skip
    table = pa.Table.from_pandas(frame)

    def some(values, kind):
        return pa.array([*values[:3], None, *values[4:]], kind)

    naturals = list(range(rows))
    days = [dt.date(2026, 1, 1 + day) for day in naturals]
    moments = [dt.datetime(2026, 1, 1 + day, 12, 30, 15) for day in naturals]
    spans = [dt.timedelta(days=day, seconds=5) for day in naturals]
    texts = [f"t{day}" for day in naturals]
    more = {
        **{f"{kind}": some(naturals, kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
        **{f"{kind}": some(naturals, kind) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
        **{f"{kind}": some([day / 3 for day in naturals], kind) for kind in (pa.float32(), pa.float64())},
        "half": pa.array(np.arange(rows, dtype=np.float16)),
        "bool": some([day % 2 == 0 for day in naturals], pa.bool_()),
        "nothing": pa.nulls(rows),
        "large_string": some(texts, pa.large_string()),
        "string_view": some(texts, pa.string_view()),
        "binary": some([text.encode() for text in texts], pa.binary()),
        "fixed": some([text.encode() for text in texts], pa.binary(2)),
        "date32": some(days, pa.date32()),
        "date64": some(days, pa.date64()),
        **{f"timestamp_{unit}": some(moments, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
        "zone": some(moments, pa.timestamp("us", "America/New_York")),
        **{f"duration_{unit}": some(spans, pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
        **{f"{kind}": some([moment.time() for moment in moments], kind) for kind in
           (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))},
        "decimal": some([decimal.Decimal(day) / 8 for day in naturals], pa.decimal128(12, 3)),
        "large_decimal": some([decimal.Decimal(10) ** 40 + day for day in naturals], pa.decimal256(50, 2)),
        "list": some([[day, None] for day in naturals], pa.list_(pa.int32())),
        "large_list": some([[text] for text in texts], pa.large_list(pa.string())),
        "fixed_list": some([[day, day] for day in naturals], pa.list_(pa.int16(), 2)),
        "struct": some([{"a": day, "b": text} for day, text in zip(naturals, texts, strict=True)],
                       pa.struct({"a": pa.int64(), "b": pa.string()})),
        "map": some([[(text, 1)] for text in texts], pa.map_(pa.string(), pa.int32())),
        "dictionary": pa.array(texts).dictionary_encode(),
    }  # fmt: skip
    for name, column in more.items():
        table = table.append_column(name, column)
    required = pa.field("required", pa.int64(), nullable=False, metadata={"unit": "rows"})
    table = table.append_column(required, pa.array(naturals))
    return table.replace_schema_metadata({**table.schema.metadata, b"made_by": b"a test"})


if __name__ == "__main__":
    main(*sys.argv[1:])
