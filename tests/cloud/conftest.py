"""An object store on loopback, and a proxy before it that cuts or keeps back what it should pass on."""

import io
import logging
import socket
import threading
from contextlib import contextmanager, suppress

import boto3
import pytest
from botocore.config import Config
from moto.server import ThreadedMotoServer

from tests.cli.conftest import sample_frame, undrawn, uqcli  # noqa: F401  fixtures
from uqcli.stores import limits

VARIABLES = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Bucket:
    """A bucket, asked directly."""

    def __init__(self, endpoint, name):
        self.endpoint = endpoint
        self.name = name
        self.client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(s3={"addressing_style": "path"}),
        )
        self.client.create_bucket(Bucket=name)

    def __str__(self):
        return f"s3://{self.name}"

    def put(self, key, content):
        self.client.put_object(Bucket=self.name, Key=key, Body=content)
        return f"{self}/{key}"

    def get(self, key):
        return self.client.get_object(Bucket=self.name, Key=key)["Body"].read()

    def listed(self):
        listed = self.client.list_objects_v2(Bucket=self.name).get("Contents", [])
        return sorted(each["Key"] for each in listed)

    def put_folder(self, folder, below):
        """Copy the files of a directory; their names below it become keys."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{below}/{path.relative_to(folder)}", path.read_bytes())
        return f"{self}/{below}"


@pytest.fixture(scope="session")
def endpoint():
    logging.getLogger("werkzeug").disabled = True  # it would write between the lines of the program
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


numbers = iter(range(1000))


@pytest.fixture
def bucket(endpoint, monkeypatch):
    """An empty bucket of the store that the environment names."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    return Bucket(endpoint, f"bucket{next(numbers)}")


@pytest.fixture
def impatient(monkeypatch):
    """Limits that let a test see what happens at their ends."""
    monkeypatch.setattr(limits, "CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 1.0)
    monkeypatch.setattr(limits, "ATTEMPTS", 2)


class Proxy:
    """Passes bytes on, up to so many of each connection in each direction.

    Parameters
    ----------
    down, up
        Bytes of the store's answers, and of what it is sent; None for all.
    stall
        Whether nothing more comes then, instead of an end.
    """

    def __init__(self, endpoint, *, down=None, up=None, stall=False):
        host, port = endpoint.removeprefix("http://").split(":")
        self._store = (host, int(port))
        self._limits = (up, down)
        self._stall = stall
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._sockets = [self._listening]
        self.reached = threading.Event()
        self.endpoint = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(self._store)
                self._sockets += [near, far]
                for source, sink, most in ((near, far, self._limits[0]), (far, near, self._limits[1])):
                    threading.Thread(target=self._pass_on, args=(source, sink, most), daemon=True).start()

    def _pass_on(self, source, sink, most):
        left = most
        with suppress(OSError):
            while piece := source.recv(1 << 14):
                given = piece if left is None else piece[:left]
                sink.sendall(given)
                left = None if left is None else left - len(given)
                if left == 0:
                    self.reached.set()
                    if self._stall:
                        return
                    break
            for each in (source, sink):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        for each in self._sockets:
            with suppress(OSError):
                each.close()


@pytest.fixture
def proxied(bucket, monkeypatch):
    """Put a proxy before the store; ``with proxied(down=1000) as proxy``."""

    @contextmanager
    def put(**options):
        proxy = Proxy(bucket.endpoint, **options)
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        try:
            yield proxy
        finally:
            monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.endpoint)
            proxy.close()

    return put


def frame_of(rows, seed=7):
    """Rows of the sample with the columns that are needed."""
    return sample_frame(rows, seed).select("score", "uncertainty", "label")


def written(frame, suffix):
    """A frame as the bytes of a file."""
    import gzip

    import pyarrow as pa

    stream = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(stream, row_group_size=100)
    elif suffix.startswith(".csv"):
        frame.write_csv(stream)
    elif suffix.startswith(".jsonl"):
        frame.write_ndjson(stream)
    elif suffix == ".arrow":
        frame.write_ipc(stream)
    content = stream.getvalue()
    if suffix.endswith(".gz"):
        return gzip.compress(content, mtime=0)
    return pa.compress(content, codec="zstd", asbytes=True) if suffix.endswith(".zst") else content
