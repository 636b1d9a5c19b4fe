"""Search by type: unification of a query with the types of functions, ranked by the cost of the difference.

Variables on both sides may be bound; a match up to renaming costs nothing.  A candidate that is more general than the query costs
little (`T[..s]` for `f64[n]`), one that is more special costs more (`f64[n n]` for `f64[n m]`); so do widened elements, exchanged
arguments, and a function that has to be applied to cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias, TypeGuard

from ...lang.primitives.table import nearest
from ...lang.support.records import dataclass, replace
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
    TupleTypeExpression,
    TypeExpression,
)
from ...typechecker.signatures.calls import show_size
from .catalogue import CatalogueEntry

# ---------------------------------------------------------------------------------------------------- types
#
# Function types, parsed from the query and from the signatures of the catalogue.
#
# They are the type trees of the language, with `_` as a wildcard.  `perm<n>` is a vector of `perm<n>` elements here, so that it
# can be compared with `i64[n]`.

_UNORDERED: Final = ("char", "date", "time", "days", "duration")
"""Element types to which no other element type widens."""
ELEMENTS: Final = ("bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", *_UNORDERED)
_FOREIGN_NAMES: Final = {
    "float": "f64", "double": "f64", "real": "f64", "number": "f64", "num": "f64", "int": "i64", "integer": "i64",
    "string": "char[n]",
    "str": "char[n]", "text": "char[n]", "boolean": "bool", "complex": "c128", "byte": "u8", "array": "T[..s]", "vector": "T[n]",
    "matrix": "T[n m]", "permutation": "perm<n>", "index": "idx<n>", "float64": "f64", "float32": "f32", "int64": "i64",
    "int32": "i32",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TuplePattern:
    items: tuple[SearchType, ...]


SearchType: TypeAlias = ArrayTypeExpression | TuplePattern | ElementName
"""The wildcard `_` as an element type."""


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The type of a function; `classes`: by element variable, the class that `where` requires (`num`, `ord` …)."""

    arguments: tuple[SearchType, ...]
    result: SearchType
    classes: Mapping[str, str]


