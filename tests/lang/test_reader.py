"""The reader takes every text: what is half typed, broken or no program reads to a tree whose text is the text.

What the binder finds out about names (`lang.bind.names`, `statements`, `sequences`) and what `lang.resolution` says of them
agree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import programs_of
from hypothesis import given, settings, strategies as st
from share import repeats, share

from rho.lang.bind.scopes import ReferenceKind, SymbolIndex
from rho.lang.primitives.table import PRIMITIVES
from rho.lang.syntax.glyph_input import to_glyphs
from rho.lang.syntax.parser import parse
from rho.lang.syntax.reader import split_statements
from rho.lang.syntax.source import ARGUMENTS, MAXIMUM_NESTING, Source, Token, TokenKind, lexemes, read
from rho.lang.tree import expressions, program as program_tree
from rho.lang.tree.expressions import SymbolKind

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "examples").glob("*.rho"), *(ROOT / "stdlib").glob("*.rho")])
TRIVIA = (TokenKind.BLANK, TokenKind.COMMENT)
BETWEEN = (*TRIVIA, TokenKind.SEPARATOR, TokenKind.UNREADABLE)
GROUPS = (TokenKind.PARENTHESES, TokenKind.BRACKETS, TokenKind.BRACES)
CLOSERS = {"(": ")", "[": "]", "{": "}"}


DOCUMENTS = sorted([*(ROOT / "tests").rglob("*.md"), *(ROOT / "docs").glob("*.md")])
TEXTS = [path.read_text(encoding="utf-8") for path in PROGRAMS]
TEXTS += sorted({text for path in DOCUMENTS for text in programs_of(path)})


def leaves(tokens: tuple[Token, ...], text: str, start: int, end: int) -> Iterator[str]:
    """The characters of a tree from left to right; a group has its opener, and its closer or none."""
    at = start
    for token in tokens:
        yield text[at : token.start]
        if token.kind in GROUPS:
            assert text[token.start] == token.text
            closes = token.end > token.start + 1 and text[token.end - 1] == CLOSERS[token.text]
            closes = closes and (not token.items or token.items[-1].end < token.end)
            yield token.text
            yield from leaves(token.items, text, token.start + 1, token.end - closes)
            yield text[token.end - 1] if closes else ""
        else:
            assert token.text == text[token.start : token.end]
            yield token.text
        at = token.end
    assert at <= end
    yield text[at:end]


def flat(tokens: tuple[Token, ...]) -> Iterator[tuple[int, int]]:
    for token in tokens:
        if token.kind not in GROUPS:
            yield token.start, token.end
        yield from flat(token.items)


def hold(text: str) -> None:
    """The lexemes are the text; the tree is the text, its words are the lexemes."""
    words = lexemes(text)
    assert "".join(text[start:end] for _, start, end in words) == text
    tokens = read(text).tokens
    assert "".join(leaves(tokens, text, 0, len(text))) == text
    if text.count("(") + text.count("[") + text.count("{") <= MAXIMUM_NESTING:
        brackets = (TokenKind.OPEN, TokenKind.CLOSE)
        wanted = [(start, end) for kind, start, end in words if kind not in (*TRIVIA, *brackets)]
        strays = {(start, end) for kind, start, end in words if kind is TokenKind.CLOSE}
        assert [place for place in flat(tokens) if place not in strays] == wanted
    glyphs = to_glyphs(Source("<text>", text))
    at = 0
    for piece in split_statements(glyphs):
        assert all(kind in BETWEEN for kind, _, _ in lexemes(glyphs.text[at : piece.start]))
        at = piece.start + len(piece.text)
        assert glyphs.text[piece.start : at] == piece.text
        assert "".join(leaves(read(piece.text).tokens, piece.text, 0, len(piece.text))) == piece.text
    assert parse(Source("<text>", text)).index.glyphs.file == "<text>"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_every_prefix_of_every_example(path: Path) -> None:
    """By statements, which is how they are read, and as whole texts: a drawn share of the prefixes."""
    text = path.read_text(encoding="utf-8")
    for piece in split_statements(to_glyphs(Source("<text>", text))):
        for end in share(range(len(piece.text) + 1), seed=piece.start):
            prefix = piece.text[:end]
            assert "".join(leaves(read(prefix).tokens, prefix, 0, end)) == prefix
    for end in share(share(range(len(text) + 1), seed=len(text))):
        hold(text[:end])


PLACES = st.integers(0, 1_000_000)
MARKS = [*"()[]{}'\"⍝\n⋄;:←→`§ #", *(row.glyph for row in PRIMITIVES), ""]


@settings(max_examples=repeats(5000), deadline=None)
@given(st.sampled_from(TEXTS), PLACES, st.sampled_from((0, 0, 1, 3)), st.sampled_from(MARKS))
def test_prefixes_and_texts_with_characters_taken_out_put_in_and_exchanged(text: str, place: int, width: int, mark: str) -> None:
    at = place % (len(text) + 1)
    hold(text[:at])
    hold(text[:at] + mark + text[at + width :])


BROKEN = ["", " ", "⍝", "'", "((((", "}])", "(]){", "[" * 5000, "({[" * 2000 + ")" * 9000, "x←(1\ny←2\nz"]


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_program(text: str) -> None:
    hold(text)


# ------------------------------------------------------------------------------------------ one meaning of names

KINDS = {
    expressions.Name: (SymbolKind.ARRAY, SymbolKind.INPUT, SymbolKind.PARAM, SymbolKind.SIZE),
    expressions.FunctionName: (SymbolKind.FUNCTION,), expressions.OperatorName: (SymbolKind.OPERATOR,),
    expressions.Member: (SymbolKind.MODULE,),
    expressions.FunctionMember: (SymbolKind.MODULE,),
}  # fmt: skip
BOUND = {
    expressions.BindArray: SymbolKind.ARRAY, expressions.InlineBind: SymbolKind.ARRAY,
    expressions.BindFunction: SymbolKind.FUNCTION,
    expressions.BindOperator: SymbolKind.OPERATOR, program_tree.InputDeclaration: SymbolKind.INPUT,
    program_tree.Param: SymbolKind.PARAM,
    program_tree.ModuleUse: SymbolKind.MODULE,
}  # fmt: skip


def nodes(program: program_tree.ProgramTree) -> Iterator[object]:
    pending: list[object] = [program]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending += node
        elif dataclasses.is_dataclass(node) and not isinstance(node, expressions.OperatorDfn):
            yield node
            pending += [getattr(node, field.name) for field in dataclasses.fields(node)]


def names_agree(text: str) -> int:
    """Every name of the bound tree means in the index what the binder took it for; how many there are."""
    source = Source("<text>", text)
    parsed = parse(source)
    if parsed.diagnostics:
        return 0
    index: SymbolIndex = parsed.index
    at = {mention.span.start: mention for mention in index.references}
    seen = 0
    for node in nodes(parsed.program):
        if type(node) in KINDS and getattr(node, "name", None) not in ARGUMENTS:
            mention = at.get(node.span.start)  # type: ignore[attr-defined]
            assert mention is not None, node
            assert mention.symbol.kind in KINDS[type(node)], (node, mention)
            seen += 1
        if type(node) in BOUND and isinstance(node.target, expressions.NameTarget) and node.target.name not in ARGUMENTS:  # type: ignore[attr-defined]
            mention = at.get(node.target.span.start)  # type: ignore[attr-defined]
            assert mention is not None and mention.kind is ReferenceKind.BIND, node
            kind = mention.symbol.kind
            assert kind is BOUND[type(node)] or node.target.name in ARGUMENTS, (node, mention)  # type: ignore[attr-defined]
            seen += 1
    return seen


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_binder_and_index_agree_on_examples(path: Path) -> None:
    assert names_agree(path.read_text(encoding="utf-8"))


def test_binder_and_index_agree_on_programs_of_the_tests() -> None:
    assert sum(names_agree(text) for text in share(TEXTS, seed=3)) > 20
