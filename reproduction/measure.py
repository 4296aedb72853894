"""Run a command, and print its wall seconds, user CPU seconds and peak memory in KiB.

It is small, as a child inherits the peak memory of the process that starts it.
"""

import os
import subprocess
import sys
import time

start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
sys.stdout.write(f"{time.perf_counter() - start} {usage.ru_utime} {usage.ru_maxrss}\n")
sys.exit(process.returncode)