class InvalidType(Exception):
    """A text is not a function type; `hint` says what may be meant."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


def is_type(text: str) -> bool:
    """Does a query ask for a type: does it contain an arrow?"""
    return "→" in text or "->" in text


def parse_type(text: str) -> FunctionType:
    """Parse a function type.  InvalidType: malformed, or with an unknown element type."""
    text = text.replace("->", "→")
    parts = [part.strip() for part in text.partition(" where ")[0].split("→")]
    if len(parts) > 3:
        raise InvalidType("a function has one or two arguments", "for example: f64[n] → f64[n] → f64")
    if not all(parts):
        raise InvalidType("a type is missing beside the arrow; `_` stands for any type", "for example: f64[n] → _")
    program, diagnostics = parse_program(Source("<type>", f"f : {text.strip()}"))
    match program.statements:
        case (program_tree.Signature(left=left, right=right, result=result, where=facts),) if not diagnostics:
            arguments = [_search_type(one.type) for one in (left, right) if one is not None]
            lone = [(one.left, one.relation) for one in facts if one.right is None]
            classes = {size.name: relation for size, relation in lone if isinstance(size, SizeName)}
            return FunctionType(tuple(arguments), _search_type(result), classes)
    why = diagnostics[0].message if diagnostics else "it goes on after its end"
    raise InvalidType(f"`{text}` is not a type: {why}", "for example: f64[n m] → f64[n]")


def _search_type(written: TypeExpression) -> SearchType:
    if isinstance(written, TupleTypeExpression):
        items = tuple([_search_type(item) for item in written.items])
        return items[0] if len(items) == 1 else TuplePattern(items)
    element = _element(written.element)
    if is_wildcard(element) and not written.shape:
        return element
    shape = (*written.shape, element.args[0]) if element.name == "perm" else written.shape
    return replace(written, element=element, shape=shape)


def _element(written: ElementName) -> ElementName:
    """An element type with the bounds of its arguments.  InvalidType: there is none of this name."""
    word = written.name
    if written.args:
        return replace(written, args=tuple([size.bound if isinstance(size, BoundedSize) else size for size in written.args]))
    if word in ("idx", "perm"):
        return replace(written, args=(SizeName(written.span, "_"),))
    if word in ELEMENTS or is_wildcard(written) or is_variable(written):
        return written
    meant = _FOREIGN_NAMES.get(word.lower()) or nearest(word, ELEMENTS)
    raise InvalidType(f"there is no element type `{word}`", f"did you mean `{meant}`?" if meant else "T stands for any: T[n] → T")


def is_wildcard(term: object) -> bool:
    """Is a size, element or type the wildcard `_`?"""
    return isinstance(term, SizeName | ElementName) and term.name == "_"


def is_variable(term: object) -> TypeGuard[SizeName | ElementName]:
    """Is a term a size variable such as `n` or an element variable such as `T`?"""
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
    "ord": frozenset({"bool", "u8", "i32", "i64", "f32", "f64", *_UNORDERED, "idx", "int", "perm"}),
}

_Size: TypeAlias = SizeExpression | BoundedSize
_Term: TypeAlias = _Size | ElementName
Key: TypeAlias = tuple[str, str]
"""A variable: its sort (`n` size, `T` element, `S` shape) with its side (`query` or `candidate`), and its name."""


@dataclass(frozen=True, slots=True)
class BoundVariable:
    """The binding of a variable: a term, and the side whose variables the term contains."""

    term: _Term | tuple[ShapeItem, ...]
    side: str


@dataclass(frozen=True, slots=True)
class MatchState:
    bindings: dict[Key, BoundVariable]
    cost: int = 0


@dataclass(frozen=True, slots=True)
class TypeMatch:
    """The cost of a match, and how the function is applied: as it is (empty), with exchanged arguments, or over a frame."""

    cost: int
    how: str = ""


def match(query: FunctionType, candidate: FunctionType) -> TypeMatch | None:
    """The cheapest match of a candidate with the query; None if it does not fit."""
    if len(query.arguments) != len(candidate.arguments):
        return None
    matches = [TypeMatch(cost) for cost in _costs(query, candidate)]
    if len(candidate.arguments) == 2:
        swapped = replace(candidate, arguments=candidate.arguments[::-1])
        matches += [TypeMatch(cost + SWAPPED, "with the arguments exchanged (f⍨)") for cost in _costs(query, swapped)]
    if not matches:
        matches = list(_with_frame(query, candidate))
    return min(matches, key=lambda one: one.cost, default=None)


def _costs(query: FunctionType, candidate: FunctionType) -> Iterator[int]:
    states = [MatchState({})]
    for one, other in zip(query.arguments, candidate.arguments, strict=True):
        states = [after for state in states for after in _match_types(one, other, state, argument=True)]
    for state in states:
        for after in _match_types(query.result, candidate.result, state, argument=False):
            if _satisfies_classes(after, candidate):
                yield after.cost + _binding_cost(after)


def _with_frame(query: FunctionType, candidate: FunctionType) -> Iterator[TypeMatch]:
    """Matches of a candidate that is applied to cells: leading axes of the result are removed, also from arguments that have
    them."""
    result = query.result
    arguments = [one for one in query.arguments if isinstance(one, ArrayTypeExpression)]
    if not isinstance(result, ArrayTypeExpression) or len(arguments) != len(query.arguments) or _has_rest_or_bound(candidate):
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
        inner = FunctionType(tuple(cells), replace(result, shape=result.shape[length:]), query.classes)
        for cost in _costs(inner, candidate):
            yield TypeMatch(cost + LIFTED * length, f"for each cell of the frame [{' '.join(shown)}]")


def _has_rest_or_bound(candidate: FunctionType) -> bool:
    arrays = [one for one in (*candidate.arguments, candidate.result) if isinstance(one, ArrayTypeExpression)]
    return any(isinstance(item, ShapeVariable | BoundedSize) for one in arrays for item in one.shape)


# ------------------------------------------------------------------------------------------ terms


def _match_types(query: SearchType, candidate: SearchType, state: MatchState, *, argument: bool) -> Iterator[MatchState]:
    match query, candidate:
        case _ if is_wildcard(query):
            yield state
        case _ if is_wildcard(candidate):
            yield replace(state, cost=state.cost + SPECIAL)
        case TuplePattern(items), TuplePattern(others) if len(items) == len(others):
            states = [state]
            for one, other in zip(items, others, strict=True):
                states = [after for before in states for after in _match_types(one, other, before, argument=argument)]
            yield from states
        case ArrayTypeExpression(), ArrayTypeExpression():
            for after in _match_terms(query.element, candidate.element, "query", "candidate", state, argument=argument):
                yield from _match_shapes(query.shape, candidate.shape, after)
        case _:
            return


def _match_terms(
    query: _Term, candidate: _Term, near: str, far: str, state: MatchState, *, argument: bool = True
) -> Iterator[MatchState]:
    """Match two sizes or two element types; variables on both sides may be bound."""
    one, side = _resolve(query, near, state)
    other, beyond = _resolve(candidate, far, state)
    if is_wildcard(one):
        yield state
    elif is_wildcard(other):
        yield replace(state, cost=state.cost + SPECIAL * (_sort(other) == "n"))
    elif is_variable(one) and is_variable(other) and (one.name, side) == (other.name, beyond):
        yield state
    elif is_variable(other):
        yield from _bind((f"{_sort(other)} {beyond}", other.name), BoundVariable(one, side), state)
    elif is_variable(one):
        yield from _bind((f"{_sort(one)} {side}", one.name), BoundVariable(other, beyond), state)
    elif _head(one) == _head(other):
        parts, others = _arguments(one), _arguments(other)
        orders = [others, others[::-1]] if len(others) == 2 and _head(one)[0] in "+×⌈⌊" else [others]
        for order in orders:
            states = [state]
            for a, b in zip(parts, order, strict=True):
                states = [after for before in states for after in _match_terms(a, b, side, beyond, before)]
            yield from states
    elif isinstance(one, ElementName) and isinstance(other, ElementName) and _is_narrower(
        *((one.name, other.name) if argument else (other.name, one.name))
    ):
        yield replace(state, cost=state.cost + (WIDENED if argument else NARROWED))


def _sort(term: _Term) -> str:
    return "T" if isinstance(term, ElementName) else "n"


def _arguments(term: _Term) -> tuple[_Size, ...]:
    return term.args if isinstance(term, ElementName | SizeCall) else ()


def _head(term: _Term) -> tuple[str, int]:
    """What a term is apart from its arguments, of which it has as many."""
    name = term.function if isinstance(term, SizeCall) else term.name if isinstance(term, ElementName) else show_size(term)
    return name, len(_arguments(term))


def _is_narrower(narrow: str, wide: str) -> bool:
    """Can an element of the `narrow` type be converted to the `wide` one without loss?"""
    order = {**_ORDER, "f32": 4, "c64": 6, "perm": 2.3, "idx": 2.5, "int": 2.7, "size": 2.7}
    if narrow in _UNORDERED or wide in _UNORDERED:
        return False
    if wide in ("idx", "perm", "int", "size"):
        return (narrow, wide) in (("perm", "idx"), ("idx", "int"), ("idx", "size"))
    return order[narrow] < order[wide]


def _match_shapes(query: tuple[ShapeItem, ...], candidate: tuple[ShapeItem, ...], state: MatchState) -> Iterator[MatchState]:
    """Match two shapes item by item; a shape variable matches any number of items."""
    if not query and not candidate:
        yield state
        return
    if candidate and isinstance(candidate[0], ShapeVariable):
        yield from _match_shape_variable(candidate[0], "candidate", candidate[1:], query, state)
        return
    if query and isinstance(query[0], ShapeVariable):
        yield from _match_shape_variable(query[0], "query", query[1:], candidate, state)
        return
    if not query or not candidate:
        return
    for after in _match_items(query[0], candidate[0], state):
        yield from _match_shapes(query[1:], candidate[1:], after)


def _match_shape_variable(
    rest: ShapeVariable, side: str, after: tuple[ShapeItem, ...], others: tuple[ShapeItem, ...], state: MatchState
) -> Iterator[MatchState]:
    far = "query" if side == "candidate" else "candidate"
    known = state.bindings.get((f"S {side}", rest.name))
    for length in range(len(others) + 1):
        taken, left = others[:length], others[length:]
        states: Iterable[MatchState] = ()
        if known is None:
            states = _bind((f"S {side}", rest.name), BoundVariable(taken, far), state)
        elif known.side == far and isinstance(known.term, tuple) and _same_items(known.term, taken):
            states = (state,)
        for one in states:
            yield from _match_shapes(left, after, one) if side == "candidate" else _match_shapes(after, left, one)


def _same_items(items: tuple[ShapeItem, ...], others: tuple[ShapeItem, ...]) -> bool:
    """Are these the same items, up to wildcards?"""
    return len(items) == len(others) and all(
        is_wildcard(a) or is_wildcard(b) or show_size(a) == show_size(b) for a, b in zip(items, others, strict=True)
    )


def _match_items(query: ShapeItem, candidate: ShapeItem, state: MatchState) -> Iterator[MatchState]:
    if isinstance(query, ShapeVariable) or isinstance(candidate, ShapeVariable):
        return
    states = [state]
    if isinstance(query, BoundedSize) and isinstance(candidate, BoundedSize):
        states = list(_match_terms(query.bound, candidate.bound, "query", "candidate", state))
    elif isinstance(candidate, BoundedSize):
        one, _ = _resolve(query, "query", state)
        states = [replace(state, cost=state.cost + RUN_TIME)] if isinstance(one, SizeName) else []
    for after in states:
        yield from _match_terms(_name(query), _name(candidate), "query", "candidate", after)


def _name(size: _Size) -> SizeExpression:
    return SizeName(size.span, size.name) if isinstance(size, BoundedSize) else size


# --------------------------------------------------------------------------------------- bindings


def _resolve(term: _Term, side: str, state: MatchState) -> tuple[_Term, str]:
    """Follow bindings from a variable to its term, and the side of the term's variables."""
    while is_variable(term):
        bound = state.bindings.get((f"{_sort(term)} {side}", term.name))
        if bound is None or isinstance(bound.term, tuple):
            return term, side
        term, side = bound.term, bound.side
    return term, side


