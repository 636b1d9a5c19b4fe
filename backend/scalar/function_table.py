"""The table of scalar functions for back ends: one row for each, joined by name with `typechecker.elements`.

`typechecker.elements` has its kinds, identity and laws; a row here has its cost class, its weight in a kernel, its NumPy ufunc,
the ufunc's temporary memory, the probe of a calibration, and its definition.  A definition is named as `module.function` of this
package and imported on first use, since most runs use few.  It is Python code over values with operators and a `ScalarMachine`.
A multiplication is fused with an addition only where the definition says so, so all machines give the same bits.

Sets of functions (`LIGHT`, `TRANSCENDENTAL`, `REDUCTIONS`, …) are derived from the rows; no other module lists names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final, Protocol, TypeAlias

from ...lang.support.records import dataclass, field
from ...typechecker.elements import FUNCTIONS, Kind, Law

# ---------------------------------------------------------------------------------------------------- table

Compute: TypeAlias = Callable[..., Any]
"""A definition: a callable of the operands and the machine."""


class CostClass(Enum):
    """The class of a device profile that predicts a function's time, where the profile has no table for the function."""

    ADD = "add"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    COMPARE = "compare"
    LOGIC = "logic"
    CAST = "cast"
    SELECT = "select"
    TRANSCENDENTAL = "transcendental"


class Probe(Enum):
    """The way in which a calibration measures a function; the values are for people."""

    CHAINED = "many in a row, of every kind: each takes less than a load"
    EVERYWHERE = "of every kind"
    ONCE = "on NumPy of every kind, in kernels of f64"
    RARE = "of f64"
    NEVER = "another of its class stands for it"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A reference to a definition, `module.function` in `text`.

    A `series` computes in binary64, and binary32 operands are widened and the result is rounded once, unless `single` names a
    definition for them, which computes in `single_kind`; other definitions work for every kind.  `within`: the error bound in
    units in the last place."""

    text: str
    series: bool = False
    single: str = ""
    single_kind: Kind = Kind.F64
    within: float | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition for one kind: `compute` works on values of `kind`, to which operands are converted and from which the result
    is converted back."""

    compute: Compute
    kind: Kind


@dataclass(frozen=True, slots=True)
class ScalarRow:
    """A row of the table.

    `weight`: its time in a kernel, in additions.  `numpy`: the name of the ufunc that computes it for every kind but char.
    `held`: the 8-byte words per item of NumPy's temporaries, `held_complex`: the same for complex numbers (16 bytes each).
    `meanings`: its definitions by `parameter`, which only `circular` has; empty if kernels lack the function."""

    name: str
    cost: CostClass = CostClass.ADD
    weight: int = 1
    numpy: str = ""
    held: int = 0
    held_complex: int = 6
    probe: Probe = Probe.ONCE
    meanings: Mapping[int, Meaning] = field(default_factory=dict)


def _basic(name: str, cost: CostClass = CostClass.ADD, numpy: str = "", *, weight: int = 1, held: int = 0, held_complex: int = 6,
           probe: Probe = Probe.ONCE, text: str = "") -> ScalarRow:  # fmt: skip
    return ScalarRow(name, cost, weight, numpy, held, held_complex, probe, {0: Meaning(f"elementary.{text or name}")})


def _series(name: str, text: str, within: float, *, numpy: str = "", held: int = 3, probe: Probe = Probe.ONCE, single: str = "",
            single_kind: Kind = Kind.F32) -> ScalarRow:  # fmt: skip
    meaning = Meaning(text, True, single, single_kind if single else Kind.F64, within)
    return ScalarRow(name, CostClass.TRANSCENDENTAL, LONG, numpy, held, probe=probe, meanings={0: meaning})


def _without_kernel(name: str, cost: CostClass, held: int, probe: Probe = Probe.NEVER, numpy: str = "") -> ScalarRow:
    return ScalarRow(name, cost, LONG, numpy, held, probe=probe)


