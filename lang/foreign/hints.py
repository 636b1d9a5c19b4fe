"""Explains syntax of other languages: rewords the errors that it causes, and adds notes where it is valid Rho.

`explain_errors`: where foreign syntax causes an error, the message and the fix of its pattern replace those of the error.
`lint_foreign_syntax`: where it is valid Rho of another meaning (`2^3` is an error, `a*b` is a power), it gets a note N001, which
every command but `rho run` shows.  Only statements in ASCII (and `←`) get notes, but those of rows that begin with `⎕`: an author
who types glyphs knows Rho.  The program must be accepted with the fix of a note, and that fix must get no note; otherwise another
language was not meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Severity, with_edits
from ..support.records import replace
from ..syntax.source import Source, Span
from .equivalence_domains import FactQuery, TranslationContext
from .function_names import KINDS_OF_WORDS, METHODS, UNTRANSLATED
from .patterns import NAME, Pattern, PatternGroups, expression, named_arguments_hint, rows

NOTE = Code.N001


def explain_errors(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], facts_in: Callable[[Source], FactQuery]
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """The diagnostics, with those errors reworded that a pattern explains; `facts_in` gives the query for a source's values."""
    masked: dict[str, str] = {}
    queries: dict[str, FactQuery] = {}
    explanations: list[Diagnostic] = []
    for diagnostic in diagnostics:
        source = sources.get(diagnostic.span.file) if diagnostic.is_error and len(explanations) < _MOST_ERRORS else None
        if source is None or diagnostic.code not in _EXPLAINED_CODES:
            explanations.append(diagnostic)
            continue
        if diagnostic.span.file not in masked:
            masked[diagnostic.span.file], queries[diagnostic.span.file] = mask_quotes(source.text), facts_in(source)
        text, query = masked[diagnostic.span.file], queries[diagnostic.span.file]
        explanations.append(_explanation(diagnostic, source, text, query) or diagnostic)
    return tuple(explanations)


_EXPLAINED_CODES = frozenset({
    Code.E001, Code.E002, Code.E003, Code.E004, Code.E005, Code.E006, Code.E008, Code.E009, Code.E010,
    Code.E011, Code.E014, Code.E017, Code.E101, Code.E111, Code.E131, Code.E133, Code.E134, Code.E300, Code.E303, Code.E304,
    Code.E310, Code.E403,
})  # fmt: skip
"""The errors that foreign syntax may cause."""

_CONTEXT_CHARACTERS, _MOST_ERRORS = 300, 50
"""The characters around an error that patterns see (their cost grows with the square), and the errors that are explained."""


def _explanation(error: Diagnostic, source: Source, text: str, query: FactQuery) -> Diagnostic | None:
    first = text.rfind("\n", 0, error.span.start) + 1
    last = text.find("\n", error.span.end)
    line, position = text[first : last if last >= 0 else len(text)], error.span.start - first
    for row, pattern in rows(legal=False):
        if row.codes is not None and error.code not in row.codes:
            continue
        for match in _matches(pattern, line, max(0, position - _CONTEXT_CHARACTERS), position + _CONTEXT_CHARACTERS):
            if not _causes(match, error, first) or (error.code != Code.E001 and _is_of_library(match, text)):
                continue
            if row.hint or not _is_defined(match["w"], text):
                return _diagnose(row, match, source, first, error, query)
    return None


def _is_of_library(match: re.Match[str], text: str) -> bool:
    """Is the word at fault a member of a module that the program uses: `group.quantile`?"""
    if "w" not in match.re.groupindex:
        return False
    module = re.search(r"\b(\w+)\.$", match.string[: match.start("w")])
    return module is not None and re.search(rf"\buse[ \t]+{module[1]}\b", text) is not None


def _matches(pattern: re.Pattern[str], line: str, first: int, last: int) -> Iterable[re.Match[str]]:
    """The matches of a pattern, also overlapping ones if it has a word at fault, which may be inside the arguments of another."""
    if "w" not in pattern.groupindex:
        yield from pattern.finditer(line, first, last)
        return
    while (match := pattern.search(line, first, last)) is not None:
        yield match
        first = match.start() + 1


def _causes(match: re.Match[str], error: Diagnostic, base: int) -> bool:
    """Is the error about the text that a pattern matched?"""
    if error.code == Code.E001 and "w" in match.re.groupindex:
        position = error.span.start - base
        inside = match.start() <= position < match.end()
        in_chain = "chain" in match.re.groupindex and match.start("chain") <= position < match.end("chain")
        at_word = match.start("w") == position or in_chain
        return at_word or (inside and _ARGUMENT_AT_FAULT.match(match.string, position) is not None)
    return base + match.start() <= error.span.end and error.span.start <= base + match.end()


