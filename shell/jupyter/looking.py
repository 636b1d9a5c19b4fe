"""What there is to know about the place of a cursor: a name of the session, a member of a module, a glyph.

Neighbours: `shell.lsp.pages` (the same in an editor), `lang.explain`.
"""

from __future__ import annotations

import re

from ...lang.explain import primitive_text
from ...lang.lexer import NAME, lexemes
from ...lang.primitives import find, rows
from ..display import documentation, library
from ..lsp.pages import code as block
from ..lsp.pages import glyph_page, library_page
from ..workspace.workspace import Workspace
from .rendering import Bundle

_MEMBER = re.compile(rf"({NAME})\.({NAME})")
_SPELT = re.compile(r"`([A-Za-z]+|\S)")


def page_at(workspace: Workspace, code: str, cursor: int) -> Bundle | None:
    """As text and as Markdown; None where there is nothing."""
    start = code.rfind("\n", 0, cursor) + 1
    end = code.find("\n", cursor)
    line, at = code[start : len(code) if end < 0 else end], cursor - start
    for found in (*_MEMBER.finditer(line), *_SPELT.finditer(line)):
        if found.start() <= at <= found.end():
            page = _member(workspace, *found.groups()) if found.re is _MEMBER else _glyph(found[1], found[0])
            if page is not None:
                return page
    around = [(first, line[first:last]) for _, first, last in lexemes(line) if first <= at <= last]
    for _, word in sorted(around, reverse=True):  # the word that starts at the cursor before the one that ends there
        page = _word(workspace, word)
        if page is not None:
            return page
    return None


def _word(workspace: Workspace, word: str) -> Bundle | None:
    type_ = workspace.state.types.get(word)
    if type_ is not None:
        lines = (workspace.described(word) if type_ == "function" else ()) or (f"{word} : {type_}",)
        return {"text/plain": "\n".join(lines), "text/markdown": block(*lines)}
    return _glyph(word, word)


def _glyph(name: str, spelt: str) -> Bundle | None:
    found = rows(name) or find(spelt) or (find(name) if len(name) > 1 else ())
    if not found:
        return None
    text = "\n".join(primitive_text(row) for row in found).rstrip("\n")
    page = glyph_page(found[0].glyph)
    return {"text/plain": text, **({"text/markdown": page} if page else {})}


def _member(workspace: Workspace, module: str, name: str) -> Bundle | None:
    if workspace.state.types.get(module, "module") != "module":
        return None
    entry = next((one for one in library.entries() if one.name == f"{module}.{name}"), None)
    return None if entry is None else {"text/plain": documentation.entry_text(entry), "text/markdown": library_page(entry)}