LONG: Final = 40
_CIRCULAR: Final[dict[int, Meaning]] = {
    1: Meaning("elementary.sin", True, "binary32.sin", within=1.0), 2: Meaning("elementary.cos", True, "binary32.cos",
    within=1.0),
    3: Meaning("elementary.tan", True, within=2.0), 5: Meaning("elementary.sinh", True, within=2.0),
    6: Meaning("elementary.cosh", True, within=2.0), 7: Meaning("elementary.tanh", True, "binary32.tanh", Kind.F32, 2.0),
    -1: Meaning("elementary.asin", True, within=1.0), -2: Meaning("elementary.acos", True, within=1.0),
    -3: Meaning("elementary.atan", True, within=1.0), -5: Meaning("elementary.asinh", True, within=2.0),
    -6: Meaning("elementary.acosh", True, within=2.0), -7: Meaning("elementary.atanh", True, within=2.0),
    0: Meaning("elementary.root_less"), 4: Meaning("elementary.root_more"), -4: Meaning("elementary.root_less_one"),
    8: Meaning("elementary.nan"), -8: Meaning("elementary.nan"), 9: Meaning("elementary.identity"),
    10: Meaning("elementary.size"),
    11: Meaning("elementary.zero"), 12: Meaning("elementary.angle"), -9: Meaning("elementary.identity"),
    -10: Meaning("elementary.identity"),
}  # fmt: skip

_C = CostClass
_VOCABULARY = (
    # ------------------------------------------------------------------ one operand
    ScalarRow("conj", numpy="conjugate", held_complex=0),
    _basic("neg", numpy="negative", held_complex=0, probe=Probe.EVERYWHERE),
    _basic("sign", numpy="sign"),
    _basic("reciprocal", _C.DIVIDE, weight=4, held=3),
    _basic("abs", numpy="absolute", probe=Probe.EVERYWHERE),
    _basic("floor", held=3, probe=Probe.EVERYWHERE),
    _basic("ceil", held=3),
    _series("exp", "elementary.exp", 1.0, numpy="exp", held=13, probe=Probe.EVERYWHERE, single="binary32.exp"),
    _series("ln", "elementary.ln", 1.0, numpy="log", held=15, probe=Probe.EVERYWHERE, single="binary32.ln"),
    _basic("sqrt", _C.TRANSCENDENTAL, "sqrt", weight=4, probe=Probe.EVERYWHERE),
    _without_kernel("factorial", _C.TRANSCENDENTAL, 26, Probe.RARE),
    _basic("pi_times", held=3),
    ScalarRow("circular", _C.TRANSCENDENTAL, LONG, held=18, probe=Probe.EVERYWHERE, meanings=_CIRCULAR),
    _basic("not", _C.LOGIC, "logical_not", probe=Probe.EVERYWHERE, text="complement"),
    _basic("bnot", _C.LOGIC, "invert", probe=Probe.NEVER, text="complement"),
    _series("erf", "elementary.erf", 2.0, held=18, single="binary32.erf"),
    _without_kernel("erfc", _C.TRANSCENDENTAL, 18, Probe.RARE),
    _without_kernel("lgamma", _C.TRANSCENDENTAL, 12, Probe.RARE),
    _without_kernel("digamma", _C.TRANSCENDENTAL, 14),
    _series("expm1", "elementary.expm1", 2.0, numpy="expm1", held=0, probe=Probe.RARE),
    _series("log1p", "elementary.log1p", 1.0, numpy="log1p", held=0, probe=Probe.RARE),
    _basic("convert", _C.CAST, held_complex=0, probe=Probe.NEVER),
    _basic("convert_checked", _C.CAST, held=3, probe=Probe.NEVER),
    # ------------------------------------------------------------------ two operands
    _basic("add", numpy="add", held_complex=0, probe=Probe.CHAINED),
    _basic("sub", numpy="subtract", held_complex=0, probe=Probe.CHAINED),
    _basic("mul", _C.MULTIPLY, "multiply", held_complex=1, probe=Probe.CHAINED),
    _basic("div", _C.DIVIDE, "true_divide", weight=4, probe=Probe.EVERYWHERE),
    _series("pow", "elementary.power", 0.8, held=3, single="elementary.narrow_power", single_kind=Kind.F64),
    ScalarRow("ipow", _C.MULTIPLY, LONG, "power", held=3),
    _series("log", "elementary.log", 2.0, probe=Probe.NEVER),
    _series("root", "elementary.root", 2.0, probe=Probe.NEVER),
    _series("atan2", "elementary.atan2", 2.0, numpy="arctan2", held=0, probe=Probe.NEVER),
    _basic("min", numpy="minimum", probe=Probe.CHAINED, text="minimum"),
    _basic("max", numpy="maximum", probe=Probe.CHAINED, text="maximum"),
    _basic("residue", _C.DIVIDE, weight=8, held=3, probe=Probe.EVERYWHERE),
    _without_kernel("binomial", _C.TRANSCENDENTAL, 15),
    _without_kernel("gcd", _C.DIVIDE, 14),
    _without_kernel("lcm", _C.DIVIDE, 16),
    _basic("band", _C.LOGIC, "bitwise_and", probe=Probe.NEVER, text="bit_and"),
    _basic("bor", _C.LOGIC, "bitwise_or", probe=Probe.NEVER, text="bit_or"),
    _basic("bxor", _C.LOGIC, "bitwise_xor", probe=Probe.NEVER, text="bit_xor"),
    _basic("shl", _C.LOGIC, held=3, probe=Probe.NEVER),
    _basic("shr", _C.LOGIC, held=3, probe=Probe.NEVER),
    _basic("shru", _C.LOGIC, held=3, probe=Probe.NEVER),
    _basic("and", _C.LOGIC, "logical_and", probe=Probe.CHAINED, text="bit_and"),
    _basic("or", _C.LOGIC, "logical_or", probe=Probe.CHAINED, text="bit_or"),
    _basic("nand", _C.LOGIC, held=3, probe=Probe.NEVER),
    _basic("nor", _C.LOGIC, held=3, probe=Probe.NEVER),
    _basic("lt", _C.COMPARE, "less", probe=Probe.EVERYWHERE),
    _basic("le", _C.COMPARE, "less_equal", probe=Probe.NEVER),
    _basic("eq", _C.COMPARE, "equal", held_complex=0),
    _basic("ge", _C.COMPARE, "greater_equal", probe=Probe.NEVER),
    _basic("gt", _C.COMPARE, "greater", probe=Probe.NEVER),
    _basic("ne", _C.COMPARE, "not_equal", held_complex=0, probe=Probe.NEVER),
    # ------------------------------------------------------------------ three operands
    _basic("select", _C.SELECT, held_complex=0),
)  # fmt: skip
_OF_KERNELS = (
    _basic("square", _C.MULTIPLY),
    _basic("half_power", _C.DIVIDE, weight=6),
    _basic("same", _C.COMPARE),
    _basic("outside", _C.COMPARE),
    _series("log2", "elementary.log2", 1.0),
    _series("log10", "elementary.log10", 1.0),
)
"""Functions that only kernels use: for constant powers and logarithms (`lower.body`), for fixed points of loops, and for checks
of indices."""

