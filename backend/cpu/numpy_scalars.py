"""Scalar functions on NumPy arrays: for each function and kind one callable `f(*operands)`.

Contract of every callable: operands broadcast, have the dtype of the compute kind, and are not changed; the result may be one of
them.  Ufuncs also take `out`.  `executor` turns floating-point warnings off for the whole run, so no function here does.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...typechecker.elements import FUNCTIONS, Kind
from ..graph.phases import ApplyNode, ReadNode
from ..jit import compiler
from ..lower.body import LARGE, SHRINK, SMALL, Body, BodyResult, ComplexFormulas, Kernel, KernelOperand
from ..lower.loop_order import Form, VectorStride
from ..scalar import special as definitions
from ..scalar.coefficient_tables import entries
from ..scalar.function_table import TRANSCENDENTAL, UFUNCS, Definition, definition, matches_numpy
from ..vm.check_failures import CheckFailed, rho_number
from .parallel_for import run_tasks
from .views import DTYPES, NumArray, start_of

# ---------------------------------------------------------------------------------------------------- scalar machine on arrays
#
# The definitions of `backend.scalar`, evaluated step by step on NumPy arrays: the same bits as compiled code.
#
# Functions of one or a few instructions run here wherever NumPy runs a phase.  Series run here only for the first few items of a
# process, because importing llvmlite and compiling take a tenth of a second, in which some thousand items can be computed here.
# Fused multiply-adds call the C library's `fma` item by item, which rounds once on every processor.

class WordArray:
    """An array of 32- or 64-bit words, with the operations that scalar definitions use."""

    __slots__ = ("bits",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, bits: Any) -> None:
        self.bits = bits

    def of(self, other: WordArray | int) -> Any:
        return other.bits if isinstance(other, WordArray) else self.bits.dtype.type(other & ((1 << 8 * self.bits.itemsize) - 1))

    def __add__(self, other: WordArray | int) -> WordArray:
        return WordArray(self.bits + self.of(other))

    def __sub__(self, other: WordArray | int) -> WordArray:
        return WordArray(self.bits - self.of(other))

    def __and__(self, other: WordArray | int) -> WordArray:
        return WordArray(self.bits & self.of(other))

    def __lshift__(self, other: int) -> WordArray:
        return WordArray(self.bits << self.of(other))

    def __rshift__(self, other: int) -> WordArray:
        return WordArray(self.bits >> self.of(other))

    def __eq__(self, other: object) -> Any:
        return self.bits == self.of(other) if isinstance(other, WordArray | int) else NotImplemented

    def __lt__(self, other: int) -> Any:
        return self.signed < other

    @property
    def signed(self) -> Any:
        return self.bits.view(f"i{self.bits.itemsize}")


class NumpyMachine:
    """`backend.scalar.function_table.Machine` on arrays of one kind, and on NumPy scalars."""

    def __init__(self, kind: Kind, fused: Callable[[float, float, float], float] | None = None) -> None:
        self.dtype, self.fused = DTYPES[kind], fused

    def like(self, x: Any, number: float) -> Any:
        return x.dtype.type(number)

    def is_float(self, x: Any) -> bool:
        return bool(x.dtype.kind == "f")

    def is_signed(self, x: Any) -> bool:
        return x.dtype.kind in "fi"

    def width(self, x: Any) -> int:
        return int(8 * x.itemsize)

    def shifted_right(self, y: Any, count: Any) -> Any:
        return y >> count

    def shifted_right_unsigned(self, y: Any, count: Any) -> Any:
        unsigned = np.dtype(f"u{y.itemsize}")
        return (y.view(unsigned) >> count.view(unsigned)).view(y.dtype)

    def smaller(self, x: Any, y: Any) -> Any:
        return np.minimum(x, y)

    def larger(self, x: Any, y: Any) -> Any:
        return np.maximum(x, y)

    def residue(self, x: Any, y: Any) -> Any:
        rest = np.remainder(y, x)
        return rest if x.all() else np.where(x == 0, y, rest)

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        assert self.fused is not None, "only series have any"
        operands = np.broadcast_arrays(x, y, z)
        items = map(self.fused, *(operand.reshape(-1).tolist() for operand in operands))
        return np.array(list(items), self.dtype).reshape(operands[0].shape)

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        if isinstance(x, WordArray):
            return WordArray(np.where(condition, x.bits, y.bits))
        dtype = getattr(x, "dtype", getattr(y, "dtype", self.dtype))
        return np.where(condition, np.asarray(x, dtype), np.asarray(y, dtype))

    def magnitude(self, x: Any) -> Any:
        return abs(x)

    def root(self, x: Any) -> Any:
        return np.sqrt(x)

    def signed(self, size: Any, x: Any) -> Any:
        return np.copysign(size, x)

    def bits(self, x: Any) -> WordArray:
        return WordArray(np.asarray(x).view(f"u{x.itemsize}"))

    def float_of(self, bits: WordArray) -> Any:
        return np.asarray(bits.bits).view(f"f{bits.bits.itemsize}")

    def number(self, word: WordArray) -> Any:
        return word.signed.astype(self.dtype)

    def lookup(self, table: str, index: WordArray, start: int) -> Any:
        return np.take(_entries(table), (index - start).signed, mode="clip")  # items that are not selected may be out of range

    def lookup16(self, entries: tuple[float, ...], index: WordArray) -> Any:
        return np.take(np.array(entries, self.dtype), (index & 15).signed)

    def scalar_fallback(self, name: str, where: Any, x: Any, value: Any) -> Any:
        if not np.any(where):
            return value
        result, function = np.array(value), getattr(math, name)
        items = np.asarray(x)[where].reshape(-1).tolist()
        result[where] = [function(item) if math.isfinite(item) else math.nan for item in items]
        return result

    def select_rare(self, where: Any, value: Any, other: Callable[[], Any]) -> Any:
        return value if np.all(where) else self.choose(where, value, other())


@cache
def _entries(table: str) -> Any:
    return np.array(entries(table))


@cache
def series_machine(kind: Kind) -> NumpyMachine | None:
    """The machine that evaluates series of a kind; None where the C library has no `fma` to call."""
    name, type = ("fma", ctypes.c_double) if kind is Kind.F64 else ("fmaf", ctypes.c_float)
    try:
        fused = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None
    fused.argtypes, fused.restype = [type] * 3, type
    return NumpyMachine(kind, fused)


def evaluate_definition(meaning: Definition, kind: Kind, operands: Sequence[Any]) -> Any:
    """Evaluate a definition on arrays of one kind and shape; None if it cannot be evaluated here."""
    steps = series_machine(meaning.kind)
    if steps is None:
        return None
    with np.errstate(all="ignore"):
        return np.asarray(meaning.compute(*(np.asarray(operand, DTYPES[meaning.kind]) for operand in operands), steps),
            DTYPES[kind])


# ---------------------------------------------------------------------------------------------------- real functions
#
# Scalar functions of real numbers on NumPy arrays (the contract is that of `scalars`).
#
# `UFUNC_FUNCTIONS` names those that are one ufunc, which may also reduce and accumulate.

Implementation: TypeAlias = Callable[..., Any]

UFUNC_FUNCTIONS: Final[dict[str, np.ufunc]] = {function: getattr(np, ufunc) for function, ufunc in UFUNCS.items()}


def real_function(function: str, kind: Kind, parameter: int = 0) -> Implementation:
    """`function` of real operands."""
    if function in TRANSCENDENTAL:

        return defined_function(function, kind, parameter, _plain(function, kind, parameter))
    return _plain(function, kind, parameter)


def _plain(function: str, kind: Kind, parameter: int) -> Implementation:
    """The function by NumPy ufuncs, else by its definition, else as a special function."""
    if function == "circular" and parameter in _CIRCULAR:
        return _CIRCULAR[parameter]
    if function == "gcd" and kind.is_integer:
        return np.gcd
    if function == "lcm" and kind.is_integer:
        return _integer_lcm
    if function in UFUNC_FUNCTIONS:
        return UFUNC_FUNCTIONS[function]
    if function in _COMPOUND:
        return _COMPOUND[function]
    if matches_numpy(function, parameter):
        return _by_meaning(function, kind, parameter)

    return SPECIAL[function]


def _by_meaning(function: str, kind: Kind, parameter: int = 0) -> Implementation:
    """The function by its definition, of one or a few instructions, where NumPy has no such function."""
    meaning, steps = definition(function, parameter, kind), NumpyMachine(kind)
    assert meaning is not None, "what is plain has a meaning"
    return lambda *args: np.asarray(meaning.compute(*args, steps))


# ------------------------------------------------------------------------ compound functions


def _log(x: Any, y: Any) -> Any:
    """Logarithm of y to base x; bases 2 and 10 use their own functions."""
    result = np.log(y) / np.log(x)
    for base, logarithm in ((2, np.log2), (10, np.log10)):
        if np.any(x == base):
            result = np.where(x == base, logarithm(y), result)
    return result


def _root(x: Any, y: Any) -> Any:
    """The x-th root of y in binary64, rounded once to y's kind, since the reciprocal of the degree needs the extra digits."""
    if x.dtype == np.float32:
        return _root(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    return np.where(x == 2, np.sqrt(y), np.power(y, np.true_divide(1.0, x)))


def _integer_lcm(x: Any, y: Any) -> Any:
    """x×(y÷gcd), which keeps the product's sign; 0 where either operand is 0."""
    divisor = np.gcd(x, y)
    return np.multiply(x, np.floor_divide(y, np.where(divisor == 0, np.array(1, divisor.dtype), divisor)))


def _whole(rounding: np.ufunc) -> Implementation:
    def rounded(x: Any) -> Any:

        integers = rounding(x)
        require_i64(integers, "floor" if rounding is np.floor else "ceiling")
        return integers.astype(np.int64)

    return rounded


_COMPOUND: Final[dict[str, Implementation]] = {
    "pow": np.power, "log": _log, "root": _root, "floor": _whole(np.floor), "ceil": _whole(np.ceil), "select": np.where,
}


_CIRCULAR: Final[dict[int, Implementation]] = {
    1: np.sin, 2: np.cos, 3: np.tan, 5: np.sinh, 6: np.cosh, 7: np.tanh, -1: np.arcsin, -2: np.arccos, -3: np.arctan,
    -5: np.arcsinh, -6: np.arccosh, -7: np.arctanh,
}  # fmt: skip
"""The circular functions that are NumPy ufuncs, by number."""


# ---------------------------------------------------------------------------------------------------- scalars

def implementation(function: str, kind: Kind, result: Kind, parameter: int = 0) -> Implementation:
    """`function` of operands of `kind` (for `select`: of its second operand) giving `result`."""
    if function in ("convert", "convert_checked"):

        converting: Implementation = conversion(kind, result, checked=function == "convert_checked")
        return converting
    if kind.is_complex:

        own_complex = complex_circular(parameter) if function == "circular" else COMPLEX.get(function)
        if own_complex is not None:
            return own_complex
    return real_function(function, kind, parameter)


# ------------------------------------------------------------------------------------------------ compiled elementary functions
#
# Functions that kernels define run on NumPy arrays by the same compiled definition, so that every tier gives the same bits.
#
# Where llvmlite is not installed, or does not work, there is no other tier to agree with, and NumPy's own functions are used.  An
# element-wise kernel of the function is compiled (or read from disk, like any kernel) when the function is first called; the
# first few items of a process are computed one by one.

_ITEM_NANOSECONDS: Final = 8.0
"""Estimated nanoseconds per item."""
_FIRST, _PATIENCE = 64, 1024
"""Items of one call, and of all calls of the process, that are computed one by one before llvmlite is imported, which takes
longer."""


def defined_function(function: str, kind: Kind, parameter: int, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """`f(*operands)` of a function by its compiled definition; `otherwise` where kernels do not define it or cannot be
    compiled."""
    meaning = definition(function, parameter, kind)
    if meaning is None or matches_numpy(function, parameter) or not compiler.is_installed():
        return otherwise
    arity = FUNCTIONS[function].arity if function in FUNCTIONS else 1

    def apply(*args: Any) -> Any:
        if not compiler.is_loaded() and (result := _first(meaning, kind, args)) is not None:
            return result
        address = _compiled(function, kind, parameter, arity)
        if address is None:
            return otherwise(*args)
        return _applied(address, kind, args)

    return apply


_left = [_PATIENCE]


def _first(meaning: Definition, kind: Kind, args: tuple[Any, ...]) -> Any:
    """The values of a few items, computed without compiling; None once the process has computed too many items this way."""
    operands = np.broadcast_arrays(*(np.asarray(arg, DTYPES[kind]) for arg in args))
    size = operands[0].size
    if size > _FIRST or size > _left[0]:
        return None
    _left[0] -= size
    return evaluate_definition(meaning, kind, operands)


@cache
def _compiled(function: str, kind: Kind, parameter: int, arity: int) -> int | None:
    """The address of the function's compiled kernel; None if it is not available."""
    from ..lower.rows import KernelCode

    operand = KernelOperand(kind, VectorStride.UNIT, (True,))
    apply = ApplyNode(function, tuple(range(arity)), kind, parameter)
    body = Body((*(ReadNode(number, kind) for number in range(arity)), apply), (BodyResult((arity,), kind, None),))
    return compiler.address_of(KernelCode(Kernel(Form.MAP, 1, (operand,) * arity, body)))


def compiled_right_fold(function: str, kind: Kind, line: NumArray) -> Any:
    """The right fold of a vector by a compiled definition; None where kernels have none, or the items are too few to compile."""
    meaning = definition(function, 0, kind)
    if meaning is None or matches_numpy(function, 0) or len(line) <= _FIRST or not compiler.is_installed():
        return None
    address = _compiled(function, kind, 0, 2)
    if address is None:
        return None
    items, total, size = line if line.strides[0] else line.copy(), line[-1:].copy(), line.itemsize
    block = (ctypes.c_int64 * 9)(1, 0, 0, size, start_of(total), size, start_of(total), size, 0)
    call = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)
    (step,), first = items.strides, start_of(items)
    for item in range(first + (len(items) - 2) * step, first - step, -step):
        block[2] = item
        call(block)
    return total[0]


def _applied(address: int, kind: Kind, operands: tuple[Any, ...]) -> Any:
    dtype = DTYPES[kind]
    arrays = [np.asarray(operand, dtype) for operand in operands]
    if len(arrays) > 1:
        arrays = list(np.broadcast_arrays(*arrays))
    arrays = [array if array.flags.c_contiguous else np.ascontiguousarray(array) for array in arrays]
    result = np.empty(arrays[0].shape, dtype)
    words = [result.size, 0]
    for array in (*arrays, result):
        words += [start_of(array), dtype.itemsize]
    run_tasks(address, [[*words, 0]], 1, result.size * _ITEM_NANOSECONDS)
    return result


# ---------------------------------------------------------------------------------------------------- special functions
#
# Special functions on NumPy arrays: the gamma family, the error function, and divisors of floats.
#
# Factorials of whole numbers, the common case, are looked up in a table.  The other functions follow the steps of their
# definitions (as the reference does) on arrays, with functions of the C library item by item; rare items use the definitions
# themselves.

def itemwise(function: Callable[..., Any], *args: Any) -> Any:
    """A callable that applies `function` to each item of the broadcast operands as Python values; the result has the first
    operand's dtype."""
    dtype = args[0].dtype
    if len(args) == 1:
        flat = args[0].reshape(-1).tolist()
        return np.array(list(map(function, flat)), dtype).reshape(args[0].shape)
    operands = np.broadcast_arrays(*args)
    columns = [operand.reshape(-1).tolist() for operand in operands]
    return np.array(list(map(function, *columns)), dtype).reshape(operands[0].shape)


def _each(function: Callable[[float], float], items: NumArray) -> NumArray:
    """Applies a C library function to each item of a vector."""
    return np.fromiter(map(function, memoryview(items.data)), np.float64, len(items))


@cache
def _factorials() -> NumArray:
    return np.array([float(math.factorial(n)) for n in range(171)])


def _factorial(x: Any) -> Any:
    in_table = (x >= 0) & (x <= 170) & (x == np.floor(x))
    table = _factorials()[np.where(in_table, x, 0).astype(np.intp)].astype(x.dtype)
    if in_table.all():
        return table
    result = np.array(table)
    result[~in_table] = _gamma_of_more(np.asarray(x, np.float64)[~in_table])
    return result


def _gamma_of_more(x: NumArray) -> NumArray:
    """`definitions.factorial` of numbers that the table does not contain."""
    result = np.where(x > 170.7, math.inf, math.nan)
    is_inside = (x <= 170.7) & ((x > -1) | ((x > -150) & (x != np.floor(x))))
    inside = x[is_inside]
    shifted = 1 + inside
    lost = inside - (shifted - 1)
    try:
        values = _each(math.gamma, shifted)
    except (ValueError, OverflowError):  # next to a pole
        return np.asarray(itemwise(definitions.factorial, x))
    slope = values[lost != 0]
    values[lost != 0] = slope * (1 + lost[lost != 0] * _digamma(shifted[lost != 0]))
    result[is_inside] = values
    far = ~is_inside & (x <= -150)
    result[far] = itemwise(definitions.factorial, x[far])
    return result


def _digamma(x: Any) -> Any:
    """`definitions.digamma`."""
    shape, dtype = x.shape, x.dtype
    x = np.array(x, np.float64).reshape(-1)
    result, is_inside = np.where(x == math.inf, math.inf, math.nan), np.isfinite(x) & ((x > 0) | (x != np.floor(x)))
    inside = x[is_inside]
    distance, is_left = inside - np.rint(inside), inside < 0
    high = np.where(is_left, 1 - inside, inside)
    shift = np.zeros(high.shape)
    while (low := high < 10).any():
        shift[low] += 1 / high[low]
        high[low] += 1
    inverse, series = 1 / (high * high), 0.0
    for coefficient in (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12):
        series = inverse * (coefficient + series)
    values = _each(math.log, high) - 0.5 / high + series - shift
    reflected = is_left & (np.abs(distance) < 0.5)
    values[reflected] -= math.pi / _each(math.tan, math.pi * distance[reflected])
    result[is_inside] = values
    return result.astype(dtype).reshape(shape)


def _lgamma(x: Any) -> Any:
    """`definitions.lgamma`."""
    shape, dtype = x.shape, x.dtype
    x = np.array(x, np.float64).reshape(-1)
    is_near = (x >= 0.5) & (x <= 3.5)
    is_far, result = ~is_near & ((x > 0) | (x != np.floor(x))), np.full(x.shape, math.inf)
    try:
        result[is_far] = _each(math.lgamma, x[is_far])
    except OverflowError:
        return itemwise(definitions.lgamma, x).astype(dtype).reshape(shape)
    near = x[is_near]
    above, below = near > 2.5, near <= 1.5
    z, values = near - np.where(above, 3, np.where(below, 1, 2)), np.zeros(near.shape)
    for coefficient in reversed(definitions.NEAR_TWO):
        values = values * z + coefficient
    values *= z
    values[above] = _each(math.log, near[above] - 1) + values[above]
    values[below] -= _each(math.log1p, near[below] - 1)
    result[is_near] = values
    return result.astype(dtype).reshape(shape)


def _float_gcd(x: Any, y: Any) -> Any:
    """`definitions.float_gcd`: Euclid's algorithm, with each step applied to the items that are not finished."""
    shape, dtype = np.broadcast_shapes(x.shape, y.shape), x.dtype
    x, y = (np.array(np.broadcast_to(np.abs(part), shape), np.float64).reshape(-1) for part in (x, y))
    is_finite = np.isfinite(x) & np.isfinite(y)
    smaller, larger = np.minimum(x, y), np.maximum(x, y)
    tolerance = np.maximum(definitions.GCD_TOLERANCE * smaller, 8 * np.finfo(np.float64).eps * larger)
    tolerance = np.where((x == np.floor(x)) & (y == np.floor(y)), 0.0, np.minimum(tolerance, smaller / 4))
    active = np.flatnonzero(is_finite & (y > tolerance))
    while active.size:
        divisor = y[active]
        y[active], x[active] = np.fmod(x[active], divisor), divisor
        active = active[y[active] > tolerance[active]]
    return np.where(is_finite, x, math.nan).astype(dtype).reshape(shape)


def _float_lcm(x: Any, y: Any) -> Any:
    """`definitions.float_lcm`."""
    wide, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    divisor = _float_gcd(wide, other)
    multiple = np.where(divisor == 0, math.nan, wide * (other / divisor))
    zero = ((x == 0) | (y == 0)) & (x == x) & (y == y)
    return np.where(zero, 0.0, multiple).astype(x.dtype)


_BY_ITEM: Final[dict[str, Callable[..., float]]] = {
    "erf": math.erf, "erfc": math.erfc, "lgamma": definitions.lgamma, "digamma": definitions.digamma,
    "binomial": definitions.binomial, "gcd": definitions.float_gcd, "lcm": definitions.float_lcm,
}  # fmt: skip
SPECIAL: Final[dict[str, Callable[..., Any]]] = {
    **{name: partial(itemwise, function) for name, function in _BY_ITEM.items()},
    "factorial": _factorial, "digamma": _digamma, "lgamma": _lgamma, "gcd": _float_gcd, "lcm": _float_lcm,
}


def scalar_function(function: str, kind: Kind) -> Implementation | None:
    """`function` of two NumPy scalars, with the bits of `implementation`; None where a call on arrays takes about as long."""
    if function == "div":
        return operator.truediv if kind.is_float else lambda x, y: x / y if y else divide(x, y)
    if kind.is_float and function in ("mul", "sub"):
        return operator.mul if function == "mul" else operator.sub
    if kind.is_complex and function == "mul":
        of_parts = DTYPES[kind].type  # NumPy's product of scalars may fuse, as that of arrays
        return lambda x, y: of_parts(complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real))
    if kind.is_float and function in _BY_ITEM:
        definition_of_items, make = _BY_ITEM[function], DTYPES[kind].type
        return lambda x, y: make(definition_of_items(float(x), float(y)))
    if kind.is_complex and function == "pow":
        power = operator.pow if kind is Kind.C128 else lambda x, y: np.complex64(np.complex128(x) ** np.complex128(y))
        return lambda x, y: power(x, y) if x else _power(np.array(x), np.array(y))[()]
    return None