def _bind(key: Key, bound: BoundVariable, state: MatchState) -> Iterator[MatchState]:
    """The state with one more binding; none if the variable occurs in the term (occurs check)."""
    if not _occurs(key, bound, state):
        yield MatchState({**state.bindings, key: bound}, state.cost)


def _occurs(key: Key, bound: BoundVariable, state: MatchState) -> bool:
    """Does a variable occur in a size, also through bindings?"""
    if isinstance(bound.term, SizeCall):
        return any(_occurs(key, BoundVariable(part, bound.side), state) for part in bound.term.args)
    if not isinstance(bound.term, SizeName):
        return False
    name = f"n {bound.side}", bound.term.name
    further = state.bindings.get(name)
    return name == key or (further is not None and _occurs(key, further, state))


def _binding_cost(state: MatchState) -> int:
    """The cost of the bindings: renaming a variable costs nothing the first time, any other binding costs."""
    cost = 0
    met: dict[tuple[str, str, str], str] = {}
    for (kind, name), bound in state.bindings.items():
        sort, side = kind.split()
        if isinstance(bound.term, tuple):
            only = bound.term[0] if len(bound.term) == 1 else None
            is_shape = isinstance(only, ShapeVariable)
            cost += 0 if is_shape else (GENERAL - 1 if side == "candidate" else SPECIAL)
            continue
        term, owner = _resolve(bound.term, bound.side, state)
        if is_wildcard(term):
            continue
        if not is_variable(term):
            cost += GENERAL if side == "candidate" else SPECIAL
            continue
        first = met.setdefault((sort, owner, term.name), name)
        if first != name or owner == side:
            cost += GENERAL if side == "candidate" else SPECIAL
    return cost


