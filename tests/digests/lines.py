"""Command lines whose outputs are recorded: all cases, examples, rules, and each option of each command.

They run in a folder with the files of ``tests.saved.make``, those that ``make_files`` adds, and the rule
files that ``FITTING`` writes there. A line is words; the program's name is left out.
"""

import shlex
from itertools import product
from pathlib import Path

import polars as pl
import typer

from tests.cli.cases import CASES
from tests.saved import make
from uqcli.cli.app import program
from uqcli.cli.config import COMMANDS
from uqcli.cli.help import EXAMPLES

FITTING = {
    **{name: f"{line} -o {name}.json" for name, line in make.RULES.items()},
    **{name: f"{line} --state {name}.json" for name, line in make.STATES.items()},
    "boundary": "boundary holdout.csv --precision 0.9 -o boundary.json",
    "old": "boundary holdout.csv --precision 0.9 --algorithm st -o old.json",
}
"""Lines that write the rule files and states which other lines read, in this order."""

SAVED = Path(make.HERE)

HISTORY = "backtest fit.parquet --day day --every 20d"
BASES = {
    "overview": "overview fit.parquet",
    "bin": "bin fit.parquet --score-bins 20",
    "boundary": "boundary fit.parquet --precision 0.7",
    "calibrate": "calibrate fit.parquet --method platt --bootstrap 0",
    "tce": "tce fit.parquet",
    "shift": "shift fit.parquet --target rows.csv --bootstrap 0",
    "conformal": "conformal fit.parquet --method lac",
    "apply": "apply boundary_default.json rows.csv",
    "evaluate": "evaluate boundary_default.json rows.csv",
    "backtest": f"{HISTORY} --precision 0.7",
    "sample": "sample boundary_default.json rows.csv --for recall --budget 20",
    "watch": "watch boundary_default.json rows.csv",
    "uncertainty": "uncertainty members.csv --members m_*",
    "show": "show boundary_default.json",
    "export": "export boundary_default.json --to python",
}
"""One usual line of each command."""

BOUNDARY = "boundary fit.parquet"
TREE = "calibrate fit.parquet --bootstrap 0 --method heterogeneous"
SETS = "conformal classes.csv --proba p_*"
MIST = "calibrate fit.parquet --method mist --bootstrap 0"
BY_CLASS = (
    *("boundary classes.csv --precision 0.97 --min-group 20", "tce classes.csv", "conformal classes.csv"),
    *("calibrate classes.csv --bootstrap 0", "shift classes.csv --target new_classes.csv --bootstrap 0"),
    *("apply conformal_aps.json new_classes.csv", "evaluate conformal_lac.json new_classes.csv"),
    "sample boundary_accepted_classes.json new_classes.csv --for precision --budget 5",
    "watch conformal_conditional.json new_classes.csv",
)
"""Lines that need class probabilities."""

DIGITS = range(10)
SEMICOLONS = tuple(
    line.replace("fit.parquet", "semi.csv").replace("rows.csv", "semi.csv") for line in BASES.values()
)
NOT_LABELLED = "watch boundary_default.json unlabelled.csv --calibrator calibrator_beta.json"
ROW_FILES = tuple(f"{BASES[name]} -o out.csv" for name in ("apply", "sample", "uncertainty"))
GATES = {
    "tce": "tce > 99",
    "calibrate": "after.ece > 0.9",
    "shift": "weights.1 > 99",
    "watch": "rate < 2",
    "export": "bytes < 1",
}

