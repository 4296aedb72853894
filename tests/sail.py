"""A server of Spark Connect in this process, for tests of the connection and of errors.

It starts in a moment, but is no Apache Spark: what columns hold is compared on one (``make test-spark``).
"""

import atexit
import functools
import os


@functools.cache
def address():
    """Start the server, and return its address."""
    os.environ.setdefault("RUST_LOG", "off")
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    atexit.register(server.stop)  # whose threads would keep the process alive
    host, port = server.listening_address
    return f"sc://{host}:{port}"
