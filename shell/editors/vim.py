"""Vim's syntax and keymap files (`editors/neovim`): colours without a server, and glyphs typed by backtick names and keys."""

from __future__ import annotations

from ...lang.lexer import ARGUMENTS
from .words import (
    FUNCTION_ROLES,
    GLYPH_FUNCTIONS,
    KEYWORDS,
    OPERATOR_ROLES,
    OPERATORS,
    PUNCTUATION,
    TYPES,
    spelt,
    typed,
)

_HEAD = '" Made by python -m rho.shell.editors from the table of primitives; do not edit.\n'
_OR = r"\|"
_NAME = r"\%([[:alpha:]_∆]\|[^\x00-\x7F]\&\k\)\%(\k\|∆\)*"


def syntax() -> str:
    """`syntax/rho.vim`: later items win, so the general come first."""
    lines = [
        'if exists("b:current_syntax")\n  finish\nendif\n',
        *[_literal("rhoFunction", glyph) for glyph in GLYPH_FUNCTIONS],
        *[_literal("rhoOperator", glyph) for glyph in sorted(OPERATORS, key=lambda glyph: (len(glyph), glyph))],
        *[_literal("rhoDelimiter", glyph) for glyph in PUNCTUATION],
        r"syntax match rhoSpelling /`\%(\a\+\|\S\)/",
        *[f"syntax match rhoFunction /`{name}/" for name in reversed(spelt(FUNCTION_ROLES))],
        *[f"syntax match rhoOperator /`{name}/" for name in reversed(spelt(OPERATOR_ROLES))],
        r"syntax match rhoNumber /\k\@1<!¯\=\%(\d[0-9_]*\%(\.[0-9_]*\)\=\|\.\d[0-9_]*\)\%([eE]¯\=\d\+\)\="
        r"\%([jJ]¯\=\%(\d[0-9_]*\%(\.[0-9_]*\)\=\|\.\d[0-9_]*\)\%([eE]¯\=\d\+\)\=\)\=/",
        "syntax match rhoNumber /¯\\=∞\\|⍬/",
        *[_literal("rhoArgument", glyph) for glyph in reversed(ARGUMENTS)],
        r"syntax match rhoLibrary /⎕\w*/",
        rf"syntax match rhoDefinition /^\s*\zs{_NAME}\ze\s*\%(←\s*{{\|:[^←]*→\)/",
        f"syntax keyword rhoType {' '.join(TYPES)}",
        rf"syntax match rhoKeyword /\%(^\|⋄\)\s*\zs\%({_OR.join(KEYWORDS)}\)\>\ze\%(\s*←\)\@!/",
        r"syntax match rhoKeyword /\<where\>/",
        r"""syntax match rhoKeyword /\<as\ze\s\+\%(date\>\|time\>\|present\>\|["']\)/""",
        r"""syntax match rhoKeyword /\<missing\ze\s\+[¯⎕0-9.∞"']\|\<\%(sep\|decimal\)\ze\s\+["']/""",
        r"""syntax match rhoText /'\%([^']\|''\)*'/""",
        r"""syntax match rhoText /"\%([^"]\|""\)*"/""",
        r"syntax match rhoComment /⍝.*$\|\%^#!.*$/ contains=@Spell",
        "",
        *[f"highlight default link {group} {linked}" for group, linked in _LINKS.items()],
        '\nlet b:current_syntax = "rho"',
    ]
    return _HEAD + "\n".join(lines) + "\n"


_LINKS = {
    "rhoFunction": "Function", "rhoOperator": "Operator", "rhoDelimiter": "Delimiter", "rhoSpelling": "Special",
    "rhoNumber": "Number", "rhoArgument": "Identifier", "rhoLibrary": "Function", "rhoDefinition": "Title", "rhoType": "Type",
    "rhoKeyword": "Keyword", "rhoText": "String", "rhoComment": "Comment",
}  # fmt: skip


def _literal(group: str, glyph: str) -> str:
    """A glyph as it is: very nomagic, with the delimiter escaped."""
    text = glyph.replace("\\", "\\\\").replace("/", "\\/")
    return f"syntax match {group} /\\V{text}/"


def keymap() -> str:
    """`keymap/rho.vim`: `:set keymap=rho`, then a backtick and a name or key."""
    use = '" Use: :set keymap=rho (Ctrl-^ in insert mode turns it off and on).'
    lines = [_HEAD + use, 'let b:keymap_name = "ρ"', "loadkeymap"]
    for word, row in reversed(typed()):
        typed_keys = "".join({"\\": "<Bslash>", "|": "<Bar>", "<": "<lt>", " ": "<Space>", '"': '"'}.get(c, c) for c in word)
        glyph = "".join({"\\": "<Bslash>", "|": "<Bar>", "<": "<lt>"}.get(c, c) for c in row.glyph)
        lines.append(f"`{typed_keys}\t{glyph}")
    return "\n".join(lines) + "\n"
