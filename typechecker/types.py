"""Types of core values: `elem[shape]`.  Tuples exist only in the elaborator, never in the core."""

from __future__ import annotations

from ..lang.records import dataclass
from .elements import Element
from .sizes import Size


@dataclass(frozen=True, slots=True)
class ArrayType:
    """`element[shape]`; `permutation` marks `perm<n>` (then shape is `[n]` and element `idx<n>`)."""

    element: Element
    shape: tuple[Size, ...]
    permutation: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)
