"""The Pygments lexer, for Sphinx, Jupyter's HTML and everything else that colours with Pygments (entry point `rho`)."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from .words import (
    ARGUMENTS,
    FUNCTION_ROLES,
    GLYPH_FUNCTIONS,
    KEYWORDS,
    NUMBER,
    OPERATOR_ROLES,
    OPERATORS,
    TYPES,
    alternatives,
    spelt,
)

_NAME = r"(?:[^\W\d]|∆)(?:\w|∆)*"
_END = r"(?![\w∆])"


class RhoLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """`rho`, files end in `.rho`."""

    name = "Rho"
    aliases: ClassVar[list[str]] = ["rho"]
    filenames: ClassVar[list[str]] = ["*.rho"]
    mimetypes: ClassVar[list[str]] = ["text/x-rho"]

    tokens: ClassVar[dict[str, list[tuple[object, ...]]]] = {
        "root": [
            (r"\s+", Whitespace),
            (r"(?:⍝|`comment|`lamp|`,|\A#!).*", Comment.Single),
            (r"'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\"", String),
            (r"['\"].*", Error),
            (rf"(?:{alternatives(KEYWORDS)}){_END}(?![ \t]*←)", Keyword),
            (rf"(?:{alternatives(TYPES)}){_END}", Keyword.Type),
            (rf"{_NAME}(?=[ \t]*←[ \t]*\{{)", Name.Function),
            (NUMBER, Number),
            ("⍬", Name.Constant),
            (alternatives(ARGUMENTS), Name.Variable.Magic),
            (_NAME, Name),
            ("⎕[A-Za-z0-9_]*", Name.Builtin),
            ("[←→⋄:;]", Punctuation),
            (alternatives(OPERATORS), Operator.Word),
            (alternatives(GLYPH_FUNCTIONS), Operator),
            (rf"`(?:{alternatives(spelt(OPERATOR_ROLES))})", Operator.Word),
            (rf"`(?:{alternatives(spelt(FUNCTION_ROLES))})", Operator),
            (r"`[A-Za-z]+|`\S", Operator),
            (r"[()\[\]{}_¯]", Punctuation),
        ],
    }
