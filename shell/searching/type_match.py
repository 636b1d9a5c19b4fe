"""Search by type: the cost of matching a function with a type, 0 if they are equal up to names, None if they differ.

Names on both sides may be bound.  What a function demands less costs little (`T[..s]` where `f64[n]` is asked), what is asked and
not given in general costs more (`f64[n n]` where `f64[n m]` is asked); so do widened elements, arguments the other way round, and
a function that fits the cells of an array, which lifting takes to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias, TypeGuard

from ...lang.primitives.table import nearest
from ...lang.support.records import dataclass
from ...lang.syntax.parser import parse_program
from ...lang.syntax.source import Source
from ...lang.tree import program as program_tree
from ...lang.tree.expressions import (
    ArrayTypeExpression,
    BoundedSize,
    ElementName,
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeExpression,
    SizeName,
    SizeNumber,
    TupleTypeExpression,
    TypeExpression,
)
from ...typechecker.signatures.calls import show_size
from .catalogue import CatalogueEntry

# ---------------------------------------------------------------------------------------------------- types
#
# Types as they are searched for and compared: read from what people type and from the signatures of the catalogue.
#
# They are read as signatures of the language, and are its trees of types.  The name `_` stands for anything.  `perm<n>` is a
# vector of `perm<n>` elements here, so that it can be compared with `i64[n]`.

ELEMENTS: Final = ("bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", "char")
_OTHER_NAMES: Final = {
    "float": "f64", "double": "f64", "real": "f64", "number": "f64", "num": "f64", "int": "i64", "integer": "i64",
    "string": "char[n]",
    "str": "char[n]", "text": "char[n]", "boolean": "bool", "complex": "c128", "byte": "u8", "array": "T[..s]", "vector": "T[n]",
    "matrix": "T[n m]", "permutation": "perm<n>", "index": "idx<n>", "float64": "f64", "float32": "f32", "int64": "i64",
    "int32": "i32",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TuplePattern:
    items: tuple[Type, ...]


Type: TypeAlias = ArrayTypeExpression | TuplePattern | ElementName
"""An element type by itself is `_`, any type."""


@dataclass(frozen=True, slots=True)
class FunctionType:
    """`classes`: what `where` says of element variables (`num`, `ord` …)."""

    arguments: tuple[Type, ...]
    result: Type
    classes: Mapping[str, str]


class NoType(Exception):
    """A text that is not a type; `hint` may say what was meant."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


def is_type(text: str) -> bool:
    """Is a search for a type meant?"""
    return "→" in text or "->" in text


def read(text: str) -> FunctionType:
    """A function type.  NoType where it is none."""
    text = text.replace("->", "→")
    parts = [part.strip() for part in text.partition(" where ")[0].split("→")]
    if len(parts) > 3:
        raise NoType("a function has one or two arguments", "for example: f64[n] → f64[n] → f64")
    if not all(parts):
        raise NoType("a type is missing beside the arrow; `_` stands for any type", "for example: f64[n] → _")
    program, diagnostics = parse_program(Source("<type>", f"f : {text.strip()}"))
    match program.statements:
        case (program_tree.Signature(left=left, right=right, result=result, where=facts),) if not diagnostics:
            arguments = [_type(one.type) for one in (left, right) if one is not None]
            lone = [(one.left, one.relation) for one in facts if one.right is None]
            classes = {size.name: relation for size, relation in lone if isinstance(size, SizeName)}
            return FunctionType(tuple(arguments), _type(result), classes)
    why = diagnostics[0].message if diagnostics else "it goes on after its end"
    raise NoType(f"`{text}` is not a type: {why}", "for example: f64[n m] → f64[n]")


def _type(written: TypeExpression) -> Type:
    if isinstance(written, TupleTypeExpression):
        items = tuple([_type(item) for item in written.items])
        return items[0] if len(items) == 1 else TuplePattern(items)
    element = _element(written.element)
    if is_hole(element) and not written.shape:
        return element
    shape = (*written.shape, element.args[0]) if element.name == "perm" else written.shape
    return replace(written, element=element, shape=shape)