# ---------------------------------------------------------------------------------------------------- complex functions
#
# Complex definitions of the scalar functions on NumPy arrays, with the principal values of `cmath`.
#
# Products and magnitudes are spelled out as `lower.body` does, to the same bits: NumPy's own products fuse a
# multiplication with an addition on some processors and some layouts, and its magnitudes are the C library's.

ComplexImplementation: TypeAlias = Callable[..., Any]


def _monadic(compute: Callable[[Any], Any]) -> ComplexImplementation:
    return lambda z: np.asarray(compute(z), z.dtype)


def _dyadic(compute: Callable[[Any, Any], Any]) -> ComplexImplementation:
    if compute in _IN_DOUBLE:
        return lambda x, y: np.asarray(compute(x.astype(np.complex128), y.astype(np.complex128)), x.dtype)
    return lambda x, y: np.asarray(compute(x, y), x.dtype)


def _combine(real: Any, imaginary: Any, like: Any) -> Any:
    result = np.empty(np.shape(real), like.dtype)
    result.real = real
    result.imag = imaginary
    return result


def multiply(x: Any, y: Any) -> Any:
    """Product of complex arrays by four real multiplications, each rounded."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    result = np.empty(np.broadcast_shapes(x.shape, y.shape), x.dtype)
    result.real = a * c
    result.real -= b * d
    result.imag = a * d
    result.imag += b * c
    return result


def magnitude(z: Any) -> Any:
    """The root of the sum of squares, in binary64; scaled by a power of two where squares would overflow or vanish."""
    a, b = z.real.astype(np.float64, copy=False), z.imag.astype(np.float64, copy=False)
    squares = a * a
    squares += b * b
    root = np.sqrt(squares)
    least = 0.0 if z.dtype == np.complex64 else 2 * SMALL
    if root.size and not (root.min() >= least and root.max() <= LARGE):
        is_scaled = ~((root >= least) & (root <= LARGE))
        root = np.array(root)
        root[is_scaled] = _scaled_magnitude(np.abs(a[is_scaled]), np.abs(b[is_scaled]))
    return root.astype(z.real.dtype, copy=False)


def _scaled_magnitude(a: NumArray, b: NumArray) -> Any:
    most = np.maximum(a, b)
    large, small = most > LARGE, most < SMALL
    factor = np.where(large, SHRINK, np.where(small, 1 / SHRINK, 1.0))
    a, b = a * factor, b * factor
    return np.where(np.isinf(a) | np.isinf(b), np.inf, np.sqrt(a * a + b * b) / factor)


def divide(x: Any, y: Any) -> Any:
    """Quotient of complex arrays by Smith's method, as NumPy; division by exactly 0 divides each part by 0."""
    quotient = np.true_divide(x, y)
    zero = np.equal(y, 0)
    if zero.any():
        nothing = np.array(0.0, x.real.dtype)
        x = np.broadcast_to(x, quotient.shape)
        quotient = np.where(zero, _combine(x.real / nothing, x.imag / nothing, quotient), quotient)
    return quotient


