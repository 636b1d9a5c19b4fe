"""A picture in characters, as large as the window."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

from ...lang.numerals import natural
from ..cli.console import Console
from .charts import chart
from .drawable import Picture
from .shades import shade_plot

HEIGHT: Final = 16
_MOST_LINES: Final = 100_000


def drawing(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The title, the drawing, and what was left out."""
    if picture.blank is not None:
        return [picture.title, f"  {picture.blank}"]
    if picture.values.ndim == 2:
        drawn = shade_plot(picture, width, height, colour=colour)
    else:
        drawn = chart(picture, width, height, colour=colour)
    return [picture.title, *drawn, *([f"  {picture.note}"] if picture.note else [])]


def draw(picture: Picture, console: Console, size: tuple[int, int] | None = None) -> list[str]:
    """For where a console writes its results; `size` in columns and lines instead of the window's."""
    terminal = console.out.isatty()
    height = max(6, min(24, lines_of(console.environment) - 6)) if terminal else HEIGHT
    width, height = (console.width, height) if size is None else size
    return drawing(picture, width, height, colour=console.colours_results)


def lines_of(environment: Mapping[str, str]) -> int:
    """Of the window."""
    return natural(environment.get("LINES", ""), _MOST_LINES) or shutil.get_terminal_size().lines
