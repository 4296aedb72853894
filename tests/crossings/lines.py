"""Lines of every command, and options that drop, select, group or weight rows, by the columns they read.

A row with a hole in a column of ``drops`` is left out by ``--on-invalid drop``; one in ``keeps`` is not.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """An option, the columns that it reads, and whether it draws rows by the digits of their values."""

    text: str
    drops: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    draws_by_value: bool = False

    @property
    def words(self):
        return tuple(self.text.split())


@dataclass(frozen=True)
class Line:
    """A command line without options, ``{}`` for the rows; its columns, and the options that it takes."""

    text: str
    drops: tuple[str, ...]
    options: tuple[Option, ...]
    draws_by_row: bool = False


WEIGHT = Option("--weight w", drops=("w",))
CLUSTER = Option("--cluster c", drops=("c",))
DAY = Option("--day d", drops=("d",))
BY = Option("--by g", drops=("g",))
OTHER_BY = Option("--by h", drops=("h",))
AUDIT = Option("--audit g,h", keeps=("g", "h"))
SAMPLING = Option("--sampling-weight sw", drops=("sw",))
CONFIDENCE = Option("--confidence 0.8")
NAMED = Option("--label outcome --positive fraud", drops=())
SCORE = ("score", "uncertainty")
CLASSES = ("p_a", "p_b", "p_c")
PROBA = "--proba p_* --label class"

RULES = {
    "plain": "boundary fit.csv --precision 0.55 --algorithm st",
    "smooth": "boundary fit.csv --precision 0.55 --uncertainty-bins 2",
    "groups": "boundary fit.csv --precision 0.55 --by g --min-group 60",
    "zones": "boundary fit.csv --precision 0.55 --miss 0.2",
    "value": "boundary fit.csv --gain gain --cost 9 --algorithm st",
    "classes": f"boundary fit.csv {PROBA} --precision 0.6 --min-group 50",
    "days": "boundary fit.csv --precision 0.55 --algorithm st --day d",
    "certified": "boundary fit.csv --precision 0.5 --certify 0.2",
    "map": "calibrate fit.csv --method isotonic",
    "surface": "calibrate fit.csv --method surface",
    "leaves": "calibrate fit.csv --method heterogeneous --partition g --leaf-method platt",
    "of_classes": f"calibrate fit.csv {PROBA} --method temperature",
    "sets": f"conformal fit.csv {PROBA} --no-randomize",
    "sets_by": f"conformal fit.csv {PROBA} --method lac --by g",
    "grid": "bin fit.csv --uncertainty-bins 2 --score-bins 5",
}
"""Rule files that lines read, by name, and how they are made."""

OF_RULE = (WEIGHT, CLUSTER, DAY, BY, AUDIT, SAMPLING, CONFIDENCE)
WATCHED = (WEIGHT, CLUSTER, DAY, Option("--bound 0.4"), Option("--calibrator map.json"), CONFIDENCE)

LINES = {
    "boundary": Line(
        "boundary {} --precision 0.55",
        SCORE,
        (
            WEIGHT,
            CLUSTER,
            DAY,
            BY,
            Option("--algorithm st"),
            Option("--algorithm mist --uncertainty-bins 1"),
            Option("--algorithm hr"),
            Option("--compare", draws_by_value=True),
            Option("--certify 0.2", draws_by_value=True),
            Option("--review 15%"),
            Option("--miss 0.2"),
            Option("--max-fpr 0.6"),
            Option("--bound each"),
            Option("--uncertainty=-uncertainty"),
            NAMED,
        ),
    ),
    "boundary of classes": Line(
        f"boundary {{}} {PROBA} --precision 0.6 --min-group 50",
        CLASSES,
        (
            WEIGHT,
            CLUSTER,
            DAY,
            Option("--bound each"),
            Option("--review 20%"),
            Option("--certify 0.3", draws_by_value=True),
        ),
    ),
    "boundary of values": Line(
        "boundary {} --algorithm st",
        ("score",),
        (
            WEIGHT,
            CLUSTER,
            DAY,
            Option("--gain gain --cost cost", drops=("gain", "cost")),
            Option("--gain gain --cost 7.5", drops=("gain",)),
            Option("--gain 3 --cost 1"),
            Option("--max-selected 50"),
            Option("--min-specificity 0.8"),
        ),
    ),
    "calibrate": Line(
        "calibrate {} --method platt",
        ("score",),
        (
            WEIGHT,
            CLUSTER,
            Option("--bootstrap 20"),
            Option("--method isotonic"),
            Option("--method venn-abers"),
            Option("--method histogram --n-bins 4"),
            Option("--method surface --uncertainty uncertainty", drops=("uncertainty",)),
            Option("--method heterogeneous --partition g --leaf-method platt", keeps=("g",)),
            Option("--undersampled 0.5"),
            NAMED,
        ),
    ),
    "calibrate classes": Line(
        f"calibrate {{}} {PROBA} --method temperature",
        CLASSES,
        (WEIGHT, CLUSTER, Option("--method isotonic"), Option("--method vector"), Option("--bootstrap 20")),
    ),
    "tce": Line(
        "tce {}",
        ("score",),
        (
            WEIGHT,
            CLUSTER,
            BY,
            AUDIT,
            SAMPLING,
            Option("--binning equispaced"),
            Option("--binning quantile --n-bins 5"),
            Option("--bootstrap 20", draws_by_value=True),
            Option("--alpha 0.2"),
            NAMED,
        ),
    ),
    "tce of classes": Line(
        f"tce {{}} {PROBA}", CLASSES, (WEIGHT, CLUSTER, BY, AUDIT, SAMPLING, Option("--bootstrap 20"))
    ),
    "conformal": Line(
        f"conformal {{}} {PROBA} --no-randomize",
        CLASSES,
        (
            WEIGHT,
            CLUSTER,
            BY,
            Option("--method lac"),
            Option("--mode label-conditional"),
            Option("--alpha 0.3"),
            Option("--alpha-by-class a=0.2,b=0.1,c=0.3"),
        ),
    ),
    "shift": Line(
        f"shift fit.csv --target {{}} {PROBA.removesuffix(' --label class')} --label class",
        CLASSES,
        (
            CLUSTER,
            DAY,
            Option("--estimator em"),
            Option("--bootstrap 20"),
            Option("--confusion soft"),
            CONFIDENCE,
        ),
    ),
    "overview": Line("overview {} --uncertainty uncertainty", SCORE, (WEIGHT, AUDIT, NAMED)),
    "bin": Line(
        "bin {}",
        ("score",),
        (
            WEIGHT,
            Option("--uncertainty-bins 2 --score-bins 4", drops=("uncertainty",)),
            Option("--binning pava"),
            Option("--binning quantile --score-bins 6"),
            Option("--edges grid.json", drops=("uncertainty",)),
            NAMED,
        ),
    ),
    **{
        f"evaluate {name}": Line(f"evaluate {name}.json {{}}", drops, (*OF_RULE, *more))
        for name, drops, more in (
            ("plain", ("score",), (Option("--gain gain --cost cost", drops=("gain", "cost")),)),
            ("smooth", SCORE, (Option("--gain gain --cost 4", drops=("gain",)),)),
            ("groups", (*SCORE, "g"), (OTHER_BY,)),
            ("zones", SCORE, (OTHER_BY,)),
            ("value", ("score", "gain"), (OTHER_BY,)),
            ("classes", CLASSES, (OTHER_BY,)),
            ("days", ("score",), (OTHER_BY,)),
            ("certified", SCORE, ()),
            ("map", ("score",), (Option("--bootstrap 20"),)),
            ("surface", SCORE, (Option("--bootstrap 20"),)),
            ("leaves", ("score", "g"), (Option("--bootstrap 20"), OTHER_BY)),
            ("of_classes", CLASSES, (Option("--bootstrap 20"),)),
            ("sets", CLASSES, (Option("--bootstrap 20"),)),
            ("sets_by", (*CLASSES, "g"), (OTHER_BY,)),
        )
    },
    "evaluate two": Line("evaluate plain.json smooth.json {}", SCORE, OF_RULE),
    "evaluate two maps": Line(
        "evaluate map.json surface.json {}", SCORE, (*OF_RULE, Option("--bootstrap 20"))
    ),
    "evaluate two sets": Line("evaluate sets.json sets_by.json {}", (*CLASSES, "g"), OF_RULE),
    **{
        f"watch {name}": Line(f"watch {name}.json {{}}", drops, WATCHED)
        for name, drops in (
            ("plain", ("score",)),
            ("smooth", SCORE),
            ("zones", ("score",)),
            ("classes", CLASSES),
            ("days", ("score",)),
            ("sets", CLASSES),
            ("sets_by", (*CLASSES, "g")),
        )
    },
    "sample": Line(
        "sample smooth.json {} --for precision --budget 20 -o drawn.csv",
        SCORE,
        (Option("--plan 0.2"), Option("--for recall"), Option("--calibrator map.json"), CONFIDENCE),
        draws_by_row=True,
    ),
    "show": Line("show plain.json smooth.json --on {}", SCORE, ()),
}
