"""A small HTTP server on the loopback that serves the files of a folder, by ranges or with faults.

The first part of a path is the mode: `/ranges/x.npy` is served correctly, other modes misbehave (`Handler.answer`)."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Served:
    """The state of a server: bytes of bodies sent, by file name; requests (`asked`), by method; `tag` is the ETag of all
    files."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tag, self.sent = folder, '"1"', dict[str, int]()
        self.asked = Counter[str]()
        self.lock, self.over = threading.Lock(), threading.Event()
        self.address = ""

    def url(self, name: str, how: str = "ranges") -> str:
        return f"{self.address}/{how}/{name}"

    def count(self, name: str, size: int) -> None:
        with self.lock:
            self.sent[name] = self.sent.get(name, 0) + size


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """Serve the files of a folder for the duration of the block."""
    served = Served(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def log_message(self, format: str, *given: object) -> None:
            pass

        def answer(self) -> None:
            with served.lock:
                served.asked[self.command] += 1
            how, _, name = self.path.lstrip("/").partition("/")
            path = served.folder / name.partition("?")[0]
            if how == "silent":
                served.over.wait()
                self.close_connection = True
            elif how == "moved":
                self.reply(302, b"over there", [("Location", served.url(name))])
            elif how == "removed":
                self.reply(302, b"over there", [("Location", f"/ranges/{name}")])
            elif how == "broken":
                self.reply(503, b"not now")
            elif not path.is_file():
                self.reply(404, b"no such file")
            else:
                self.file(how, name, path.read_bytes())

        def file(self, how: str, name: str, data: bytes) -> None:
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            status, headers, body = 200, [("ETag", served.tag)] if how != "untold" else [], data
            if asked is not None and how != "whole":
                first, last = int(asked[1]), min(int(asked[2]), len(data) - 1)
                status, body = 206, data[first : last + 1]
                headers.append(("Content-Range", f"bytes {first}-{last}/{len(data)}"))
            if how == "unsized":
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data))
                return
            if how == "cut" and self.command == "GET" and asked is not None and int(asked[1]):
                self.reply(status, body, headers, len(body) // 2)
                self.close_connection = True
                return
            served.count(name, self.reply(status, body, headers))

        def reply(self, status: int, body: bytes, headers: list[tuple[str, str]] | None = None, most: int | None = None) -> int:
            self.send_response(status)
            for name, value in headers or []:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "HEAD":
                return 0
            self.wfile.write(body[:most])
            return len(body[:most])

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, address: object) -> None:
            """Ignore clients that have disconnected."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
