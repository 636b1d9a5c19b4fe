"""A picture in characters, as large as the window."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

from ...lang.numerals import natural
from ..console import Console
from .drawable import Picture
from .lines import line_plot
from .shades import shade_plot

HEIGHT: Final = 16
_MOST_LINES: Final = 100_000


def drawing(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The title, the drawing, and what was left out."""
    if picture.blank is not None:
        return [picture.title, f"  {picture.blank}"]
    drawn = line_plot(picture, width, height) if picture.values.ndim == 1 else shade_plot(picture, width, height, colour=colour)
    return [picture.title, *drawn, *([f"  {picture.note}"] if picture.note else [])]


def draw(picture: Picture, console: Console) -> list[str]:
    """For where a console writes its results: no colours except on a terminal."""
    terminal = console.out.isatty()
    height = max(6, min(24, lines_of(console.environment) - 6)) if terminal else HEIGHT
    return drawing(picture, console.width, height, colour=console.colours_results)


def lines_of(environment: Mapping[str, str]) -> int:
    """Of the window."""
    return natural(environment.get("LINES", ""), _MOST_LINES) or shutil.get_terminal_size().lines