_ARGUMENT_AT_FAULT = re.compile(rf"{NAME}[ \t]*=(?!=)|(?:{'|'.join(KINDS_OF_WORDS)})[ \t]*\)|(?<==)(?:True|False|None)\b")
"""The arguments of a foreign call that cause an unknown name: arguments by name, types, `True`, `False`, `None`."""


def _is_defined(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){name}[ \t]*(?:←|:)", text) is not None


def lint_foreign_syntax(
    source: Source, diagnostics: Iterable[Diagnostic], check: Callable[[Source], Sequence[Diagnostic]]
) -> tuple[Diagnostic, ...]:
    """A note (N001) for each part of a text, outside statements with errors, that other languages read differently.

    `check` returns the diagnostics of a text, as `diagnostics` are those of `source`."""
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.is_error]
    notes = [note for note in _notes(source, errors) if _settles(note, source)]

    def is_accepted(notes: Sequence[Diagnostic]) -> bool:
        edits = [edit for note in notes for edit in note.fixes[0].edits]
        is_independent = all(one.span.end <= next.span.start for one, next in pairwise(sorted(edits, key=_start)))
        return is_independent and sum(one.is_error for one in check(with_edits(source, edits))) <= len(errors)

    def accepted(notes: Sequence[Diagnostic]) -> list[Diagnostic]:
        """The notes whose fixes are accepted together and, if they are few, one by one."""
        if is_accepted(notes):
            return list(notes) if len(notes) not in range(2, _FEW) else [note for note in notes if is_accepted((note,))]
        middle = len(notes) // 2
        return [*accepted(notes[:middle]), *accepted(notes[middle:])] if middle else []

    return tuple(accepted(notes)) if notes else ()


_FEW = 9


def _start(edit: Edit) -> int:
    return edit.span.start


def _settles(note: Diagnostic, source: Source) -> bool:
    """Does the fix of a note give a text in which the fixed range causes no note?"""
    if not note.fixes or not note.fixes[0].edits:
        return False
    edit = note.fixes[0].edits[-1]
    start, end = edit.span.start, edit.span.start + len(edit.text)
    return not any(one.span.start < end and start < one.span.end for one in _notes(with_edits(source, [edit]), ()))