VALUES = {
    "--acknowledge": ["--acknowledge --state state_alarm.json"],
    "--algorithm": [f"--algorithm {name}" for name in
                    ("all", "smooth", "vw-dpmt", "ew-dpmt", "mist", "gmt", "hr", "st")],
    "--alpha": ["--alpha 0.2"],
    "--alpha-by-class": [f"{SETS} --mode label-conditional --alpha-by-class 3=0.2"],
    "--alpha0": ["uncertainty members.csv --alpha1 a --alpha0 b"],
    "--alpha1": ["uncertainty members.csv --alpha1 a --alpha0 b -o u.parquet"],
    "--audit": ["--audit sex,age"],
    "--bin-sizes": ["--bin-sizes paper"],
    "--binning": [f"--binning {name}" for name in ("equi-weight", "equi-span", "quantile", "pava", "shared")],
    "--bootstrap": ["--bootstrap 20", "evaluate calibrator_beta.json rows.csv --bootstrap 20"],
    "--bound": ["--bound each --by sex", "--bound 0.5"],
    "--budget": ["sample boundary_default.json rows.csv --for precision --budget 10"],
    "--by": ["--by sex"],
    "--calibrator": ["--calibrator calibrator_beta.json", NOT_LABELLED],
    "--categorical": [f"{TREE} --features age,education --categorical age"],
    "--certify": [f"{BOUNDARY} --precision 0.5 --certify 0.1", f"{BOUNDARY} --precision 0.9 --certify 0.01",
                  f"{HISTORY} --precision 0.5 --certify 0.1"],
    "--check": [f"--to {target} --check rows.csv" for target in ("python", "sql", "onnx")],
    "--classes": [f"{line} --proba {','.join(f'p_{digit}' for digit in DIGITS)} "
                  f"--classes {','.join(map(str, DIGITS))}" for line in BY_CLASS],
    "--cluster": ["--cluster customer"],
    "--compare": ["--compare"],
    "--confidence": ["--confidence 0.9"],
    "--config": ["--config other.toml"],
    "--confusion": ["--confusion soft"],
    "--cost": ["--gain 3 --cost 1", f"{HISTORY} --gain 3 --cost 1"],
    "--day": ["--day day"],
    "--debug": ["--debug"],
    "--delimiter": ["--delimiter ;", *(f"{line} --delimiter ;" for line in SEMICOLONS)],
    "--delay": ["--delay 1d"],
    "--delta": ["--delta 0.05"],
    "--dialect": [f"--to sql --dialect {name}" for name in
                  ("duckdb", "sqlite", "postgres", "bigquery", "snowflake", "spark", "mysql")],
    "--every": ["--every week"],
    "--fit": ["--fit 40d"],
    "--edges": ["bin rows.csv --edges grid_shared.json"],
    "--engine": ["--engine spark", *(f"{line} --engine spark" for line in ROW_FILES)],
    "--estimator": ["--estimator em", "--estimator known --prior 0.5,0.5"],
    "--fail-if": ["--fail-if 'rows > 0'", "--fail-if 'rows < 0'",
                  *(f"{BASES[command]} --fail-if '{gate}'" for command, gate in GATES.items())],
    "--features": [f"{TREE} --features age,education --min-leaf 300"],
    "--for": ["sample boundary_default.json rows.csv --for precision --plan 0.2"],
    "--forget": ["--state state_days.json --day day --matured 1 --forget 2026-01-01"],
    "--format": ["--format csv"],
    "--frontier": ["--frontier frontier.csv"],
    "--gain": ["--gain age --cost hours_per_week", f"{HISTORY} --gain age --cost hours_per_week"],
    "--grid": ["boundary --grid grid_shared.json --precision 0.6"],
    "--json": ["--json", *(f"{line} --json" for line in ROW_FILES)],
    "--keep-labelled": [
        "sample boundary_default.json rows.csv --for precision --budget 5 --label label --keep-labelled"
    ],
    "--label": ["--label label"],
    "--labels": ["--labels labels.csv --on id --label truth"],
    "--leaf-method": [f"{TREE} --partition sex --leaf-method {name}" for name in ("beta", "isotonic")],
    "--logit": ["--logit --score log_odds"],
    "--margin": ["--margin 1"],
    "--model-until": ["--model-until 2026-02-03"],
    "--matured": ["--day day --matured 1"],
    "--max-depth": [f"{TREE} --features age --max-depth 2"],
    "--max-fpr": [f"{BOUNDARY} --max-fpr 0.1", f"{HISTORY} --max-fpr 0.1"],
    "--max-selected": [f"{BOUNDARY} --max-selected 100", f"{BOUNDARY} --max-selected 3%",
                       f"{HISTORY} --max-selected 3%"],
    "--max-omission": [
        f"{BOUNDARY} --max-omission 0.3 --certify 0.1",
        "sample rows.csv --for certificate --max-omission 0.2 --budget 60",
    ],
    "--members": ["--members m_1,m_2"],
    "--merge": ["bin grid_equi_weight.json grid_equi_weight.json --merge"],
    "--method": [f"--method {name}" for name in ("all", "spline", "venn-abers")],
    "--min-group": ["--by sex --min-group 2000"],
    "--min-specificity": [f"{BOUNDARY} --min-specificity 0.9"],
    "--min-leaf": [f"{TREE} --features age --min-leaf 500"],
    "--miss": ["--miss 0.2"],
    "--mode": [f"{SETS} --mode label-conditional"],
    "--n-bins": ["--n-bins 5", "calibrate fit.parquet --method histogram --n-bins 5"],
    "--n-max": ["--binning pava-bc --n-min 50 --n-max 300"],
    "--n-min": ["--binning pava-bc --n-min 50"],
    "--no-config": ["--no-config"],
    "--show-settings": ["--show-settings"],
    "--no-empty": ["--no-empty -o rows_out.csv"],
    "--no-randomize": [f"{SETS} --no-randomize"],
    "--no-weight": ["--no-weight"],
    "--decimal": ["--decimal ,"],
    "--null-value": ["--null-value NA"],
    "--schema": ["show --schema boundary"],
    "--on": ["--labels labels.csv --on id --label truth --json"],
    "--on-invalid": ["--on-invalid drop", "--on-invalid keep"],
    "--only-selected": ["--only-selected"],
    "--output": ["--output out.json", "--output -", *ROW_FILES],
    "--output-format": [f"--output-format {name}" for name in ("csv", "jsonl")],
    "--overwrite": ["--overwrite"],
    "--partition": [f"{TREE} --partition sex"],
    "--partitioner": [f"{TREE} --features age --partitioner {name}" for name in ("forest", "boosted")],
    "--per": [
        *("--top 2 --per sex", f"{HISTORY} --top 2 --per sex"),
        "boundary fit.parquet --top 2 --per sex --verbose",
    ],
    "--pilot": [
        f"{BOUNDARY} --precision 0.5 --certify 0.1 --pilot holdout.csv",
        "sample rows.csv --for certificate --precision 0.6 --budget 2000 --pilot fit.parquet",
    ],
    "--plan": ["sample boundary_default.json rows.csv --for recall --plan 0.2"],
    "--plot": ["--plot plot.svg"],
    "--positive": ["--positive 1"],
    "--precision": [
        "--precision 0.6,0.8",
        "sample rows.csv --for certificate --precision 0.6 --budget 60",
    ],
    "--prefix": ["--prefix new_"],
    "--prior": ["--estimator known --prior 0.6,0.4", "--prior 1,1"],
    "--proba": [f"{line} --proba p_*" for line in BY_CLASS],
    "--quiet": ["--quiet"],
    "--recall": [
        f"{HISTORY} --recall 0.5 --margin 0",
        f"{BOUNDARY} --recall 0.5",
        f"{BOUNDARY} --precision 0.5 --recall 0.5",
        f"{BOUNDARY} --precision 0.5 --max-fpr 0.3 --recall 0.2 -o boundary_several.json",
    ],
    "--replace": ["--state state_days.json --day day --matured 1 --replace"],
    "--report": [" ".join(f"--report r.{ending}" for ending in ("json", "md", "csv", "xml", "prom")),
                 "--report r.html"],
    "--review": ["--review 5%"],
    "--run-length": ["--run-length 50"],
    "--sampling-weight": ["--sampling-weight sampling"],
    "--score": ["--score ensemble_score", "--score nothing"],
    "--score-bins": ["--score-bins 50"],
    "--seed": ["--seed 7", "evaluate calibrator_beta.json rows.csv --bootstrap 20 --seed 7"],
    "--shift": ["--shift shift_known.json", f"{NOT_LABELLED} --shift shift_known.json",
                f"{SETS} --mode label-shift --shift shift_bbse_classes.json"],
    "--spark": ["--spark sc://localhost:1"],
    "--split": [f"{TREE} --features age --split auc --max-depth 1 --min-leaf 1000"],
    "--state": ["--state new_state.json"],
    "--strict": ["--state state_batches.json --strict"],
    "--table": ["--to sql --table scored"],
    "--tag": ["--tag team=fraud --report r.prom"],
    "--target": ["--estimator em", f"{SETS} --mode label-shift --target new_classes.csv"],
    "--test": ["tce fit.parquet --test t", "calibrate fit.parquet --test rows.csv"],
    "--threads": ["--threads 1"],
    "--memory": ["--memory 64MB"],
    "--title": ["--title Alerts --report r.md"],
    "--to": ["--to sql", "--to onnx -o rule.onnx"],
    "--top": ["--top 5", f"{HISTORY} --top 5", "boundary fit.parquet --top 20 --per day --json"],
    "--tree-data": [f"{TREE} --features age --tree-data rows.csv --min-leaf 20"],
    "--unlabelled": [
        f"evaluate boundary_default.json rows.csv --unlabelled unlabelled.csv{more}"
        for more in ("", " --calibrator calibrator_beta.json")
    ],
    "--uncertainty": ["--uncertainty ensemble_uncertainty", f"{MIST} --uncertainty ensemble_uncertainty"],
    "--uncertainty-bins": ["--uncertainty-bins 2", f"{MIST} --uncertainty-bins 2"],
    "--undersampled": ["--undersampled 3"],
    "--union": ["--union"],
    "--verbose": ["--verbose"],
    "--weight": ["--weight weight"],
}  # fmt: skip
"""Values of each option, after the usual line of its commands; or whole lines, which name their command."""

