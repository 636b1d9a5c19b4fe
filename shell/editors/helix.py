"""Helix's settings (`editors/helix/languages.toml`)."""

from __future__ import annotations


def languages() -> str:
    """The language and how its server is started."""
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
