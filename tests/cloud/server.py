"""A server of S3's protocol on loopback, which counts requests and answers late, throttled or not at all.

It keeps objects in memory, knows what uqcli asks for, and takes a tenth of the time that moto takes. Run as a
program, it serves a folder to a benchmark: ``python -m tests.cloud.server FOLDER MILLISECONDS``.
"""

import hashlib
import sys
import threading
import time
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

MAX_KEYS = 1000


def etag_of(content):
    """Return the ETag of an object that was written in one request and without a key of one's own."""
    return f'"{hashlib.md5(content).hexdigest()}"'


class Store:
    """Objects by bucket and key, and what the server does to requests.

    Attributes
    ----------
    delay
        Seconds before each answer.
    refuse
        Called with method and path; the status and S3's code of a refusal, or None.
    requests
        Numbers of requests by method and what they are about: an object, or a listing.
    most_in_flight
        Largest number of requests that waited at the same time.
    """

    def __init__(self, delay=0.0):
        self.objects, self.delay = {}, delay
        self.refuse = lambda method, path: None
        self.requests, self.in_flight, self.most_in_flight = Counter(), 0, 0
        self.lock = threading.Lock()
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self):
                store.serve(self)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815  names of http.server

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def put_folder(self, folder, bucket, prefix=""):
        """Put the files of a folder into a bucket."""
        objects = self.objects.setdefault(bucket, {})
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                objects[f"{prefix}{path.relative_to(folder)}"] = path.read_bytes()
        return f"s3://{bucket}/{prefix}"

    def serve(self, request):
        """Answer a request."""
        parts = urlsplit(request.path)
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        with self.lock:
            self.requests[request.command, "object" if key else "listing"] += 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        time.sleep(self.delay)
        with self.lock:
            self.in_flight -= 1
            status, headers, content = self._answer(request, bucket, key, parse_qs(parts.query), body)
        request.close_connection = "Transfer-Encoding" in request.headers  # whose body is left unread
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", headers.get("Content-Length") or str(len(content)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(content)

    def _answer(self, request, bucket, key, query, body):
        if refusal := self.refuse(request.command, request.path):
            return refused(*refusal)
        objects = self.objects.get(bucket)
        if objects is None:
            return refused(404, "NoSuchBucket")
        if not key:
            return (200, {}, b"") if request.command == "HEAD" else listing(objects, query)
        if request.command == "PUT":
            return self._put(objects, key, request.headers, body)
        if key not in objects:
            return refused(404, "NoSuchKey")
        if request.command == "DELETE":
            del objects[key]
            return 204, {}, b""
        return got(objects[key], request)

    def _put(self, objects, key, headers, body):
        """Write an object, if it is still the one that the conditions name."""
        if "Content-Length" not in headers:
            return refused(411, "MissingContentLength")
        if copied := headers.get("x-amz-copy-source"):
            source_bucket, _, source = unquote(copied).lstrip("/").partition("/")
            objects[key] = self.objects[source_bucket][source]
            return 200, {}, b"<CopyObjectResult></CopyObjectResult>"
        there = objects.get(key)
        wanted, unwanted = headers.get("If-Match"), headers.get("If-None-Match")
        if (wanted and (there is None or etag_of(there) != wanted)) or (
            unwanted == "*" and there is not None
        ):
            return refused(412, "PreconditionFailed")
        objects[key] = body
        return 200, {"ETag": etag_of(body)}, b""


def got(content, request):
    """Answer HEAD or GET, of a range or the whole object."""
    headers = {
        "ETag": etag_of(content),
        "Last-Modified": formatdate(0, usegmt=True),
        "Accept-Ranges": "bytes",
    }
    if request.command == "HEAD":
        return 200, {**headers, "Content-Length": str(len(content))}, b""
    stated = request.headers.get("Range")
    if stated is None:
        return 200, headers, content
    first, last = stated.removeprefix("bytes=").split("-")
    start, end = int(first), min(int(last or len(content)), len(content) - 1)
    if start >= len(content):
        return refused(416, "InvalidRange")
    return 206, {**headers, "Content-Range": f"bytes {start}-{end}/{len(content)}"}, content[start : end + 1]


def refused(status, code):
    """Answer with an error of S3."""
    text = f"<Error><Code>{code}</Code><Message>refused</Message></Error>"
    return status, {"Content-Type": "application/xml"}, text.encode()


def listing(objects, query):
    """Answer ListObjectsV2."""
    first = {name: values[0] for name, values in query.items()}
    prefix, delimiter = first.get("prefix", ""), first.get("delimiter", "")
    after = first.get("continuation-token") or first.get("start-after") or ""
    most = min(int(first.get("max-keys", MAX_KEYS)), MAX_KEYS)
    entries = []
    for key in sorted(objects):
        if key.startswith(prefix):
            folder, mark, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            entry = f"{prefix}{folder}{delimiter}" if mark else key
            if entry > after and (not entries or entries[-1] != entry):
                entries.append(entry)
    page, is_cut = entries[:most], len(entries) > most
    texts = [
        f"<CommonPrefixes><Prefix>{escape(entry)}</Prefix></CommonPrefixes>"
        if delimiter and entry.endswith(delimiter)
        else f"<Contents><Key>{escape(entry)}</Key><Size>{len(objects[entry])}</Size>"
        f"<ETag>{etag_of(objects[entry])}</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
        for entry in page
    ]
    token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if is_cut else ""
    cut = str(is_cut).lower()
    text = (
        '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<IsTruncated>{cut}</IsTruncated>{token}<KeyCount>{len(page)}</KeyCount>{''.join(texts)}"
        "</ListBucketResult>"
    )
    return 200, {"Content-Type": "application/xml"}, text.encode()


if __name__ == "__main__":
    served = Store(float(sys.argv[2]) / 1000)
    served.put_folder(sys.argv[1], "bucket")
    sys.stdout.write(f"{served.endpoint}\n")
    sys.stdout.flush()
    sys.stdin.read()  # until the benchmark closes it