ROWS: Final[dict[str, ScalarRow]] = {row.name: row for row in (*_VOCABULARY, *_OF_KERNELS)}
VOCABULARY: Final = frozenset(row.name for row in _VOCABULARY)

TRANSCENDENTAL: Final = frozenset(name for name, row in ROWS.items() if any(m.series for m in row.meanings.values()))
"""Functions that take many operations, by polynomials and tables."""
LIGHT: Final = frozenset(name for name in VOCABULARY if ROWS[name].weight == 1 and not FUNCTIONS[name].partial)
"""Functions of one or a few instructions that cannot fail: cheaper to recompute than to load."""
MODERATE: Final = frozenset(name for name in VOCABULARY if ROWS[name].weight <= 4 and not FUNCTIONS[name].partial)
REDUCTIONS: Final = frozenset(name for name in LIGHT if {Law.ASSOCIATIVE, Law.COMMUTATIVE} <= FUNCTIONS[name].laws)
"""Functions with which kernels reduce: light, associative and commutative."""
UFUNCS: Final = {name: row.numpy for name, row in ROWS.items() if row.numpy}


def weight_of(function: str) -> int:
    """The weight in additions; names outside the table (of graphs and kernels) count as 1."""
    return ROWS[function].weight if function in ROWS else 1


def class_of(function: str) -> str:
    """The class of operations to which a scalar function belongs."""
    return (ROWS[function].cost if function in ROWS else CostClass.ADD).value


def matches_numpy(function: str, parameter: int) -> bool:
    """Does the definition give the same bits as NumPy's function?"""
    meaning = _meaning(function, parameter)
    return meaning is not None and not meaning.series


def has_meaning(function: str, parameter: int, kind: Kind) -> bool:
    """Do kernels have a function for operands of the kind?"""
    meaning = _meaning(function, parameter)
    return meaning is not None and (kind.is_float or not meaning.series)