def _element(written: ElementName) -> ElementName:
    """NoType: there is none of this name."""
    word = written.name
    if written.args:
        return replace(written, args=tuple([size.bound if isinstance(size, BoundedSize) else size for size in written.args]))
    if word in ("idx", "perm"):
        return replace(written, args=(SizeName(written.span, "_"),))
    if word in ELEMENTS or is_hole(written) or is_variable(written):
        return written
    meant = _OTHER_NAMES.get(word.lower()) or nearest(word, ELEMENTS)
    raise NoType(f"there is no element type `{word}`", f"did you mean `{meant}`?" if meant else "T stands for any: T[n] → T")


def is_hole(term: object) -> bool:
    """Is it `_`: any size, element or type?"""
    return isinstance(term, SizeName | ElementName) and term.name == "_"


def is_variable(term: object) -> TypeGuard[SizeName | ElementName]:
    """Is it `n` in a shape, or `T` before one?"""
    if isinstance(term, ElementName):
        return term.name[0].isupper() and len(term.name) <= 2
    return isinstance(term, SizeName) and term.name != "_"


# ---------------------------------------------------------------------------------------------------- matching

GENERAL, SPECIAL, WIDENED, NARROWED, SWAPPED, LIFTED, RUN_TIME = 2, 5, 3, 6, 4, 4, 1
_ORDER: Final = {"bool": 0, "u8": 1, "i32": 2, "i64": 3, "f64": 5, "c128": 7}
_CLASSES: Final = {
    "num": frozenset({"bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", "idx", "int", "perm"}),
    "real": frozenset({"bool", "u8", "i32", "i64", "f32", "f64", "idx", "int", "perm"}),
    "int": frozenset({"bool", "u8", "i32", "i64", "idx", "int", "perm"}),
    "ord": frozenset({"bool", "u8", "i32", "i64", "f32", "f64", "char", "idx", "int", "perm"}),
}

_Size: TypeAlias = SizeExpression | BoundedSize
_Term: TypeAlias = _Size | ElementName
Key: TypeAlias = tuple[str, str]
"""A side (`asked` or `given`) and a name; sizes, elements and rests have sides of their own."""


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """A term and the side whose names it has."""

    term: _Term | tuple[ShapeItem, ...]
    side: str


@dataclass(frozen=True, slots=True)
class MatchState:
    bindings: dict[Key, BoundVariable]
    cost: int = 0


@dataclass(frozen=True, slots=True)
class TypeMatch:
    """`how` says what has to be done: nothing, arguments exchanged, a frame."""

    cost: int
    how: str = ""


def match(asked: FunctionType, given: FunctionType) -> TypeMatch | None:
    """The best way in which a function fits."""
    if len(asked.arguments) != len(given.arguments):
        return None
    matches = [TypeMatch(cost) for cost in _costs(asked, given)]
    if len(given.arguments) == 2:
        turned = replace(given, arguments=given.arguments[::-1])
        matches += [TypeMatch(cost + SWAPPED, "with the arguments exchanged (f⍨)") for cost in _costs(asked, turned)]
    if not matches:
        matches = list(_lifted(asked, given))
    return min(matches, key=lambda one: one.cost, default=None)


def _costs(asked: FunctionType, given: FunctionType) -> Iterator[int]:
    states = [MatchState({})]
    for one, other in zip(asked.arguments, given.arguments, strict=True):
        states = [after for state in states for after in _types(one, other, state, argument=True)]
    for state in states:
        for after in _types(asked.result, given.result, state, argument=False):
            if _fits_classes(after, given):
                yield after.cost + _loss(after)


