"""Single files of web servers: read once, whole or not at all."""

import http.server
import threading
import time
from typing import ClassVar

import pytest

from tests.cloud.conftest import frame_of, written

ROWS = frame_of(2000)
FILES = {
    f"/a{suffix}": written(ROWS, suffix) for suffix in (".csv", ".csv.gz", ".jsonl", ".parquet", ".arrow")
}
FILES["/day=1/a.csv"] = FILES["/rows"] = FILES["/a.csv"]
FILES["/parquet"] = FILES["/a.parquet"]


class Handler(http.server.BaseHTTPRequestHandler):
    """The files; ``/cut/`` sends half, ``/slow/`` keeps the rest back, ``/chunks/`` ends after a chunk."""

    protocol_version = "HTTP/1.1"
    asked: ClassVar = []

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.asked.append(self.path)
        trouble, _, name = path[1:].partition("/") if path.count("/") > 1 else ("", "", path[1:])
        if trouble == "to":
            self.send_response(302)
            self.send_header("Location", f"/{name}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if trouble == "away":
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
        content = FILES.get(path if trouble.startswith("day") else f"/{name}")
        if content is None:
            self.send_error(404)
            return
        self.send_response(206 if trouble == "part" else 200)
        if trouble == "chunks":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"400\r\n" + content[:1024] + b"\r\n")
            self.close_connection = True
            return
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        broken = trouble in ("cut", "slow")
        self.wfile.write(content[: len(content) // 2] if broken else content)
        self.close_connection = broken
        if trouble == "slow":
            self.wfile.flush()
            time.sleep(3)

    def log_message(self, *_):
        pass


@pytest.fixture
def web(impatient, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Handler, "asked", [])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("/a.")])
def test_files_are_read(uqcli, web, tmp_path, name):
    (tmp_path / name[1:]).write_bytes(FILES[name])
    near = uqcli("boundary", tmp_path / name[1:], "--precision", "0.6", "--json")
    done = uqcli("boundary", f"{web}{name}", "--precision", "0.6", "--json")
    assert (done.code, done.out) == (0, near.out)
    assert Handler.asked == [name]


def test_the_path_tells_the_format_or_an_option_or_the_first_bytes(uqcli, web, tmp_path):
    (tmp_path / "a.csv").write_bytes(FILES["/a.csv"])
    near = uqcli("tce", tmp_path / "a.csv", "--json")
    for place in ("/a.csv?sign=a.parquet", "/rows", "/parquet", "/to/a.csv", "/day=1/a.csv"):
        done = uqcli("tce", f"{web}{place}", "--json")
        assert (done.code, done.out) == (0, near.out), place


def test_folders_of_the_path_are_columns(uqcli, web):
    done = uqcli("tce", f"{web}/day=1/a.csv", "--by", "day", "--json", "--bootstrap", "0")
    assert done.code == 0
    assert '"1"' in done.out.decode()


def test_models_are_read(uqcli, web, tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_bytes(FILES["/a.csv"])
    assert uqcli("boundary", tmp_path / "a.csv", "--precision", "0.6", "-o", tmp_path / "b.json").code == 0
    monkeypatch.setitem(FILES, "/b.json", (tmp_path / "b.json").read_bytes())
    done = uqcli("apply", f"{web}/b.json", f"{web}/a.csv", "-o", tmp_path / "o.csv")
    assert done.code == 0
    assert len((tmp_path / "o.csv").read_bytes().splitlines()) == 2001


TROUBLE = {
    "/cut/a.csv": "the answer ends after",
    "/cut/a.csv.gz": "the answer ends after",
    "/cut/a.parquet": "the answer ends after",
    "/chunks/a.csv": "the answer is cut off",
    "/slow/a.csv": "no answer within 1 seconds",
    "/none.csv": "the server answered 404",
}


@pytest.mark.parametrize("place", TROUBLE)
def test_answers_that_are_none(uqcli, web, tmp_path, place):
    (tmp_path / "a.csv").write_bytes(FILES["/a.csv"])
    assert uqcli("boundary", tmp_path / "a.csv", "--precision", "0.6", "-o", tmp_path / "b.json").code == 0
    (tmp_path / "o.csv").write_bytes(b"old")
    done = uqcli("apply", tmp_path / "b.json", f"{web}{place}", "-q", "-o", tmp_path / "o.csv")
    assert done.code == 3
    assert len(done.err.splitlines()) == 1
    assert f"'{web}{place}'" in done.err
    assert TROUBLE[place] in done.err
    assert (tmp_path / "o.csv").read_bytes() == b"old"


@pytest.mark.parametrize("place", ["http://127.0.0.1:1/a.csv", "http:///a.csv", "http://127.0.0.1:x/a.csv"])
def test_servers_that_are_none(uqcli, impatient, place):
    done = uqcli("tce", place)
    assert (done.code, len(done.err.splitlines())) == (3, 1)
    assert f"cannot read '{place}'" in done.err


@pytest.mark.usefixtures("undrawn")
def test_what_signs_an_address_is_not_said(uqcli, web, tmp_path):
    signed = web.replace("http://", "http://user:secret@") + "/none.csv?signature=secret"
    for place in (signed, f"{web}/none.csv?signature=secret", f"{web}/away/ftp?signature=secret"):
        for line in (("tce", place), ("apply", place, "d.csv"), ("tce", "d.csv", "--report", f"{place}.md")):
            done = uqcli(*line, "--report", "r.json")
            assert done.code in (2, 3), line
            assert "secret" not in done.err + (tmp_path / "r.json").read_text()


@pytest.mark.parametrize("scheme", ["http", "s3", "az", "hdfs"])
def test_users_and_passwords_in_addresses_are_refused_unseen(uqcli, scheme, tmp_path):
    place = f"{scheme}://me:secret@host/a.csv"
    for line in (("tce", place), ("bin", place), ("simulate", "posterior", "--rows", "9", "-o", place)):
        done = uqcli(*line, "--report", "r.xml")
        assert done.code == 3, line
        assert "secret" not in done.err + (tmp_path / "r.xml").read_text()
        assert scheme == "hdfs" or "contains a user or a password" in done.err or line[0] == "simulate"


def test_redirections_stay_on_the_web(uqcli, web):
    for place in ("ftp", "file", "data"):
        done = uqcli("tce", f"{web}/away/{place}")
        assert done.code == 3
        assert "it leads to a place that is not on the web" in done.err


def test_a_part_is_not_the_whole(uqcli, web):
    done = uqcli("tce", f"{web}/part/a.csv")
    assert (done.code, "the server answered 206 Partial Content; expected 200" in done.err) == (3, True)


def test_paths_of_any_letters_are_asked_for(uqcli, web, monkeypatch):
    monkeypatch.setitem(FILES, "/d%C3%A9j%C3%A0.csv", FILES["/a.csv"])
    for place in ("/déjà.csv", "/d%C3%A9j%C3%A0.csv"):
        assert uqcli("tce", f"{web}{place}", "-q").code == 0
    assert Handler.asked == ["/d%C3%A9j%C3%A0.csv"] * 2


def test_pages_do_not_repeat_what_signs_an_address(uqcli, web, tmp_path):
    assert uqcli("tce", f"{web}/a.csv?signature=secret", "-q", "--report", "r.md").code == 0
    page = (tmp_path / "r.md").read_text()
    assert f"{web}/a.csv" in page
    assert "secret" not in page
