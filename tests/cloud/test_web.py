"""Tests of single files on web servers: uqcli reads them once, and whole."""

import http.server
import io
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from types import SimpleNamespace
from typing import ClassVar

import pytest

from tests.cloud.conftest import file_bytes, frame_of
from uqcli.stores import limits
from uqcli.stores.web import _InsecureError, _Redirections

ROWS = frame_of(2000)
FILES = {
    f"/a{suffix}": file_bytes(ROWS, suffix) for suffix in (".csv", ".csv.gz", ".jsonl", ".parquet", ".arrow")
}
FILES["/day=1/a.csv"] = FILES["/rows"] = FILES["/a.csv"]
FILES["/parquet"] = FILES["/a.parquet"]


LENGTHS = {
    "open": (),
    "same": ("{0}", "{0}"),
    "listed": ("{0}, {0}",),
    "two": ("{0}", "1{0}"),
    "both": ("{0}, 1{0}",),
    "sign": ("\u00b2",),
    "minus": ("-{0}",),
    "chunked": ("{0}",),
}
"""Lengths that an answer states, by fault; ``{0}`` is the length of the body."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves the files: ``/cut/`` sends half, ``/slow/`` stalls, ``/chunks/`` ends after a chunk."""

    protocol_version = "HTTP/1.1"
    requested: ClassVar = []

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.requested.append(self.path)
        fault, _, name = path[1:].partition("/") if path.count("/") > 1 else ("", "", path[1:])
        if fault == "to":
            self.send_response(302)
            self.send_header("Location", f"/{name}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if fault == "away":
            targets = {
                "ftp": "ftp://me:secret@127.0.0.1/a.csv",
                "file": "file:///etc/hosts",
                "data": "data:,a",
            }
            self.send_response(302)
            self.send_header("Location", targets[name])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if fault in ("on", "down"):  # to the next number, or back
            self.send_response(302)
            self.send_header("Location", f"/on/{int(name) + 1}" if fault == "on" else f"/down/{name}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = FILES.get(path if fault.startswith("day") else f"/{name}")
        if content is None:
            self.send_error(404)
            return
        self.send_response(206 if fault == "part" else 200)
        if fault == "chunks":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"400\r\n" + content[:1024] + b"\r\n")
            self.close_connection = True
            return
        if fault in LENGTHS:
            for length in LENGTHS[fault]:
                self.send_header("Content-Length", length.format(len(content)))
            if fault == "chunked":
                self.send_header("Transfer-Encoding", "chunked")
                content = f"{len(content):x}\r\n".encode() + content + b"\r\n0\r\n\r\n"
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = True
            return
        if fault == "drip":
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            with suppress(OSError):
                for byte in content:
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.05)
            return
        if fault == "headers":
            with suppress(OSError):
                while True:
                    self.wfile.write(b"x")
                    time.sleep(0.05)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        broken = fault in ("cut", "slow")
        self.wfile.write(content[: len(content) // 2] if broken else content)
        self.close_connection = broken
        if fault == "slow":
            self.wfile.flush()
            time.sleep(3)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server whose clients may leave before they read everything."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@pytest.fixture
def web(short_limits, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Handler, "requested", [])
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("/a.")])
def test_files_are_read(uqcli, web, tmp_path, name):
    (tmp_path / name[1:]).write_bytes(FILES[name])
    local = uqcli("boundary", tmp_path / name[1:], "--precision", "0.6", "--json")
    outcome = uqcli("boundary", f"{web}{name}", "--precision", "0.6", "--json")
    assert (outcome.code, outcome.out) == (0, local.out)
    assert Handler.requested == [name]


@pytest.mark.thorough
def test_the_format_follows_from_the_path_or_the_first_bytes(uqcli, web, tmp_path):
    (tmp_path / "a.csv").write_bytes(FILES["/a.csv"])
    local = uqcli("tce", tmp_path / "a.csv", "--json")
    for path in ("/a.csv?sign=a.parquet", "/rows", "/parquet", "/to/a.csv", "/day=1/a.csv"):
        outcome = uqcli("tce", f"{web}{path}", "--json")
        assert (outcome.code, outcome.out) == (0, local.out), path


def test_folders_of_the_path_are_columns(uqcli, web):
    outcome = uqcli("tce", f"{web}/day=1/a.csv", "--by", "day", "--json", "--bootstrap", "0")
    assert outcome.code == 0
    assert '"1"' in outcome.out.decode()


