"""The editor files: made from the table, all of it, and committed as they are made."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rho.lang.primitives.operators import RESERVED_WORDS
from rho.lang.primitives.record import GlyphRole
from rho.lang.primitives.table import ELEMENT_NAMES, PRIMITIVES
from rho.lang.syntax.source import Source
from rho.shell.cli.arguments import find_verb
from rho.shell.editors import editor_files
from rho.shell.editors.__main__ import main
from rho.shell.editors.editor_files import generated_files
from rho.shell.pipeline import Session

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "examples").glob("*.rho"), *(ROOT / "stdlib").glob("*.rho")])


@pytest.mark.parametrize("name", sorted(generated_files()))
def test_what_is_committed_is_what_is_generated(name: str) -> None:
    committed = (ROOT / "editors" / name).read_text(encoding="utf-8")
    assert committed == generated_files()[name], "run python -m rho.shell.editors"


def test_the_script_writes_every_file(tmp_path: Path) -> None:
    main([str(tmp_path)])
    assert {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()} == set(generated_files())


def test_no_file_names_a_registry_or_a_home() -> None:
    for path in (ROOT / "editors").rglob("*"):
        made = {"node_modules", "dist"} & set(path.parts) or path.suffix in (".vsix", ".png")
        if path.is_file() and not made:
            text = path.read_text(encoding="utf-8")
            assert "registry" not in text and "/home/" not in text and str(ROOT) not in text, path
            assert path.name != "package-lock.json"


# ------------------------------------------------------------------------------------------ TextMate


def pattern(text: str) -> re.Pattern[str]:
    """An Oniguruma pattern of ours as one of Python's."""
    text = text.replace(r"[\p{L}_∆][\p{L}\p{N}_∆]*", r"(?:[^\W\d]|[_∆])[\w∆]*").replace(r"[\p{L}\p{N}_∆]", r"[\w∆]")
    assert "\\p" not in text
    return re.compile(text)


def scopes(line: str) -> list[tuple[str, str]]:
    """Words and scopes of a line: at every place the first pattern that matches there, as editors do with a grammar like ours."""
    rules = [(pattern(rule["match"]), rule) for rule in editor_files.grammar()["patterns"]]
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(line):
        tried = [(number, rule.search(line, at)) for number, (rule, _) in enumerate(rules)]
        matches = [(m.start(), number, m) for number, m in tried if m is not None and m.end() > m.start()]
        if not matches:
            break
        _, number, best = min(matches, key=lambda entry: entry[:2])
        rule = rules[number][1]
        word = best.group(1) if "captures" in rule else best.group()
        found.append((word.strip(), (rule.get("name") or rule["captures"]["1"]["name"]).removesuffix(".rho")))
        at = best.end()
    return found


def test_every_row_of_the_table_has_a_scope() -> None:
    for row in PRIMITIVES:
        if row.glyph in "{}()[]¯∆_'\"⎕⍝":
            continue
        ((word, scope), *_) = scopes(f" {row.glyph} ")
        assert word == row.glyph, row
        if row.role in (GlyphRole.MONADIC_OPERATOR, GlyphRole.DYADIC_OPERATOR):
            assert scope == "keyword.operator", row
        elif row.role is GlyphRole.FUNCTION and row.glyph not in editor_files.OPERATORS:
            assert scope in ("support.function", "support.function.library", "storage.type"), row


