"""What is generated, by path under `editors/`."""

from __future__ import annotations

from . import helix, textmate, vim


def generated() -> dict[str, str]:
    """Every file's text."""
    return {
        "vscode/package.json": textmate.as_json(textmate.package()),
        "vscode/language-configuration.json": textmate.as_json(textmate.language_configuration()),
        "vscode/syntaxes/rho.tmLanguage.json": textmate.as_json(textmate.grammar()),
        "neovim/syntax/rho.vim": vim.syntax(),
        "neovim/keymap/rho.vim": vim.keymap(),
        "helix/languages.toml": helix.languages(),
    }
