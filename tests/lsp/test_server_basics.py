"""The server as a process: diagnostics and hover over the protocol, a clean end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .client import Client

pytest.importorskip("pygls")
URI = "untitled:one"


@pytest.fixture
def client() -> Iterator[Client]:
    client = Client()
    yield client
    assert client.close() == 0, b"".join(client.complaints).decode()


def test_diagnostics_follow_the_edits(client: Client) -> None:
    client.open(URI, "input b : f64[2]\ninput A : f64[3]\ny ← A + b\n")
    (found,) = client.diagnostics(URI, 1)
    assert found["code"] == "E101" and found["severity"] == 1 and found["source"] == "rho"
    assert found["range"] == {"start": {"line": 2, "character": 6}, "end": {"line": 2, "character": 7}}
    assert len(found["relatedInformation"]) >= 2
    client.change(URI, 2, {"range": {"start": {"line": 0, "character": 14}, "end": {"line": 0, "character": 15}}, "text": "3"})
    assert client.diagnostics(URI, 2) == []
    said = client.ask("hover", URI, (2, 0))
    assert "y : 0 f64[3]" in said["contents"]["value"]


def test_leaving_without_shutdown_is_an_error() -> None:
    client = Client()
    client.notify("exit", None)
    assert client.process.wait(60) == 1
