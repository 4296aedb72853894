#!/usr/bin/env bash
# DuckDB's Python client draws the progress of a slow query into standard output, though that is a pipe.
#
# One would guess: a progress bar is for terminals, and is left out where standard output is a pipe or a file.
# What happens: the client asks only whether the module __main__ has a file. `python -c`, and the workers that
#   some test runners and job queues start so, have none and count as a person at a prompt: a query of more than
#   two seconds writes carriage returns and bars between the lines of the program. The same code as a script
#   writes none. The setting cannot be given to connect(), only set afterwards.
# Why: without a file is how Python looks at a prompt; the terminal is not asked.
# Who meets it: jobs that print JSON or CSV from `python -c`, whose output breaks on the day a query takes longer.
source "$(dirname "$0")/common.sh"

packages duckdb==2.0.1
cat > "$folder/slow.py" <<'P'
import duckdb

connection = duckdb.connect()
# longer than two seconds on a quick machine too; progress_bar_time would switch the bar on
connection.execute("SET threads = 1")
slow = "SELECT sum(sin(a.i) * cos(b.i)) FROM range(30000) a(i), range(40000) b(i)"
print(len(connection.execute(slow).fetchall()))
P
cat > "$folder/look.py" <<'P'
import subprocess
import sys

import duckdb

source = open("slow.py").read()
for name, arguments in (("slow.py", ["slow.py"]), ("-c", ["-c", source])):
    written = subprocess.run([sys.executable, *arguments], capture_output=True, check=True).stdout
    print("python", name, "draws into a pipe:", b"\r" in written)
try:
    duckdb.connect(config={"enable_progress_bar": "false"})
except duckdb.Error as error:
    print("connect:", type(error).__name__)
P
seen "$folder/venv/bin/python" look.py <<'P'
python slow.py draws into a pipe: False
python -c draws into a pipe: True
connect: InvalidInputException
P
