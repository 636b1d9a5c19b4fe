"""Generates the files of editors: the TextMate grammar (VS Code), and those of Vim and Helix (`editors/`).

The grammar has the customary scopes, so that every theme colours them; the server's semantic tokens distinguish names by kind.
"""

from __future__ import annotations

import json
from typing import Any

from ... import __version__
from ...lang.primitives.operators import RESERVED_WORDS
from ...lang.primitives.record import GlyphRole, Primitive
from ...lang.primitives.table import ELEMENT_NAMES, PRIMITIVES
from ...lang.syntax import source
from ...lang.syntax.source import ARGUMENTS, DYADIC_OPERATORS, FUNCTIONS, MONADIC_OPERATORS, SYSTEM_CONSTANTS

# ---------------------------------------------------------------------------------------------------- words
#
# The words of the language by class, and regular expressions of numbers, texts and names.

KEYWORDS = tuple(sorted(RESERVED_WORDS))
TYPES = (*sorted(ELEMENT_NAMES), "idx", "int", "perm")
OPERATORS = tuple(sorted(MONADIC_OPERATORS | DYADIC_OPERATORS, key=lambda glyph: (-len(glyph), glyph)))
GLYPH_FUNCTIONS = tuple(
    sorted(glyph for glyph in FUNCTIONS - set(OPERATORS) if len(glyph) == 1 and not glyph.isalnum())
)  # fmt: skip
LIBRARY = tuple(sorted(glyph for glyph in FUNCTIONS | SYSTEM_CONSTANTS if glyph.startswith("⎕")))
PUNCTUATION = ("←", "→", "⋄", ":", ";")

REAL = source.REAL.replace("*+", "*").replace("++", "+")
"""The lexer's pattern of a real number without possessive repetition, which editors lack."""
NUMBER = rf"{REAL}(?:[jJ]{REAL})?"


def glyph_names(roles: frozenset[GlyphRole]) -> tuple[str, ...]:
    """The names of primitives with these roles, longest first."""
    names = {name for row in PRIMITIVES if row.role in roles for name in row.names}
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


OPERATOR_ROLES = frozenset({GlyphRole.MONADIC_OPERATOR, GlyphRole.DYADIC_OPERATOR})
FUNCTION_ROLES = frozenset({GlyphRole.FUNCTION})


def backtick_words() -> tuple[tuple[str, Primitive], ...]:
    """Every name and key that can follow a backtick, with its primitive, longest first."""
    names: dict[str, Primitive] = {}
    for row in PRIMITIVES:
        for name in row.names:
            names.setdefault(name, row)
        if row.key is not None:
            names.setdefault(row.key, row)
    return tuple(sorted(names.items(), key=lambda entry: (-len(entry[0]), entry[0])))


def escaped(text: str) -> str:
    """A text as a regular expression of any dialect used here."""
    return "".join("\\" + character if character in r"\.^$*+?{}[]|()-/~&!" else character for character in text)


def alternatives(words: tuple[str, ...]) -> str:
    """A pattern that matches any of the words: longer ones first, single characters as a class."""
    long = [escaped(word) for word in sorted(words, key=lambda word: (-len(word), word)) if len(word) > 1]
    single = "".join(escaped(word) for word in words if len(word) == 1)
    return "|".join([*long, *([f"[{single}]"] if single else [])])


# ---------------------------------------------------------------------------------------------------- textmate

NAME = r"[\p{L}_∆][\p{L}\p{N}_∆]*"
_END = r"(?![\p{L}\p{N}_∆])"
_START = r"(?<![\p{L}\p{N}_∆])"


def _match(pattern: str, scope: str) -> dict[str, Any]:
    return {"match": pattern, "name": f"{scope}.rho"}