def _lifted(asked: FunctionType, given: FunctionType) -> Iterator[TypeMatch]:
    """The leading axes taken away as a frame, from every argument that has them, and from the result."""
    result = asked.result
    arguments = [one for one in asked.arguments if isinstance(one, ArrayTypeExpression)]
    if not isinstance(result, ArrayTypeExpression) or len(arguments) != len(asked.arguments) or _has_rest_or_bound(given):
        return
    for length in range(1, min(len(result.shape), max((len(one.shape) for one in arguments), default=0)) + 1):
        frame = result.shape[:length]
        if any(isinstance(item, ShapeVariable | BoundedSize) for item in frame):
            return
        shown = [show_size(item) for item in frame]
        framed = [[show_size(item) for item in one.shape[:length]] == shown for one in arguments]
        if not any(framed):
            continue
        cells = [replace(one, shape=one.shape[length:]) if has else one for one, has in zip(arguments, framed, strict=True)]
        inner = FunctionType(tuple(cells), replace(result, shape=result.shape[length:]), asked.classes)
        for cost in _costs(inner, given):
            yield TypeMatch(cost + LIFTED * length, f"for each cell of the frame [{' '.join(shown)}]")


def _has_rest_or_bound(given: FunctionType) -> bool:
    arrays = [one for one in (*given.arguments, given.result) if isinstance(one, ArrayTypeExpression)]
    return any(isinstance(item, ShapeVariable | BoundedSize) for one in arrays for item in one.shape)


# ------------------------------------------------------------------------------------------ terms


def _types(asked: Type, given: Type, state: MatchState, *, argument: bool) -> Iterator[MatchState]:
    match asked, given:
        case _ if is_hole(asked):
            yield state
        case _ if is_hole(given):
            yield replace(state, cost=state.cost + SPECIAL)
        case TuplePattern(items), TuplePattern(others) if len(items) == len(others):
            states = [state]
            for one, other in zip(items, others, strict=True):
                states = [after for before in states for after in _types(one, other, before, argument=argument)]
            yield from states
        case ArrayTypeExpression(), ArrayTypeExpression():
            for after in _elements(asked.element, given.element, state, argument=argument):
                yield from _shapes(asked.shape, given.shape, after)
        case _:
            return


def _elements(asked: ElementName, given: ElementName, state: MatchState, *, argument: bool) -> Iterator[MatchState]:
    if is_hole(asked) or is_hole(given):
        yield state
        return
    one, side = _walk(asked, "asked", "T", state)
    other, far = _walk(given, "given", "T", state)
    if is_variable(one):
        if is_variable(other) and (one.name, side) == (other.name, far):
            yield state
            return
        yield from _bind((f"T {side}", one.name), BoundVariable(other, far), state)
    elif is_variable(other):
        yield from _bind((f"T {far}", other.name), BoundVariable(one, side), state)
    elif isinstance(one, ElementName) and isinstance(other, ElementName):
        if one.name == other.name and len(one.args) == len(other.args):
            states = [state]
            for a, b in zip(one.args, other.args, strict=True):
                states = [after for before in states for after in _sizes(a, b, side, far, before)]
            yield from states
        elif _below(one.name, other.name) if argument else _below(other.name, one.name):
            yield replace(state, cost=state.cost + (WIDENED if argument else NARROWED))


def _below(narrow: str, wide: str) -> bool:
    """May an element of the one be used as one of the other?"""
    order = {**_ORDER, "f32": 4, "c64": 6, "perm": 2.3, "idx": 2.5, "int": 2.7}
    if "char" in (narrow, wide):
        return False
    if wide in ("idx", "perm", "int"):
        return (narrow, wide) in (("perm", "idx"), ("idx", "int"))
    return order[narrow] < order[wide]


def _shapes(asked: tuple[ShapeItem, ...], given: tuple[ShapeItem, ...], state: MatchState) -> Iterator[MatchState]:
    """The items of both in order; a rest may stand for any number of the other's."""
    if not asked and not given:
        yield state
        return
    if given and isinstance(given[0], ShapeVariable):
        yield from _rest(given[0], "given", given[1:], asked, state)
        return
    if asked and isinstance(asked[0], ShapeVariable):
        yield from _rest(asked[0], "asked", asked[1:], given, state)
        return
    if not asked or not given:
        return
    for after in _items(asked[0], given[0], state):
        yield from _shapes(asked[1:], given[1:], after)


