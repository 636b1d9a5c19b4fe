"""The adjoints of library functions on matrices: inverse, least squares, determinant, Cholesky, polynomials.

Sources: M. B. Giles, Collected matrix derivative results (2008); G. H. Golub and V. Pereyra, The differentiation of
pseudo-inverses (1973).  With P the pseudo-inverse of a matrix A of full column rank, dP = -P dA P + P Pᵀ dAᵀ (I - A P), whose
second part is 0 for a square A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ..core.operations import Contract, Library, MapCells, ValueId
from ..elements import ArrayType, Element
from ..sizes.polynomials import ONE, ZERO, Size, product
from ..values.facts import Operand
from .reverse_mode import ReversePass
from .terms import Terms


def adjoint(r: ReversePass, op: Library, g: ValueId) -> None:
    """The adjoint of a library function; refused where there is no rule."""
    rule = _RULES.get(op.name)
    if rule is None:
        raise r.terms.refuse(f"`{_GLYPHS.get(op.name, f'⎕{op.name}')}` has no gradient in this version")
    rule(r, op, g)


_GLYPHS: Final = {"encode": "⊤", "random": "?"}


# ---------------------------------------------------------------------------------------------------- matrices

def _product(t: Terms, x: ValueId, y: ValueId) -> ValueId:
    shape = t.shape(x)[:-1] + t.shape(y)[1:]
    return t.emit(lambda v: Contract(v, x, y), t.kind(x), shape)


def _transposed(t: Terms, x: ValueId) -> ValueId:
    return t.transpose(x, (1, 0))


def _library(t: Terms, name: str, shape: Sequence[Size], *args: ValueId) -> ValueId:
    return t.emit(lambda v: Library((v,), name, args), t.kind(args[0]), shape)


def _pseudo_inverse(t: Terms, a: ValueId) -> ValueId:
    shape = t.shape(a)
    return _library(t, "inverse", (*shape[:-2], shape[-1], shape[-2]), a)


def _on_matrices(r: ReversePass, rank: int, args: Sequence[ValueId], body: Callable[[list[ValueId]], ValueId]) -> ValueId:
    """`body`, mapped over a frame of leading axes; `rank` is the rank of the cells (matrices or vectors) of the first array."""
    t, builder = r.terms, r.builder
    depth = len(t.shape(args[0])) - rank
    if depth == 0:
        return body(list(args))
    frame = t.shape(args[0])[:depth]
    params = builder.open_block([ArrayType(Element(t.kind(x)), t.shape(x)[depth:]) for x in args], r.span)
    value = body([param.value for param in params])
    block = builder.close_block([Operand(value, builder.types[value])])
    type = ArrayType(Element(t.kind(value)), frame + t.shape(value))
    return t.emit_typed(lambda v: MapCells((v,), tuple(args), tuple(depth for _ in args), frame, block), type)


def _is_read(r: ReversePass, a: ValueId, g: ValueId) -> ValueId:
    """A mask of the matrices whose cotangent has an item other than 0, broadcast to the shape of `a`."""
    t = r.terms
    is_read = t.apply("ne", g, t.number(0.0, g))
    while len(t.shape(is_read)) > len(t.shape(a)) - 2:
        is_read = t.reduce("or", is_read, len(t.shape(is_read)) - 1)
    return t.broadcast(is_read, t.shape(a), tuple(range(len(t.shape(is_read)))))


def _add_read(r: ReversePass, a: ValueId, part: ValueId, g: ValueId) -> None:
    """Add `part` to the cotangent of `a`, but 0 for matrices that were masked out."""
    r.add(a, r.terms.where(_is_read(r, a, g), part, None) if r.terms.masking else part)


def _read_matrices(r: ReversePass, a: ValueId, g: ValueId) -> ValueId:
    """The matrices, with the identity in place of those that were masked out, which may have no inverse."""
    t, shape = r.terms, r.terms.shape(a)
    if not t.masking:
        return a
    rank = len(shape)
    is_diagonal = t.apply("eq", t.coordinates(shape, rank - 2), t.coordinates(shape, rank - 1))
    return t.apply("select", _is_read(r, a, g), a, t.where(is_diagonal, t.number(1.0, a), None))


def _is_square(r: ReversePass, a: ValueId) -> bool:
    rows, columns = r.terms.shape(a)[-2:]
    return r.builder.equal(rows, columns) is True


def _inverse(r: ReversePass, op: Library, g: ValueId) -> None:
    t, (a,), square = r.terms, op.args, _is_square(r, op.args[0])

    def body(cells: list[ValueId]) -> ValueId:
        matrix, inverse, cotangent = cells
        inverse_transposed = _transposed(t, inverse)
        first = t.neg(_product(t, _product(t, inverse_transposed, cotangent), inverse_transposed))
        if square:
            return first
        spread = _product(t, _transposed(t, cotangent), _product(t, inverse, inverse_transposed))
        return t.add(first, t.sub(spread, _product(t, matrix, _product(t, inverse, spread))))

    _add_read(r, a, _on_matrices(r, 2, (a, op.results[0], g), body), g)


def _solve(r: ReversePass, op: Library, g: ValueId) -> None:
    """The adjoint of X, the least-squares solution of A X = Y: Ȳ = Pᵀ X̄, Ā = -Ȳ Xᵀ + (Y - A X) (P Ȳ)ᵀ."""
    t, (y, a), x = r.terms, op.args, op.results[0]
    rows = t.shape(a)[0]
    if _is_square(r, a):
        residual_part, of_values = None, _library(t, "solve", (rows, t.shape(g)[1]), g, _transposed(t, _read_matrices(r, a, g)))
    else:
        inverse = _pseudo_inverse(t, _read_matrices(r, a, g))
        of_values = _product(t, _transposed(t, inverse), g)
        residual = t.sub(y, _product(t, a, x))
        residual_part = _product(t, residual, _transposed(t, _product(t, inverse, of_values)))
    r.add(y, of_values)
    if r.is_active(a):
        of_matrix = t.neg(_product(t, of_values, _transposed(t, x)))
        _add_read(r, a, of_matrix if residual_part is None else t.add(of_matrix, residual_part), g)


def _determinant(r: ReversePass, op: Library, g: ValueId) -> None:
    t, (a,) = r.terms, op.args
    rank = len(t.shape(a))
    inverse_transposed = t.transpose(_pseudo_inverse(t, _read_matrices(r, a, g)), (*range(rank - 2), rank - 1, rank - 2))
    r.add(a, t.mul(t.times(g, op.results[0]), inverse_transposed))


def _log_determinant(r: ReversePass, op: Library, g: ValueId) -> None:
    """The adjoint of the logarithm of a determinant; the sign is constant."""
    t, (a,), cotangent = r.terms, op.args, r.cotangents.get(op.results[1])
    if cotangent is not None:
        rank = len(t.shape(a))
        inverse = _pseudo_inverse(t, _read_matrices(r, a, cotangent))
        r.add(a, t.mul(cotangent, t.transpose(inverse, (*range(rank - 2), rank - 1, rank - 2))))


def _cholesky(r: ReversePass, op: Library, g: ValueId) -> None:
    """The adjoint of Cholesky, which reads only the lower triangle, so that only it has derivatives."""
    t, (a,) = r.terms, op.args

    def body(cells: list[ValueId]) -> ValueId:
        lower, cotangent = cells
        shape = t.shape(lower)
        row, column = t.coordinates(shape, 0), t.coordinates(shape, 1)
        below, diagonal = t.apply("gt", row, column), t.apply("eq", row, column)
        half = t.where(diagonal, t.number(0.5, lower), None)
        phi = _product(t, _transposed(t, lower), cotangent)
        phi = t.where(below, phi, t.mul(half, phi))
        inverse = _pseudo_inverse(t, lower)
        m = _product(t, _product(t, _transposed(t, inverse), phi), inverse)
        both = t.add(m, _transposed(t, m))
        return t.where(below, both, t.mul(half, both))

    _add_read(r, a, _on_matrices(r, 2, (_read_matrices(r, op.results[0], g), g), body), g)


# ---------------------------------------------------------------------------------------------------- Fourier transforms
#
# The adjoint of the transform F of n items is the inverse transform times n; that of the inverse is F divided by n.  A real
# transform keeps the first half of F, of which the real part is taken back.

def _times_size(t: Terms, x: ValueId, size: Size, *, divide: bool) -> ValueId:
    count = t.apply("convert", t.size(size), to=t.kind(x))
    return t.div(x, count) if divide else t.mul(x, count)


def _fourier(r: ReversePass, op: Library, g: ValueId) -> None:
    t, (x,) = r.terms, op.args
    size, is_inverse = t.shape(x)[-1], op.name == "ifft"
    r.add(x, _times_size(t, _library(t, "fft" if is_inverse else "ifft", t.shape(g), g), size, divide=is_inverse))


def _real_fourier(r: ReversePass, op: Library, g: ValueId) -> None:
    t, (x,) = r.terms, op.args
    axis = len(t.shape(x)) - 1
    size = t.shape(x)[axis]
    full = t.slice(g, axis, ZERO, size)
    back = _times_size(t, _library(t, "ifft", t.shape(full), full), size, divide=False)
    r.add(x, t.apply("circular", back, parameter=9))


def _inverse_real_fourier(r: ReversePass, op: Library, g: ValueId) -> None:
    """The adjoint of the inverse transform to real numbers: each item of the half but the first and the last stands for two."""
    t, (x,) = r.terms, op.args
    shape, size = t.shape(x), t.shape(g)[-1]
    axis, kind = len(shape) - 1, t.kind(x)
    half = t.emit(lambda v: Library((v,), "rfft", (g,)), kind, shape)
    at = t.coordinates(shape, axis)
    ends = t.apply("or", t.apply("eq", at, t.size(ZERO)), t.apply("eq", at, t.size(shape[axis] - 1)))
    weights = t.apply("select", ends, t.literal(1.0, kind), t.literal(2.0, kind))
    r.add(x, t.mul(weights, _times_size(t, half, size, divide=True)))


# ---------------------------------------------------------------------------------------------------- polynomials

def _decode(r: ReversePass, op: Library, g: ValueId) -> None:
    """The adjoint of `radix⊥x`, the sum of x times the products of the later radices."""
    t, (radix, x) = r.terms, op.args
    if r.is_active(radix):
        raise t.refuse("`⊥` has a gradient by its right argument only")
    shape, length = t.shape(x), t.shape(x)[0] if t.shape(x) else ONE
    rank = len(t.shape(radix))
    frame = t.shape(radix)[:-1]
    last = t.shape(radix)[-1] if rank else ONE
    if r.builder.equal(last, length) is not True:
        if last != ONE or len(shape) == 0:
            raise t.refuse("`⊥` has a gradient only where both arguments have as many items, or the left one is a number")
        radix = t.broadcast(t.reshape(radix, frame), (*frame, length), tuple(range(len(frame))))
    elif not rank:
        radix = t.reshape(radix, (ONE,))
    axis = len(frame)
    weights = t.reverse(t.products_before(t.reverse(radix, axis), axis), axis)
    by_axis = t.to_front(weights, axis)
    total = g
    if frame:
        count = len(frame)
        rows = t.reshape(by_axis, (length, product(frame)))
        total = _product(t, rows, t.reshape(g, (product(frame), *t.shape(g)[count:])))
    else:
        full_shape = (length, *t.shape(g))
        total = t.times(t.broadcast(g, full_shape, tuple(range(1, len(full_shape)))), t.broadcast(by_axis, full_shape, (0,)))
    r.add(x, t.reshape(total, shape))


TRANSFORMS: Final = frozenset({"fft", "ifft", "rfft", "irfft"})
_RULES: Final[dict[str, Callable[[ReversePass, Library, ValueId], None]]] = {
    "inverse": _inverse, "solve": _solve, "det": _determinant, "slogdet": _log_determinant, "cholesky": _cholesky,
    "decode": _decode, "fft": _fourier, "ifft": _fourier, "rfft": _real_fourier, "irfft": _inverse_real_fourier,
}  # fmt: skip
