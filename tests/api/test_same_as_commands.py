"""Tests that the Python API returns the rule file, report or rows of the command, byte for byte."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import uqcli
from tests.api.conftest import without_rows_read
from uqcli.base.choices import OF_UNCERTAINTY, Algorithm, ArtifactKind, Binning
from uqcli.calibrate.fit import SCORE_FITS
from uqcli.cli.app import run
from uqcli.cli.config import COMMANDS
from uqcli.reports.formats.json import to_json

ABCD = list("abcd")


@dataclass(frozen=True)
class SharedRows:
    """The rows that the API and the command work on."""

    rows: dict
    classes: dict
    probability: np.ndarray

    @property
    def labelled(self):
        return self.rows["score"], self.rows["label"]

    @property
    def class_options(self):
        return {"classes": ABCD}


SAVED, REPORTED, ADDED = "an artifact", "a report", "columns"


def boundary_case(*options, **arguments):
    return (
        f"boundary {' '.join(options)}",
        "rows.parquet --score-bins 30",
        SAVED,
        lambda g: uqcli.find_boundary(
            *g.labelled, uncertainty=g.rows["uncertainty"], score_bins=30, **arguments
        ),
    )


def bin_case(binning):
    cuts_uncertainty = binning.cuts_uncertainty
    return (
        f"bin --binning {binning}",
        f"rows.parquet --score-bins 7 --uncertainty-bins {2 if cuts_uncertainty else 1}",
        SAVED,
        lambda g: uqcli.bin_counts(
            *g.labelled,
            uncertainty=g.rows["uncertainty"] if cuts_uncertainty else None,
            binning=binning,
            score_bins=7,
            uncertainty_bins=2 if cuts_uncertainty else 1,
        ),
    )


def calibration_case(method, options="", **arguments):
    def fitted(g):
        columns = {name: {column: g.rows[column] for column in names} for name, names in arguments.items()}
        return uqcli.Calibrator.fit(
            *g.labelled,
            method=method,
            uncertainty=g.rows["uncertainty"],
            undersampled=3.0 if method == "prior" else 1.0,
            min_leaf=80,
            **columns,
        )

    all_options = f"{options} --min-leaf 80" if options else "--undersampled 3" if method == "prior" else ""
    return f"calibrate --method {method}", f"rows.parquet --bootstrap 0 {all_options}", SAVED, fitted


def class_case(function, command, options="", **arguments):
    return (
        f"{command} {options}",
        "classes.parquet --proba p_*",
        SAVED,
        lambda g: function(g.probability, g.classes["label"], classes=ABCD, **arguments),
    )


def conformal_case(options="", **arguments):
    return class_case(uqcli.conformal_sets, "conformal", options, **arguments)


def shift_case(options="", **arguments):
    return (
        f"shift {options}",
        "classes.parquet --proba p_* --target target.parquet",
        SAVED,
        lambda g: uqcli.shift_weights(
            g.probability, g.classes["label"], g.probability[-300:], classes=ABCD, **arguments
        ),
    )


def tce_case(options="", **arguments):
    names = ("group", "weight")

    def measured(g):
        columns = {name: g.rows[name] for name in names if arguments.get(name)}
        other_options = {name: value for name, value in arguments.items() if name not in names}
        return uqcli.calibration_error(*g.labelled, **columns, **other_options)

    return f"tce {options}", "rows.parquet", REPORTED, measured


def from_rule_file(call):
    return lambda g: call(uqcli.load("model.json"), g)


CASES = [
    boundary_case("--precision 0.6", precision=0.6),
    boundary_case("--recall 0.5", recall="0.5"),
    boundary_case("--max-selected 5%", max_selected="5%"),
    boundary_case("--max-selected 40", max_selected=40),
    boundary_case("--max-fpr 0.1", max_fpr=0.1),
    boundary_case("--min-specificity 0.9", min_specificity=0.9),
    boundary_case("--precision 0.6 --max-fpr 0.1 --recall 0.1", precision=0.6, max_fpr=0.1, recall=0.1),
    boundary_case("--max-selected 5% --min-specificity 0.9", max_selected="5%", min_specificity="0.9"),
    boundary_case("--gain 3 --cost 1", gain=3, cost=1),
    boundary_case("--precision 0.4 --certify 0.2 --seed 3", precision=0.4, certify="0.2", seed=3),
    boundary_case("--recall 0.4 --certify 0.2", recall=0.4, certify="0.2"),
    boundary_case("--max-fpr 0.6 --recall 0.2 --certify 0.4", max_fpr="0.6", recall="0.2", certify="0.4"),
    boundary_case("--precision 0.4 --miss 0.5 --certify 0.4", precision=0.4, miss=0.5, certify="0.4"),
    boundary_case("--precision 0.6 --compare --seed 3", precision=0.6, compare=True, seed=3),
    *(boundary_case(f"--precision 0.6 --algorithm {name}", precision="0.6", algorithm=name)
      for name in Algorithm),
    *map(bin_case, Binning),
    *(calibration_case(method) for method in (*SCORE_FITS, "auto", *OF_UNCERTAINTY)),
    calibration_case("heterogeneous", "--features age,city", features=("age", "city")),
    calibration_case("all"),
    calibration_case("all", "--features age,city", features=("age", "city")),
    calibration_case("heterogeneous", "--partition city,group", partition=("city", "group")),
    conformal_case(),
    conformal_case("--method lac --alpha 0.2", method="lac", alpha=0.2),
    conformal_case("--mode label-conditional --alpha-by-class a=0.3", mode="label-conditional",
              alpha_by_class={"a": "0.3"}),
    shift_case(),
    shift_case("--estimator em --bootstrap 5 --seed 2", estimator="em", bootstrap=5, seed=2),
    shift_case("--confusion soft --bootstrap 0", confusion="soft", bootstrap=0),
    tce_case(),
    tce_case("--bins quantile --n-bins 5 --test t", binning="quantile", n_bins=5, test="t"),
    tce_case("--by group --bootstrap 5 --seed 1", group=True, bootstrap=5, seed=1),
    tce_case("--weight weight", weight=True),
    ("tce", "classes.parquet --proba p_*", REPORTED,
     lambda g: uqcli.calibration_error(g.probability, g.classes["label"], classes=ABCD)),
    ("uncertainty", "rows.parquet --alpha1 alpha1 --alpha0 alpha0 --overwrite", ADDED,
     lambda g: uncertainty_columns(uqcli.uncertainty_of(alpha1=g.rows["alpha1"], alpha0=g.rows["alpha0"]))),
]  # fmt: skip

RULE_CASES = {
    "boundary": (
        "boundary rows.parquet --precision 0.6",
        "rows.parquet",
        lambda m, g: {"decision": m.decide(g.rows["score"], g.rows["uncertainty"])},
        lambda m, g: m.evaluate(*g.labelled, uncertainty=g.rows["uncertainty"]),
    ),
    "boundary with weights": (
        "boundary rows.parquet --precision 0.6 --weight weight --algorithm hr",
        "rows.parquet",
        lambda m, g: {"decision": m.decide(g.rows["score"], g.rows["uncertainty"])},
        lambda m, g: m.evaluate(*g.labelled, uncertainty=g.rows["uncertainty"], weight=g.rows["weight"]),
    ),
    "grid": (
        "bin rows.parquet --score-bins 5",
        "rows.parquet",
        lambda m, g: dict(
            zip(
                ("uncertainty_bin", "score_bin"),
                m.bins_of(g.rows["score"], g.rows["uncertainty"]),
                strict=True,
            )
        ),
        None,
    ),
    "calibrator": (
        "calibrate rows.parquet --method mist --bootstrap 0",
        "rows.parquet",
        lambda m, g: {"calibrated": m.predict(g.rows["score"], uncertainty=g.rows["uncertainty"])},
        lambda m, g: m.evaluate(*g.labelled, uncertainty=g.rows["uncertainty"]),
    ),
    "heterogeneous calibrator": (
        "calibrate rows.parquet --method heterogeneous --features age,city --min-leaf 80 --bootstrap 0",
        "rows.parquet",
        lambda m, g: {"calibrated": m.predict(g.rows["score"], features=features(g))},
        lambda m, g: m.evaluate(*g.labelled, features=features(g)),
    ),
    "conformal": (
        "conformal classes.parquet --proba p_* --by group",
        "classes.parquet",
        lambda m, g: {"set": labels(m.sets(g.probability, group=g.classes["group"]))},
        lambda m, g: m.evaluate(g.probability, g.classes["label"], group=g.classes["group"]),
    ),
    "conformal of one score": (
        "conformal rows.parquet --no-randomize",
        "rows.parquet",
        lambda m, g: {"set": labels(m.sets(g.rows["score"]), "01")},
        lambda m, g: m.evaluate(*g.labelled),
    ),
}


def group_cases(kind, evaluated):
    """Make the case of a rule that is evaluated by groups."""
    fit, inputs, applied, _ = RULE_CASES[kind]
    return fit, f"{inputs} --by by", applied, evaluated


RULE_CASES |= {
    "boundary by groups": group_cases(
        "boundary", lambda m, g: m.evaluate(*g.labelled, uncertainty=g.rows["uncertainty"], by=g.rows["by"])
    ),
    "boundary with weights by groups": group_cases(
        "boundary with weights",
        lambda m, g: m.evaluate(
            *g.labelled, uncertainty=g.rows["uncertainty"], weight=g.rows["weight"], by=g.rows["by"]
        ),
    ),
    "calibrator by groups": group_cases(
        "calibrator", lambda m, g: m.evaluate(*g.labelled, uncertainty=g.rows["uncertainty"], by=g.rows["by"])
    ),
    "heterogeneous calibrator by groups": group_cases(
        "heterogeneous calibrator",
        lambda m, g: m.evaluate(*g.labelled, features=features(g), by=g.rows["by"]),
    ),
    "conformal by groups": group_cases(
        "conformal",
        lambda m, g: m.evaluate(
            g.probability, g.classes["label"], group=g.classes["group"], by=g.classes["by"]
        ),
    ),
    "conformal of one score by groups": group_cases(
        "conformal of one score", lambda m, g: m.evaluate(*g.labelled, by=g.rows["by"])
    ),
}


def features(given):
    return {name: given.rows[name] for name in ("age", "city")}


def labels(members, names="abcd"):
    return [
        [name for name, is_member in zip(names, row, strict=True) if is_member] for row in members.tolist()
    ]


def uncertainty_columns(uncertainties):
    return {
        "score": uncertainties.score,
        "uncertainty": uncertainties.beta_entropy,
        "uncertainty_std": uncertainties.std,
        "uncertainty_entropy": uncertainties.entropy,
        "uncertainty_mutual_information": uncertainties.mutual_information,
    }


@pytest.fixture
def given(rows, classes, probability, folder, tmp_path):
    """Return the rows, and link their files in the working directory."""
    for name in ("rows", "classes", "target"):
        (tmp_path / f"{name}.parquet").symlink_to(folder / f"{name}.parquet")
    return SharedRows(rows, classes, probability)


def command(line, capfd):
    """Run a command line, and return its output."""
    capfd.readouterr()
    code = run(line.split())
    out, err = capfd.readouterr()
    assert code == 0, err
    return without_rows_read(out) if "--json" in line else out


def of_report(printed):
    """Return the JSON of a command without what is said of its run."""
    return {key: value for key, value in printed.items() if key not in ("cautions", "notices", "gates")}


@pytest.mark.covering("thorough", every=20)
@pytest.mark.parametrize(
    ("name", "arguments", "result_kind", "library"), CASES, ids=[case[0] for case in CASES]
)
def test_the_api_and_the_command_give_equal_results(
    given, capfd, tmp_path, name, arguments, result_kind, library
):
    line = f"{name} {arguments}"
    if result_kind == SAVED:
        command(f"{line} -q -o cli.json", capfd)
        rule = library(given)
        rule.save("library.json")
        assert (tmp_path / "library.json").read_bytes() == (tmp_path / "cli.json").read_bytes()
        assert uqcli.load("cli.json").artifact == rule.artifact
    elif result_kind == REPORTED:
        assert to_json(library(given).report) == command(f"{line} --json", capfd)
    else:
        command(f"{line} -q -o out.parquet", capfd)
        assert_same_columns(library(given), pl.read_parquet("out.parquet"))


def assert_same_columns(columns, written):
    for name, values in columns.items():
        expected = written[name].to_list()
        assert (values.tolist() if isinstance(values, np.ndarray) else values) == expected, name


@pytest.mark.covering("thorough", every=4, also=["conformal of one score by groups", "grid"])
@pytest.mark.parametrize("kind", RULE_CASES)
def test_rules_do_what_apply_evaluate_and_show_do(given, capfd, kind):
    fit, inputs, applied, evaluated = RULE_CASES[kind]
    command(f"{fit} -q -o model.json", capfd)
    rule = uqcli.load("model.json")
    command(f"apply model.json {inputs.split()[0]} -q -o out.parquet", capfd)
    assert_same_columns(applied(rule, given), pl.read_parquet("out.parquet"))
    if evaluated is not None:
        expected = json.loads(command(f"evaluate model.json {inputs} --json", capfd))
        evaluation = evaluated(rule, given)
        report = evaluation.report.payload()
        for result in (*expected["results"], *report["results"]):
            result.pop("artifact")
        expected["notes"] = [note.partition(": ")[2] for note in expected["notes"]]
        report["notes"] = [note.partition(": ")[2] for note in report["notes"]]
        assert json.loads(json.dumps(report)) == of_report(expected)
        groups = [(group.name, group.rows, group.p_value) for group in evaluation.groups]
        assert groups == [(group["name"], group["rows"], group["p"]) for group in expected.get("groups", [])]
    command("show model.json -q --report shown.md", capfd)
    shown, _ = Path("shown.md").read_text("utf-8").split("\n## Made from\n")  # the API has no input files
    assert rule.describe() == shown


WATCH_CASES = {
    "boundary": lambda m, g: m.watch(*g.labelled, uncertainty=g.rows["uncertainty"], delta="0.05"),
    "conformal": lambda m, g: m.watch(
        g.probability, g.classes["label"], group=g.classes["group"], delta="0.05"
    ),
}


@pytest.mark.parametrize("kind", WATCH_CASES)
def test_rules_are_watched_as_by_the_command(given, capfd, kind):
    fit, inputs, _, _ = RULE_CASES[kind]
    command(f"{fit} -q -o model.json", capfd)
    expected = json.loads(command(f"watch model.json {inputs} --delta 0.05 --json", capfd))
    report = WATCH_CASES[kind](uqcli.load("model.json"), given).report.payload()
    assert json.loads(json.dumps(report)) == of_report(expected)


def test_a_watch_keeps_its_state_in_a_file(given, capfd):
    command("boundary rows.parquet --precision 0.6 -q -o model.json", capfd)
    rule, day = uqcli.load("model.json"), ["2026-01-01"] * len(given.rows["score"])
    for expected in (1, 0):
        watched = rule.watch(
            *given.labelled, uncertainty=given.rows["uncertainty"], day=day, state="state.json"
        )
        assert watched.metrics["added"] == expected
        assert watched.alarms == ()
    assert (
        json.loads(command("watch model.json --state state.json --acknowledge --json", capfd))["metrics"][
            "batches"
        ]
        == 1
    )


def test_schemas_are_those_of_the_command(capfd):
    for kind in ArtifactKind:
        assert uqcli.schema_text(kind) == command(f"show --schema {kind}", capfd)


def test_rates_of_rows_with_sampling_weights_are_those_of_the_command(given, capfd):
    command("boundary rows.parquet --precision 0.6 -q -o model.json", capfd)
    line = "evaluate model.json rows.parquet --sampling-weight score --json"
    expected = json.loads(command(line, capfd))["metrics"]
    evaluation = uqcli.load("model.json").evaluate(
        *given.labelled, uncertainty=given.rows["uncertainty"], sampling_weight=given.rows["score"]
    )
    assert json.loads(json.dumps(evaluation.report.payload()))["metrics"] == expected


def test_calibration_errors_by_sampling_weight_are_those_of_the_command(given, capfd):
    line = "tce rows.parquet --sampling-weight score --json"
    expected = json.loads(command(line, capfd))
    found = uqcli.calibration_error(*given.labelled, sampling_weight=given.rows["score"])
    payload = json.loads(json.dumps(found.report.payload()))
    assert {**payload, "source": expected["source"]} == of_report(expected)
    with pytest.raises(uqcli.base.errors.UsageError, match="rows that count alike"):
        _ = found.rejected


@pytest.mark.covering("thorough", every=2)
@pytest.mark.parametrize("goal", ["precision", "recall"])
def test_rows_to_label_are_those_of_the_command(given, capfd, goal):
    command("boundary rows.parquet --precision 0.6 -q -o model.json", capfd)
    command("calibrate rows.parquet --bootstrap 0 -q -o map.json", capfd)
    calibrated = "--calibrator map.json" if goal == "recall" else ""
    options = f"--for {goal} --budget 40 --seed 5 {calibrated}"
    command(f"sample model.json rows.parquet {options} -q -o out.parquet", capfd)
    weight = uqcli.load("model.json").sample(
        given.rows["score"],
        given.rows["uncertainty"],
        goal=goal,
        budget=40,
        calibrator=uqcli.load("map.json") if calibrated else None,
        seed=5,
    )
    written = pl.read_parquet("out.parquet")
    assert weight[weight > 0].tolist() == written["sampling_weight"].to_list()
    assert np.asarray(given.rows["score"])[weight > 0].tolist() == written["score"].to_list()


def test_every_command_is_compared():
    compared = {case[0].split()[0] for case in CASES} | {
        "apply",
        "backtest",
        "evaluate",
        "export",
        "overview",
        "sample",
        "watch",
        "show",
    }
    assert compared == set(COMMANDS)