def _rest(
    rest: ShapeVariable, side: str, after: tuple[ShapeItem, ...], others: tuple[ShapeItem, ...], state: MatchState
) -> Iterator[MatchState]:
    far = "asked" if side == "given" else "given"
    known = state.bindings.get((f"S {side}", rest.name))
    for length in range(len(others) + 1):
        taken, left = others[:length], others[length:]
        states: Iterable[MatchState] = ()
        if known is None:
            states = _bind((f"S {side}", rest.name), BoundVariable(taken, far), state)
        elif known.side == far and isinstance(known.term, tuple) and _alike(known.term, taken):
            states = (state,)
        for one in states:
            yield from _shapes(left, after, one) if side == "given" else _shapes(after, left, one)


def _alike(items: tuple[ShapeItem, ...], others: tuple[ShapeItem, ...]) -> bool:
    """Are these the same items, but for holes?"""
    return len(items) == len(others) and all(
        is_hole(a) or is_hole(b) or show_size(a) == show_size(b) for a, b in zip(items, others, strict=True)
    )


def _items(asked: ShapeItem, given: ShapeItem, state: MatchState) -> Iterator[MatchState]:
    if isinstance(asked, ShapeVariable) or isinstance(given, ShapeVariable):
        return
    match asked, given:
        case BoundedSize(), BoundedSize():
            for after in _sizes(asked.bound, given.bound, "asked", "given", state):
                yield from _sizes(_name(asked), _name(given), "asked", "given", after)
        case BoundedSize(), _:
            yield from _sizes(_name(asked), given, "asked", "given", state)
        case _, BoundedSize():
            dearer = replace(state, cost=state.cost + RUN_TIME)
            one, _side = _walk(asked, "asked", "n", state)
            if isinstance(one, SizeName):
                yield from _sizes(asked, _name(given), "asked", "given", dearer)
        case _:
            yield from _sizes(asked, given, "asked", "given", state)


def _name(size: BoundedSize) -> SizeName:
    return SizeName(size.span, size.name)


def _sizes(asked: _Size, given: _Size, near: str, far: str, state: MatchState) -> Iterator[MatchState]:
    one, side = _walk(asked, near, "n", state)
    other, beyond = _walk(given, far, "n", state)
    match one, other:
        case _ if is_hole(one):
            yield state
        case _ if is_hole(other):
            yield replace(state, cost=state.cost + SPECIAL)
        case SizeName(name=name), SizeName(name=same) if name == same and side == beyond:
            yield state
        case SizeName(name=name), SizeNumber() | SizeCall() if side == "asked" and beyond == "given":
            yield from _bind((f"n {side}", name), BoundVariable(other, beyond), state)
        case _, SizeName(name=name):
            yield from _bind((f"n {beyond}", name), BoundVariable(one, side), state)
        case SizeName(name=name), _:
            yield from _bind((f"n {side}", name), BoundVariable(other, beyond), state)
        case SizeNumber(), SizeNumber():
            if one.value == other.value:
                yield state
        case SizeCall(function=glyph, args=arguments), SizeCall(function=same, args=others) if (
            glyph == same and len(arguments) == len(others)
        ):
            orders = [others, others[::-1]] if len(others) == 2 and glyph in "+×⌈⌊" else [others]
            for order in orders:
                states = [state]
                for a, b in zip(arguments, order, strict=True):
                    states = [after for before in states for after in _sizes(a, b, side, beyond, before)]
                yield from states
        case _:
            return


# --------------------------------------------------------------------------------------- bindings


