"""The TextMate grammar and what else VS Code wants to know of the language (`editors/vscode`).

Scopes are the usual ones, so that every theme colours them; the server's semantic tokens add what only it knows.
"""

from __future__ import annotations

import json
from typing import Any

from ... import __version__
from ...lang.lexer import ARGUMENTS
from .words import (
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

NAME = r"[\p{L}_∆][\p{L}\p{N}_∆]*"
_END = r"(?![\p{L}\p{N}_∆])"
_START = r"(?<![\p{L}\p{N}_∆])"


def _match(pattern: str, scope: str) -> dict[str, Any]:
    return {"match": pattern, "name": f"{scope}.rho"}


def grammar() -> dict[str, Any]:
    """`source.rho`."""
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
            _match(rf"{_START}missing(?=[ \t]+[¯⎕0-9.∞\"'])|{_START}(?:sep|decimal)(?=[ \t]+[\"'])", "keyword.control"),
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
            _match(rf"`(?:{alternatives(spelt(OPERATOR_ROLES))})", "keyword.operator"),
            _match(rf"`(?:{alternatives(spelt(FUNCTION_ROLES))})", "support.function"),
            _match("`[A-Za-z]+|`[^\\s]", "constant.character.escape"),
            _match(NAME, "variable.other"),
        ],
    }


def language_configuration() -> dict[str, Any]:
    """Comments, brackets, words, indentation."""
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
        "categories": ["Programming Languages"],
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
            "commands": [{"command": "rho.restart", "title": "Rho: Restart the Language Server"}],
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


def as_json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
