"""An evening of an unattended team: the jobs of a crontab, and what goes wrong with them.

The table of the docs is written from ``FAULTS``: ``python -m tests.operate.evening``.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from tests.cloud.server import Store
from tests.documentation.reference import DOCS, ROOT

PAGE = DOCS / "how-to" / "operate.md"
ROWS, DAYS = 4000, 14
UQCLI = f"{sys.executable} -m uqcli"
JOBS = {
    "apply": "apply boundary.json today.csv -q -o decisions.csv --report prom/apply.prom "
    '--fail-if "rows < 3000" '
    '--fail-if "selected == 0" --fail-if "selected_share > 0.5"',
    "evaluate": "evaluate boundary.json labelled.csv -q --report prom/evaluate.prom "
    '--fail-if "promise_broken == 1" --fail-if "rows < 3000"',
    "watch": "watch boundary.json labelled.csv --day day --matured 1 --state watch.json -q "
    "--report prom/watch.prom --report watch.md",
}


def rows_of(seed, rows=ROWS):
    """Draw rows of two weeks whose scores are true probabilities."""
    random = np.random.default_rng(seed)
    score = random.beta(0.3, 0.9, rows).round(6)
    first = np.datetime64("2026-03-02")
    return pl.DataFrame(
        {
            "score": score,
            "uncertainty": random.random(rows).round(6),
            "label": (random.random(rows) < score).astype(int),
            "day": [str(first + day) for day in np.arange(rows) % DAYS],
        }
    )


class Evening:
    """The folder of the jobs, their mails, and an object store."""

    def __init__(self, folder):
        self.folder = folder
        self.store = Store()
        (folder / "prom").mkdir()
        rows_of(1).write_csv(folder / "holdout.csv")
        self.variables = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "PYTHONPATH": str(ROOT),
            "AWS_ENDPOINT_URL": self.store.endpoint,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
        }
        code, mail = self.run("boundary holdout.csv --precision 0.9 --margin 1 -q -o boundary.json")
        assert code == 0, mail
        self.start()

    def start(self):
        """Begin an evening on which everything is as it should be."""
        self.store.refuse = lambda method, path: None
        self.store.objects["bucket"] = {"boundary.json": (self.folder / "boundary.json").read_bytes()}
        for path in (
            *self.folder.glob("*.csv"),
            *(self.folder / "prom").iterdir(),
            self.folder / "watch.json",
        ):
            if path.name != "holdout.csv":
                path.unlink(missing_ok=True)
        self.write("today.csv", rows_of(2).drop("label"))
        self.write("labelled.csv", rows_of(3))
        self.write("decisions.csv", pl.DataFrame({"of": ["yesterday"]}))
        for name in JOBS:
            assert self.job(name) == (0, "")

    def write(self, name, rows):
        rows.write_csv(self.folder / name)

    def run(self, line, **variables):
        """Run a line as cron does; return the exit code and what is mailed, which is all output."""
        process = subprocess.run(
            ["/bin/sh", "-c", f"{UQCLI} {line}"], cwd=self.folder, env={**self.variables, **variables},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return process.returncode, process.stdout + process.stderr

    def job(self, name, **changes):
        """Run a job, with words of its line replaced."""
        line = JOBS[name]
        for old, new in changes.items():
            line = line.replace(old.replace("_", "."), new)
        return self.run(line)

    def page(self):
        return (self.folder / "watch.md").read_text()


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something that goes wrong: what the job ends with, and who hears of it.

    Attributes
    ----------
    cause
        Makes it happen, and returns the exit code of the job and its mail.
    mail
        What cron's mail says; empty if there is none.
    alert
        What Prometheus fires; empty for nothing.
    otherwise
        Why nobody has to hear of it, if there is neither.
    caution
        A caution that the report `watch.md` contains.
    """

    what: str
    cause: object
    code: int = 3
    mail: str = ""
    alert: str = ""
    otherwise: str = ""
    caution: str = ""

    def row(self):
        unseen = f"a caution in `watch.md`: `{self.caution}`" if self.caution else self.otherwise or "no mail"
        mail = f"`{self.mail}`" if self.mail else unseen
        return f"| {self.what} | {self.code} | {mail} | {f'`{self.alert}`' if self.alert else ''} |"


