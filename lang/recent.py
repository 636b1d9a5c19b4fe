"""A table that keeps what is still asked for, however long its process lives.

Entries are in two generations.  What is asked for moves to the younger one; when that is full (at the end of a turn, say a
version of a program) it becomes the older one, and what had stayed there is dropped.  Full means twice what a turn asks for:
a large program keeps all its entries, and a session of ten thousand small ones no more than a few hundred.

Neighbours: `remembered` and `typechecker.elaborate.sites` (keep what they found out under such tables).
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

LEAST: Final = 256
"""Entries of a generation, whatever turns ask for."""
MOST: Final = 50_000


class Recent(Generic[_Key, _Value]):
    """`get`, `put` and, after each version of whatever is looked at, `turn`."""

    __slots__ = ("_asked", "_old", "_young")

    def __init__(self) -> None:
        self._young: dict[_Key, _Value] = {}
        self._old: dict[_Key, _Value] = {}
        self._asked = 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def get(self, key: _Key) -> _Value | None:
        self._asked += 1
        found = self._young.get(key)
        if found is None and self._old:
            found = self._old.pop(key, None)
            if found is not None:
                self._young[key] = found
        return found

    def put(self, key: _Key, value: _Value) -> None:
        if len(self._young) >= MOST:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def turn(self) -> None:
        if len(self._young) > max(LEAST, 2 * self._asked):
            self._old, self._young = self._young, {}
        self._asked = 0