def _satisfies_classes(state: MatchState, candidate: FunctionType) -> bool:
    """Is every element variable bound to a type of the class that `where` requires?"""
    for name, kind in candidate.classes.items():
        bound = state.bindings.get(("T candidate", name))
        if bound is None or isinstance(bound.term, tuple):
            continue
        term, _ = _resolve(bound.term, bound.side, state)
        if not is_variable(term) and isinstance(term, ElementName) and term.name not in _CLASSES[kind]:
            return False
    return True


# ---------------------------------------------------------------------------------------------------- search by type

@dataclass(frozen=True, slots=True)
class TypeFit:
    """An entry that fits, with its cost, the type that fits, and how it is applied (empty: as it is)."""

    cost: int
    entry: CatalogueEntry
    type: str
    how: str


def search_types(query: FunctionType, entries: Iterable[CatalogueEntry]) -> list[TypeFit]:
    """The entries that fit a type, cheapest first, each once."""
    hits: list[TypeFit] = []
    for entry in entries:
        fits: list[TypeFit] = []
        for written in entry.types:
            try:
                candidate = parse_type(written)
            except InvalidType:
                continue  # the signature is beyond what can be searched for
            fit = match(query, candidate)
            if fit is not None:
                fits.append(TypeFit(fit.cost, entry, written, fit.how))
        if fits:
            hits.append(min(fits, key=lambda fit: fit.cost))
    return sorted(hits, key=lambda fit: (fit.cost, fit.entry.origin, fit.entry.name))


def wider_searches(query: FunctionType, text: str, entries: tuple[CatalogueEntry, ...]) -> list[str]:
    """Wider searches that have results, for a search without: with `_` for the result, or for the arguments."""
    arguments, _, result = text.rpartition("→")
    holes = " → ".join(["_"] * len(query.arguments))
    suggestions = []
    for written in (f"{arguments.strip()} → _", f"{holes} → {result.strip()}"):
        count = len(search_types(parse_type(written), entries))
        if count:
            suggestions.append(f"rho search '{written}' finds {count}")
    return suggestions