def grammar() -> dict[str, Any]:
    """The TextMate grammar `source.rho`."""
    starting = tuple(word for word in KEYWORDS if word != "where")
    return {
        "name": "Rho",
        "scopeName": "source.rho",
        "fileTypes": ["rho"],
        "patterns": [
            _match("(?:⍝|`comment|`lamp|`,|\\A#!).*$", "comment.line.lamp"),
            _match("'(?:[^'\\n]|'')*'", "string.quoted.single"),
            _match('"(?:[^"\\n]|"")*"', "string.quoted.double"),
            _match("['\"][^\\n]*$", "invalid.illegal.unterminated-string"),
            _match(rf"(?:^|(?<=⋄))[ \t]*(?:{alternatives(starting)}){_END}(?![ \t]*←)", "keyword.control"),
            _match(rf"{_START}where{_END}", "keyword.control"),
            _match(rf"{_START}as(?=[ \t]+(?:date|time|present){_END}|[ \t]+[\"'])", "keyword.control"),
            _match(rf"{_START}missing(?=[ \t]+[¯⎕0-9.∞\"'])|{_START}(?:sep|decimal|group)(?=[ \t]+[\"'])", "keyword.control"),
            {
                "match": rf"(?:^|(?<=⋄))[ \t]*({NAME})(?=[ \t]*(?:←[ \t]*\{{|:(?!:)[^←\n]*→))",
                "captures": {"1": {"name": "entity.name.function.rho"}},
            },
            _match(rf"{_START}(?:{alternatives(TYPES)}){_END}", "storage.type"),
            _match(rf"{_START}{NUMBER}(?![\p{{L}}\p{{N}}_∆])", "constant.numeric"),
            _match("⍬", "constant.language"),
            _match(alternatives(ARGUMENTS), "variable.language"),
            _match("⎕[A-Za-z0-9_]*", "support.function.library"),
            _match("←|⋄|→|:|;", "keyword.operator.assignment"),
            _match(alternatives(OPERATORS), "keyword.operator"),
            _match(alternatives(GLYPH_FUNCTIONS), "support.function"),
            _match(rf"`(?:{alternatives(glyph_names(OPERATOR_ROLES))})", "keyword.operator"),
            _match(rf"`(?:{alternatives(glyph_names(FUNCTION_ROLES))})", "support.function"),
            _match("`[A-Za-z]+|`[^\\s]", "constant.character.escape"),
            _match(NAME, "variable.other"),
        ],
    }


def language_configuration() -> dict[str, Any]:
    """VS Code's configuration of comments, brackets, words and indentation."""
    pairs = [["{", "}"], ["[", "]"], ["(", ")"]]
    quoted = [{"open": quote, "close": quote, "notIn": ["string", "comment"]} for quote in ("'", '"')]
    return {
        "comments": {"lineComment": "⍝"},
        "brackets": pairs,
        "autoClosingPairs": [*[{"open": a, "close": b} for a, b in pairs], *quoted],
        "surroundingPairs": [*pairs, ["'", "'"], ['"', '"']],
        "wordPattern": "`?[A-Za-zÀ-ɏ_∆⎕][\\wÀ-ɏ∆]*",
        "indentationRules": {"increaseIndentPattern": "[\\{\\[\\(][^\\}\\]\\)]*$", "decreaseIndentPattern": "^\\s*[\\}\\]\\)]"},
    }


