"""Positions that no text has, and that are none: every request that takes one is answered, and edits mean the nearest place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .client import Client
from .texts import URI

TEXT = "x ← 1 2 3 ⍝ 𝔸𝔸\nf ← {⍵+x}\n⎕←f 2\n"
INVALID_PARAMS = -32602
OUTSIDE: list[tuple[Any, Any]] = [
    (0, -1), (-1, 0), (-1, -1), (0, 10**6), (10**6, 0), (3, 0), (3, 1), (0, 2**31 - 1),
    (0, 2**31), (2**31, 0), (0, 2**63), (0, -(2**63)),
    (0, 10**30), (-(10**30), 10**30), (0, 13), (0, 15), (0, 1.5), ("0", "1"),
]  # fmt: skip
NONE: list[tuple[Any, Any]] = [(0, None), (None, 0), (0, "a"), (0, [1]), ({}, 0), (0, {"line": 0})]


def request(method: str, line: object, character: object) -> tuple[str, dict[str, Any]]:
    here = {"line": line, "character": character}
    document = {"textDocument": {"uri": URI}}
    extent = {"start": here, "end": here}
    match method:
        case "inlayHint":
            return f"textDocument/{method}", document | {"range": extent}
        case "codeAction":
            return f"textDocument/{method}", document | {"range": extent, "context": {"diagnostics": []}}
        case "rangeFormatting":
            return f"textDocument/{method}", document | {"range": extent, "options": {"tabSize": 2, "insertSpaces": True}}
        case "onTypeFormatting":
            return f"textDocument/{method}", document | {
                "position": here, "ch": " ", "options": {"tabSize": 2, "insertSpaces": True}
            }  # fmt: skip
        case "references":
            return f"textDocument/{method}", document | {"position": here, "context": {"includeDeclaration": True}}
        case "rename":
            return f"textDocument/{method}", document | {"position": here, "newName": "y"}
    return f"textDocument/{method}", document | {"position": here}


WITH_POSITIONS = {
    "hoverProvider": "hover", "completionProvider": "completion", "signatureHelpProvider": "signatureHelp",
    "definitionProvider": "definition", "referencesProvider": "references", "documentHighlightProvider": "documentHighlight",
    "codeActionProvider": "codeAction", "documentOnTypeFormattingProvider": "onTypeFormatting", "renameProvider": "rename",
    "inlayHintProvider": "inlayHint", "documentRangeFormattingProvider": "rangeFormatting",
}  # fmt: skip
WITHOUT = {
    "documentSymbolProvider", "workspaceSymbolProvider", "semanticTokensProvider", "codeLensProvider",
    "documentFormattingProvider",
    "executeCommandProvider", "textDocumentSync", "workspace", "positionEncoding", "foldingRangeProvider",
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    made = Client()
    made.open(URI, TEXT)
    yield made
    assert made.close() == 0


def offered(client: Client) -> list[str]:
    capabilities = client.server["capabilities"]
    given = [name for name, value in capabilities.items() if value not in (None, False) and name not in WITHOUT]
    assert set(given) <= WITH_POSITIONS.keys(), "a request of which this net knows nothing"
    return [WITH_POSITIONS[name] for name in given] + ["prepareRename"]


def test_every_request_is_answered_wherever_it_points(client: Client) -> None:
    methods = offered(client)
    assert len(methods) >= 8
    for method in methods:
        for line, character in OUTSIDE:
            said = client.answer(*request(method, line, character))
            assert "result" in said or (method == "rename" and said["error"]["message"]), (method, line, character, said)


def test_what_is_no_position_is_refused(client: Client) -> None:
    for method in offered(client):
        for line, character in NONE:
            said = client.answer(*request(method, line, character))
            assert said.get("error", {}).get("code") == INVALID_PARAMS, (method, line, character, said)
    assert "result" in client.answer(*request("hover", 0, 0))


def test_what_is_no_request_is_answered(client: Client) -> None:
    for params in (None, {}, [], "x", 3, {"textDocument": None}, {"textDocument": {"uri": 3}}):
        said = client.answer("textDocument/hover", params)
        assert "error" in said or said["result"] is None, (params, said)


def test_edits_outside_of_the_text_are_edits_at_its_ends(client: Client) -> None:
    def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
        places = [{"line": line, "character": character} for line, character in (start, end)]
        return {"range": {"start": places[0], "end": places[1]}, "text": text}

    client.change(URI, 2, edit((-5, -5), (0, -1), "y ← 4\n"), edit((10**9, 10**12), (10**9, 10**12), "⎕←y y z\n"))
    (one,) = client.diagnostics(URI, 2)
    assert (one["range"]["start"]["line"], one["code"]) == (4, "E001")
