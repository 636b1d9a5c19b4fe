"""The abstract machine that meanings are written for.

Machines are LLVM vectors (`kernels.scalar_text`), CUDA variables (`loops.cuda.mathematics`) and NumPy's arrays
(`run.cpu.meanings`).  What a machine has an instruction or a method of its own for is a word here (`residue`, the checked
conversions); everything else is written in terms of these.  Neighbours: `basic`, `elementary` and the other meanings; `table`,
which names them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Machine(Protocol):
    """What meanings need beside operators.  Values are opaque: floats, whole numbers, and truths.

    `>>` of the bits of floats brings in zeros.  Operands may be Python numbers where at least one is a value."""

    def like(self, x: Any, number: float) -> Any:
        """A number as a value of the kind of x."""
        ...

    def is_float(self, x: Any) -> bool: ...
    def is_signed(self, x: Any) -> bool:
        """May a value of its kind be below 0?"""
        ...

    def width(self, x: Any) -> int:
        """Bits of a whole number."""
        ...

    def shifted_right(self, y: Any, count: Any) -> Any:
        """A whole number less so many bits, its sign coming in if the kind has one."""
        ...

    def shifted_right_unsigned(self, y: Any, count: Any) -> Any:
        """The same with zeros coming in."""
        ...

    def smaller(self, x: Any, y: Any) -> Any:
        """Of whole numbers."""
        ...

    def larger(self, x: Any, y: Any) -> Any: ...
    def residue(self, x: Any, y: Any) -> Any:
        """y modulo x with the sign of x; y where x is 0."""
        ...

    def rounded_down(self, x: Any) -> Any:
        """The whole number below a float, as an i64 that is checked."""
        ...

    def rounded_up(self, x: Any) -> Any: ...
    def converted(self, x: Any) -> Any:
        """To the kind of the result, which is known to hold it."""
        ...

    def checked(self, x: Any) -> Any:
        """To the kind of the result, with a check that it holds it."""
        ...

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x×y+z, rounded once."""
        ...

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        """`x` where the condition holds, else `y`; one of them may be a Python float."""
        ...

    def magnitude(self, x: Any) -> Any:
        """Of floats and whole numbers; the least whole number stays as it is."""
        ...

    def root(self, x: Any) -> Any:
        """The square root, rounded once."""
        ...

    def signed(self, size: Any, x: Any) -> Any:
        """|size| with the sign of x."""
        ...

    def bits(self, x: Any) -> Any:
        """The bits of a float as a whole number of its width."""
        ...

    def float_of(self, bits: Any) -> Any: ...
    def number(self, word: Any) -> Any:
        """A whole number as a float of its width, rounded."""
        ...

    def lookup(self, table: str, index: Any, start: int) -> Any:
        """The entries of a table of `tables` at `index - start`, which is in range."""
        ...

    def pick(self, entries: tuple[float, ...], index: Any) -> Any:
        """Of sixteen entries of binary32 those that the low four bits of `index` name."""
        ...

    def patch(self, name: str, where: Any, x: Any, value: Any) -> Any:
        """`value`, but the C library's function `name` of x where `where` holds (rarely)."""
        ...

    def usually(self, where: Any, value: Any, other: Callable[[], Any]) -> Any:
        """`value` where `where` holds, else `other()`, which is computed only if it is wanted somewhere."""
        ...
