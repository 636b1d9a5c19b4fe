"""Arithmetic of cuts: the largest count within a limit, the least time that is enough, rows in proportion, bytes in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def fill(counts: Sequence[int], rows: int) -> list[int]:
    """`rows` in proportion to `counts`, none above its own; the rest by largest remainder."""
    total = sum(counts)
    result = [count * rows // total for count in counts]
    left = rows - sum(result)
    for i in sorted(range(len(counts)), key=lambda i: (-(counts[i] * rows % total), i)):
        if left and result[i] < counts[i]:
            result[i] += 1
            left -= 1
    return result


def most(limit: int, within: Callable[[int], bool]) -> int:
    """The largest r <= `limit` with `within(r)`, which holds up to some r and for 0."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if within(middle):
            low = middle
        else:
            high = middle - 1
    return low


def least(low: int, high: int, enough: Callable[[int], bool]) -> int:
    """The least D in [low, high] with `enough(D)`, which holds from some D on and for `high`."""
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low


def bytes_text(size: int) -> str:
    """From 100 kB on in MB (10⁶), to a tenth and rounded up; less in bytes."""
    if size >= 100_000:
        whole, tenth = divmod(-(-size // 100_000), 10)
        return f"{whole}.{tenth} MB" if tenth else f"{whole} MB"
    return f"{size} bytes"


def limit_text(size: int) -> str:
    """As `bytes_text`, in the words of `limit memory`."""
    return f"{size}B" if size < 100_000 else bytes_text(size).replace(" ", "")


def limit_bytes(size: int) -> int:
    """The bytes that `limit_text` says of a size."""
    return size if size < 100_000 else -(-size // 100_000) * 100_000