def _sign(z: Any) -> Any:
    size = np.absolute(z)
    size = np.where(size == 0, np.array(1, size.dtype), size)
    return np.where(np.equal(z, 0), np.array(0, z.dtype), _combine(z.real / size, z.imag / size, z))


def floor(z: Any) -> Any:
    """McDonnell's complex floor; non-finite parts stay unchanged."""
    real, imaginary = np.floor(z.real), np.floor(z.imag)
    f, g = z.real - real, z.imag - imaginary
    finite = np.isfinite(z.real) & np.isfinite(z.imag)
    carry = finite & (f + g >= 1)
    one = np.array(1, real.dtype)
    return _combine(np.where(carry & (f >= g), real + one, real), np.where(carry & (f < g), imaginary + one, imaginary), z)


def _ceiling(z: Any) -> Any:
    return -floor(-z) + np.array(0, z.dtype)


def _power(x: Any, y: Any) -> Any:
    result = np.power(x, y)
    zero = np.equal(x, 0)
    if zero.any():
        nan = np.array(complex(math.nan, math.nan), result.dtype)
        at_zero = np.where(np.equal(y, 0), np.array(1, result.dtype), np.where(y.real > 0, np.array(0, result.dtype), nan))
        result = np.where(zero, at_zero, result)
    return result


