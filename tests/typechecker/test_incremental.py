"""Checking a version after another gives what checking it alone gives, and pays only for what changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings, strategies as st
from share import repeats

from rho.lang.bind.scopes import SymbolIndex
from rho.lang.diagnostics.model import Diagnostic
from rho.lang.syntax.glyph_input import to_glyphs
from rho.lang.syntax.parser import StatementCache, parse, parse_program
from rho.lang.syntax.reader import RawStatement, split_edited, split_statements
from rho.lang.syntax.source import Source, Span
from rho.lang.tree.expressions import Symbol
from rho.typechecker.check import Checker, CheckResult, check
from rho.typechecker.signatures import check_definition, unify

pytestmark = pytest.mark.long

MODULE = "area : f64[n] → f64[n] → f64[n]\narea ← {⍺×⍵}\nfirst ← {1↑⍵}\nten ← 10.5\n"

STATEMENTS = (
    "A : f64[n] → f64\nA ← {(+/⍵)÷≢⍵}",
    "A : f64[n] → f64[m] → f64[n]\nA ← {⍺+⍵}",
    "A : f64[n] → f64[n] → f64[n]\nA ← {⍺+⍵×2}",
    "A : f64[n] → f64 where n ≥ 1\nA ← {⌈/⍵}",
    "A : f64[n] → f64\nA ← {⌈/⍵}",
    "A : f64[n] → i64[m] → f64[m]\nA ← {⍵⌷⍺}",
    "A : f64[n] → f64[k≤n]\nA ← {(⍵>0)⌿⍵}",
    "A : f64[n] → f64[n]\nA ← {((⍵>0)⌿⍵)+(⍵<1)⌿⍵}",
    "A : f64[n] → f64[n]\nA ← {B ⍵}",
    "A : f64[n] → f64[m] → f64[n]\nA ← {⍺ B ⍵}",
    "A : 1 f64[n] → f64[n]\nA ← {⍵+⍵}",
    "A : f64[..s] → f64[..s]\nA ← {1+⍵}",
    "A : T[n] → T[n] where T num\nA ← {⍵+g}",
    "A : f64[n] → f64[n]\nA ← {⍵+x}",
    "A : f64[n] → f64[k] where n ≥ k\nA ← {k↑⍵}",
    "A : f64[n] → f64[n]\nA ← {⍵ geo.area geo.first ⍵}",
    "A : f64[n] → f64[n]\n⍝ between\nA ← {\n  h ← ⍵×2\n  h - ⍵ ⍝ inside\n}",
    "A ← {⍺+⍵}",
    "A ← {⌈/⍵}",
    "A ← {3⌷⍵}",
    "A ← {⍵[B ⍵]}",
    "A ← +/÷≢",
    "A ← {⍺⍺ ⍺⍺ ⍵}",
    "A ← `iota 4",
    "A ← (x>2)⌿x",
    "g ← 9.81",
    "g ← 2",
    "g ← ≢x",
    "param k ← 3",
    "param k ← 3 where k ≥ 1",
    "input x : f64[n] ← \"x.npy\"",
    "input y : f64[n m] ← \"y.npy\"",
    "x + 1",
    "A x",
    "x A x",
    "8 n ⍴ y",
    "(x A 1 2 3) B x",
    "(t←2×g) + t",
    "x[1]←5",
    "x ×← 2",
    "output r ← +/x",
    "use \"./geo.rho\"",
    "+ 'text'",
    "A ← {⍵ +",
    "nobody 3",
    "",
    "⍝ a remark",
)  # fmt: skip


@st.composite
def statements(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(STATEMENTS))
    names = {"A": draw(st.sampled_from("fgh")), "B": draw(st.sampled_from("fgh"))}
    return re.sub(r"\b[AB]\b", lambda found: names[found.group()], text)


@st.composite
def histories(draw: st.DrawFn) -> list[str]:
    """Versions of a program, each an edit of the one before."""
    program = draw(st.lists(statements(), min_size=1, max_size=9))
    program = ['use "./geo.rho"', 'input x : f64[n] ← "x.npy"', *program]
    versions = ["\n".join(program)]
    for _ in range(draw(st.integers(1, 4))):
        edit = draw(st.sampled_from(("change", "insert", "delete", "blank", "swap", "rename", "twice")))
        at = draw(st.integers(0, 99)) % len(program)
        if edit == "change":
            program[at] = draw(statements())
        elif edit == "insert":
            program.insert(at, draw(statements()))
        elif edit == "delete" and len(program) > 1:
            del program[at]
        elif edit == "blank":
            program[at] = "\n\n  " + program[at]
        elif edit == "swap":
            program[0], program[at] = program[at], program[0]
        elif edit == "rename":
            program = [re.sub(r"\bf\b", "renamed", part) for part in program]
        elif edit == "twice":
            program.insert(at, program[at])
        versions.append("\n".join(program))
    return versions


def load(name: str, importer: str | None) -> Source | None:
    return Source("geo.rho", MODULE) if name == "./geo.rho" else None


def shown(result: CheckResult) -> tuple[object, ...]:
    """All that a checked version tells, but for ids."""
    quantities = [(q.line(), q.span, q.uses) for q in result.quantities()]
    core = result.core
    ops = None if core is None else [type(op).__name__ for op in core.block.ops]
    guards = None if core is None else [(str(guard.fact), guard.obligation.span) for guard in core.guards]
    return result.diagnostics, result.types, result.last, quantities, result.signatures(), ops, guards


@settings(max_examples=repeats(1000), deadline=None)
@given(histories(), st.booleans())
def test_every_version_is_as_checked_alone(versions: list[str], strict: bool) -> None:
    checker = Checker(load, strict=strict)
    for version in versions:
        source = Source("a.rho", version)
        assert shown(checker.check(source)) == shown(check(source, load_module=load, strict=strict))


@settings(max_examples=repeats(400), deadline=None)
@given(histories())
def test_remembered_statements_are_the_ones_read_anew(versions: list[str]) -> None:
    remembered = StatementCache()
    for version in versions:
        source = Source("a.rho", version)
        assert parse_program(source, statement_cache=remembered) == parse_program(source)


@st.composite
def typed(draw: st.DrawFn) -> list[str]:
    """Versions of a program, each a few characters typed or deleted in the one before."""
    text = "\n".join(['use "./geo.rho"', 'input x : f64[n] ← "x.npy"', *draw(st.lists(statements(), min_size=2, max_size=9))])
    versions = [text]
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(text)))
        words = st.sampled_from(["⍝\n", "{\n}", "` iota 3", "f ← {⍵}\n"])
        new = draw(st.one_of(st.text("fgx1⍵+←:⋄\n {}()[]'⍝`−", max_size=3), words))
        text = text[:at] + new + text[at + draw(st.integers(0, 4)) :]
        versions.append(text)
    return versions


FAILED_AND_DECLARED = "f ← {⍺ f ⍵}\nf : f64[n] → f64[k≤n]\nf "
"""A definition of `f` that fails, so that uses stay quiet, also behind a signature, which is remembered."""

FACTS_OF_AN_OUTPUT = "f ← {⍵}\noutput r ← f : f64[n] → f64 where n ≥ 1"
"""An output has no facts: what follows `where` is part of its value, whose names are unknown."""


@example([FAILED_AND_DECLARED + "← {⍵}", FAILED_AND_DECLARED + "{⍵}"])
@example([FACTS_OF_AN_OUTPUT])
@settings(max_examples=repeats(600), deadline=None)
@given(typed())
def test_every_keystroke_is_as_checked_alone(versions: list[str]) -> None:
    checker, remembered = Checker(load), StatementCache()
    before: tuple[list[RawStatement], str] = ([], "")
    for version in versions:
        source = Source("a.rho", version)
        glyphs = to_glyphs(source)
        before = split_edited(glyphs, *before), glyphs.text
        assert list(map(cut, before[0])) == list(map(cut, split_statements(glyphs)))
        assert parse_program(source, statement_cache=remembered) == parse_program(source)
        assert shown(checker.check(source)) == shown(check(source, load_module=load))
        assert named(parse(source, statement_cache=remembered).index) == named(parse(source).index)


def named(index: SymbolIndex) -> tuple[object, ...]:
    """What an index tells of names."""

    def symbol(one: Symbol) -> tuple[object, ...]:
        return one.name, one.kind, one.span, one.statement, one.depth, one.path, one.declared

    mentions = [(one.span, symbol(one.symbol), one.kind, one.member) for one in index.references]
    visible = [{name: symbol(one) for name, one in index.visible(at).items()} for at in range(0, len(index.glyphs.text), 7)]
    return [symbol(one) for one in index.symbols], mentions, visible, index.top.symbols.keys()


def cut(piece: RawStatement) -> tuple[object, ...]:
    return piece.start, piece.text, piece.error, piece.is_open


SCRIPT = "\n".join(f"d{i} : f64[n] → f64\nd{i} ← {{(+/⍵)÷{i}+≢⍵}}\n" for i in range(20))


def counted(monkeypatch: object) -> list[str]:
    """The names of the definitions that are checked from now on."""
    found: list[str] = []
    before = check_definition._check_samples

    def noted(ctx, function):  # type: ignore[no-untyped-def]
        found.append(function.name)
        return before(ctx, function)

    monkeypatch.setattr(check_definition, "_check_samples", noted)  # type: ignore[attr-defined]
    return found


def test_only_what_changed_is_checked_again(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    checked = counted(monkeypatch)
    checker = Checker()
    checker.check(Source("a.rho", SCRIPT))
    assert len(checked) == 20
    checked.clear()
    checker.check(Source("a.rho", "⍝ shifted\n\n" + SCRIPT.replace("÷7+", "÷70+")))
    assert checked == ["d7"]


def test_what_uses_a_changed_definition_is_checked_again(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    checked = counted(monkeypatch)
    text = "f : f64[n] → f64[n]\nf ← {⍵+1}\ng : f64[n] → f64[n]\ng ← {f f ⍵}\nh : f64[n] → f64\nh ← {+/⍵}\n"
    checker = Checker()
    checker.check(Source("a.rho", text))
    checked.clear()
    result = checker.check(Source("a.rho", text.replace("{⍵+1}", "{1↓⍵}")))
    assert checked == ["f", "g"]
    assert [d.code for d in result.diagnostics] == ["E201"]


def test_kept_errors_move_with_their_statements() -> None:
    text = "f : f64[n] → f64[m] → f64[n]\nf ← {⍺+⍵}\n"
    checker = Checker()
    (first,) = checker.check(Source("a.rho", text)).diagnostics
    (second,) = checker.check(Source("a.rho", "⍝ 12345\n" + text)).diagnostics
    assert second.span == Span("a.rho", first.span.start + 8, first.span.end + 8)
    assert [label.span.start for label in second.labels] == [label.span.start + 8 for label in first.labels]
    assert second.fixes[0].edits[0].span.start == first.fixes[0].edits[0].span.start + 8


def test_a_changed_module_is_seen() -> None:
    texts = ["inner ← {⍵+1}\n", "inner ← {1↓⍵}\n"]
    program = 'use "./m.rho"\nf : f64[n] → f64[n]\nf ← {m.inner ⍵}\n'

    def codes(checker: Checker, at: int) -> list[str]:
        return [d.code for d in checker.check(Source("a.rho", program), lambda _, __: Source("m.rho", texts[at])).diagnostics]

    checker = Checker()
    assert codes(checker, 0) == []
    assert codes(checker, 1) == ["E201"]
    assert codes(checker, 0) == []


def test_a_fact_about_a_param_is_part_of_what_a_definition_means() -> None:
    program = "param k ← 3 where k ≥ 1\nf : f64[n] → f64\nf ← {⌈/k↑⍵}\nf 1.5 2.5\n"
    checker = Checker()
    assert not checker.check(Source("a.rho", program)).diagnostics
    less = Source("a.rho", program.replace(" where k ≥ 1", ""))
    found: tuple[Diagnostic, ...] = checker.check(less).diagnostics
    assert found == check(less).diagnostics
    assert [d.code for d in found] == ["W201"]


def test_a_signature_that_nothing_is_wrong_with_is_read_once(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    read: list[str] = []
    before = unify.well_formed

    def noted(ctx, signature, params, definitions):  # type: ignore[no-untyped-def]
        read.append(signature.target.name)
        return before(ctx, signature, params, definitions)

    monkeypatch.setattr(unify, "well_formed", noted)
    checker = Checker()
    checker.check(Source("a.rho", SCRIPT))
    assert len(read) == 20
    read.clear()
    checker.check(Source("a.rho", "⍝ shifted\n" + SCRIPT))
    assert read == []


def test_a_signature_is_read_again_where_a_param_that_it_names_is_gone() -> None:
    program = "param k ← 3\nf : f64[n] → f64[k]\nf ← {k↑⍵}\n"
    checker = Checker()
    assert not checker.check(Source("a.rho", program)).diagnostics
    without = Source("a.rho", program.replace("param k", "j"))
    found = checker.check(without).diagnostics
    assert found == check(without).diagnostics
    assert "E122" in [d.code for d in found]
    assert checker.check(without).diagnostics == found