def package() -> dict[str, Any]:
    """The extension's manifest."""
    return {
        "name": "rho-language",
        "displayName": "Rho",
        "description": "The Rho array language: types, costs and errors as you type",
        "version": __version__,
        "publisher": "rho",
        "license": "MIT",
        "private": True,
        "engines": {"vscode": "^1.82.0"},
        "categories": ["Programming Languages", "Snippets"],
        "icon": "icon.png",
        "main": "./dist/extension.js",
        "activationEvents": ["onLanguage:rho"],
        "contributes": {
            "languages": [
                {
                    "id": "rho", "aliases": ["Rho", "rho"], "extensions": [".rho"],
                    "configuration": "./language-configuration.json",
                },
            ],
            "grammars": [{"language": "rho", "scopeName": "source.rho", "path": "./syntaxes/rho.tmLanguage.json"}],
            "snippets": [{"language": "rho", "path": "./snippets.json"}],
            "commands": [
                {"command": command, "title": title, "category": "Rho", **({"icon": icon} if icon else {})}
                for command, title, icon in _COMMANDS
            ],
            "menus": {
                "editor/title/run": [{"command": "rho.run", "when": "editorLangId == rho"}],
                "commandPalette": [
                    {"command": command, "when": "false" if command == "rho.costs" else "editorLangId == rho"}
                    for command, _, _ in _COMMANDS if command != "rho.restart"
                ],
            },
            "configuration": {
                "title": "Rho",
                "properties": {
                    "rho.command": {
                        "type": "array", "items": {"type": "string"}, "default": ["rho", "lsp"],
                        "description": "How to start the language server.",
                    },
                    "rho.strict": {
                        "type": "boolean", "default": False,
                        "description": "Report as errors what would otherwise be checked when a program is loaded or run.",
                    },
                    "rho.devices": {
                        "type": "string", "default": "",
                        "description": "A device profile, shipped or in a file, that schedule blocks are checked for.",
                    },
                },
            },
            "configurationDefaults": {
                "[rho]": {
                    "editor.formatOnType": True, "editor.semanticHighlighting.enabled": True, "editor.tabSize": 2,
                    "editor.insertSpaces": True, "editor.unicodeHighlight.ambiguousCharacters": False,
                },
            },
        },
        "scripts": {
            "build": "esbuild extension.js --bundle --platform=node --external:vscode --outfile=dist/extension.js",
            "package": "npm run build && vsce package --no-dependencies --allow-missing-repository",
        },
        "dependencies": {"vscode-languageclient": "^9.0.1"},
        "devDependencies": {"@vscode/vsce": "^3.0.0", "esbuild": "^0.25.0"},
    }  # fmt: skip


_COMMANDS = (
    ("rho.run", "Run This Program", "$(play)"),
    ("rho.check", "Check This Program", ""),
    ("rho.plan", "Show the Plan of This Program", ""),
    ("rho.plot", "Draw a Value of This Program", ""),
    ("rho.insertGlyph", "Insert a Glyph", ""),
    ("rho.costs", "Show the Costs of a Function", ""),
    ("rho.restart", "Restart the Language Server", ""),
)
"""The command, title and icon of each menu entry; `rho.costs` takes arguments, so only links invoke it."""


def snippets() -> dict[str, Any]:
    """Snippets of statements: prefix, body and description."""
    rows = (
        ("input", 'input ${1:x} : ${2:f64}[${3:n}] ← "${4:x.csv}"', "an array from a file"),
        ("column", 'input ${1:price} : ${2:f64}[${3:n}] ← "${4:sales.csv}:${5:price}"${6: missing ⎕nan}', "a column of a table"),
        ("param", "param ${1:k} ← ${2:3}", "a number that a run may set"),
        ("output", "output ${1:y} ← ${2:x}", "a value that a run shows and saves"),
        ("function", "${1:mean} : ${2:f64[n] → f64}\n${1:mean} ← {${3:(+⌿⍵)÷≢⍵}}", "a function with a signature"),
        ("guard", "{${1:0=≢⍵} : ${2:⎕nan} ⋄ ${3:⌈/⍵}}", "a function of two cases"),
        ("groups", "(${1:keys} ${2:code}) ← set.classes ${3:shop}\n(≢${1:keys}) +⌸ (${2:code} ⋄ ${4:sales})", "sums by key"),
        ("use", "use ${1|stats,set,table,dates,text|}", "a module of the library"),
        ("example", "⍝ >>> ${1:mean 1 2}\n⍝ ${2:1.5}", "an example that `rho test` runs"),
    )  # fmt: skip
    return {prefix: {"prefix": prefix, "body": body.split("\n"), "description": about} for prefix, body, about in rows}


def glyphs() -> list[dict[str, Any]]:
    """The entries of the command that inserts a glyph: each glyph with its names and its title."""
    rows: dict[str, dict[str, Any]] = {}
    for row in PRIMITIVES:
        if row.names and not row.later and not row.glyph.isalnum():
            entry = rows.setdefault(row.glyph, {"glyph": row.glyph, "names": [], "title": ""})
            spelt = [f"`{name}" for name in (*row.names, *([row.key] if row.key else []))]
            entry["names"] += [name for name in spelt if name not in entry["names"]]
            entry["title"] = " · ".join(part for part in (entry["title"], row.title) if part)
    return list(rows.values())