def _complex_log(x: Any, y: Any) -> Any:
    return divide(np.log(y), np.log(x))


def _complex_root(x: Any, y: Any) -> Any:
    return np.where(np.equal(x, 2), np.sqrt(y), _power(y, divide(np.array(1, x.dtype), x)))


def _residue(x: Any, y: Any) -> Any:
    zero = np.equal(x, 0)
    safe = np.where(zero, np.array(1, x.dtype), x)
    return np.where(zero, y, y - multiply(safe, floor(quotient_before_floor(y, safe))))


def quotient_before_floor(x: Any, y: Any) -> Any:
    """Complex division by Smith's method, rounded as the reference rounds it, since a floor or a rounding follows."""
    c, d = y.real, y.imag
    wide = np.absolute(c) >= np.absolute(d)
    large, small = np.where(wide, c, d), np.where(wide, d, c)
    ratio = small / large
    scale = np.where(wide, c + d * ratio, c * ratio + d)
    real = np.where(wide, x.real + x.imag * ratio, x.real * ratio + x.imag)
    imaginary = np.where(wide, x.imag - x.real * ratio, x.imag * ratio - x.real)
    return _combine(real / scale, imaginary / scale, x)


def _reciprocal(z: Any) -> Any:
    return divide(np.array(1, z.dtype), z)


