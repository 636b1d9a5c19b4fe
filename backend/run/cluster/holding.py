"""Values that the plan keeps on a worker (`keep`): it holds them from one run to the next, so they are not sent again.

A value is identified by a digest of its bytes, which its sender computes in every run; an array that was changed in place is
another value.  A worker reports what it holds when a run acquires it, and releases it when another program runs there.

Neighbours: `shares` (which transfers are kept), `crossing` (sends and takes them), `resident` (has one).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

import numpy as np

from .shares import Process
from .wire import bytes_of

Digests: TypeAlias = Mapping[int, str]
"""By transfer."""


def digest_of(arrays: Sequence[Any]) -> str:
    """Of values, with their types and shapes."""
    found = sha256()
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(bytes_of(np.ascontiguousarray(array)))
    return found.hexdigest()


def holds_of(facts: Mapping[Any, Mapping[Any, str]]) -> dict[Process, Digests]:
    """By process, of what came as JSON."""
    return {Process(int(at)): {int(number): digest for number, digest in own.items()} for at, own in facts.items()}


@dataclass(slots=True)
class Held:
    """By transfer of `program`: the digest and the arrays."""

    program: str = ""
    values: dict[int, tuple[str, list[Any]]] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        return {"program": self.program, "holds": {number: digest for number, (digest, _) in self.values.items()}}

    def put(self, number: int, digest: str, arrays: list[Any]) -> None:
        for array in arrays:
            array.flags.writeable = False  # the next run reads it too
        self.values[number] = digest, arrays

    def take(self, number: int) -> list[Any]:
        return self.values[number][1]

    def drop(self, number: int) -> None:
        self.values.pop(number, None)