def _notes(source: Source, errors: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The notes of a text, sorted, before their fixes are checked."""
    wrong = [error.span for error in errors if error.span.file == source.name]
    hints: list[Diagnostic] = []
    for base, statement in _statements(source.text):
        if any(span.start <= base + len(statement) and base <= span.end for span in wrong):
            continue
        spans, is_ascii = list[tuple[int, int]](), _is_ascii(statement)
        for row, pattern in rows(legal=True):
            for match in pattern.finditer(statement) if is_ascii or row.pattern.startswith("⎕") else ():
                start, end = match.span("all" if "all" in match.re.groupindex else 0)
                if not any(first < end and start < last for first, last in spans):
                    spans.append((start, end))
                    note = Diagnostic(NOTE, "", Span(source.name, base, base), Severity.NOTE)
                    hints.append(_diagnose(row, match, source, base, note, None))
    notes = {note.fixes or note.span: note for note in reversed(hints)}  # the first note of each fix
    return sorted(notes.values(), key=lambda one: one.span.start)


_ASCII_OPERATORS = re.compile(r"[=<>|!*/,-]")


def _is_ascii(text: str) -> bool:
    return text.replace("←", "").replace("⎕", "").isascii()


def _statements(text: str) -> Iterable[tuple[int, str]]:
    """The masked statements that have `⎕` or, without glyphs, an operator of some pattern, with their offsets."""
    start = 0
    for line in text.split("\n"):
        code = line.partition("⍝")[0]
        if _ASCII_OPERATORS.search(code) and ("⋄" in code or "⎕" in code or _is_ascii(code)):
            position = start
            for statement in mask_quotes(line).split("⋄"):
                if len(statement) <= _CONTEXT_CHARACTERS and ("⎕" in statement or _is_ascii(statement)):
                    yield position, statement
                position += len(statement) + 1
        start += len(line) + 1


def _diagnose(
    row: Pattern, match: re.Match[str], source: Source, base: int, diagnostic: Diagnostic, query: FactQuery | None
) -> Diagnostic:  # fmt: skip
    """The diagnostic with the hint of a pattern and, if the rewrite is known to be equivalent, its fix."""
    start, end = match.span("all" if "all" in match.re.groupindex else 0)
    groups = [name for name in match.re.groupindex if match[name] is not None]
    before = source.text[: base + match.string.rfind("⋄", 0, start) + 1]
    context = TranslationContext(query, qualifies=query is None, before=before)
    texts = {name: source.text[base + match.start(name) : base + match.end(name)] for name in groups}
    groups_by_name = PatternGroups(texts, context)
    groups_by_name["after"] = re.split(r"[\n⋄)\]}]", match.string[end:], maxsplit=1)[0].strip()
    rewrite = row.rewrite_of(groups_by_name)
    span = Span(source.name, base + start, base + end)
    is_exact = rewrite is not None and "…" not in rewrite and not context.is_example
    if rewrite is not None and (rewritten := _statement_around(match, source, base, span, rewrite, context)) is not None:
        if "…" in rewritten[1]:
            is_exact = False  # the part cannot be rewritten without its statement
        else:
            (span, rewrite), is_exact = rewritten, True
    if rewrite == source.text[span.start : span.end]:
        rewrite = None  # what cannot be translated stands in it as it was
    known = {**UNTRANSLATED, **METHODS} if "chain" in match.re.groupindex else UNTRANSLATED
    hint = row.hint or known.get(groups_by_name["w"]) or f"there is no `{groups_by_name['w']}`"
    if rewrite in (None, "…"):
        hint += named_arguments_hint(groups_by_name.get("all", "")) if "w" in groups_by_name else ""
        return replace(diagnostic, message=hint, span=span, label="", labels=(), notes=tuple(context.differences), fixes=())
    libraries = _libraries(rewrite, source.text) if is_exact or context.is_example else []
    title = f"write `{rewrite.strip()}`" if rewrite.strip() else "leave it out"
    if libraries:
        title = f"write {' and '.join(f'`use {name}`' for name in libraries)}, then {title.removeprefix('write ')}"
    hint = hint if f"`{rewrite}`" in hint else f"{hint}; {title}"
    edits = (*(_use(name, source) for name in libraries), Edit(span, rewrite)) if is_exact else ()
    notes = tuple(context.remarks if is_exact else context.differences)
    return replace(diagnostic, message=hint, span=span, label="", labels=(), notes=notes, fixes=(Fix(title, edits),))


def _libraries(written: str, text: str) -> list[str]:
    """The libraries that a rewrite needs and `text` has no `use` for."""
    named = dict.fromkeys(re.findall(r"(?<![\w.])(stats|sort|text|linalg)\.", written))
    return [name for name in named if re.search(rf"\buse[ \t]+{name}\b", text) is None]


def _use(name: str, source: Source) -> Edit:
    """An edit that adds a `use` line above the first statement; in a text of one line, a statement before it."""
    remarks = re.match(r"(?:[ \t]*(?:⍝|#!)[^\n]*\n|[ \t]*\n)*", source.text)
    start = remarks.end() if remarks is not None else 0
    return Edit(Span(source.name, start, start), f"use {name}\n" if "\n" in source.text else f"use {name} ⋄ ")


_HEAD = re.compile(rf"[ \t]*(?:(?P<x>{NAME})[ \t]*(?P<f>←|<-|:=|=(?!=))[ \t]*)?")


def _statement_around(
    match: re.Match[str], source: Source, base: int, part: Span, written: str, context: TranslationContext
) -> tuple[Span, str] | None:  # fmt: skip
    """The span and the translation of the statement around a part, if rewriting the part alone would change the meaning of the
    rest.

    In `y = 2*a + np.sum(x)` the other operators are Python's too, so the statement is translated as a whole; of an assignment by
    `←` only the value."""
    from .python import is_computed

    line, start, end = match.string, part.start - base, part.end - base
    first = line.rfind("⋄", 0, start) + 1
    last = min(stop for stop in (line.find("⋄", end), line.find("#", end), len(line)) if stop >= end)
    head = _HEAD.match(line, first, start)
    name = head["x"] if head is not None and head["f"] not in (None, "←") else None
    position = first if head is None else head.end()
    value = source.text[base + position : base + position + len(line[position:last].rstrip())]
    if not value.isascii() or not is_computed(value) or (name is None and (position, position + len(value)) == (start, end)):
        return None
    text = expression(value, context)
    if name is not None and head is not None:
        return Span(source.name, base + head.start("x"), base + position + len(value)), f"{name} ← {text}"
    alone = f"{value[: start - position]}{written}{value[end - position :]}"
    if "#" in line[start:end] or alone.replace(" ", "") == text.replace(" ", ""):
        return None
    return Span(source.name, base + position, base + position + len(value)), text


_QUOTED = re.compile(r"⍝[^\n]*|#[^\n]*|'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\"")


def mask_quotes(text: str) -> str:
    """The text with letters in place of the contents of quotes and blanks in place of comments, at the same offsets."""

    def mask(match: re.Match[str]) -> str:
        part = match.group()
        return part[0] + "s" * (len(part) - 2) + part[0] if part[0] in "'\"" else part if part[0] == "#" else " " * len(part)

    return _QUOTED.sub(mask, text)
