"""The server as a process, spoken to over its standard streams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .client import Client, uri_of

pytestmark = pytest.mark.long

pytest.importorskip("pygls")
URI = "untitled:one"
ROOT = Path(__file__).parents[2]


def edit(line: int, start: int, end: int, text: str) -> dict[str, Any]:
    return {"range": span(line, start, end), "text": text}


def span(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


@pytest.fixture
def client() -> Iterator[Client]:
    client = Client()
    yield client
    assert client.close() == 0, b"".join(client.complaints).decode()


def test_diagnostics_follow_the_edits(client: Client) -> None:
    client.open(URI, "input b : f64[2]\ninput A : f64[3]\ny ← A + b\n")
    (found,) = client.diagnostics(URI, 1)
    assert found["code"] == "E101" and found["severity"] == 1 and found["source"] == "rho"
    assert found["range"] == span(2, 6, 7) and found["codeDescription"]["href"].endswith("docs/errors.md#e101")
    assert len(found["relatedInformation"]) >= 2
    client.change(URI, 2, edit(0, 14, 15, "3"))
    assert client.diagnostics(URI, 2) == []
    said = client.ask("hover", URI, (2, 0))
    assert "y : 0 f64[3]" in said["contents"]["value"] and said["range"] == span(2, 0, 1)


def test_fixes_are_offered_on_every_line_that_a_diagnostic_is_about(client: Client) -> None:
    client.open(URI, "input a : f64[3 4]\ninput b : f64[4]\nprice ← 2×a+b\nz ← 1\n")
    (found,) = client.diagnostics(URI, 1)
    assert found["code"] == "E101" and found["range"] == span(2, 11, 12)

    def offered(line: int, column: int) -> set[str]:
        context = {"diagnostics": []}
        found = client.ask("codeAction", URI, range=span(line, column, column), context=context) or []
        return {one["title"] for one in found if one["kind"] == "quickfix"}

    at_operator = offered(2, 11)
    assert at_operator
    assert offered(2, 0) == offered(2, 13) == at_operator
    labelled = {place["location"]["range"]["start"]["line"] for place in found["relatedInformation"]}
    assert all(offered(line, 0) == at_operator for line in labelled)
    assert offered(3, 0) == set()


def test_leaving_without_shutdown_is_an_error() -> None:
    client = Client()
    client.notify("exit", None)
    assert client.process.wait(60) == 1


def test_closing_the_stream_ends_the_server() -> None:
    client = Client()
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(60) == 0


def test_every_feature_is_announced_and_answers(client: Client) -> None:
    announced = client.server["capabilities"]
    for feature in (
        "hoverProvider", "completionProvider", "signatureHelpProvider", "definitionProvider", "referencesProvider",
        "documentHighlightProvider", "documentSymbolProvider", "codeActionProvider", "codeLensProvider", "inlayHintProvider",
        "documentFormattingProvider", "documentRangeFormattingProvider", "foldingRangeProvider", "workspaceSymbolProvider",
        "documentOnTypeFormattingProvider", "renameProvider", "semanticTokensProvider",
    ):  # fmt: skip
        assert announced[feature], feature
    uri = uri_of(ROOT / "examples" / "kmeans.rho")
    text = (ROOT / "examples" / "kmeans.rho").read_text(encoding="utf-8")
    client.open(uri, text)
    assert client.diagnostics(uri, 1) == []
    lines = text.splitlines()
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    hints = client.ask("inlayHint", uri, range=whole)
    assert any(" : f64[k 4]" in hint["label"] for hint in hints)
    assert {one["name"] for one in client.ask("documentSymbol", uri)} >= {"k", "points", "step", "centres"}
    assert len(client.ask("semanticTokens/full", uri)["data"]) % 5 == 0
    (lens, *_) = client.ask("codeLens", uri)
    assert "2 facts checked when loaded" in client.request("codeLens/resolve", lens)["command"]["title"]
    at = (next(i for i, line in enumerate(lines) if line.startswith("nearest")), 2)
    assert client.ask("definition", uri, at)["range"]["start"]["line"] == at[0]
    assert len(client.ask("references", uri, at, context={"includeDeclaration": True})) == 3
    assert len(client.ask("documentHighlight", uri, at)) == 3
    assert client.ask("prepareRename", uri, at) == span(at[0], 0, 7)
    changes = client.ask("rename", uri, at, newName="closest")["changes"][uri]
    assert {one["newText"] for one in changes} == {"closest"} and len(changes) == 3
    assert "error" in client.answer("textDocument/rename", {
        "textDocument": {"uri": uri}, "position": {"line": at[0], "character": 2}, "newName": "points",
    })  # fmt: skip
    options = {"tabSize": 2, "insertSpaces": True}
    assert client.ask("formatting", uri, options=options) == []
    assert client.ask("rangeFormatting", uri, range=whole, options=options) == []
    folds = client.ask("foldingRange", uri)
    step = next(i for i, line in enumerate(lines) if line.startswith("step"))
    assert any(one["startLine"] == step and one["endLine"] > step for one in folds)
    sought = client.request("workspace/symbol", {"query": "near"})
    assert [one["name"] for one in sought] == ["nearest"] and sought[0]["location"]["uri"] == uri


def test_typing_a_program(client: Client) -> None:
    """Completion, glyph input, formatting, a fix: as an editor would, the text changing all the time."""
    client.open(URI, "")
    client.change(URI, 2, edit(0, 0, 0, "total ← +/`iota "))
    (glyph,) = client.ask("onTypeFormatting", URI, (0, 16), ch=" ", options={"tabSize": 2, "insertSpaces": True})
    assert glyph["newText"] == "⍳" and glyph["range"] == span(0, 10, 16)
    client.change(URI, 3, {"range": glyph["range"], "text": glyph["newText"]})
    client.change(URI, 4, edit(0, 11, 11, "10\ntot"))
    items = client.ask("completion", URI, (1, 3))["items"]
    assert "total" in [item["label"] for item in items]
    client.change(URI, 5, edit(1, 0, 3, "totl×2"))
    (found,) = client.diagnostics(URI, 5)
    actions = client.ask("codeAction", URI, range=found["range"], context={"diagnostics": [found]})
    (repair,) = [one for one in actions if one["kind"] == "quickfix"]
    (change,) = repair["edit"]["changes"][URI]
    client.change(URI, 6, {"range": change["range"], "text": change["newText"]})
    assert client.diagnostics(URI, 6) == []
    help_ = client.ask("signatureHelp", URI, (0, 10))
    assert help_["signatures"]


def test_many_edits_in_a_row_end_in_the_last_text(client: Client) -> None:
    client.open(URI, "x ← 1\n")
    text = "x ← 1\n"
    for version in range(2, 60):
        client.change(URI, version, edit(0, len(text) - 1, len(text) - 1, "+1"))
        text = text[:-1] + "+1\n"
    client.change(URI, 60, edit(0, 0, 0, "y "), {"text": "nosuch\n"}, edit(0, 0, 2, "so"))
    (found,) = client.diagnostics(URI, 60)
    assert "`sosuch`" in found["message"]


def test_columns_are_utf16_unless_agreed_otherwise() -> None:
    for offered, column in ((None, 7), (["utf-8"], 11), (["utf-32", "utf-16"], 6)):
        client = Client({"general": {"positionEncodings": offered}} if offered else {})
        assert client.server["capabilities"]["positionEncoding"] == (offered or ["utf-16"])[0]
        client.open(URI, "'𝔸' ⋄ nosuch\n")
        (found,) = client.diagnostics(URI, 1)
        assert found["range"]["start"] == {"line": 0, "character": column}
        client.change(URI, 2, edit(0, column, column + 6, "3"))
        assert client.diagnostics(URI, 2) == []
        assert client.close() == 0


def test_a_broken_document_and_a_strict_one() -> None:
    client = Client(options={"strict": True})
    client.open(URI, "f ← {(\n'abc\nx ← 1 2 3[\n")
    assert client.diagnostics(URI, 1)
    client.open("untitled:two", "input x : f64[n]\ninput y : f64[m]\nx + y\n")
    assert [one["code"] for one in client.diagnostics("untitled:two", 1)] == ["E101"]
    assert client.close() == 0


def test_modules_in_the_editor(client: Client, tmp_path: Path) -> None:
    module, main = tmp_path / "geometry.rho", tmp_path / "main.rho"
    module.write_text("area ← {⍵×⍵}\n", encoding="utf-8")
    client.open(uri_of(main), 'use "./geometry.rho"\ngeometry.area 3\n')
    assert client.diagnostics(uri_of(main), 1) == []
    client.open(uri_of(module), "surface ← {⍵×⍵}\n")
    (found,) = client.diagnostics(uri_of(main), 1)
    assert found["code"] == "E001"
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri_of(module)}})
    assert client.diagnostics(uri_of(main), 1) == []
    module.write_text("other ← 1\n", encoding="utf-8")
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(module), "type": 2}]})
    assert [one["code"] for one in client.diagnostics(uri_of(main), 1)] == ["E001"]


def test_nonsense_does_not_end_the_server(client: Client) -> None:
    client.send_bytes(b"{ this is no JSON")
    assert "error" in client.answer("no/such/request", {})
    assert client.ask("hover", "untitled:never opened", (0, 0)) is None
    assert client.ask("completion", "untitled:never opened", (0, 0))["items"] == []
    client.change("untitled:never opened", 2, {"text": "x"})
    client.notify("textDocument/didClose", {"textDocument": {"uri": "untitled:never opened"}})
    client.open(URI, "x ← 1\n")
    assert client.ask("hover", URI, (10**6, 10**6)) is None
    assert client.ask("formatting", URI, options={"tabSize": 2, "insertSpaces": True}) == []
    assert client.diagnostics(URI, 1) == []


def test_a_large_document(client: Client) -> None:
    text = "".join(f"v{i} ← {i} + ⍳{i % 7 + 1}\n" for i in range(3000))
    client.open(URI, text)
    assert client.diagnostics(URI, 1) == []
    client.change(URI, 2, edit(1500, 0, 5, "w"))
    assert client.diagnostics(URI, 2) == []
    assert len(client.ask("documentSymbol", URI)) == 3000


def test_a_bug_in_one_request_is_logged_and_answered_with_nothing(caplog: pytest.LogCaptureFixture) -> None:
    from rho.shell.lsp.server import create

    server = create()
    server.folder.open(URI, 1, "x ← 1\n")

    def broken(document: object) -> list[int]:
        raise RecursionError("a bug")

    assert server.answer(URI, broken) is None and server.answers(URI, broken) == []
    assert "a request failed" in caplog.text
    assert server.answer(URI, lambda document: document.text) == "x ← 1\n"


def test_without_pygls_the_verb_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    from rho.shell.main import main

    for name in [name for name in sys.modules if name.startswith(("rho.shell.lsp.server", "rho.shell.lsp.server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    assert main(["lsp"]) == 2
    assert "rho-lang[lsp]" in capsys.readouterr().err


def test_checking_loads_no_protocol() -> None:
    """`rho check` costs nothing of this."""
    import subprocess
    import sys

    code = "import sys, rho.shell.pipeline; print([m for m in sys.modules if m.startswith(('pygls', 'lsprotocol'))])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.strip() == "[]"
