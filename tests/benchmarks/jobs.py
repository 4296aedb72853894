"""The jobs of the benchmarks: command lines, baselines and bounds."""

from dataclasses import dataclass

from tests.benchmarks.processes import PYTHON, UQCLI

START_ROWS = 10_000
"""Up to this many rows, starting Python takes most of the time; the baseline is ``import polars``."""

ALL_COLUMNS = ("score", "uncertainty", "label")
CLASS_COLUMNS = (*(f"p_{class_number}" for class_number in range(10)), "label")
MAX_CLASS_ROWS = 20_000_000


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command line with the placeholders FILE, OUT and MODEL, and the columns that it reads.

    With ``text`` it reads the rows as CSV or JSON lines.
    """

    name: str
    line: str
    columns: tuple[str, ...] = ALL_COLUMNS
    classes: bool = False
    writes_rows: bool = False
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The largest allowed ratio to the baseline, and memory in bytes, of a job on this many rows."""

    job: str
    rows: int
    ratio: float | None = None
    memory: float | None = None


JOBS = (
    Job(name="boundary", line="boundary FILE --precision 0.25 -q -o OUT.json"),
    Job(name="vw-dpmt", line="boundary FILE --precision 0.25 --algorithm vw-dpmt -q -o OUT.json"),
    Job(name="bin", line="bin FILE -q -o OUT.json"),
    Job(name="tce", line="tce FILE -q", columns=("score", "label")),
    Job(name="isotonic", line="calibrate FILE --method isotonic -q -o OUT.json", columns=("score", "label")),
    Job(name="platt", line="calibrate FILE --method platt -q -o OUT.json", columns=("score", "label")),
    Job(name="calibrate", line="calibrate FILE -q -o OUT.json", columns=("score", "label")),
    Job(
        name="conformal",
        line="conformal FILE --proba p_* -q -o OUT.json",
        columns=CLASS_COLUMNS,
        classes=True,
    ),
    Job(name="apply", line="apply MODEL FILE -q -o OUT.parquet", writes_rows=True),
    Job(name="evaluate", line="evaluate MODEL FILE -q"),
    Job(name="boundary-csv", line="boundary FILE --precision 0.25 -q -o OUT.json", text="csv"),
    Job(name="boundary-jsonl", line="boundary FILE --precision 0.25 -q -o OUT.json", text="jsonl"),
)
MODEL = JOBS[0]
"""The job that fits the rule that others apply and evaluate."""

BOUNDS = (
    Bound(job="boundary", rows=10_000, ratio=2.5),
    Bound(job="vw-dpmt", rows=10_000, ratio=2.3),
    Bound(job="tce", rows=10_000, ratio=2.6),
    Bound(job="evaluate", rows=10_000, ratio=2.5),
    Bound(job="apply", rows=10_000, ratio=2.3),
    Bound(job="platt", rows=10_000, ratio=3),
    Bound(job="calibrate", rows=10_000, ratio=8),
    Bound(job="boundary", rows=10_000_000, ratio=3.5),
    Bound(job="bin", rows=10_000_000, ratio=4),
    Bound(job="tce", rows=10_000_000, ratio=6),
    Bound(job="isotonic", rows=10_000_000, ratio=6),
    Bound(job="platt", rows=10_000_000, ratio=8),
    Bound(job="boundary", rows=100_000_000, ratio=8, memory=1.2e9),
    Bound(job="bin", rows=100_000_000, ratio=10, memory=1.2e9),
    Bound(job="tce", rows=100_000_000, ratio=15, memory=2.5e9),
    Bound(job="isotonic", rows=100_000_000, ratio=13, memory=2.5e9),
    Bound(job="conformal", rows=MAX_CLASS_ROWS, memory=1e9),
    Bound(job="apply", rows=100_000_000, ratio=2, memory=0.5e9),
    Bound(job="boundary", rows=1_000_000_000, memory=1.3e9),
    Bound(job="tce", rows=1_000_000_000, memory=2.5e9),
    Bound(job="apply", rows=1_000_000_000, memory=0.3e9),
)
MAX_SLOPE = 1.05
SLOPE_FROM = 1_000_000


def command(job, path, out, model):
    """Fill in the command line of a job."""
    values = {"FILE": path, "OUT": out, "MODEL": model}
    words = job.line.split()
    for name, value in values.items():
        words = [word.replace(name, str(value)) for word in words]
    return (*UQCLI, *words)


def baseline(job, rows, path, out):
    """Return the command of polars alone on the same columns, and its name."""
    if rows <= START_ROWS:
        return (PYTHON, "-c", "import polars"), "import polars"
    # the baseline of JSON lines is CSV, which shows their extra cost
    reader = "scan_csv" if job.text else "scan_parquet"
    source = path.with_suffix(".csv") if job.text else path
    scan = f"import polars as pl; pl.{reader}({str(source)!r}).select({list(job.columns)!r})"
    if job.writes_rows:
        return (PYTHON, "-c", f"{scan}.sink_parquet({f'{out}.baseline'!r})"), "scan and write"
    return (PYTHON, "-c", f"{scan}.sum().collect(engine='streaming')"), "scan of CSV" if job.text else "scan"
