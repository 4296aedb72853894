"""One case per command for the contract tests: a new command adds a case and gets all tests.

``arguments`` returns the command line for an input; tests add the output with ``-o``.
A test fails if a registered command has no entry.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One command; ``metric`` is above 0.1 on the sample rows. ``counts_rows`` is whether --weight does.

    A ``dated`` one reads the column of days, which files of a few columns lack.
    """

    name: str
    arguments: Callable
    reads_data: bool = True
    reads_label: bool = True
    reads_artifact: bool = False
    writes: bool = False
    json: bool = True
    plots: bool = False
    needs_drawing: bool = False
    metric: str = "precision"
    out_of_range: tuple[tuple[str, ...], ...] = field(default=())
    writes_program: bool = False
    counts_rows: bool = True
    dated: bool = False

    @property
    def writes_rows(self):
        """Whether its output is rows, on standard output by default."""
        return self.writes and not self.json and not self.writes_program


CASES = (
    Case(
        name="bin",
        arguments=lambda data, artifact: ["bin", data, "--score-bins", "20"],
        writes=True,
        plots=True,
        metric="rows",
        out_of_range=(
            ("--binning", "pretty"),
            ("--score-bins", "0"),
            ("--score-bins", "all"),
            ("--uncertainty-bins", "0"),
            ("--uncertainty-bins", "2", "--binning", "pava"),
            ("--n-min", "3"),
            ("--n-min", "100", "--n-max", "10", "--binning", "pava-bc"),
            ("--n-min", "100000", "--binning", "pava-bc"),
            ("--edges", "nowhere.json"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="export",
        arguments=lambda data, artifact: ["export", artifact, "--to", "python"],
        reads_data=False,
        reads_label=False,
        reads_artifact=True,
        writes=True,
        json=False,
        writes_program=True,
        metric="bytes",
        out_of_range=(("--to", "java"), ("--table", "t"), ("--dialect", "oracle")),
    ),
    Case(
        name="overview",
        arguments=lambda data, artifact: ["overview", data],
        plots=True,
        needs_drawing=True,
        metric="prevalence",
        out_of_range=(
            ("--audit", "id,id"),
            ("--uncertainty", "uncertainty,uncertainty"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="boundary",
        arguments=lambda data, artifact: ["boundary", data, "--precision", "0.7", "--score-bins", "20"],
        writes=True,
        plots=True,
        out_of_range=(
            ("--precision", "0"),
            ("--precision", "1.01"),
            ("--precision", "-0.5"),
            ("--precision", "nan"),
            ("--precision", "high"),
            ("--precision", "1/2"),
            ("--uncertainty-bins", "0"),
            ("--uncertainty-bins", "x"),
            ("--score-bins", "0"),
            ("--score-bins", "-3"),
            ("--score-bins", "some"),
            ("--algorithm", "best"),
            ("--binning", "pretty"),
            ("--on-invalid", "keep"),
            ("--on-invalid", "ignore"),
            ("--threads", "0"),
            ("--max-fpr", "1.5"),
            ("--min-specificity", "-0.5"),
            ("--max-selected", "0"),
            ("--max-fpr", "0.5", "--gain", "1", "--cost", "1"),
            ("--gain", "1"),
            ("--algorithm", "ew-dpmt", "--score-bins", "all"),
            ("--grid", "nowhere.json"),
            ("--certify", "0"),
            ("--certify", "1"),
            ("--certify", "often"),
            ("--certify", "0.1", "--algorithm", "vw-dpmt"),
            ("--certify", "0.1", "--grid", "nowhere.json"),
            ("--certify", "0.1", "--compare", "--uncertainty", "uncertainty,score"),
            ("--certify", "0.1", "--shift", "nowhere.json"),
            ("--pilot", "nowhere.csv"),
        ),
    ),
    Case(
        name="boundary",
        arguments=lambda data, artifact: [
            *("boundary", data, "--precision", "0.6", "--max-fpr", "0.3", "--recall", "0.1"),
            *("--score-bins", "20"),
        ],
        writes=True,
        plots=True,
        out_of_range=(
            ("--recall", "1.01"),
            ("--min-specificity", "2"),
            ("--max-selected", "half"),
            ("--algorithm", "gmt"),
            ("--review", "5%"),
            ("--certify", "0.1", "--max-selected", "5%"),
        ),
    ),
    Case(
        name="boundary",
        arguments=lambda data, artifact: ["boundary", data, "--top", "4", "--per", "when"],
        writes=True,
        counts_rows=False,
        dated=True,
        out_of_range=(
            ("--top", "0"),
            ("--top", "1.5"),
            ("--precision", "0.7"),
            ("--certify", "0.1"),
            ("--margin", "1"),
            ("--review", "5%"),
            ("--miss", "0.1"),
            ("--by", "note"),
            ("--proba", "p_*"),
            ("--grid", "nowhere.json"),
            ("--frontier", "curve.csv"),
            ("--shift", "nowhere.json"),
            ("--compare",),
            ("--algorithm", "st"),
            ("--uncertainty", "uncertainty"),
            ("--weight", "score"),
            ("--per", "label"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="calibrate",
        arguments=lambda data, artifact: ["calibrate", data, "--method", "mist", "--bootstrap", "2"],
        writes=True,
        plots=True,
        needs_drawing=True,
        metric="after.auc",
        out_of_range=(
            ("--method", "magic"),
            ("--method", "prior"),
            ("--method", "histogram", "--n-bins", "0"),
            ("--method", "platt", "--n-bins", "5"),
            ("--uncertainty-bins", "0"),
            ("--undersampled", "0.5"),
            ("--undersampled", "0"),
            ("--undersampled", "nan"),
            ("--method", "heterogeneous"),
            ("--method", "heterogeneous", "--features", "id", "--partition", "note"),
            ("--method", "heterogeneous", "--features", "id,id"),
            ("--method", "heterogeneous", "--features", "id", "--max-depth", "0"),
            ("--method", "heterogeneous", "--features", "id", "--max-depth", "99"),
            ("--method", "heterogeneous", "--features", "id", "--partitioner", "forest", "--split", "auc"),
            ("--method", "heterogeneous", "--partition", "note", "--max-depth", "2"),
            ("--features", "id"),
            ("--leaf-method", "beta"),
            ("--bootstrap", "1"),
            ("--confidence", "1"),
            ("--seed", "-1"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="conformal",
        arguments=lambda data, artifact: ["conformal", data],
        writes=True,
        metric="rows",
        out_of_range=(
            ("--alpha", "0"),
            ("--alpha", "1"),
            ("--alpha", "1/10"),
            ("--alpha", "nan"),
            ("--alpha", "few"),
            ("--method", "raps"),
            ("--mode", "some"),
            ("--mode", "label-shift"),
            ("--shift", "nowhere.json", "--target", "x.csv"),
            ("--target", "x.csv"),
            ("--alpha-by-class", "1=0.2"),
            ("--mode", "label-conditional", "--alpha-by-class", "1"),
            ("--mode", "label-conditional", "--alpha-by-class", "2=0.1"),
            ("--mode", "label-conditional", "--alpha-by-class", "1=2"),
            ("--mode", "label-conditional", "--by", "id"),
            ("--seed", "-1"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="shift",
        arguments=lambda data, artifact: [
            *("shift", data, "--estimator", "known", "--prior", "0.5,0.5"),
            *("--bootstrap", "0"),
        ],
        writes=True,
        plots=True,
        metric="weights.1",
        out_of_range=(
            ("--prior", "0.5,0.6"),
            ("--prior", "0.5"),
            ("--prior", "-0.5,1.5"),
            ("--prior", "nan,1"),
            ("--prior", "half,half"),
            ("--estimator", "bbse"),
            ("--confusion", "mild"),
            ("--bootstrap", "1"),
            ("--confidence", "0"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="apply",
        arguments=lambda data, artifact: ["apply", artifact, data],
        reads_label=False,
        reads_artifact=True,
        writes=True,
        json=False,
        out_of_range=(("--output-format", "xlsx"), ("--on-invalid", "ignore"), ("--threads", "-1")),
    ),
    Case(
        name="evaluate",
        arguments=lambda data, artifact: ["evaluate", artifact, data],
        reads_artifact=True,
        plots=True,
        out_of_range=(
            ("--confidence", "1"),
            ("--confidence", "0"),
            ("--confidence", "many"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="evaluate",
        arguments=lambda data, artifact: ["evaluate", artifact, data, "--top", "50"],
        reads_artifact=True,
        plots=True,
        counts_rows=False,
        out_of_range=(("--top", "0"), ("--top", "1.5"), ("--audit", "score"), ("--weight", "score")),
    ),
    Case(
        name="backtest",
        arguments=lambda data, artifact: [
            *("backtest", data, "--day", "when", "--every", "10d", "--precision", "0.6"),
            *("--margin", "0,1"),
        ],
        plots=True,
        needs_drawing=True,
        dated=True,
        metric="periods",
        out_of_range=(
            ("--every", "fortnight"),
            ("--every", "0d"),
            ("--fit", "soon"),
            ("--fit", "-3d"),
            ("--delay", "1.5d"),
            ("--model-until", "yesterday"),
            ("--margin", "0,0.0"),
            ("--margin", "-1"),
            ("--margin", "half"),
            ("--precision", "0.6,0.7"),
            ("--certify", "2"),
            ("--top", "0"),
            ("--top", "3"),
            ("--per", "day"),
            ("--confidence", "1"),
            ("--on-invalid", "keep"),
            ("--by", "when"),
        ),
    ),
    Case(
        name="backtest",
        arguments=lambda data, artifact: [
            *("backtest", data, "--day", "when", "--every", "10d", "--top", "4")
        ],
        plots=True,
        needs_drawing=True,
        counts_rows=False,
        dated=True,
        metric="periods",
        out_of_range=(("--margin", "1"), ("--precision", "0.5"), ("--by", "note"), ("--per", "label")),
    ),
    Case(
        name="sample",
        arguments=lambda data, artifact: ["sample", artifact, data, "--for", "recall", "--budget", "100"],
        reads_label=False,
        reads_artifact=True,
        writes=True,
        json=False,
        out_of_range=(
            ("--for", "fpr"),
            ("--budget", "0"),
            ("--plan", "0.1"),
            ("--precision", "0.5"),
            ("--pilot", "nowhere.csv"),
            ("--confidence", "1"),
            ("--seed", "-1"),
            ("--output-format", "xlsx"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="watch",
        arguments=lambda data, artifact: ["watch", artifact, data],
        reads_artifact=True,
        metric="rate",
        out_of_range=(
            ("--delta", "0"),
            ("--delta", "1"),
            ("--run-length", "0"),
            ("--bound", "0"),
            ("--bound", "1.1"),
            ("--confidence", "1"),
            ("--matured", "-1"),
            ("--matured", "3"),
            ("--acknowledge",),
            ("--forget", "x"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="tce",
        arguments=lambda data, artifact: ["tce", data],
        plots=True,
        needs_drawing=True,
        metric="tce",
        out_of_range=(
            ("--alpha", "0"),
            ("--alpha", "1.5"),
            ("--n-bins", "0"),
            ("--n-min", "300", "--n-max", "10"),
            ("--n-min", "100000"),
            ("--binning", "equi-span"),
            ("--test", "z"),
            ("--bootstrap", "-1"),
            ("--bootstrap", "1"),
            ("--confidence", "1"),
            ("--seed", "-1"),
            ("--on-invalid", "keep"),
        ),
    ),
    Case(
        name="uncertainty",
        arguments=lambda data, artifact: [
            "uncertainty",
            data,
            "--members",
            "[sl][ca][ob][re]*",
            "--overwrite",
        ],
        reads_data=False,
        reads_label=False,
        writes=True,
        json=False,
        out_of_range=(("--alpha1", "a"), ("--output-format", "xlsx")),
    ),
    Case(
        name="show",
        arguments=lambda data, artifact: ["show", artifact],
        reads_data=False,
        reads_label=False,
        reads_artifact=True,
        out_of_range=(("--schema", "nothing"),),
    ),
)

READ_DATA = [case for case in CASES if case.reads_data]
READ_LABELS = [case for case in CASES if case.reads_label]
READ_ARTIFACTS = [case for case in CASES if case.reads_artifact]
WRITE = [case for case in CASES if case.writes]
