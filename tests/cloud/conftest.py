"""Fixtures of an object store on loopback, and of a proxy that cuts or stalls its connections."""

import io
import logging
import socket
import threading
from contextlib import contextmanager, suppress

import boto3
import pytest
from botocore.config import Config
from moto.server import ThreadedMotoServer

from tests.cli.conftest import figure_stub, sample_frame, uqcli  # noqa: F401  fixtures
from tests.cloud.server import Store
from uqcli.stores import limits

VARIABLES = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Bucket:
    """A bucket with direct access."""

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

    def key_names(self):
        contents = self.client.list_objects_v2(Bucket=self.name).get("Contents", [])
        return sorted(item["Key"] for item in contents)

    def put_folder(self, folder, prefix):
        """Copy the files of a folder; their relative paths become keys."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(folder)}", path.read_bytes())
        return f"{self}/{prefix}"


@pytest.fixture(scope="session")
def endpoint():
    logging.getLogger("werkzeug").disabled = True  # its log would mix with the output of uqcli
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


bucket_numbers = iter(range(1000))


@pytest.fixture
def bucket(endpoint, monkeypatch):
    """Create an empty bucket in the store that the environment names."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL_S3", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    return Bucket(endpoint, f"bucket{next(bucket_numbers)}")


@pytest.fixture
def short_limits(monkeypatch):
    """Shorten the limits, so that tests reach them soon."""
    monkeypatch.setattr(limits, "CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(limits, "REQUEST_SECONDS", 1.0)
    monkeypatch.setattr(limits, "ATTEMPTS", 2)
    monkeypatch.setattr(limits, "THROTTLED_SECONDS", (0.01,))


@pytest.fixture
def store(bucket, monkeypatch):
    """Start a server that counts requests, with a bucket named ``bucket``, in the environment."""
    served = Store()
    served.objects["bucket"] = {}
    monkeypatch.setenv("AWS_ENDPOINT_URL", served.endpoint)
    monkeypatch.setenv("AWS_REQUEST_CHECKSUM_CALCULATION", "when_required")
    yield served
    served.close()


class Proxy:
    """A proxy that passes on a limited number of bytes per connection and direction.

    Parameters
    ----------
    down, up
        Limits in bytes of the store's answers and of the requests; None for no limit.
    stall
        At the limit, stall instead of closing the connection.
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
                client, _ = self._listening.accept()
                store = socket.create_connection(self._store)
                self._sockets += [client, store]
                for source, sink, limit in (
                    (client, store, self._limits[0]),
                    (store, client, self._limits[1]),
                ):
                    threading.Thread(target=self._pass_on, args=(source, sink, limit), daemon=True).start()

    def _pass_on(self, source, sink, limit):
        remaining = limit
        with suppress(OSError):
            while piece := source.recv(1 << 14):
                passed = piece if remaining is None else piece[:remaining]
                sink.sendall(passed)
                remaining = None if remaining is None else remaining - len(passed)
                if remaining == 0:
                    self.reached.set()
                    if self._stall:
                        return
                    break
            for open_socket in (source, sink):
                open_socket.shutdown(socket.SHUT_RDWR)

    def close(self):
        for open_socket in self._sockets:
            with suppress(OSError):
                open_socket.close()


@pytest.fixture
def proxied(bucket, monkeypatch):
    """Start a proxy in front of the store: ``with proxied(down=1000) as proxy``."""

    @contextmanager
    def start_proxy(**options):
        proxy = Proxy(bucket.endpoint, **options)
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        try:
            yield proxy
        finally:
            monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.endpoint)
            proxy.close()

    return start_proxy


def frame_of(rows, seed=7):
    """Draw sample rows with the required columns."""
    return sample_frame(rows, seed).select("score", "uncertainty", "label")


def uncertainty_line(path, rows):
    """Write rows of two members to a local file, and return a command line that reads them."""
    path.write_text("a,b\n" + "0.5,0.25\n" * rows)
    return ["uncertainty", str(path), "--members", "a,b", "-q"]


def file_bytes(frame, suffix):
    """Write a frame to the bytes of a file."""
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