def _pi_times(z: Any) -> Any:
    return _combine(z.real * math.pi, z.imag * math.pi, z)


class _NumpyComplexFormulas(ComplexFormulas[Any]):
    """The complex formulas of kernels, on NumPy arrays."""

    def number(self, value: float, kind: Kind) -> Any:
        return np.array(value, DTYPES[kind])

    def do(self, function: str, *args: Any, on: Kind, to: Kind | None = None, parameter: int = 0) -> Any:
        return real_function(function, on, parameter)(*args)


_ARRAYS: Final = _NumpyComplexFormulas()


def _exponential(z: Any) -> Any:
    return _combine(*_ARRAYS.exponential(z.real.astype(np.float64, copy=False), z.imag.astype(np.float64, copy=False)), z)


_IN_DOUBLE: Final = frozenset({_power, _complex_log, _complex_root, _residue})
"""Functions that compute c64 in c128 and round once, since their intermediate logarithm would lose digits."""

COMPLEX: Final[dict[str, ComplexImplementation]] = {
    "div": _dyadic(divide), "sign": _monadic(_sign), "floor": _monadic(floor), "ceil": _monadic(_ceiling), "pow": _dyadic(_power),
    "log": _dyadic(_complex_log), "root": _dyadic(_complex_root), "residue": _dyadic(_residue),
    "reciprocal": _monadic(_reciprocal), "pi_times": _monadic(_pi_times), "mul": multiply, "abs": magnitude,
    "exp": _monadic(_exponential), "gcd": partial(itemwise, definitions.greatest_common_divisor),
    "lcm": partial(itemwise, definitions.least_common_multiple), "factorial": partial(itemwise, definitions.complex_factorial),
    "binomial": partial(itemwise, definitions.complex_binomial),
}  # fmt: skip


