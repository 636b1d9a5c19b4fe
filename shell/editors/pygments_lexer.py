"""The Pygments lexer, for Sphinx, Jupyter's HTML and other tools that colour with Pygments (entry point `rho`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text, _TokenType

from ...lang.syntax.formatter import WordClass, words
from ...lang.syntax.source import Source

_TOKENS = {
    WordClass.COMMENT: Comment.Single, WordClass.TEXT: String, WordClass.NUMBER: Number, WordClass.NAME: Name,
    WordClass.ARGUMENT: Name.Variable.Magic, WordClass.TYPE: Keyword.Type, WordClass.KEYWORD: Keyword,
    WordClass.FUNCTION: Operator, WordClass.OPERATOR: Operator.Word, WordClass.LIBRARY: Name.Builtin,
    WordClass.CONSTANT: Name.Builtin, WordClass.PUNCTUATION: Punctuation, WordClass.BRACKET: Punctuation,
    WordClass.UNENDED: Error, WordClass.OTHER: Punctuation,
}  # fmt: skip
_DEFINES = re.compile(r"[ \t]*←[ \t]*\{")


class RhoLexer(Lexer):  # type: ignore[misc]  # Pygments has no types
    """The lexer `rho` for files that end in `.rho`."""

    name = "Rho"
    aliases: ClassVar[list[str]] = ["rho"]
    filenames: ClassVar[list[str]] = ["*.rho"]
    mimetypes: ClassVar[list[str]] = ["text/x-rho"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        at = 0
        for word in words(Source("<text>", text)):
            if word.start > at:
                yield at, Text, text[at : word.start]
            token = _TOKENS[word.kind]
            if token is Name and _DEFINES.match(text, word.end):
                token = Name.Function
            yield word.start, token, text[word.start : word.end]
            at = word.end
        if at < len(text):
            yield at, Text, text[at:]
