"""Explains syntax of other languages: it rewords the errors that such syntax causes and adds notes where it is legal Rho.

Where the text is wrong, the message and fix of a pattern replace the error that the text causes (`explained`).
Where the text is legal Rho that means something else, there is a note (`notes`, N001), which all show but `rho run`.  Notes
are only for statements in ASCII (and `←`): whoever writes the glyphs knows them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Severity
from ..syntax.source import Source, Span
from .equivalence_domains import Judge, Known
from .function_names import KINDS_OF_WORDS, REMARKS, TOLD
from .patterns import NAME, Habit, PatternGroups, by_name, expression, rows

NOTE = Code.N001


def explained(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], judge: Callable[[Source], Judge]
) -> tuple[Diagnostic, ...]:  # fmt: skip
    """The diagnostics, errors that come of a habit in its words; `judge`: what is known of expressions in a source."""
    masked: dict[str, str] = {}
    judges: dict[str, Judge] = {}
    explanations: list[Diagnostic] = []
    for diagnostic in diagnostics:
        source = sources.get(diagnostic.span.file) if diagnostic.is_error and len(explanations) < _MOST else None
        if source is None or diagnostic.code not in _CAUSED:
            explanations.append(diagnostic)
            continue
        if diagnostic.span.file not in masked:
            masked[diagnostic.span.file], judges[diagnostic.span.file] = unquoted(source.text), judge(source)
        explanations.append(_explanation(diagnostic, source, masked[diagnostic.span.file],
            judges[diagnostic.span.file]) or diagnostic)
    return tuple(explanations)


_CAUSED = frozenset({
    Code.E001, Code.E002, Code.E003, Code.E004, Code.E005, Code.E006, Code.E008, Code.E009, Code.E010,
    Code.E011, Code.E014, Code.E017, Code.E101, Code.E111, Code.E131, Code.E133, Code.E134, Code.E300, Code.E303, Code.E304,
    Code.E310, Code.E403,
})  # fmt: skip
"""The errors that habits cause."""

_REACH, _MOST = 300, 50
"""Characters around an error that are looked at, and errors that are looked into: patterns cost the square of the one."""


def _explanation(error: Diagnostic, source: Source, text: str, judge: Judge) -> Diagnostic | None:
    first = text.rfind("\n", 0, error.span.start) + 1
    last = text.find("\n", error.span.end)
    line, at = text[first : last if last >= 0 else len(text)], error.span.start - first
    for row, pattern in rows(legal=False):
        if row.codes is not None and error.code not in row.codes:
            continue
        for match in _matches(pattern, line, max(0, at - _REACH), at + _REACH):
            if _causes(match, error, first) and not (row.says == "" and _is_defined(match["w"], text)):
                return _told(row, match, source, first, error, judge)
    return None


def _matches(pattern: re.Pattern[str], line: str, first: int, last: int) -> Iterable[re.Match[str]]:
    """The matches, those inside another too: the word at fault may be in the argument of such a word."""
    if "w" not in pattern.groupindex:
        yield from pattern.finditer(line, first, last)
        return
    while (match := pattern.search(line, first, last)) is not None:
        yield match
        first = match.start() + 1


def _causes(match: re.Match[str], error: Diagnostic, base: int) -> bool:
    """Is the error about what a pattern found?"""
    if error.code == Code.E001 and "w" in match.re.groupindex:
        at = error.span.start - base
        return match.start("w") == at or (match.start() <= at < match.end() and bool(_BESIDE.match(match.string, at)))
    return base + match.start() <= error.span.end and error.span.start <= base + match.end()


_BESIDE = re.compile(rf"{NAME}[ \t]*=(?!=)|(?:{'|'.join(KINDS_OF_WORDS)})[ \t]*\)|(?<==)(?:True|False|None)\b")
"""What is at fault in a call beside its name: an argument by name, a type."""


def _is_defined(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w.]){name}[ \t]*(?:←|:)", text) is not None


def notes(source: Source, diagnostics: Iterable[Diagnostic] = ()) -> tuple[Diagnostic, ...]:
    """What a text may not mean as its writer thinks, apart from statements with an error."""
    wrong = [diagnostic.span for diagnostic in diagnostics if diagnostic.is_error and diagnostic.span.file == source.name]
    hints: list[Diagnostic] = []
    for base, statement in _in_ascii(source.text):
        if any(span.start <= base + len(statement) and base <= span.end for span in wrong):
            continue
        spans: list[tuple[int, int]] = []
        for row, pattern in rows(legal=True):
            for match in pattern.finditer(statement):
                start, end = match.span("all" if "all" in match.re.groupindex else 0)
                if not any(first < end and start < last for first, last in spans):
                    spans.append((start, end))
                    note = Diagnostic(NOTE, "", Span(source.name, base, base), Severity.NOTE)
                    hints.append(_told(row, match, source, base, note, None))
    return tuple(sorted(hints, key=lambda one: one.span.start))


_SIGNS = re.compile(r"[=<>|!*/,-]")


def _in_ascii(text: str) -> Iterable[tuple[int, str]]:
    """The masked statements that hold no glyph but `←`, and a sign that some row is about, with where they start."""
    start = 0
    for line in text.split("\n"):
        code = line.partition("⍝")[0]
        if _SIGNS.search(code) and ("⋄" in code or code.replace("←", "").isascii()):
            at = start
            for statement in unquoted(line).split("⋄"):
                if len(statement) <= _REACH and statement.replace("←", "").isascii():
                    yield at, statement
                at += len(statement) + 1
        start += len(line) + 1


def _told(
    row: Habit, match: re.Match[str], source: Source, base: int, diagnostic: Diagnostic, judge: Judge | None
) -> Diagnostic:  # fmt: skip
    """What a row says of a place, with its fix."""
    start, end = match.span("all" if "all" in match.re.groupindex else 0)
    groups = [name for name in match.re.groupindex if match[name] is not None]
    known = Known(judge, qualifies=judge is None, before=source.text[: base + match.string.rfind("⋄", 0, start) + 1])
    given = PatternGroups({name: source.text[base + match.start(name) : base + match.end(name)] for name in groups}, known)
    given["after"] = re.split(r"[\n⋄)\]}]", match.string[end:], maxsplit=1)[0].strip()
    written = row.write.format_map(given) if isinstance(row.write, str) else row.write(given) if row.write is not None else None
    span = Span(source.name, base + start, base + end)
    sure = written is not None and "…" not in written
    if written is not None and (rewritten := _statement_around(match, source, base, span, written, known)) is not None:
        if "…" in rewritten[1]:
            sure = False  # a part alone would not mean the same
        else:
            (span, written), sure = rewritten, True
    says = row.says or TOLD.get(given["w"]) or f"there is no `{given['w']}`"
    if written in (None, "…"):
        says += by_name(given.get("all", "")) if "w" in given else ""
        return replace(diagnostic, message=says, span=span, label="", labels=(), notes=tuple(known.differs), fixes=())
    needed = [] if not sure else _libraries(written, source.text)
    shown = f"write `{written.strip()}`" if written.strip() else "leave it out"
    if needed:
        shown = f"write {' and '.join(f'`use {name}`' for name in needed)}, then {shown.removeprefix('write ')}"
    says = says if f"`{written}`" in says else f"{says}; {shown}"
    edits = (*(_use(name, source) for name in needed), Edit(span, written)) if sure else ()
    remark = REMARKS.get(given.get("w", ""))
    notes = (*((remark,) if remark else ()), *(known.said if sure else known.differs))
    return replace(diagnostic, message=says, span=span, label="", labels=(), notes=notes, fixes=(Fix(shown, edits),))


def _libraries(written: str, text: str) -> list[str]:
    """The libraries of a Rho text that another one does not use yet."""
    named = dict.fromkeys(re.findall(r"(?<![\w.])(stats|sort|text|linalg)\.", written))
    return [name for name in named if re.search(rf"\buse[ \t]+{name}\b", text) is None]


def _use(name: str, source: Source) -> Edit:
    """A `use` line above the first statement; in a text of one line a statement before it."""
    remarks = re.match(r"(?:[ \t]*(?:⍝|#!)[^\n]*\n|[ \t]*\n)*", source.text)
    start = remarks.end() if remarks is not None else 0
    return Edit(Span(source.name, start, start), f"use {name}\n" if "\n" in source.text else f"use {name} ⋄ ")


_HEAD = re.compile(rf"[ \t]*(?:(?P<x>{NAME})[ \t]*(?P<f>←|<-|:=|=(?!=))[ \t]*)?")


def _statement_around(
    match: re.Match[str], source: Source, base: int, part: Span, written: str, known: Known
) -> tuple[Span, str] | None:  # fmt: skip
    """The statement around a part and how Rho writes it, if it is Python that means something else where only the part is written
    anew: it is repaired as one.  Of an assignment by `←` only the value is another's."""
    from .python import is_computed

    line, start, end = match.string, part.start - base, part.end - base
    first = line.rfind("⋄", 0, start) + 1
    last = min(stop for stop in (line.find("⋄", end), line.find("#", end), len(line)) if stop >= end)
    head = _HEAD.match(line, first, start)
    name = head["x"] if head is not None and head["f"] not in (None, "←") else None
    at = first if head is None else head.end()
    value = source.text[base + at : base + at + len(line[at:last].rstrip())]
    if not value.isascii() or not is_computed(value) or (name is None and (at, at + len(value)) == (start, end)):
        return None
    text = expression(value, known)
    if name is not None and head is not None:
        return Span(source.name, base + head.start("x"), base + at + len(value)), f"{name} ← {text}"
    alone = f"{value[: start - at]}{written}{value[end - at :]}"
    if "#" in line[start:end] or alone.replace(" ", "") == text.replace(" ", ""):
        return None
    return Span(source.name, base + at, base + at + len(value)), text


_QUOTED = re.compile(r"⍝[^\n]*|#[^\n]*|'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\"")


def unquoted(text: str) -> str:
    """The text, as long as it is, with letters for what is quoted and blanks for what is remarked."""

    def mask(match: re.Match[str]) -> str:
        part = match.group()
        return part[0] + "s" * (len(part) - 2) + part[0] if part[0] in "'\"" else part if part[0] == "#" else " " * len(part)

    return _QUOTED.sub(mask, text)