def _walk(term: _Term, side: str, sort: str, state: MatchState) -> tuple[_Term, str]:
    """What a term stands for by now, and whose names that has."""
    while is_variable(term):
        bound = state.bindings.get((f"{sort} {side}", term.name))
        if bound is None or isinstance(bound.term, tuple):
            return term, side
        term, side = bound.term, bound.side
    return term, side


def _bind(key: Key, bound: BoundVariable, state: MatchState) -> Iterator[MatchState]:
    """No state where the term mentions the name: it would have no end."""
    if not _mentions(key, bound, state):
        yield MatchState({**state.bindings, key: bound}, state.cost)


def _mentions(key: Key, bound: BoundVariable, state: MatchState) -> bool:
    """Does a size mention a name, through what names in it stand for?"""
    if isinstance(bound.term, SizeCall):
        return any(_mentions(key, BoundVariable(part, bound.side), state) for part in bound.term.args)
    if not isinstance(bound.term, SizeName):
        return False
    name = f"n {bound.side}", bound.term.name
    further = state.bindings.get(name)
    return name == key or (further is not None and _mentions(key, further, state))


def _loss(state: MatchState) -> int:
    """What the names had to stand for: a name of one side for one of the other costs nothing, the first time."""
    cost = 0
    met: dict[tuple[str, str, str], str] = {}
    for (kind, name), bound in state.bindings.items():
        sort, side = kind.split()
        if isinstance(bound.term, tuple):
            only = bound.term[0] if len(bound.term) == 1 else None
            is_shape = isinstance(only, ShapeVariable)
            cost += 0 if is_shape else (GENERAL - 1 if side == "given" else SPECIAL)
            continue
        term, owner = _walk(bound.term, bound.side, sort, state)
        if is_hole(term):
            continue
        if not is_variable(term):
            cost += GENERAL if side == "given" else SPECIAL
            continue
        first = met.setdefault((sort, owner, term.name), name)
        if first != name or owner == side:
            cost += GENERAL if side == "given" else SPECIAL
    return cost


def _fits_classes(state: MatchState, given: FunctionType) -> bool:
    """Does every element variable stand for something that `where` allows?"""
    for name, kind in given.classes.items():
        bound = state.bindings.get(("T given", name))
        if bound is None or isinstance(bound.term, tuple):
            continue
        term, _ = _walk(bound.term, bound.side, "T", state)
        if not is_variable(term) and isinstance(term, ElementName) and term.name not in _CLASSES[kind]:
            return False
    return True


# ---------------------------------------------------------------------------------------------------- by_type
#
# Search by type: every function that fits, the nearest first; and what may be meant if none does.

@dataclass(frozen=True, slots=True)
class TypeFit:
    """`how` is empty where the function is applied as it is."""

    cost: int
    entry: CatalogueEntry
    type: str
    how: str


def search(asked: FunctionType, entries: Iterable[CatalogueEntry]) -> list[TypeFit]:
    """Best first, each function once."""
    hits: list[TypeFit] = []
    for entry in entries:
        fits: list[TypeFit] = []
        for written in entry.types:
            try:
                given = read(written)
            except NoType:
                continue  # a signature beyond what can be searched for
            fit = match(asked, given)
            if fit is not None:
                fits.append(TypeFit(fit.cost, entry, written, fit.how))
        if fits:
            hits.append(min(fits, key=lambda fit: fit.cost))
    return sorted(hits, key=lambda fit: (fit.cost, fit.entry.origin, fit.entry.name))


def wider(asked: FunctionType, text: str, entries: tuple[CatalogueEntry, ...]) -> list[str]:
    """Searches near one that found nothing which do find something, with how much."""
    arguments, _, result = text.rpartition("→")
    holes = " → ".join(["_"] * len(asked.arguments))
    suggestions = []
    for written in (f"{arguments.strip()} → _", f"{holes} → {result.strip()}"):
        count = len(search(read(written), entries))
        if count:
            suggestions.append(f"rho search '{written}' finds {count}")
    return suggestions
