"""Errors that Python shows as the command line does, with the program's lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from ...lang.diagnostics import Rejected, RhoError
from ...lang.render_text import render_text
from ...lang.source import Source
from ...typechecker.core_blocks import Core
from ..stages import Checked

E = TypeVar("E", bound=RhoError)


@contextmanager
def shown(sources: Mapping[str, Source]) -> Iterator[None]:
    """Errors inside the block say where in these texts they are."""
    try:
        yield
    except RhoError as error:
        raise showing(error, sources) from None


def require_accepted(checked: Checked) -> Core:
    """The typed core.  Rejected: there is none, with the errors alone."""
    if checked.core is None:
        errors = [found for found in checked.diagnostics if found.is_error]
        raise showing(Rejected(errors or checked.diagnostics), checked.sources)
    return checked.core


def showing(error: E, sources: Mapping[str, Source]) -> E:
    """The error, which now says where in these texts it is."""
    error.text = error.text or render_text(error.diagnostics, sources).rstrip("\n")
    return error