def as_json(value: dict[str, Any] | list[dict[str, Any]]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# ---------------------------------------------------------------------------------------------------- vim
#
# Vim's syntax and keymap files (`editors/neovim`): colours without a server, and glyphs for backtick names and keys.

_HEAD = '" Made by python -m rho.shell.editors from the table of primitives; do not edit.\n'
_OR = r"\|"
_NAME = r"\%([[:alpha:]_∆]\|[^\x00-\x7F]\&\k\)\%(\k\|∆\)*"


def syntax() -> str:
    """`syntax/rho.vim`.  In Vim later items take precedence, so the general ones come first."""
    lines = [
        'if exists("b:current_syntax")\n  finish\nendif\n',
        *[_literal("rhoFunction", glyph) for glyph in GLYPH_FUNCTIONS],
        *[_literal("rhoOperator", glyph) for glyph in sorted(OPERATORS, key=lambda glyph: (len(glyph), glyph))],
        *[_literal("rhoDelimiter", glyph) for glyph in PUNCTUATION],
        r"syntax match rhoSpelling /`\%(\a\+\|\S\)/",
        *[f"syntax match rhoFunction /`{name}/" for name in reversed(glyph_names(FUNCTION_ROLES))],
        *[f"syntax match rhoOperator /`{name}/" for name in reversed(glyph_names(OPERATOR_ROLES))],
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
        r"""syntax match rhoKeyword /\<missing\ze\s\+[¯⎕0-9.∞"']\|\<\%(sep\|decimal\|group\)\ze\s\+["']/""",
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
    """A syntax rule that matches a glyph literally (very nomagic, with the delimiter escaped)."""
    text = glyph.replace("\\", "\\\\").replace("/", "\\/")
    return f"syntax match {group} /\\V{text}/"


def keymap() -> str:
    """`keymap/rho.vim`: `:set keymap=rho`, then a backtick and a name or key."""
    use = '" Use: :set keymap=rho (Ctrl-^ in insert mode turns it off and on).'
    lines = [_HEAD + use, 'let b:keymap_name = "ρ"', "loadkeymap"]
    for word, row in reversed(backtick_words()):
        typed_keys = "".join({"\\": "<Bslash>", "|": "<Bar>", "<": "<lt>", " ": "<Space>", '"': '"'}.get(c, c) for c in word)
        glyph = "".join({"\\": "<Bslash>", "|": "<Bar>", "<": "<lt>"}.get(c, c) for c in row.glyph)
        lines.append(f"`{typed_keys}\t{glyph}")
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------------------------------------------- helix
#
# Helix's settings (`editors/helix/languages.toml`).

def languages() -> str:
    """Helix's settings: the language, and how to start its server."""
    return """# Made by python -m rho.shell.editors; append it to ~/.config/helix/languages.toml.

[language-server.rho]
command = "rho"
args = ["lsp"]

[[language]]
name = "rho"
scope = "source.rho"
file-types = ["rho"]
comment-token = "⍝"
indent = { tab-width = 2, unit = "  " }
language-servers = ["rho"]
formatter = { command = "rho", args = ["fmt", "-"] }

[language.auto-pairs]
"(" = ")"
"[" = "]"
"{" = "}"
"'" = "'"
'"' = '"'
"""


def generated_files() -> dict[str, str]:
    """The text of every generated file, by its path under `editors/`."""
    return {
        "vscode/package.json": as_json(package()),
        "vscode/snippets.json": as_json(snippets()),
        "vscode/glyphs.json": as_json(glyphs()),
        "vscode/language-configuration.json": as_json(language_configuration()),
        "vscode/syntaxes/rho.tmLanguage.json": as_json(grammar()),
        "neovim/syntax/rho.vim": syntax(),
        "neovim/keymap/rho.vim": keymap(),
        "helix/languages.toml": languages(),
    }