def _minus_four(z: Any) -> Any:
    one = np.array(1, z.dtype)
    bottom = np.equal(z, -one)
    return np.where(bottom, np.array(0, z.dtype), (z + one) * np.sqrt(divide(z - one, np.where(bottom, one, z + one))))


def _root_of_square(constant: int, factor: int, z: Any) -> Any:
    """√(constant+factor×z²); where z² might overflow, the constant is negligible."""
    z = np.asarray(z, np.complex128)
    size = np.maximum(np.abs(z.real), np.abs(z.imag))
    is_large = (size > 2.0**500) & (size < np.inf)
    if not is_large.any():
        return np.sqrt(constant + factor * (z * z))
    z = np.where(is_large, z * 2.0**-762, z)
    root = np.sqrt(np.where(is_large, 0, constant) + factor * (z * z))
    return np.where(is_large, root * 2.0**762, root)


def _turned(z: Any) -> Any:
    """z × 0J1."""
    return _combine(-z.imag, z.real, z)


_COMPLEX_CIRCULAR: Final[dict[int, Callable[[Any], Any]]] = {
    0: lambda z: _root_of_square(1, -1, z), 1: np.sin, 2: np.cos, 3: np.tan,
    4: lambda z: _root_of_square(1, 1, z), 5: np.sinh, 6: np.cosh, 7: np.tanh,
    8: lambda z: _root_of_square(-1, -1, z), 9: np.real, 10: magnitude, 11: np.imag, 12: np.angle,
    -1: np.arcsin, -2: np.arccos, -3: np.arctan, -4: _minus_four, -5: np.arcsinh, -6: np.arccosh, -7: np.arctanh,
    -8: lambda z: -_root_of_square(-1, -1, z), -9: np.asarray, -10: np.conjugate, -11: _turned,
    -12: lambda z: _exponential(_turned(z)),
}  # fmt: skip


