"""Which name means what; definition, references, renaming."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.lang.bind.scopes import ReferenceKind
from rho.lang.syntax.parser import parse
from rho.lang.syntax.source import Source
from rho.lang.tree.expressions import FunctionName, Name, SymbolKind
from rho.shell.display.documentation import STDLIB
from rho.shell.lsp import navigation
from rho.shell.lsp.documents import OpenDocuments, TextPosition
from rho.shell.lsp.navigation import CannotRename, definition, highlights, references, rename, rename_in_users
from rho.shell.pipeline import Session

from .texts import URI, applied, document, marked

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "examples").glob("*.rho"), *STDLIB.glob("*.rho")])


def renamed(text: str, name: str = "new") -> str:
    opened, position = marked(text)
    return applied(opened, rename(opened, position, name))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a‸ ← 1\nb ← a + a\n", "new ← 1\nb ← new + new\n"),
        ("a ← 1\nb ← a + a‸\n", "new ← 1\nb ← new + new\n"),
        ("x ← 1\nx‸ ← x + 1\nx\n", "x ← 1\nnew ← x + 1\nnew\n"),
        ("x‸ ← 1\nx ← x + 1\nx\n", "new ← 1\nx ← new + 1\nx\n"),
        ("x‸ ← 1 2\nx[0] ← 5\nx +← 1\nx\n", "new ← 1 2\nnew[0] ← 5\nnew +← 1\nnew\n"),
        ("x ← 1\nf ← {x‸ ← ⍵ ⋄ x + 1}\nx\n", "x ← 1\nf ← {new ← ⍵ ⋄ new + 1}\nx\n"),
        ("x‸ ← 1\nf ← {y ← x ⋄ {x + ⍵} y}\nx\n", "new ← 1\nf ← {y ← new ⋄ {new + ⍵} y}\nnew\n"),
        ("f ← {x + x‸ ← ⍵}\n", "f ← {new + new ← ⍵}\n"),
        ("(a‸ b) ← (1 ⋄ 2)\na + b\n", "(new b) ← (1 ⋄ 2)\nnew + b\n"),
        ("f‸ : f64[n] → f64\nf ← {+/⍵}\nf 1 2.5\n", "new : f64[n] → f64\nnew ← {+/⍵}\nnew 1 2.5\n"),
        ("f : f64[n‸] → f64[n]\nf ← {⍵}\nn ← 3\n", "f : f64[new] → f64[new]\nf ← {⍵}\nn ← 3\n"),
        ("param k‸ ← 3 where k ≥ 1\ninput x : f64[k 2]\nk\n", "param new ← 3 where new ≥ 1\ninput x : f64[new 2]\nnew\n"),
        ("input x : f64[n‸]\ninput y : f64[n] where n ≥ 2\n", "input x : f64[new]\ninput y : f64[new] where new ≥ 2\n"),
        ("f : T‸[n] → T[n] where T num\nf ← {⍵}\n", "f : new[n] → new[n] where new num\nf ← {⍵}\n"),
        ("x‸ ← 1\noutput x\n", "new ← 1\noutput new\n"),
        ("op ← {⍺⍺ ⍵}\n- op‸ 3\n", "new ← {⍺⍺ ⍵}\n- new 3\n"),
        ("add ← {⍺ + ⍵}\nx ← 1\nx add‸← 2\n", "new ← {⍺ + ⍵}\nx ← 1\nx new← 2\n"),
        ("x‸ ← 'x' ⍝ x\ny ← x\n", "new ← 'x' ⍝ x\ny ← new\n"),
        ("f ← {x ← 1 ⋄ y ← {x‸} 0 ⋄ x ← 2 ⋄ x}\n", "f ← {new ← 1 ⋄ y ← {new} 0 ⋄ x ← 2 ⋄ x}\n"),
        ("a‸ ← 1\nb ← `iota a\n", "new ← 1\nb ← `iota new\n"),
        ("x ← 3\nschedule {\n  cpu { x‸ }\n}\n", "new ← 3\nschedule {\n  cpu { new }\n}\n"),
        ("s ← '𝔸𝔸' ⋄ x ← 1 ⋄ '𝔸' ⋄ x‸\n", "s ← '𝔸𝔸' ⋄ new ← 1 ⋄ '𝔸' ⋄ new\n"),
        ("k‸ ← 3\ny : f64[k] ← 1.5 2 3\n", "new ← 3\ny : f64[new] ← 1.5 2 3\n"),
        ("y ← a‸ + (a ← 3) × 2\n", "y ← new + (new ← 3) × 2\n"),
    ],
)
def test_renaming_respects_scopes(text: str, after: str) -> None:
    assert renamed(text) == after


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("a‸ ← 1\nb ← 2\na + b\n", "b", "something else"),
        ("a‸ ← 1\nf ← {b ← ⍵ ⋄ a + b}\n", "b", "something else"),
        ("a‸ ← 1\nf ← {a + c}\n", "c", "something else"),
        ("a‸ ← 1\n", "3a", "not a name"),
        ("a‸ ← 1\n", "f64", "reserved"),
        ("a‸ ← 1\n", "where", "reserved"),
        ("use stats‸\nstats.mean 1 2\n", "s", "name of its file"),
        ("use stats\nstats.me‸an 1 2\n", "average", "rename it there"),
        ("1‸ + 2\n", "x", "no name here"),
        ("a‸ ← 1\n1 `eqa\n", "ual", "something else"),
    ],
)
def test_a_renaming_that_changes_the_meaning_is_refused(text: str, name: str, why: str) -> None:
    with pytest.raises(CannotRename, match=why):
        renamed(text, name)


@pytest.mark.long
def test_renaming_keeps_the_program() -> None:
    """Every name of the examples gets another name: what checking says (types, in order) stays."""
    checked = 0
    for path in PROGRAMS[:12]:
        text = path.read_text(encoding="utf-8")
        opened = document(text, path.as_uri())
        for symbol in [s for s in opened.index.symbols if s.kind is not SymbolKind.MODULE][:6]:
            position = opened.lines.position(symbol.span.start)
            new = document(applied(opened, rename(opened, position, "quite∆new")), path.as_uri())
            assert new.checked.accepted == opened.checked.accepted, (path, symbol.name)
            kept = [t for n, t in opened.checked.types.items() if n != symbol.name]
            after = [t for n, t in new.checked.types.items() if n not in ("quite∆new", symbol.name)]
            if symbol.kind not in (SymbolKind.SIZE, SymbolKind.ELEMENT) and symbol.name != "k":
                assert len(kept) == len(after), (path, symbol.name)
            checked += 1
    assert checked > 30


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_every_name_of_a_good_program_is_resolved(path: Path) -> None:
    """The walk agrees with the binder: no name is left without a meaning in a program without an error."""
    source = Source(str(path), path.read_text(encoding="utf-8"))
    assert Session(str(path.parent)).check(source).accepted
    parsed = parse(source)
    index = parsed.index
    mentioned = {m.span.start for m in index.references}
    for symbol in index.symbols:
        mine = [m for m in index.references if m.symbol is symbol]
        assert mine and all(source.text[m.span.start : m.span.end] == symbol.name for m in mine
                            if m.member is None and symbol.kind is not SymbolKind.MODULE)  # fmt: skip
    pending: list[object] = [*parsed.program.statements]
    while pending:
        node = pending.pop()
        if isinstance(node, Name | FunctionName) and node.name not in ("⍵", "⍺", "⍺⍺", "⍵⍵"):
            assert node.span.start in mentioned, node
        if isinstance(node, tuple):
            pending += node
        elif hasattr(node, "__dataclass_fields__"):
            pending += [getattr(node, name) for name in node.__dataclass_fields__ if name != "span"]


def test_definition_and_references() -> None:
    opened, position = marked("x ← 1\nf ← {x + ⍵}\nf x‸\n")
    assert definition(opened, position) == navigation.DocumentRange(URI, opened.lines.range(0, 1))
    assert [place.range.start for place in references(opened, position)] == [(0, 0), (1, 5), (2, 2)]
    assert [place.range.start for place in references(opened, position, declaration=False)] == [(1, 5), (2, 2)]
    assert [one.writes for one in highlights(opened, position)] == [True, False, False]


def test_definition_in_the_library() -> None:
    opened, position = marked("use stats\nstats.mea‸n 1 2\n")
    found = definition(opened, position)
    assert found is not None and found.uri == (STDLIB / "stats.rho").as_uri()
    line = (STDLIB / "stats.rho").read_text(encoding="utf-8").splitlines()[found.range.start.line]
    assert line.startswith("mean ←")
    opened, position = marked("use st‸ats\n")
    found = definition(opened, position)
    assert found is not None and found.uri.endswith("stats.rho") and found.range.start == (0, 0)


def test_nothing_is_found_where_nothing_is() -> None:
    opened = document("1 + 2 ⍝ x\n'x'\n")
    for column in range(9):
        assert definition(opened, TextPosition(0, column)) is None
        assert references(opened, TextPosition(0, column)) == [] and highlights(opened, TextPosition(1, 1)) == []


def test_a_broken_statement_hides_nothing() -> None:
    opened, position = marked("x ← (1 + \ny ← x‸ + 1]\nz ← 3 $ x\n")
    found = [place.range.start.line for place in references(opened, position)]
    assert found == [0, 1, 2]


def test_accesses() -> None:
    index = document("f : f64 → f64\nf ← {⍵}\nx ← 1 2\nx[0] ← 3\nf x[1]\n").index
    assert [m.kind for m in index.references] == [
        ReferenceKind.DECLARE, ReferenceKind.BIND, ReferenceKind.BIND, ReferenceKind.CHANGE, ReferenceKind.READ,
        ReferenceKind.READ,
    ]  # fmt: skip


def test_renaming_a_name_of_a_module_renames_it_in_the_open_documents_that_use_it(tmp_path: Path) -> None:
    folder = OpenDocuments()
    module = folder.open((tmp_path / "geometry.rho").as_uri(), 1, "area ← {⍵×⍵}\nhalf ← {area ⍵÷2}\n")
    text = 'use "./geometry.rho"\narea ← 3\ngeometry.area area\ngeometry.half 2\n'
    user = folder.open((tmp_path / "main.rho").as_uri(), 1, text)
    folder.open((tmp_path / "other.rho").as_uri(), 1, "area ← 1\n")
    position = TextPosition(1, 9)
    assert applied(module, rename(module, position, "surface")) == "surface ← {⍵×⍵}\nhalf ← {surface ⍵÷2}\n"
    (found,) = rename_in_users(module, position, "surface").items()
    assert found[0] == user.uri
    assert applied(user, found[1]) == text.replace("geometry.area", "geometry.surface")
    assert rename_in_users(user, TextPosition(1, 0), "x") == {}
