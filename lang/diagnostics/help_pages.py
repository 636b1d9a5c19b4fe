"""The text of `rho explain` and `rho doc` for codes and primitives, made from the tables.

`explain(word)` takes a code, a glyph, a backtick spelling, a key or a name.  The reference pages
(`lang.primitives.generate_docs`) print the same facts as Markdown.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..primitives.operators import ALIASES, UNSUPPORTED_CHARACTERS
from ..primitives.record import Example, GlyphRole, Primitive, PrimitiveUse, Trait
from ..primitives.table import find, nearest, suggest
from .code_pages import PAGES
from .model import Code, Page, code_of


def page_of(code: Code) -> Page:
    """The page of a code."""
    return PAGES[code]


def pages() -> Mapping[Code, Page]:
    """Every page by code, in the order of the table."""
    return {code: page_of(code) for code in Code}


def explain(word: str) -> str | None:
    """The text for a word, ending in a newline; None for an unknown one (see `suggested_word`)."""
    word = word.strip()
    code = code_of(word.upper())
    if code is not None:
        return code_text(code)
    rows = find(word)
    if rows:
        return "\n".join(primitive_text(row) for row in rows)
    if word in UNSUPPORTED_CHARACTERS:
        return f"{word} is not part of Rho: {UNSUPPORTED_CHARACTERS[word]}.\n"
    return None


def suggested_word(word: str) -> str | None:
    """A known word near an unknown one; None if there is none."""
    return nearest(word.upper(), Code) if word[-1:].isdigit() else suggest(word)


def code_text(code: Code) -> str:
    """The page of a code."""
    page = page_of(code)
    lines = [f"{code}: {code.summary}", "", *_wrapped(page.explanation)]
    lines += ["", f"This gives {code}:", "", *_indented(page.failing)]
    lines += ["", "This does not:", "", *_indented(page.repaired)]
    if code.related:
        lines += ["", "See also: " + ", ".join(f"{other} ({Code[other].summary})" for other in code.related)]
    return "\n".join(lines) + "\n"


def primitive_text(row: Primitive) -> str:
    """Everything the table says about one row."""
    lines = [f"{row.glyph}  {row.title}  ({row.role.value})"]
    if row.names or row.key:
        lines.append(f"   type it: {', '.join(spellings(row))}")
    if row.doc:
        lines += ["", *_wrapped(row.doc)]
    for form, use in uses(row):
        lines += ["", f"{form}   {use.name}", *_wrapped(use.doc)]
        lines += [f"   {fact}" for fact in facts(use)]
        lines += _examples(use.examples)
    lines += _examples(row.examples)
    if row.later:
        lines += ["", "   This version of Rho cannot run it yet (E620)."]
    return "\n".join(lines) + "\n"


def code_span(text: str) -> str:
    """A code span, also of text with backticks."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def primitive_markdown(row: Primitive, most_examples: int | None = None) -> list[str]:
    """The same as Markdown, for pages and for editors."""
    typed = spellings(row)
    lines = [f"{row.role.value.capitalize()}." + (f" Type it: {', '.join(map(code_span, typed))}." if typed else ""), ""]
    if row.doc:
        lines += [row.doc, ""]
    for form, use in uses(row):
        known = facts(use)
        lines += [f"{code_span(form)} **{use.name}**: {use.doc}", ""]
        lines += [f"- {fact}" for fact in known] + [""] * bool(known)
        if use.laws:
            lines += ["Laws: " + ", ".join(map(code_span, use.laws)) + ".", ""]
        lines += _session(use.examples[:most_examples], row.later)
    return lines + _session(row.examples[:most_examples], row.later)


def _session(examples: tuple[Example, ...], later: bool) -> list[str]:
    if not examples:
        return []
    lines = ["```rho skip" if later else "```rho"]
    for expression, expected in examples:
        lines += [f"      {expression}", *expected.split("\n")]
    return [*lines, "```", ""]


def spellings(row: Primitive) -> list[str]:
    """The ways to type a glyph, key first."""
    keyed = [f"`{row.key}"] if row.key else []
    return keyed + [f"`{name}" for name in row.names] + [alias for alias, glyph in ALIASES.items() if glyph == row.glyph]


def uses(row: Primitive) -> list[tuple[str, PrimitiveUse]]:
    """Each valence of a primitive with its form, such as `A + B`."""
    pairs: list[tuple[str, PrimitiveUse]] = []
    operand = {GlyphRole.MONADIC_OPERATOR: "f", GlyphRole.DYADIC_OPERATOR: "f"}.get(row.role, "")
    for use, form in ((row.monadic, f"{row.glyph} B"), (row.dyadic, f"A {row.glyph} B")):
        if use is not None:
            pairs.append((use.type if operand and use.type else form, use))
    return pairs


def facts(use: PrimitiveUse) -> list[str]:
    """Type, cell ranks, identity and traits, one line each."""
    lines: list[str] = []
    if " : " in use.type:
        lines.append(f"type: {use.type}")
    if any(rank is not None for rank in use.ranks):
        lines.append("cell ranks: " + " ".join("∞" if rank is None else str(rank) for rank in use.ranks))
    if use.identity is not None:
        lines.append(f"identity: {use.identity}")
    lines += [trait.value for trait in Trait if trait in use.traits]
    return lines


def _examples(examples: tuple[tuple[str, str], ...]) -> list[str]:
    lines: list[str] = []
    for expression, expected in examples:
        lines += ["", f"       {expression}", *_indented(expected, 3)]
    return lines


def _indented(text: str, columns: int = 4) -> list[str]:
    return [(" " * columns + _shortened(line)).rstrip() for line in text.split("\n")]


def _shortened(line: str) -> str:
    return line if len(line) <= 100 else line[:60] + " … " + line[-30:]


def _wrapped(text: str, columns: int = 3, width: int = 100) -> list[str]:
    """Fill words into lines; `textwrap` is avoided for its import time."""
    lines: list[str] = []
    current = ""
    for word in text.split():
        if current and len(current) + 1 + len(word) > width - columns:
            lines.append(" " * columns + current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    return [*lines, " " * columns + current] if current else lines
