"""Record the SHA-256 of every output of the program, or compare with those recorded.

``make outputs-digest`` runs the lines of ``tests.digests.lines`` and the blocks of README and docs. It writes
a line for each output into ``outputs.tsv``: the command line, the output (``exit``, ``out``, ``err`` or a
file's name), and the exit code or the first half of the SHA-256. Outputs are the same on every machine only
under the same versions of the libraries, so run it before and after a change, on one machine.
"""

import argparse
import contextlib
import hashlib
import io
import multiprocessing
import os
import shlex
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

RECORDED = Path(__file__).parent / "outputs.tsv"
LINES_PER_TASK = 20
WIDTH = "80"


@dataclass(frozen=True)
class Folders:
    """The folder with the files that lines read, and the one that keeps all outputs, or None."""

    prepared: Path
    keep: Path | None = None


def record(keep):
    """Run everything, and return the digests by line and output."""
    with tempfile.TemporaryDirectory() as name:
        folders = Folders(Path(name) / "prepared", keep)
        folders.prepared.mkdir()
        # workers are forked before this process imports what has threads
        with multiprocessing.Pool(os.cpu_count(), initializer=start) as pool:
            digests = dict(pool.apply(prepare, (folders,)))
            tasks = pool.apply(tasks_of_blocks) + pool.apply(tasks_of_lines)  # the longest first
            for outputs in pool.imap_unordered(partial(run_task, folders), tasks):
                digests.update(outputs)
    return digests


def start():
    """Prepare a worker: a terminal's width, and arithmetic as in a process of its own."""
    from uqcli.cli.process import set_environment

    os.environ.update(COLUMNS=WIDTH, GRPC_ENABLE_FORK_SUPPORT="0", PYTHONWARNINGS="ignore")
    set_environment()


def tasks_of_lines():
    """Divide the lines into parts, in which each runs once."""
    from tests.digests.lines import GROUPS

    lines = list(dict.fromkeys(line for group in GROUPS.values() for line in group()))
    return [lines[first : first + LINES_PER_TASK] for first in range(0, len(lines), LINES_PER_TASK)]


def tasks_of_blocks():
    """Return a task for each chain of blocks."""
    from tests.documentation.pages import chains

    return [[f"block {chain[0].name}"] for chain in chains()]


def prepare(folders):
    """Write the files, and run the lines that fit rules, in the folder that others copy."""
    from tests.digests import lines

    with contextlib.chdir(folders.prepared):
        lines.make_files()
        return [
            item
            for line in lines.FITTING.values()
            for item in run_line(line, folders.prepared, folders, keeps_files=True)
        ]


def run_task(folders, lines):
    """Run some lines in a copy of the prepared folder, or one chain of blocks."""
    if lines[0].startswith("block "):
        return run_blocks(lines[0], folders)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        shutil.copytree(folders.prepared, folder)
        with contextlib.chdir(folder):
            return [item for line in lines for item in run_line(line, folder, folders)]


def run_line(line, folder, folders, *, keeps_files=False):
    """Run a command line, digest what it prints and writes, and restore the folder."""
    before = states_of(folder)
    code, out, err = run_here(shlex.split(line))
    outputs = {"exit": code, "out": out, "err": err}
    for path, state in states_of(folder).items():
        if before.get(path) != state:
            outputs[str(path.relative_to(folder))] = path.read_bytes()
            if not keeps_files:
                path.unlink()
                with contextlib.suppress(FileNotFoundError):
                    shutil.copy2(folders.prepared / path.relative_to(folder), path)
    return digests_of(f"uqcli {line}".strip(), outputs, folders.keep)


def states_of(folder):
    """Return the size and time of each file."""
    return {
        path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()
    }


def run_here(words):
    """Run a command line in this process, and return its exit code and what it printed."""
    from uqcli.cli.app import run

    streams, printed = (1, 2), []
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    saved = [os.dup(stream) for stream in streams]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            for stream, file in zip(streams, (out, err), strict=True):
                os.dup2(file.fileno(), stream)
            code = run(words)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for stream, old in zip(streams, saved, strict=True):
                os.dup2(old, stream)
                os.close(old)
        for file in (out, err):
            file.seek(0)
            printed.append(file.read())
    return code, *printed


def run_blocks(name, folders):
    """Run a chain of blocks of the docs, and digest what each prints."""
    from tests.documentation.outputs import outputs_of
    from tests.documentation.pages import chains

    (chain,) = (chain for chain in chains() if f"block {chain[0].name}" == name)
    return [
        item
        for block, shown in zip(chain, outputs_of(chain), strict=True)
        for item in digests_of(f"block {block.name}", {"out": shown.encode()}, folders.keep)
    ]


def digests_of(line, outputs, keep=None):
    """Return pairs of (line, output) and digest, and keep the outputs if asked."""
    items = []
    for output, content in outputs.items():
        if output == "exit":
            items.append(((line, output), str(content)))
            continue
        digest = hashlib.sha256(content).hexdigest()[:32] if content else "-"
        items.append(((line, output), digest))
        if keep is not None and content:
            folder = keep / hashlib.sha256(line.encode()).hexdigest()[:12]
            (folder / output).parent.mkdir(parents=True, exist_ok=True)
            (folder / "line").write_text(f"{line}\n")
            (folder / output).write_bytes(content)
    return items


def read_recorded():
    """Read the recorded digests."""
    rows = (row.split("\t") for row in RECORDED.read_text().splitlines())
    return {(line, output): digest for line, output, digest in rows}


def differences(recorded, actual):
    """Describe each output that differs, is new, or is gone."""
    for key in sorted({*recorded, *actual}):
        old, new = recorded.get(key), actual.get(key)
        if old != new:
            word = "new" if old is None else "gone" if new is None else "changed"
            detail = f" {old} -> {new}" if word == "changed" and key[1] == "exit" else ""
            yield f"{word}\t{key[1]}{detail}\t{key[0]}"


def main():
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--compare", action="store_true", help="list what differs from outputs.tsv; exit 1 if any"
    )
    parser.add_argument(
        "--keep", metavar="FOLDER", type=Path, help="write the outputs here, to compare them by diff -r"
    )
    arguments = parser.parse_args()
    start_time = time.monotonic()
    digests = record(arguments.keep)
    lines = len({line for line, _ in digests})
    seconds = time.monotonic() - start_time
    sys.stderr.write(f"{len(digests):,} outputs of {lines:,} lines in {seconds:.0f} s\n")
    if not arguments.compare:
        rows = [f"{line}\t{output}\t{digest}\n" for (line, output), digest in sorted(digests.items())]
        RECORDED.write_text("".join(rows))
        return 0
    found = list(differences(read_recorded(), digests))
    sys.stdout.write("".join(f"{row}\n" for row in found) or "every output is as recorded\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
