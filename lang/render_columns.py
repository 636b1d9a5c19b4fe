"""How wide source text is on a screen, and which part of a long line to show.

A terminal cell is the unit: combining marks and joiners take none, wide characters two, a tab
reaches the next multiple of four.  Control and text-direction characters are shown as visible
stand-ins, so that what is printed is what the program says.  Used by `render_text` only.
"""

from __future__ import annotations

from unicodedata import category, east_asian_width

from .records import dataclass

TAB = 4
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def shown(character: str, column: int) -> tuple[str, int]:
    """What to print for one character at this display column, and the cells it takes."""
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character, 1
    if character == "\t":
        width = TAB - column % TAB
        return " " * width, width
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "␡", 1
    if 0x80 <= code < 0xA0 or character in _DIRECTION or 0xD800 <= code <= 0xDFFF or character in "\u2028\u2029":
        return "�", 1
    if category(character) in ("Mn", "Me", "Cf"):
        return character, 0
    return character, 2 if east_asian_width(character) in ("W", "F") else 1


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """A source line as printed: `columns[i]` is the display column where character i starts (one more for the end).

    A window leaves out what is far from the spans of interest; `…` marks a cut end.  `first` is the character
    `columns` begins with: of a very long line only the neighbourhood is laid out.
    """

    text: str
    columns: tuple[int, ...]
    first: int = 0

    def column(self, index: int) -> int:
        return self.columns[min(max(index - self.first, 0), len(self.columns) - 1)]


def lay_out(line: str, interest: list[tuple[int, int]], limit: int) -> DisplayLine:
    """Print `line` in at most `limit` cells (at least 20), showing the character ranges of `interest` if they fit."""
    line = line.removesuffix("\r")
    offset = 0
    whole = len(line)
    if whole > 64 * limit:
        offset = max(min((start for start, _ in interest), default=0) - 2 * limit, 0)
        line = line[offset : offset + 8 * limit]
        interest = [(start - offset, end - offset) for start, end in interest]
    pieces: list[str] = []
    columns = [0]
    for character in line:
        text, width = shown(character, columns[-1])
        pieces.append(text)
        columns.append(columns[-1] + width)
    if columns[-1] <= limit and len(line) == whole:
        return DisplayLine("".join(pieces).rstrip(), tuple(columns))
    first, last = _window(columns, interest, max(limit, 20))
    head = "…" if first + offset > 0 else ""
    tail = "…" if last + offset < whole else ""
    shift = columns[first] - len(head)
    end = columns[last] - shift
    clipped = tuple(min(max(column - shift, 0), end) for column in columns)
    return DisplayLine(head + "".join(pieces[first:last]) + tail, clipped, offset)


def _window(columns: list[int], interest: list[tuple[int, int]], limit: int) -> tuple[int, int]:
    """The character range to show, given the cells that may be used with both ends marked."""
    cells = limit - 2
    count = len(columns) - 1
    low = min((start for start, _ in interest), default=0)
    high = min(max((end for _, end in interest), default=0), count)
    low = min(low, count)
    wanted = columns[high] - columns[low]
    before = max((cells - wanted) // 3, 0) if wanted < cells else min(8, cells // 4)
    first = low
    while first > 0 and columns[low] - columns[first - 1] <= before:
        first -= 1
    last = first
    while last < count and columns[last + 1] - columns[first] <= cells:
        last += 1
    while first > 0 and last == count and columns[count] - columns[first - 1] <= cells:
        first -= 1
    return first, last