@pytest.mark.thorough
def test_rule_files_are_read(uqcli, web, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_bytes(FILES["/a.csv"])
    assert uqcli("boundary", tmp_path / "a.csv", "--precision", "0.6", "-o", tmp_path / "b.json").code == 0
    monkeypatch.setitem(FILES, "/b.json", (tmp_path / "b.json").read_bytes())
    outcome = uqcli("apply", f"{web}/b.json", f"{web}/a.csv", "-o", tmp_path / "o.csv")
    assert outcome.code == 0
    assert len((tmp_path / "o.csv").read_bytes().splitlines()) == 2001


@pytest.mark.parametrize("fault", ["same", "listed", "chunked"])
def test_an_answer_with_a_length_or_chunks_is_read(uqcli, web, fault):
    assert uqcli("tce", f"{web}/{fault}/a.csv").code == 0


@pytest.mark.parametrize("fault", ["two", "both", "sign", "minus"])
@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_contradicting_lengths_are_refused(uqcli, web, fault, name):
    outcome = uqcli("tce", f"{web}/{fault}/{name}")
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1), outcome.err
    assert "it states no single length" in outcome.err


def test_chunks_of_another_length_are_refused(uqcli, web, monkeypatch):
    monkeypatch.setitem(LENGTHS, "chunked", ("1{0}",))
    assert "the answer ends after" in uqcli("tce", f"{web}/chunked/a.csv").err
    monkeypatch.setitem(LENGTHS, "chunked", ("7",))
    assert "the answer ends after" in uqcli("tce", f"{web}/chunked/a.csv").err


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "rows", "a.csv.gz", "a.parquet", "a.arrow", "parquet"])
def test_text_of_unknown_length_is_refused_and_other_formats_show_their_end(uqcli, web, monkeypatch, name):
    address = f"{web}/open/{name}"
    outcome = uqcli("tce", address)
    if name in ("a.csv", "a.jsonl", "rows"):
        assert (outcome.code, "does not say how long it is" in outcome.err) == (3, True)
        assert len(outcome.err.splitlines()) == 1
        return
    assert outcome.code == 0
    monkeypatch.setitem(FILES, f"/{name}", FILES[f"/{name}"][:-100])
    outcome = uqcli("tce", address)
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)


def test_rule_files_of_unknown_length_show_their_end(uqcli, web, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_bytes(FILES["/a.csv"])
    assert uqcli("boundary", tmp_path / "a.csv", "--precision", "0.6", "-o", tmp_path / "b.json").code == 0
    monkeypatch.setitem(FILES, "/b.json", (tmp_path / "b.json").read_bytes())
    assert uqcli("show", f"{web}/open/b.json").code == 0
    monkeypatch.setitem(FILES, "/b.json", (tmp_path / "b.json").read_bytes()[:-9])
    assert uqcli("show", f"{web}/open/b.json").code == 5


@pytest.mark.parametrize("fault", ["drip", "headers"])
def test_an_answer_takes_a_limited_time(uqcli, web, monkeypatch, fault):
    monkeypatch.setattr(limits, "ANSWER_SECONDS", 0.3)
    outcome = uqcli("tce", f"{web}/{fault}/a.csv")
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)
    assert "it did not answer in full within 0.3 seconds" in outcome.err


@pytest.mark.parametrize("path", ["on/1", "down/1"])
def test_redirections_are_limited(uqcli, web, path):
    outcome = uqcli("tce", f"{web}/{path}")
    assert (outcome.code, "it leads on more than 5 times" in outcome.err) == (3, True), outcome.err
    assert len(Handler.requested) <= limits.MAX_REDIRECTIONS + 1


@pytest.mark.parametrize("target", ["http://host/b.csv", "HTTP://host/b.csv", "//host/b.csv", "/b.csv"])
def test_no_redirection_leads_from_https_to_http(target):
    """No server is asked: the next request is what the redirection returns or raises."""
    handler, asked = _Redirections(), []
    handler.parent = SimpleNamespace(open=lambda request, **_: asked.append(request.full_url))
    request = urllib.request.Request("https://host/a.csv")
    request.timeout = 1
    arguments = (request, io.BytesIO(), 302, "", {"location": target})
    if target.lower().startswith("http:"):
        with pytest.raises(_InsecureError):
            handler.http_error_302(*arguments)
    else:
        handler.http_error_302(*arguments)
        assert asked == ["https://host/b.csv"]


