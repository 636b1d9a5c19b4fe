"""What a session remembers of the values that it printed: short texts, of long ones only how many lines they took.

Neighbours: `workspace` (keeps it), `transcripts` (saves it).
"""

from __future__ import annotations

import math

from ...typechecker.elements import Kind
from ..display.values import line_count
from ..execution.outcome import Shown

MOST_ITEMS, MOST_CHARACTERS, MOST_LINES = 2_000, 4_000, 200
"""Of a printed value that is saved as it is; of a longer one its number of lines is."""


def remembered(shown: Shown) -> str | int:
    """What a session keeps of a value that was printed: its text, or how many lines it took."""
    if shown.kind is not Kind.CHAR and math.prod(shown.shape) > MOST_ITEMS:
        return line_count(shown.shape)
    text = shown.text()
    lines = text.count("\n") + 1
    return text if len(text) <= MOST_CHARACTERS and lines <= MOST_LINES else lines