def test_scopes_of_a_line() -> None:
    found = scopes("input x : f64[n] ← 'it''s' ⋄ mean ← {(+/⍵)÷2.5e¯3} ⍝ `iota 3")
    for pair in [
        ("input", "keyword.control"), ("f64", "storage.type"), ("'it''s'", "string.quoted.single"),
        ("mean", "entity.name.function"), ("+", "support.function"), ("/", "keyword.operator"), ("⍵", "variable.language"),
        ("2.5e¯3", "constant.numeric"),
        ("⍝ `iota 3", "comment.line.lamp"), ("x", "variable.other"),
    ]:  # fmt: skip
        assert pair in found, pair
    assert ("`iota", "support.function") in scopes("`iota 3") and ("`rank", "keyword.operator") in scopes("f`rank 1")
    assert ("inputs", "variable.other") in scopes("inputs ← 1") and ("f64x", "variable.other") in scopes("f64x")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs_hold_no_word_without_a_scope(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").splitlines():
        assert not [entry for entry in scopes(line) if entry[1].startswith("invalid")], line
        left = line
        for word, _ in scopes(line):
            left = left.replace(word, " ", 1)
        assert not left.strip(" \t()[]{}."), line


def test_the_manifest_fits_the_files() -> None:
    folder = ROOT / "editors" / "vscode"
    manifest: dict[str, Any] = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    assert (folder / manifest["contributes"]["grammars"][0]["path"]).is_file()
    assert (folder / manifest["contributes"]["languages"][0]["configuration"]).is_file()
    assert (folder / manifest["contributes"]["snippets"][0]["path"]).is_file()
    assert (folder / manifest["icon"]).read_bytes().startswith(b"\x89PNG")
    client = (folder / "extension.js").read_text(encoding="utf-8")
    for command in manifest["contributes"]["commands"]:
        assert f'"{command["command"]}"' in client
    for setting in manifest["contributes"]["configuration"]["properties"]:
        assert f'"{setting.removeprefix("rho.")}"' in client


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_the_client_is_javascript() -> None:
    subprocess.run(["node", "--check", str(ROOT / "editors" / "vscode" / "extension.js")], check=True, timeout=60)


CLIENT = """\
const Module = require("module");
const done = [], registered = {};
const editor = { document: { languageId: "rho", isDirty: false, uri: { fsPath: "/w/my programs/p.rho" } }, selections: [1],
  edit: (change) => change({ replace: (_, text) => done.push(["insert", text]) }) };
const vscode = {
  workspace: { getConfiguration: () => ({ get: (name, otherwise) => otherwise }), createFileSystemWatcher: () => null },
  commands: { registerCommand: (name, action) => { registered[name] = action; },
    executeCommand: async () => [{ name: "f", kind: 11 }, { name: "x", kind: 12 }, { name: "y", kind: 12 }] },
  window: { get activeTextEditor() { return editor; }, showQuickPick: async (items) => items[0] },
  tasks: { executeTask: (task) => done.push(task.execution) },
  SymbolKind: { Function: 11, Module: 1 }, TaskScope: { Workspace: 2 },
  ShellExecution: class { constructor(command, words, options) { Object.assign(this, { command, words, options }); } },
  Task: class { constructor(definition, scope, name, source, execution) { this.execution = execution; } },
};
class LanguageClient { constructor(id, name, server, options) { done.push(options.initializationOptions); } async start() {} }
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode
  : name.startsWith("vscode-languageclient") ? { LanguageClient, TransportKind: {} } : load(name, ...rest);
(async () => {
  await require(process.argv[2]).activate({ subscriptions: [] });
  for (const name of ["rho.run", "rho.check", "rho.plan", "rho.plot", "rho.insertGlyph"]) await registered[name]();
  await registered["rho.costs"]("/w/p.rho", "mean");
  console.log(JSON.stringify({ done, registered: Object.keys(registered) }));
})();
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_the_commands_of_the_client_run_the_verbs(tmp_path: Path) -> None:
    (tmp_path / "client.js").write_text(CLIENT, encoding="utf-8")
    folder = ROOT / "editors" / "vscode"
    words = ["node", str(tmp_path / "client.js"), str(folder / "extension.js")]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    said = json.loads(ran.stdout)
    options, *tasks, costs = said["done"]
    file = "/w/my programs/p.rho"
    assert options["commands"] is True
    assert [task["words"] for task in tasks if isinstance(task, dict)] == [
        ["run", file], ["check", file], ["plan", file], ["run", file, "--plot", "y"],
    ]  # fmt: skip
    assert tasks[-1] == ["insert", editor_files.glyphs()[0]["glyph"]]
    assert (costs["command"], costs["words"]) == ("rho", ["type", "/w/p.rho", "mean", "--cost"])
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    assert {entry["command"] for entry in manifest["contributes"]["commands"]} == set(said["registered"])


def test_a_snippet_with_its_defaults_is_accepted() -> None:
    for name, snippet in editor_files.snippets().items():
        text = "\n".join(snippet["body"])
        text = re.sub(r"\$\{\d+\|([^,|]*)[^}]*\}", r"\1", text)
        text = re.sub(r"\$\{\d+:([^{}]*(?:\{[^{}]*\})?[^{}]*)\}", r"\1", text)
        before = "use set\nx ← 1 2\nshop ← ↑ 'Ulm' 'Kiel'\nsales ← 10 20\n" if name in ("output", "groups") else ""
        if name == "guard":
            text = f"input x : f64[n]\n{text} x"
        checked = Session().check(Source("<snippet>", before + text + "\n"))
        assert checked.accepted, (name, text, checked.diagnostics)


# ------------------------------------------------------------------------------------------ the others


def test_hooks_are_commands_of_rho() -> None:
    """`.pre-commit-hooks.yaml`, of which this reads the few forms that it has."""
    hooks: list[dict[str, str]] = []
    for line in (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8").splitlines():
        if line.startswith("- "):
            hooks.append({})
        if line[2:].strip() and not line.startswith("#"):
            key, _, value = line[2:].partition(": ")
            hooks[-1][key] = value
    assert {hook["id"] for hook in hooks} == {"rho-check", "rho-fmt"}
    for hook in hooks:
        verb, *options = hook["entry"].removeprefix("rho ").split()
        known = find_verb(verb)
        assert known is not None and set(options) <= {spelling for option in known.options for spelling in option.spellings}
        assert hook["language"] == "python" and re.search(hook["files"], "a/b.rho") and not re.search(hook["files"], "b.rho.md")




def test_helix_settings_can_be_read() -> None:
    settings = tomllib.loads((ROOT / "editors" / "helix" / "languages.toml").read_text(encoding="utf-8"))
    assert settings["language-server"]["rho"] == {"command": "rho", "args": ["lsp"]}
    assert settings["language"][0]["file-types"] == ["rho"]


def test_the_keymap_has_every_name_and_key() -> None:
    text = (ROOT / "editors" / "neovim" / "keymap" / "rho.vim").read_text(encoding="utf-8")
    made = dict(line.split("\t") for line in text.splitlines() if line.startswith("`"))
    assert made["`iota"] == "⍳" and made["`["] == "←" and made["`<Bar>"] == "⊣"
    assert len(made) == len({*(n for r in PRIMITIVES for n in r.names), *(r.key for r in PRIMITIVES if r.key)})


def test_words_cover_the_table() -> None:
    assert set(editor_files.KEYWORDS) == RESERVED_WORDS and set(editor_files.TYPES) >= ELEMENT_NAMES
    functions = {row.glyph for row in PRIMITIVES if row.role is GlyphRole.FUNCTION and not row.glyph[-1].isalnum()}
    assert functions <= set(editor_files.GLYPH_FUNCTIONS) | set(editor_files.OPERATORS)


# ------------------------------------------------------------------------------------------ Pygments


def coloured(text: str) -> list[tuple[str, str]]:
    pytest.importorskip("pygments")
    from rho.shell.editors.pygments_lexer import RhoLexer

    tokens = list(RhoLexer().get_tokens_unprocessed(text))
    assert "".join(value for _, _, value in tokens) == text
    return [(str(kind).removeprefix("Token."), value) for _, kind, value in tokens]


def test_pygments() -> None:
    found = coloured("mean ← {(+⌿⍵)÷≢⍵} ⍝ c\ninput x : f64[n]\n'a' `iota ¯1.5\n")
    for pair in [
        ("Name.Function", "mean"), ("Operator", "+"), ("Operator.Word", "⌿"), ("Name.Variable.Magic", "⍵"),
        ("Comment.Single", "⍝ c"), ("Keyword", "input"), ("Keyword.Type", "f64"), ("Literal.String", "'a'"),
        ("Operator", "`iota"), ("Literal.Number", "¯1.5"),
    ]:  # fmt: skip
        assert pair in found, pair


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_pygments_reads_every_program(path: Path) -> None:
    assert not [value for kind, value in coloured(path.read_text(encoding="utf-8")) if kind == "Error"]


def test_pygments_knows_every_glyph() -> None:
    for row in PRIMITIVES:
        assert not [kind for kind, _ in coloured(f"{row.glyph} x\n") if kind == "Error"] or row.glyph in "'\"", row


def test_the_entry_point_names_the_lexer() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["rho"].partition(":")
    pytest.importorskip("pygments")
    import importlib

    assert getattr(importlib.import_module(module), name).name == "Rho"
