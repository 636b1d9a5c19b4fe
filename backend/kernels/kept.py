"""What was made for a key and may be asked for again: the last so many, whatever a process goes through.

Phases are told by their id, which is another's once they are gone; so what a key is about is held beside what was made.

Neighbours: `backend.run` and `backend.library` (keep the runs of phases, and what is bound to a layout).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

_Made = TypeVar("_Made")


class Kept(Generic[_Made]):
    """At most `most` things; the oldest goes first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._rows: dict[Hashable, tuple[Sequence[object], _Made]] = {}

    def of(self, key: Hashable, about: Sequence[object], make: Callable[[], _Made]) -> _Made:
        """What was made for a key that is about the same objects; made now if there is nothing."""
        found = self._rows.get(key)
        if found is not None and all(map(_is, found[0], about)):
            return found[1]
        return self.put(key, about, make())

    def get(self, key: Hashable) -> _Made | None:
        found = self._rows.get(key)
        return None if found is None else found[1]

    def put(self, key: Hashable, about: Sequence[object], made: _Made) -> _Made:
        while len(self._rows) >= self.most:
            self._rows.pop(next(iter(self._rows)), None)
        self._rows[key] = about, made
        return made

    def values(self) -> list[_Made]:
        """All that was made."""
        return [made for _, made in self._rows.values()]

    def clear(self) -> None:
        self._rows.clear()


def _is(one: object, other: object) -> bool:
    return one is other