_REAL: Final = frozenset({9, 10, 11, 12})
"""The circular functions with real results, by number."""


def complex_circular(parameter: int) -> ComplexImplementation:
    compute = _COMPLEX_CIRCULAR[parameter]
    return lambda z: np.array(compute(z), z.dtype if parameter not in _REAL else None)


# ---------------------------------------------------------------------------------------------------- conversions
#
# Conversions between kinds, with and without the check that nothing is lost (E703).

LARGEST_CODE_POINT: Final = 0x10FFFF
_I64_LIMIT: Final = float(1 << 63)


def conversion(kind: Kind, target: Kind, *, checked: bool) -> Any:
    """`f(x)` that converts `kind` to `target`; with `checked` it raises E703 where a value would change."""
    dtype = DTYPES[target]

    def convert(x: Any) -> Any:
        return x.astype(dtype)

    if not checked or kind is target:
        return convert
    if target is Kind.CHAR or target is Kind.BOOL or target.is_integer:

        return lambda x: convert(_require_range(_require_whole(x, target), target))

    def convert_float(x: Any) -> Any:
        source = x
        if x.dtype.kind == "c" and not target.is_complex:
            if np.any(x.imag):
                where = rho_number(_first_unsuitable(x, x.imag != 0))
                raise CheckFailed(Code.E703, f"{where} has an imaginary part, so it cannot be converted to {target.value}")
            source = x.real
        result = source.astype(dtype)
        lost = np.isfinite(source) & ~np.isfinite(result)
        if lost.any():
            raise CheckFailed(Code.E703, f"{rho_number(_first_unsuitable(source, lost))} is too large for {target.value}")
        return result

    return convert_float