def changed(name, change, job):
    """Replace a file of rows and run a job."""

    def cause(evening):
        path = evening.folder / name
        content = change(pl.read_csv(path))
        path.write_bytes(content if isinstance(content, bytes) else content.write_csv().encode())
        return evening.job(job)

    return cause


today = partial(changed, "today.csv", job="apply")
labelled = partial(changed, "labelled.csv", job="evaluate")
days = partial(changed, "labelled.csv", job="watch")


def late(evening):
    (evening.folder / "today.csv").unlink()
    return evening.job("apply")


def of_yesterday(evening):
    """No new file has arrived, and that of the last night is still there."""
    (moved,) = re.findall(r"&& (find .*?) && uqcli apply", PAGE.read_text())
    subprocess.run(moved, shell=True, cwd=evening.folder, check=True)
    assert (evening.folder / "today.csv").exists()  # it is new
    os.utime(evening.folder / "today.csv", (time.time() - 24 * 3600,) * 2)
    subprocess.run(moved, shell=True, cwd=evening.folder, check=True)
    return evening.job("apply")


def not_installed(evening):
    """The crontab's PATH does not lead to the program."""
    process = subprocess.run(
        ["/bin/sh", "-c", f"uqcli {JOBS['apply']}"], cwd=evening.folder, env={"PATH": "/nowhere"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return process.returncode, process.stdout + process.stderr


def full_disk(evening):
    disk = evening.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=True)
    try:
        return evening.job("apply", decisions_csv="disk/decisions.csv")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()


def killed(evening):
    """The kernel ends the run while it reads."""
    pipe = evening.folder / "pipe.csv"
    os.mkfifo(pipe)
    line = f"exec {UQCLI} {JOBS['apply'].replace('today.csv', 'pipe.csv')}"
    job = subprocess.Popen(
        ["/bin/sh", "-c", line], cwd=evening.folder, env=evening.variables, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    with suppress(BrokenPipeError), pipe.open("w") as rows:  # as soon as the run reads
        rows.write("score,uncertainty\n")
        job.send_signal(signal.SIGKILL)
        mail, _ = job.communicate()
    pipe.unlink()
    return 128 - job.returncode, mail


def out_of_memory(evening):
    rows = rows_of(3, 75 * ROWS).with_columns(customer=pl.int_range(75 * ROWS))
    evening.write("labelled.csv", rows)
    return evening.job("evaluate", labelled_csv="labelled.csv --cluster customer --memory 50MB")


def overlapping(evening):
    """Two jobs count other rows at the same time; the second waits for the first."""
    (evening.folder / "watch.json").unlink()
    line = "watch boundary.json {} --state watch.json -q"
    evening.write("monday.csv", rows_of(5))
    evening.write("tuesday.csv", rows_of(6))
    both = [
        subprocess.Popen(
            f"{UQCLI} {line.format(name)}", shell=True, cwd=evening.folder, env=evening.variables,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for name in ("monday.csv", "tuesday.csv")
    ]  # fmt: skip
    mails = [job.communicate()[0] for job in both]
    assert (evening.folder / "watch.json").read_text().count('"digest": "') >= 2 + 1  # and that of the file
    return max(job.returncode for job in both), "".join(mails)


def state_of_another_rule(evening):
    evening.run("boundary holdout.csv --precision 0.8 --algorithm st -q -o other.json")
    return evening.job("watch", boundary_json="other.json")


def old_state(evening):
    """A state of version 0.4 goes on with its rule."""
    saved = ROOT / "tests" / "saved"
    shutil.copy(saved / "0.4.0" / "state_batches.json", evening.folder / "old.json")
    evening.write("monday.csv", pl.read_csv(saved / "rows.csv").head(200))
    code, mail = evening.run(
        f"watch {saved / '0.4.0' / 'boundary_default.json'} monday.csv --state old.json -q --report watch.md"
    )
    return code, mail


def in_store(evening, line, refuse=lambda method, path: None, **variables):
    """Put tonight's rows into the store and run a line on them."""
    evening.store.objects["bucket"]["today.csv"] = (evening.folder / "today.csv").read_bytes()
    evening.store.objects["bucket"]["labelled.csv"] = (evening.folder / "labelled.csv").read_bytes()
    evening.store.refuse = refuse
    return evening.run(line, **variables)


STORED = "apply s3://bucket/boundary.json s3://bucket/today.csv -q -o decisions.csv --report prom/apply.prom"


def throttled(evening):
    """The store refuses everything for three seconds."""
    end = time.monotonic() + 3
    return in_store(
        evening, STORED, lambda method, path: (503, "SlowDown") if time.monotonic() < end else None
    )


def without_credentials(evening):
    variables = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": str(evening.folder)}
    return in_store(evening, STORED, lambda method, path: (403, "AccessDenied"), **variables)


def faster_run(evening):
    """Another job writes the state in the store just before this one does."""
    line = "watch s3://bucket/boundary.json {} --state s3://bucket/watch.json -q"
    evening.write("monday.csv", rows_of(5))
    assert in_store(evening, line.format("monday.csv")) == (0, "")
    theirs = evening.store.objects["bucket"].pop("watch.json")
    states = iter([theirs])

    def refuse(method, path):
        if method == "PUT" and (state := next(states, None)) is not None:
            evening.store.objects["bucket"]["watch.json"] = state

    code, mail = in_store(evening, line.format("s3://bucket/labelled.csv"), refuse)
    assert len(re.findall(rb'"trials"', evening.store.objects["bucket"]["watch.json"])) >= 3
    return code, mail


def clashing_column(evening):
    rows = pl.read_csv(evening.folder / "today.csv").with_columns(decision=pl.lit(0))
    evening.write("scored.csv", rows)
    return evening.run(
        "export boundary.json --to sql --dialect postgres --table scored --check scored.csv -q -o view.sql "
        "--report prom/export.prom"
    )


def edited_rule(evening):
    rule = evening.folder / "boundary.json"
    content = rule.read_text()
    rule.write_text(re.sub(r'("thresholds?": ?\[?\s*)[\d.]+', r"\g<1>0.001", content, count=1))
    assert rule.read_text() != content
    try:
        return evening.job("apply")
    finally:
        rule.write_text(content)


def no_run(evening):
    """The machine was off for two nights."""
    path = evening.folder / "prom" / "evaluate.prom"
    os.utime(path, (time.time() - 40 * 3600,) * 2)
    return 0, ""


def unreadable_samples(evening):
    (evening.folder / "prom" / "backup.prom").write_text("backup_bytes{ 17\n")
    return 0, ""


def two_more_weeks(frame):
    """Return the rows again, with the days of two more weeks."""
    later = pl.col("day").str.to_date().dt.offset_by(f"{DAYS}d").cast(pl.String)
    return frame.with_columns(day=later)


FAULTS = (
    Fault(what="the file is late", cause=late, mail="cannot read 'today.csv'", alert="UqcliDown"),
    Fault(
        what="no new file; yesterday's is still there",
        cause=of_yesterday,
        mail="cannot read 'today.csv'",
        alert="UqcliDown",
    ),
    Fault(
        what="half a file", cause=today(lambda f: f.head(ROWS // 2)), code=6, mail="check failed: rows < 3000"
    ),
    Fault(what="an empty file", cause=today(lambda f: b""), mail="'today.csv' is empty", alert="UqcliDown"),
    Fault(
        what="a dead model: every score is 0.01",
        cause=labelled(lambda f: f.with_columns(score=pl.lit(0.01))),
        code=6,
        mail="promise_broken == 1",
        alert="UqcliUndefined",
    ),
    Fault(
        what="scores times 100",
        cause=today(lambda f: f.with_columns(pl.col("score") * 100)),
        code=6,
        mail="check failed: selected_share > 0.5",
    ),
    Fault(
        what="a missing column",
        cause=today(lambda f: f.drop("score")),
        mail="no column 'score'",
        alert="UqcliDown",
    ),
    Fault(
        what="texts in place of scores",
        cause=today(lambda f: f.with_columns(score=pl.lit("high"))),
        mail="'high'",
        alert="UqcliDown",
    ),
    Fault(
        what="a mistyped date",
        cause=days(lambda f: pl.concat([f, f.head(1).with_columns(day=pl.lit("2103-03-02"))])),
        code=0,
        caution="is far from the other days",
    ),
    Fault(
        what="a day without rows",
        cause=days(lambda f: pl.concat([f, two_more_weeks(f).filter(pl.col("day") != "2026-03-20")])),
        code=0,
        caution="No row is of 2026-03-20",
    ),
    Fault(
        what="the target is missed",
        cause=labelled(lambda f: f.with_columns(label=pl.col("label") * (pl.int_range(pl.len()) % 2))),
        code=6,
        mail="check failed: promise_broken == 1",
        alert="UqcliBelowTarget",
    ),
    Fault(
        what="the rate is worse since some day",
        cause=days(lambda f: pl.concat([f, two_more_weeks(f).with_columns(label=pl.lit(0, pl.Int64))])),
        code=6,
        mail="alarm: the rule no longer meets precision",
        alert="UqcliChangeAlarm",
    ),
    Fault(
        what="labels of a counted day change later",
        cause=days(lambda f: f.with_columns(label=1 - pl.col("label"))),
        code=2,
        mail="is counted already, and its counts differ now",
        alert="UqcliDown",
    ),
    Fault(what="uqcli is not on the PATH", cause=not_installed, code=127, mail="not found"),
    Fault(what="a full disk", cause=full_disk, mail="No space left on device", alert="UqcliDown"),
    Fault(
        what="the run is killed", cause=killed, code=137, alert="UqcliDown", otherwise="`Killed`, or no mail"
    ),
    Fault(what="more memory than allowed", cause=out_of_memory, mail="GB of memory", alert="UqcliDown"),
    Fault(what="two jobs at once", cause=overlapping, code=0, otherwise="nobody: the second waits"),
    Fault(
        what="the state of another rule",
        cause=state_of_another_rule,
        code=2,
        mail="is the state of another rule",
        alert="UqcliDown",
    ),
    Fault(what="a state of version 0.4", cause=old_state, code=0, caution="0.4.0 began this state"),
    Fault(
        what="the store is down",
        cause=lambda evening: in_store(evening, STORED, AWS_ENDPOINT_URL="http://127.0.0.1:1"),
        mail="the connection failed",
        alert="UqcliDown",
    ),
    Fault(what="the store is busy", cause=throttled, code=0, otherwise="nobody: it is asked again"),
    Fault(what="no credentials", cause=without_credentials, mail="no credentials found", alert="UqcliDown"),
    Fault(
        what="another run wrote the state first",
        cause=faster_run,
        code=0,
        otherwise="nobody: it counts again",
    ),
    Fault(
        what="the table has a column that the exported query adds",
        cause=clashing_column,
        code=6,
        mail="check failed: the rows have a column 'decision'",
        alert="UqcliDown",
    ),
    Fault(
        what="somebody edited the rule",
        cause=edited_rule,
        code=5,
        mail="was edited after it was written",
        alert="UqcliDown",
    ),
    Fault(what="no run for two nights", cause=no_run, code=0, alert="UqcliTooOld"),
    Fault(
        what="another program's samples cannot be read",
        cause=unreadable_samples,
        code=0,
        alert="UqcliUnreadable",
    ),
)


def table():
    """Return the table of the docs."""
    head = "| what goes wrong | exit code | cron's mail, or who hears of it otherwise | Prometheus fires |\n"
    head += "|---|--:|---|---|\n"
    return head + "".join(f"{fault.row()}\n" for fault in FAULTS)


MARKS = "<!-- evening -->\n", "<!-- /evening -->\n"


def page_with_table():
    """Return the page of the docs with the table."""
    text = PAGE.read_text()
    before, _, rest = text.partition(MARKS[0])
    return f"{before}{MARKS[0]}{table()}{MARKS[1]}{rest.partition(MARKS[1])[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_with_table())
