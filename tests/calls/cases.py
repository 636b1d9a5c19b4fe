"""The cases of the calls net: programs, sizes, and every way that an argument may lie in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

Array: TypeAlias = Any
KINDS: Final = {"f": np.float64, "g": np.float32, "i": np.int64, "j": np.int32, "u": np.uint8, "o": np.bool_, "c": np.complex128}
NAMES: Final = {"f": "f64", "g": "f32", "i": "i64", "j": "i32", "u": "u8", "o": "bool", "c": "c128"}
SIZES: Final[list[dict[str, int]]] = [
    {"n": 5, "k": 4, "b": 2, "p": 3, "N": 9},
    {"n": 37, "k": 30, "b": 3, "p": 21, "N": 1000},
    {"n": 300, "k": 67, "b": 4, "p": 130, "N": 20_000},
    {"n": 1, "k": 5, "b": 1, "p": 1, "N": 1},
    {"n": 0, "k": 3, "b": 2, "p": 2, "N": 0},
    {"n": 3, "k": 0, "b": 2, "p": 2, "N": 3},
]
"""By the names of axes; in the end one item, and none."""
GUARD: Final = 64


@dataclass(frozen=True)
class Program:
    """A function, and the kinds and axes of its arguments."""

    text: str
    arguments: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def name(self) -> str:
        """The line in `programs.txt`."""
        return f"{self.text}  {' '.join(f'{kind}[{chr(32).join(axes)}]' for kind, axes in self.arguments)}"

    def types(self, sizes: dict[str, int]) -> list[str]:
        shapes = [" ".join(map(str, self.shape(place, sizes))) for place in range(len(self.arguments))]
        kinds = [NAMES[kind] for kind, _ in self.arguments]
        return [f"{kind}[{shape}]" if shape else kind for kind, shape in zip(kinds, shapes, strict=True)]

    def shape(self, place: int, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(sizes[axis] if axis in sizes else int(axis) for axis in self.arguments[place][1])


def programs() -> list[Program]:
    """All of `programs.txt`, in its order."""
    made = []
    for line in (Path(__file__).parent / "programs.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            text, _, arguments = line.partition("  ")
            found = re.findall(r"(\w)\[([^\]]*)\]", arguments)
            made.append(Program(text, tuple((kind, tuple(axes.split())) for kind, axes in found)))
    return made


def values(kind: str, shape: tuple[int, ...], chance: np.random.Generator) -> Array:
    """Contiguous, and without zeros among floats, whose sign would be anyone's."""
    dtype = KINDS[kind]
    if kind == "o":
        return chance.random(shape) < 0.6
    if kind == "c":
        return chance.normal(size=shape) + 1j * chance.normal(size=shape)
    if kind in "fg":
        return chance.normal(size=shape).astype(dtype) + dtype(0.001)
    return chance.integers(0, 200, shape).astype(dtype) if kind == "u" else chance.integers(-9, 9, shape).astype(dtype)


# ---------------------------------------------------------------------------------------------- layouts


def _with_pitch(array: Array) -> Array:
    wide = np.empty((*array.shape[:-1], array.shape[-1] + 3), array.dtype)
    wide[..., : array.shape[-1]] = array
    return wide[..., : array.shape[-1]]


def _strided(array: Array) -> Array:
    wide = np.zeros(tuple(2 * size for size in array.shape), array.dtype)
    part = wide[(slice(None, None, 2),) * array.ndim]
    part[...] = array
    return part


def _unaligned(array: Array) -> Array:
    made = np.frombuffer(bytearray(array.nbytes + 1), np.uint8, array.nbytes, 1).view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def _transposed(array: Array) -> Array:
    """The last axis outermost in memory, the others as they are."""
    order = (array.ndim - 1, *range(array.ndim - 1))
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


def _repeating(place: int) -> Callable[[Array], Array]:
    def layout(array: Array) -> Array:
        axis = {0: 0, 1: array.ndim // 2, 2: array.ndim - 1}[place]
        one = np.ascontiguousarray(array[(slice(None),) * axis + (slice(0, 1),)])
        return np.broadcast_to(one, array.shape) if array.shape[axis] else array

    return layout


LAYOUTS: Final[dict[str, Callable[[Array], Array]]] = {
    "rows": lambda array: array,
    "columns": np.asfortranarray,
    "pitch": _with_pitch,
    "strided": _strided,
    "reversed": lambda array: np.flip(np.flip(array).copy()),
    "first reversed": lambda array: array[::-1].copy()[::-1],
    "unaligned": _unaligned,
    "transposed": _transposed,
    "first repeats": _repeating(0),
    "middle repeats": _repeating(1),
    "last repeats": _repeating(2),
}
"""What lies so has the same items, but where an axis repeats one."""
