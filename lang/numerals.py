"""Natural numbers as users, environments and files write them."""

from __future__ import annotations


def natural(text: str, most: int) -> int | None:
    """The number that decimal digits say, from 0 to `most`; None for any other text, digits of other scripts included.

    However many digits there are: Python's own `int` refuses thousands of them."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(most)) and int(digits) <= most else None