def definition(function: str, parameter: int, kind: Kind) -> Definition | None:
    """The definition of a scalar function on a kind; None if kernels lack it."""
    meaning = _meaning(function, parameter)
    if meaning is None or (meaning.series and not kind.is_float):
        return None
    if not meaning.series:
        return Definition(_compute(meaning.text), kind)
    if kind is Kind.F32 and meaning.single:
        return Definition(_compute(meaning.single), meaning.single_kind)
    return Definition(_compute(meaning.text), Kind.F64)


def _meaning(function: str, parameter: int) -> Meaning | None:
    row = ROWS.get(function)
    return None if row is None else row.meanings.get(parameter if function == "circular" else 0)


@cache
def _compute(text: str) -> Compute:
    module, name = text.split(".")
    compute: Compute = getattr(import_module(f".{module}", __package__), name)
    return compute


# ---------------------------------------------------------------------------------------------------- machine
#
# The abstract machine that definitions are written for.
#
# Machines are LLVM vectors (`codegen.llvm_scalars`), CUDA variables (`codegen.gpu_scalars`) and NumPy arrays
# (`cpu.numpy_scalars`).  Operations for which machines have separate instructions are methods (`residue`, the checked
# conversions); everything else is written in terms of these.

class ScalarMachine(Protocol):
    """The operations of definitions besides Python's operators.  Values are opaque: floats, integers, and bools.

    `>>` on the bits of floats shifts in zeros.  Operands may be Python numbers if at least one is a value."""

    def like(self, x: Any, number: float) -> Any:
        """A number as a value of the kind of x."""
        ...

    def is_float(self, x: Any) -> bool: ...
    def is_signed(self, x: Any) -> bool:
        """Does x have a signed integer kind?"""
        ...

    def width(self, x: Any) -> int:
        """The width of an integer in bits."""
        ...

    def shifted_right(self, y: Any, count: Any) -> Any:
        """An integer shifted right: arithmetically for signed kinds, logically for others."""
        ...

    def shifted_right_unsigned(self, y: Any, count: Any) -> Any:
        """An integer shifted right logically."""
        ...

    def smaller(self, x: Any, y: Any) -> Any:
        """The minimum of integers."""
        ...

    def larger(self, x: Any, y: Any) -> Any: ...
    def residue(self, x: Any, y: Any) -> Any:
        """y modulo x with the sign of x; y where x is 0."""
        ...

    def rounded_down(self, x: Any) -> Any:
        """The floor of a float as an i64, with a check that it fits."""
        ...

    def rounded_up(self, x: Any) -> Any: ...
    def converted(self, x: Any) -> Any:
        """The value converted to the kind of the result, which can represent it."""
        ...

    def checked(self, x: Any) -> Any:
        """The value converted to the kind of the result, with a check that it fits."""
        ...

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x×y+z, rounded once."""
        ...

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        """`x` where the condition holds, else `y`; one of them may be a Python float."""
        ...

    def magnitude(self, x: Any) -> Any:
        """The absolute value of a float or integer; the least integer stays as it is."""
        ...

    def root(self, x: Any) -> Any:
        """The square root, rounded once."""
        ...

    def signed(self, size: Any, x: Any) -> Any:
        """|size| with the sign of x."""
        ...

    def bits(self, x: Any) -> Any:
        """The bits of a float as an integer of its width."""
        ...

    def float_of(self, bits: Any) -> Any: ...
    def number(self, word: Any) -> Any:
        """An integer as a float of its width, rounded."""
        ...

    def lookup(self, table: str, index: Any, start: int) -> Any:
        """The entries of a table of `coefficient_tables` at `index - start`, which is in range."""
        ...

    def lookup16(self, entries: tuple[float, ...], index: Any) -> Any:
        """The entry, of sixteen binary32 ones, at the low four bits of `index`."""
        ...

    def scalar_fallback(self, name: str, where: Any, x: Any, value: Any) -> Any:
        """`value`; where `where` holds (rarely), the C library's function `name` of x instead."""
        ...

    def select_rare(self, where: Any, value: Any, other: Callable[[], Any]) -> Any:
        """`value` where `where` holds (nearly always), else `other()`, which is computed only if some item needs it."""
        ...