def require_i64(rounded: Any, what: str) -> None:
    """Raises CheckFailed unless every rounded float is in the range of i64."""
    if rounded.size == 0:
        return
    low, high = rounded.min(), rounded.max()
    if not (low >= -_I64_LIMIT and high < _I64_LIMIT):
        bad = ~((rounded >= -_I64_LIMIT) & (rounded < _I64_LIMIT))
        raise CheckFailed(Code.E703, f"the {what} of {rho_number(_first_unsuitable(rounded, bad))} is not an i64")


def _require_whole(x: Any, target: Kind) -> Any:
    """The real values; raises CheckFailed unless they are whole numbers."""
    match x.dtype.kind:
        case "c":
            bad = (x.imag != 0) | ~np.isfinite(x.real) | (x.real != np.floor(x.real))
            real = x.real
        case "f":
            bad = ~np.isfinite(x) | (x != np.floor(x))
            real = x
        case _:
            return x
    if bad.any():
        where = rho_number(_first_unsuitable(x, bad))
        raise CheckFailed(Code.E703, f"{where} is not a whole number, so it cannot be converted to {target.value}")
    return real


def _require_range(x: Any, target: Kind) -> Any:
    if x.size == 0:
        return x
    if target is Kind.CHAR:
        low, high = 0, LARGEST_CODE_POINT
    elif target is Kind.BOOL:
        low, high = 0, 1
    else:
        limits = np.iinfo(DTYPES[target])
        low, high = int(limits.min), int(limits.max)
    if int(x.min()) < low or int(x.max()) > high:
        values = x.reshape(-1).tolist()
        value = next(int(v) for v in values if not low <= int(v) <= high)
        what = f"a code point (0 to {high})" if target is Kind.CHAR else None
        trouble = f"is not {what}" if what else f"does not fit {target.value} ({rho_number(low)} to {rho_number(high)})"
        raise CheckFailed(Code.E703, f"{rho_number(value)} {trouble}")
    return x


def _first_unsuitable(x: Any, bad: Any) -> Any:
    """The first offending item, as a Python value."""
    return np.asarray(x)[np.asarray(bad)].reshape(-1)[0].item()


# ---------------------------------------------------------------------------------------------------- random numbers
#
# Philox4x32-10 on arrays: the bits of `reference.scalars` (layout: its Note [Key and counter layout]).
#
# Works in pieces that stay in cache; a piece depends only on its block numbers, so any shard can be filled by itself.

MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
WEYL_0: Final = 0x9E3779B9
WEYL_1: Final = 0xBB67AE85
ROUNDS: Final = 10
MASK: Final = 0xFFFFFFFF
_PIECE = 1 << 14
"""Blocks generated at once."""


def fill_uniform(out: np.ndarray[Any, Any], key: int, stream: int, start: int = 0) -> None:
    """Fill a contiguous f64 vector with elements `start`, `start` + 1, … of the sequence of `(key, stream)`."""
    first = start >> 1
    last = (start + len(out) + 1) >> 1
    for block in range(first, last, _PIECE):
        stop = min(last, block + _PIECE)
        pairs = np.empty((stop - block, 2))
        fill_pairs(np, pairs, block, key, stream)
        low = max(start, 2 * block)
        high = min(start + len(out), 2 * stop)
        out[low - start : high - start] = pairs.reshape(-1)[low - 2 * block : high - 2 * block]


def fill_pairs(xp: Any, pairs: Any, first: int, key: int, stream: int) -> None:
    """Writes the two elements of each block from `first` on into `pairs`; `xp`: NumPy or CuPy."""
    blocks, mask, word = xp.arange(first, first + len(pairs), dtype=np.uint64), np.uint64(MASK), np.uint64(32)
    c0, c1 = blocks & mask, blocks >> word
    c2, c3 = xp.full_like(blocks, stream & MASK), xp.full_like(blocks, (stream >> 32) & MASK)
    k0, k1 = key & MASK, (key >> 32) & MASK
    for _ in range(ROUNDS):
        product_0, product_1 = c0 * np.uint64(MULTIPLIERS[0]), c2 * np.uint64(MULTIPLIERS[1])
        c0 = (product_1 >> word) ^ c1 ^ np.uint64(k0)
        c2 = (product_0 >> word) ^ c3 ^ np.uint64(k1)
        c1, c3 = product_1 & mask, product_0 & mask
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    for column, (high, low) in enumerate(((c0, c1), (c2, c3))):
        bits = ((high >> np.uint64(5)) << np.uint64(26)) + (low >> np.uint64(6))
        pairs[:, column] = bits.astype(np.float64) * 2.0**-53
