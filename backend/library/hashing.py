"""Equality of words through hashing kernels: the first of equal ones, and positions in a table.

Neighbours: `hash_text` (the text), `keys`, `searching` (ask; the same by sorting).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels.policy import PIECES_NANOSECONDS as PARALLEL
from ..run.cpu.kinds import NumArray
from ..run.cpu.sharing import address_for, run_once
from .hash_text import Form, Hashing

LEAST: Final = 1 << 12
_MOST: Final = 1 << 30
_SAVED: Final = 20.0
_WORK: Final = 5.0
_PIECES: Final = 4


def first_of_equal(words: NumArray) -> NumArray | None:
    """Is each word the first of those equal to it?  None where sorting has to say."""
    address = _asked(Form.FIRSTS, words, len(words))
    if address is None:
        return None
    table = _table(len(words))
    result = np.empty(len(words), np.bool_)
    return result if _call(address, words, table, words, result) else None


def positions(table_words: NumArray, words: NumArray, threads: int) -> NumArray | None:
    """For each of `words` the first place in `table_words`, its length where there is none; None where sorting has to say."""
    every = len(table_words) + len(words)
    insert, find = (_asked(form, table_words, every) for form in (Form.INSERT, Form.FIND))
    if insert is None or find is None or words.dtype != np.int64 or not words.flags.c_contiguous:
        return None
    table = _table(len(table_words))
    if not _call(insert, table_words, table, table_words, table):
        return None
    result = np.empty(len(words), np.int64)
    team = threads if len(words) * _WORK >= PARALLEL else 1
    each = max(1, -(-len(words) // (_PIECES * team if team > 1 else 1)))
    return result if _call(find, words, table, table_words, result, each, team) else None


def _asked(form: Form, words: NumArray, items: int) -> int | None:
    if words.dtype != np.int64 or not words.flags.c_contiguous or not 0 < len(words) < _MOST:
        return None
    return address_for(Hashing(form), items, LEAST, items * _SAVED)


def _table(count: int) -> NumArray:
    """Free, at least twice as long as what is put there."""
    return np.full(1 << (2 * count - 1).bit_length(), -1, np.int32)


def _call(address: int, words: NumArray, table: NumArray, known: NumArray, result: NumArray, each: int = 0, team: int = 1
          ) -> bool:  # fmt: skip
    """Could all words be placed or found?  `each`: words of a piece, or all."""
    own, slots, others, target = [array.__array_interface__["data"][0] for array in (words, table, known, result)]
    calls = [
        (min(each or len(words), len(words) - start), own + start * words.itemsize, slots, len(table) - 1, others, len(known),
         target + start * result.itemsize)
        for start in range(0, len(words), each or len(words))
    ]  # fmt: skip
    return not run_once(address, calls, team, len(words) * _WORK)
