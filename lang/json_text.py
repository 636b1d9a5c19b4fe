"""JSON whose values are counted before any is made: a text of some megabytes may hold millions, of hundreds of bytes each.

Neighbours: `opening` (bounds the text); readers of plans, instances, metadata, settings and verdicts.
"""

from __future__ import annotations

import json
from typing import Any, Final

MOST_VALUES: Final = 1 << 22


class TooManyValues(ValueError):
    """A text that may hold more values than its reader takes."""


def require_few(text: str, most: int = MOST_VALUES) -> None:
    """TooManyValues unless a JSON text surely holds at most `most` values: what separates them is counted, in strings too."""
    if sum(map(text.count, ",:[{")) > most:
        raise TooManyValues(f"more than {most:,} values")


def decode(text: str, most: int = MOST_VALUES) -> Any:
    """The value of a JSON text.  ValueError (among others a JSONDecodeError), RecursionError."""
    require_few(text, most)
    return json.loads(text)
