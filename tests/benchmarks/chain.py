"""Run a command line of uqcli, and print the CPU seconds of its longest chain and of all its threads.

The chain is what any number of cores waits for: the main thread, and the busiest worker of each stage.
"""

import contextlib
import os
import sys
import time

busiest = []
"""CPU seconds of the busiest worker of each parallel map of the main thread."""


def seconds(pool):
    """Return the CPU seconds of each thread of a pool so far."""
    clocks = {thread.ident: time.pthread_getcpuclockid(thread.ident) for thread in pool._threads}
    return {ident: time.clock_gettime(clock) for ident, clock in clocks.items()}


def measured(lend):
    """Return a function that lends pools, and notes how much their threads worked."""

    @contextlib.contextmanager
    def lending(workers):
        with lend(workers) as pool:
            before = seconds(pool)
            yield pool
            worked = [after - before.get(ident, 0.0) for ident, after in seconds(pool).items()]
            if threading.current_thread() is threading.main_thread():
                busiest.append(max(worked, default=0.0))

    return lending


def report(code):
    """Print the seconds, and end as the program does."""
    os.write(1, f"\n{time.thread_time() + sum(busiest):.3f} {time.process_time():.3f}\n".encode())
    os._exit(code)


if __name__ == "__main__":
    import threading

    import uqcli.base.running.concurrency as pools

    pools.pool_of = measured(pools.pool_of)
    from uqcli import __main__ as program

    program._leave = report
    sys.argv[0] = "uqcli"
    program.main()
