"""A language client: speaks JSON-RPC with `rho lsp` over its standard streams."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

SECONDS = 60
"""How long to wait for an answer before the server counts as dead."""


class Client:
    """One server process; what it sends is kept in order until asked for."""

    def __init__(self, capabilities: dict[str, Any] | None = None, options: dict[str, Any] | None = None) -> None:
        environment = {**os.environ, "RHO_VERDICTS": "off"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rho.shell", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment,
        )  # fmt: skip
        self.arrived: queue.Queue[dict[str, Any]] = queue.Queue()
        self.later: list[dict[str, Any]] = []
        self.complaints: list[bytes] = []
        self.last = 0
        for target in (self._receive, self._complain):
            threading.Thread(target=target, daemon=True).start()
        self.server = self.request(
            "initialize",
            {"processId": None, "rootUri": None, "capabilities": capabilities or {}, "initializationOptions": options},
        )
        self.notify("initialized", {})

    def _receive(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = None
            while (line := stream.readline()) not in (b"", b"\r\n"):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if length is None:
                return
            self.arrived.put(json.loads(stream.read(length)))

    def _complain(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.complaints.append(line)

    def send(self, message: dict[str, Any]) -> None:
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode())

    def send_bytes(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def answer(self, method: str, params: Any) -> dict[str, Any]:
        """The whole response, an error or a result."""
        self.last += 1
        number = self.last
        self.send({"id": number, "method": method, "params": params})
        return self._take(lambda message: message.get("id") == number and "method" not in message)

    def request(self, method: str, params: Any) -> Any:
        found = self.answer(method, params)
        assert "error" not in found, (found, b"".join(self.complaints).decode())
        return found["result"]

    def _take(self, wanted: Any) -> dict[str, Any]:
        for index, message in enumerate(self.later):
            if wanted(message):
                return self.later.pop(index)
        while True:
            message = self.arrived.get(timeout=SECONDS)
            if wanted(message):
                return message
            self.later.append(message)

    # ------------------------------------------------------------------------------- documents

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "rho", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def diagnostics(self, uri: str, version: int) -> list[dict[str, Any]]:
        """Those of this very version."""

        def wanted(message: dict[str, Any]) -> bool:
            params = message.get("params") or {}
            published = message.get("method") == "textDocument/publishDiagnostics"
            return published and params["uri"] == uri and params.get("version") == version

        found: list[dict[str, Any]] = self._take(wanted)["params"]["diagnostics"]
        return found

    def ask(self, method: str, uri: str, position: tuple[int, int] | None = None, **more: Any) -> Any:
        """A request about a document, at a place if one is given."""
        params: dict[str, Any] = {"textDocument": {"uri": uri}, **more}
        if position is not None:
            params["position"] = {"line": position[0], "character": position[1]}
        return self.request(f"textDocument/{method}", params)

    def close(self) -> int:
        """Leave as the protocol says; the exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(SECONDS)


def uri_of(path: Path) -> str:
    return path.resolve().as_uri()
