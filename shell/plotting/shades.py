"""A matrix as shades, row 0 at the top: two characters an element, or with colours one column and half a line.

What is larger than the window is averaged over blocks, what is small is enlarged.  Blocks without a finite number are dots.

Neighbours: `drawable` (what is drawn), `terminal` (where).
"""

from __future__ import annotations

from typing import Any, Final

from .drawable import Picture, ends_of, scaled, short

_SHADES: Final = " ░▒▓█"
_COLOURS: Final = (17, 18, 54, 55, 60, 61, 67, 73, 79, 78, 114, 149, 185, 221, 227, 229)
"""Of the palette of 256, from dark to bright."""
_MISSING: Final = "·"


def shade_plot(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The lines of the drawing: rows in `height` lines, the positions beside them, and what the shades stand for."""
    import numpy as np

    low, high = ends_of(picture.values)
    rows, columns = picture.values.shape
    margin = len(f"{rows - 1:,}") + 1
    across = max(2, (width - margin) // (1 if colour else 2))
    down = max(2, height * (2 if colour else 1))
    block = _block(rows, columns, down, across)
    values = _averaged(picture.values, block)
    larger = max(1, min(down // values.shape[0], across // values.shape[1], 8))
    levels = scaled(np.repeat(np.repeat(values, larger, axis=0), larger, axis=1), low, high)
    drawn = _coloured(levels) if colour else _plain(levels)
    per_line = 2 if colour else 1
    labels = {0: "0", (rows - 1) // block[0] * larger // per_line: f"{rows - 1:,}"}
    lines = [f"{labels.get(number, ''):>{margin - 1}} {line}".rstrip() for number, line in enumerate(drawn)]
    wide = levels.shape[1] * (1 if colour else 2)
    last = f"{columns - 1:,}" if columns > 1 else ""
    lines.append(f"{' ' * margin}0{last:>{max(wide - 1, len(last) + 1 if last else 0)}}".rstrip())
    return [*lines, _legend(low, high, colour=colour)]


def _block(rows: int, columns: int, down: int, across: int) -> tuple[int, int]:
    """How many elements become one: as many each way, unless little of the shorter side would be left."""
    least = max(-(-rows // down), 1), max(-(-columns // across), 1)
    square = max(least)
    return (square, square) if min(rows, columns) >= 8 * square or square == 1 else least


def _averaged(values: Any, block: tuple[int, int]) -> Any:
    """Means of blocks, of what is finite in them."""
    import numpy as np

    if block == (1, 1):
        return values
    starts = [np.arange(0, size, step) for size, step in zip(values.shape, block, strict=True)]
    finite = np.isfinite(values)
    unit = float(np.nanmax(np.abs(values))) or 1.0
    filled = np.where(finite, values / unit, 0.0)
    sums = np.add.reduceat(np.add.reduceat(filled, starts[0], axis=0), starts[1], axis=1)
    counts = np.add.reduceat(np.add.reduceat(finite.astype(np.int64), starts[0], axis=0), starts[1], axis=1)
    return np.where(counts, sums / np.maximum(counts, 1), np.nan) * unit


def _plain(levels: Any) -> list[str]:
    return ["".join(_shade(level) * 2 for level in row).rstrip() for row in levels.tolist()]


def _shade(level: float) -> str:
    return _MISSING if level != level else _SHADES[min(int(level * len(_SHADES)), len(_SHADES) - 1)]


def _coloured(levels: Any) -> list[str]:
    """Two rows a line: the upper in the colour of the character, the lower in that of its ground."""
    rows = levels.tolist()
    found = []
    for at in range(0, len(rows), 2):
        lower = rows[at + 1] if at + 1 < len(rows) else [None] * len(rows[at])
        found.append("".join(_pair(a, b) for a, b in zip(rows[at], lower, strict=True)) + "\x1b[0m")
    return found


def _pair(upper: float, lower: float | None) -> str:
    if upper != upper:
        return f"\x1b[0m{_MISSING}" if lower is None or lower != lower else f"\x1b[0;38;5;{_colour(lower)}m▄"
    ground = "" if lower is None or lower != lower else f";48;5;{_colour(lower)}"
    return f"\x1b[0;38;5;{_colour(upper)}{ground}m▀"


def _colour(level: float) -> int:
    return _COLOURS[min(int(level * len(_COLOURS)), len(_COLOURS) - 1)]


def _legend(low: float, high: float, *, colour: bool) -> str:
    if colour:
        bar = "".join(f"\x1b[38;5;{one}m█" for one in _COLOURS) + "\x1b[0m"
    else:
        bar = _SHADES.replace(" ", "⎵", 1)
    return f"{short(low)} {bar} {short(high)}"