ROWS_WRITERS = (
    *("boundary_default", "boundary_groups", "boundary_review", "boundary_accepted_classes"),
    *("calibrator_venn_abers", "calibrator_classes_matrix", "conformal_aps", "conformal_lac", "grid_shared"),
)
SLOW_IN_SQL = ("calibrator_classes", "calibrator_forest")
"""Rules whose statements take seconds to write."""

ERRORS = {
    "a missing file": "nowhere.csv",
    "a missing column": "no_score.csv",
    "labels 2": "label_2.csv",
    "nulls": "null.csv",
    "a cut file": "cut.parquet",
    "no rows": "no_rows.csv",
}


def make_files():
    """Write the files that the lines read, beside those of the saved rules, into this folder."""
    make.make_rows()
    rows = pl.read_csv("rows.csv", schema_overrides={"id": pl.String})
    rows.with_columns(sampling=1.5 + pl.int_range(pl.len()) % 2).write_csv("rows.csv")
    labels = pl.read_parquet("fit.parquet").select("id", truth="label")
    labels.sample(fraction=1, shuffle=True, seed=1).write_csv("labels.csv")
    rows.drop("score").write_csv("no_score.csv")
    rows.with_columns(label=pl.lit(2)).write_csv("label_2.csv")
    rows.write_csv("semi.csv", separator=";")
    rows.drop("label").write_csv("unlabelled.csv")
    score = pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise("score")
    rows.with_columns(score=score).write_csv("null.csv")
    rows.head(0).write_csv("no_rows.csv")
    Path("cut.parquet").write_bytes(Path("fit.parquet").read_bytes()[:5000])
    members = {"m_1": [0.1, 0.9, 0.4], "m_2": [0.2, 0.7, 0.5], "a": [1.5, 9.0, 2.0], "b": [2.0, 3.0, 4.0]}
    pl.DataFrame(members).write_csv("members.csv")
    pl.DataFrame(members).write_csv("ensemble.csv")
    pl.DataFrame(members).write_csv("beta.csv")
    Path("other.toml").write_text("[tool.uqcli.tce]\nn-bins = 7\n")
    for path in SAVED.glob("0.*"):
        for file in path.iterdir():
            Path(f"saved_{path.name}_{file.name}").write_bytes(file.read_bytes())
    for file in SAVED.glob("*.csv"):
        Path(f"saved_{file.name}").write_bytes(file.read_bytes())
    digits = {"holdout": "holdout", "new": "new", "proba_new": "today"}
    for sample, name in digits.items():
        Path(f"{name}.csv").write_bytes((make.SAMPLE / f"digits_{sample}.csv").read_bytes())