FAULTS = {
    "/cut/a.csv": "the answer ends after",
    "/cut/a.csv.gz": "the answer ends after",
    "/cut/a.parquet": "the answer ends after",
    "/chunks/a.csv": "the answer is cut off",
    "/slow/a.csv": "no answer within 1 seconds",
    "/none.csv": "the server answered 404",
}


@pytest.mark.covering("thorough", every=6, also=["/cut/a.csv"])
@pytest.mark.parametrize("path", FAULTS)
def test_incomplete_answers_are_errors(uqcli, web, tmp_path, path):
    (tmp_path / "a.csv").write_bytes(FILES["/a.csv"])
    assert uqcli("boundary", tmp_path / "a.csv", "--precision", "0.6", "-o", tmp_path / "b.json").code == 0
    (tmp_path / "o.csv").write_bytes(b"old")
    outcome = uqcli("apply", tmp_path / "b.json", f"{web}{path}", "-q", "-o", tmp_path / "o.csv")
    assert outcome.code == 3
    assert len(outcome.err.splitlines()) == 1
    assert f"'{web}{path}'" in outcome.err
    assert FAULTS[path] in outcome.err
    assert (tmp_path / "o.csv").read_bytes() == b"old"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/a.csv", "http:///a.csv", "http://127.0.0.1:x/a.csv"])
def test_unreachable_servers_are_errors(uqcli, short_limits, address):
    outcome = uqcli("tce", address)
    assert (outcome.code, len(outcome.err.splitlines())) == (3, 1)
    assert f"cannot read '{address}'" in outcome.err


def test_secrets_of_addresses_are_not_printed(uqcli, web, tmp_path):
    signed = web.replace("http://", "http://user:secret@") + "/none.csv?signature=secret"
    for address in (signed, f"{web}/none.csv?signature=secret", f"{web}/away/ftp?signature=secret"):
        for line in (
            ("tce", address),
            ("apply", address, "d.csv"),
            ("tce", "d.csv", "--report", f"{address}.md"),
        ):
            outcome = uqcli(*line, "--report", "r.json")
            assert outcome.code in (2, 3), line
            assert "secret" not in outcome.err + (tmp_path / "r.json").read_text()


@pytest.mark.parametrize("scheme", ["http", "s3", "az", "hdfs"])
def test_users_and_passwords_in_addresses_are_refused_and_not_printed(uqcli, scheme, tmp_path):
    address = f"{scheme}://me:secret@host/a.csv"
    for line in (
        ("tce", address),
        ("bin", address),
        ("uncertainty", "d.csv", "--members", "a,b", "-o", address),
    ):
        outcome = uqcli(*line, "--report", "r.xml")
        assert outcome.code == 3, line
        assert "secret" not in outcome.err + (tmp_path / "r.xml").read_text()
        assert scheme == "hdfs" or "contains a user or a password" in outcome.err or "-o" in line


def test_redirections_stay_on_the_web(uqcli, web):
    for target in ("ftp", "file", "data"):
        outcome = uqcli("tce", f"{web}/away/{target}")
        assert outcome.code == 3
        assert "it leads to a place that is not on the web" in outcome.err


def test_partial_content_is_refused(uqcli, web):
    outcome = uqcli("tce", f"{web}/part/a.csv")
    assert (outcome.code, "the server answered 206 Partial Content; expected 200" in outcome.err) == (3, True)


def test_paths_of_any_letters_are_requested_encoded(uqcli, web, monkeypatch):
    monkeypatch.setitem(FILES, "/d%C3%A9j%C3%A0.csv", FILES["/a.csv"])
    for path in ("/déjà.csv", "/d%C3%A9j%C3%A0.csv"):
        assert uqcli("tce", f"{web}{path}", "-q").code == 0
    assert Handler.requested == ["/d%C3%A9j%C3%A0.csv"] * 2


def test_pages_do_not_contain_secrets_of_addresses(uqcli, web, tmp_path):
    assert uqcli("tce", f"{web}/a.csv?signature=secret", "-q", "--report", "r.md").code == 0
    page = (tmp_path / "r.md").read_text()
    assert f"{web}/a.csv" in page
    assert "secret" not in page
