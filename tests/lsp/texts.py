"""Documents to ask about, with a place marked by `‸`."""

from __future__ import annotations

from itertools import pairwise

from rho.shell.lsp.documents import Document, OpenDocuments, TextEdit, TextPosition

URI = "file:///nowhere/doc.rho"


def document(text: str, uri: str = URI) -> Document:
    return OpenDocuments().open(uri, 1, text)


def marked(text: str, uri: str = URI) -> tuple[Document, TextPosition]:
    """The text without its one `‸`, and where that stood."""
    at = text.index("‸")
    opened = document(text.replace("‸", ""), uri)
    return opened, opened.lines.position(at)


def applied(opened: Document, edits: list[TextEdit] | tuple[TextEdit, ...]) -> str:
    """The text after edits that do not overlap."""
    text = opened.text
    places = [(opened.lines.offset(e.range.start), opened.lines.offset(e.range.end), e.text) for e in edits]
    ordered = sorted(places, reverse=True)
    assert all(later[0] >= earlier[1] for later, earlier in pairwise(ordered)), "edits overlap"
    for start, end, new in ordered:
        text = text[:start] + new + text[end:]
    return text