def options_by_command():
    """Return the names of the options of each command."""
    commands = typer.main.get_command(program()).commands
    return {
        name: [
            parameter.opts[0]
            for parameter in command.params
            if parameter.param_type_name == "option" and parameter.opts[0] != "--help"
        ]
        for name, command in commands.items()
    }


def option_lines():
    """Return lines in which each option of each command occurs."""
    for command, options in options_by_command().items():
        for option in options:
            whole = [value for value in VALUES[option] if value.startswith(f"{command} ")]
            yield from whole
            yield from (f"{BASES[command]} {value}" for value in VALUES[option] if value.startswith("-"))


def case_lines():
    """Return the lines of the contract tests, in each form of report, and with values that are refused."""
    for case in CASES:
        line = shlex.join(case.arguments("fit.parquet", "boundary_default.json"))
        yield from (f"{line}{more}" for more in ("", " --verbose", " --json", " --report r.html -q"))
        yield from (f"{line} {shlex.join(values)}" for values in case.out_of_range)
        if case.reads_data:
            for name in ERRORS.values():
                yield shlex.join(case.arguments(name, "boundary_default.json"))


def rule_lines():
    """Return the lines that use rules: saved ones of all versions, and those of the fitting lines."""
    for path in sorted(SAVED.glob("0.*/*_*.json")):
        rule = f"saved_{path.parent.name}_{path.name}"
        rows = "rows.csv" if path.parent.name == "0.3.0" else "saved_rows.csv"
        if not path.name.startswith("state_"):
            yield f"apply {rule} {rows}"
            yield f"evaluate {rule} {rows} --verbose"
            yield f"export {rule} --to python"
            if not path.name.startswith(SLOW_IN_SQL):
                yield f"export {rule} --to sql"
        yield f"show {rule} --verbose"
        yield f"show {rule} --json"
    for rule, ending in product(ROWS_WRITERS, ("csv", "parquet", "arrow", "jsonl")):
        rows = (
            "new_classes.csv" if "class" in rule or rule in ("conformal_aps", "conformal_lac") else "rows.csv"
        )
        yield f"apply {rule}.json {rows} -o applied.{ending}"
    for rule in FITTING:
        rows = "new_classes.csv" if "class" in rule or rule.startswith("conformal") else "rows.csv"
        if rule.startswith(("boundary", "calibrator", "conformal")):
            yield f"evaluate {rule}.json {rows} --json"
            yield f"watch {rule}.json {rows}"
            yield f"evaluate {rule}.json {rows} -q --report r.html"
    yield "evaluate boundary_default.json boundary_st.json rows.csv --report r.html"
    yield "evaluate boundary_default.json boundary_st.json rows.csv --json"
    yield "show boundary_default.json boundary_st.json --on rows.csv"


def help_lines():
    """Return the lines that print help, versions and schemas, and the examples of the help."""
    yield from ("--help", "--version", "", "no-such-command")
    for command in COMMANDS:
        yield f"{command} --help"
        for example in EXAMPLES[command]:
            if not set(example) & set("|>"):
                yield example.removeprefix("uqcli ")
    yield from (f"schema {kind}" for kind in ("grid", "calibrator", "conformal", "shift", "watch"))


GROUPS = {"help": help_lines, "cases": case_lines, "options": option_lines, "rules": rule_lines}
