"""Run a command, and print its wall seconds and peak memory in KiB; small, as a child inherits its size."""

import os
import subprocess
import sys
import time

start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(time.perf_counter() - start, usage.ru_maxrss)
sys.exit(process.returncode)
