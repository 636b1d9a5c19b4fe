"""Words of directives: from a text to the same groups of words that the parser makes of a `schedule` block."""

from __future__ import annotations

import re
from typing import Final

from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic
from ....lang.program_tree import Directive, DirectiveGroup, DirectiveWord
from ....lang.source import Source, Span

_WORD: Final = re.compile(r"⍝[^\n]*|[{}⋄\n]|[^\s{}⋄⍝]+")
MOST_DEPTH: Final = 50


def words_of(source: Source) -> tuple[tuple[Directive, ...], tuple[Diagnostic, ...]]:
    """The directives of a text; braces group, `⋄` and new lines separate."""
    stack: list[tuple[int, list[Directive], list[DirectiveWord | DirectiveGroup]]] = [(0, [], [])]

    def finish() -> None:
        _, directives, words = stack[-1]
        if words:
            directives.append(Directive(words[0].span.to(words[-1].span), tuple(words)))
            words.clear()

    for found in _WORD.finditer(source.text):
        word, span = found.group(), Span(source.name, *found.span())
        if word[0] == "⍝":
            continue
        if word in ("⋄", "\n"):
            finish()
        elif word == "{":
            if len(stack) > MOST_DEPTH:
                return (), (Diagnostic(Code.E016, "groups are nested too deeply", span),)
            stack.append((found.start(), [], []))
        elif word == "}":
            finish()
            if len(stack) == 1:
                return (), (Diagnostic(Code.E003, "this brace closes nothing", span),)
            start, directives, _ = stack.pop()
            stack[-1][2].append(DirectiveGroup(Span(source.name, start, span.end), tuple(directives)))
        else:
            stack[-1][2].append(DirectiveWord(span, word))
    if len(stack) > 1:
        start = stack[-1][0]
        return (), (Diagnostic(Code.E003, "this brace is not closed", Span(source.name, start, start + 1)),)
    finish()
    return tuple(stack[0][1]), ()
