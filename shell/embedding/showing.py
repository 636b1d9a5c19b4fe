"""Errors that Python shows as the command line does, with the program's lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ...lang.diagnostics import RhoError
from ...lang.render_text import render_text
from ...lang.source import Source

E = TypeVar("E", bound=RhoError)


def showing(error: E, sources: Mapping[str, Source]) -> E:
    """The error, which now says where in these texts it is."""
    error.text = error.text or render_text(error.diagnostics, sources).rstrip("\n")
    return error
