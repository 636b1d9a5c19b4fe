"""Search by type: unification of a query with the types of functions, ranked by the cost of the difference.

Variables on both sides may be bound; a match up to renaming costs nothing.  A candidate that is more general than the query costs
little (`T[..s]` for `f64[n]`), one that is more special costs more (`f64[n n]` for `f64[n m]`); so do widened elements, exchanged
arguments, and a function that has to be applied to cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ...lang.primitives.table import nearest
from ...lang.support.records import dataclass, replace
from ...lang.syntax.parser import parse_program
from ...lang.syntax.source import Source
from ...lang.tree import program as program_tree
from ...lang.tree.expressions import (
    BoundedSize,
    ElementName,
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeName,
    SizeNumber,
    TupleTypeExpression,
    TypeExpression,
)
from .catalogue import CatalogueEntry

# ---------------------------------------------------------------------------------------------------- types
#
# Function types, parsed from the query and from the signatures of the catalogue.
#
# `_` is a wildcard.  `perm<n>` is a vector of `perm<n>` elements here, so that it can be compared with `i64[n]`.

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
class TypeTerm:
    """A type, element, shape item or size: a variable or wildcard of a `sort`, or what `head` makes of its parts.

    A tuple is `⋄` of its items, an array `array` of its element and its items, `k≤n` is `≤` of both, and the value of a shape
    variable `⍴` of its items."""

    head: str
    parts: tuple[TypeTerm, ...] = ()
    sort: str = ""
    of_candidate: bool = False

    @property
    def is_wildcard(self) -> bool:
        return self.head == "_"

    @property
    def is_variable(self) -> bool:
        return bool(self.sort) and not self.is_wildcard


SIZE, ELEMENT, SHAPE = "n", "T", "S"


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The type of a function; `classes`: by element variable, the class that `where` requires (`num`, `ord` …)."""

    arguments: tuple[TypeTerm, ...]
    result: TypeTerm
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
            arguments = [_type(one.type) for one in (left, right) if one is not None]
            lone = [(one.left, one.relation) for one in facts if one.right is None]
            classes = {size.name: relation for size, relation in lone if isinstance(size, SizeName)}
            return FunctionType(tuple(arguments), _type(result), classes)
    why = diagnostics[0].message if diagnostics else "it goes on after its end"
    raise InvalidType(f"`{text}` is not a type: {why}", "for example: f64[n m] → f64[n]")


def _type(written: TypeExpression) -> TypeTerm:
    if isinstance(written, TupleTypeExpression):
        items = tuple([_type(item) for item in written.items])
        return items[0] if len(items) == 1 else TypeTerm("⋄", items)
    element = _element(written.element)
    if element.is_wildcard and not written.shape:
        return element
    return TypeTerm("array", (element, *map(_item, written.shape), *(element.parts if element.head == "perm" else ())))


def _element(written: ElementName) -> TypeTerm:
    """An element type with the bounds of its arguments.  InvalidType: there is none of this name."""
    word = written.name
    if written.args:
        return TypeTerm(word, tuple([_item(size.bound if isinstance(size, BoundedSize) else size) for size in written.args]))
    if word in ("idx", "perm"):
        return TypeTerm(word, (TypeTerm("_", sort=SIZE),))
    if word == "_" or (word[0].isupper() and len(word) <= 2):
        return TypeTerm(word, sort=ELEMENT)
    if word in ELEMENTS:
        return TypeTerm(word)
    meant = _FOREIGN_NAMES.get(word.lower()) or nearest(word, ELEMENTS)
    raise InvalidType(f"there is no element type `{word}`", f"did you mean `{meant}`?" if meant else "T stands for any: T[n] → T")


def _item(written: ShapeItem) -> TypeTerm:
    match written:
        case SizeNumber():
            return TypeTerm(str(written.value))
        case SizeCall():
            return TypeTerm(written.function, tuple(map(_item, written.args)))
        case BoundedSize():
            return TypeTerm("≤", (TypeTerm(written.name, sort=SIZE), _item(written.bound)))
        case SizeName() | ShapeVariable():
            return TypeTerm(written.name, sort=SIZE if isinstance(written, SizeName) else SHAPE)


# ---------------------------------------------------------------------------------------------------- matching

GENERAL, SPECIAL, WIDENED, NARROWED, SWAPPED, LIFTED, RUN_TIME = 2, 5, 3, 6, 4, 4, 1
_ORDER: Final = {
    "bool": 0, "u8": 1, "i32": 2, "perm": 2.3, "idx": 2.5, "int": 2.7, "size": 2.7, "i64": 3, "f32": 4, "f64": 5, "c64": 6,
    "c128": 7,
}  # fmt: skip
_CLASSES: Final = {
    "num": frozenset({"bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", "idx", "int", "perm"}),
    "real": frozenset({"bool", "u8", "i32", "i64", "f32", "f64", "idx", "int", "perm"}),
    "int": frozenset({"bool", "u8", "i32", "i64", "idx", "int", "perm"}),
    "ord": frozenset({"bool", "u8", "i32", "i64", "f32", "f64", *_UNORDERED, "idx", "int", "perm"}),
}


@dataclass(frozen=True, slots=True)
class MatchState:
    bindings: Mapping[TypeTerm, TypeTerm]
    cost: int = 0

    def resolved(self, term: TypeTerm) -> TypeTerm:
        """The term that a variable is bound to, through other variables."""
        while term in self.bindings:
            term = self.bindings[term]
        return term

    def dearer(self, cost: int) -> MatchState:
        return MatchState(self.bindings, self.cost + cost)


States: TypeAlias = Iterator[MatchState]


@dataclass(frozen=True, slots=True)
class TypeMatch:
    """The cost of a match, and how the function is applied: as it is (empty), with exchanged arguments, or over a frame."""

    cost: int
    how: str = ""


def match(query: FunctionType, candidate: FunctionType) -> TypeMatch | None:
    """The cheapest match of a candidate with the query; None if it does not fit."""
    if len(query.arguments) != len(candidate.arguments):
        return None
    arguments = tuple(map(_of_candidate, candidate.arguments))
    candidate = FunctionType(arguments, _of_candidate(candidate.result), candidate.classes)
    matches = [TypeMatch(cost) for cost in _costs(query, candidate)]
    if len(arguments) == 2:
        swapped = replace(candidate, arguments=arguments[::-1])
        matches += [TypeMatch(cost + SWAPPED, "with the arguments exchanged (f⍨)") for cost in _costs(query, swapped)]
    if not matches:
        matches = list(_with_frame(query, candidate))
    return min(matches, key=lambda one: one.cost, default=None)


def _of_candidate(term: TypeTerm) -> TypeTerm:
    """The term with its variables apart from those of the query."""
    return replace(term, parts=tuple(map(_of_candidate, term.parts)), of_candidate=term.is_variable)


def _costs(query: FunctionType, candidate: FunctionType) -> Iterator[int]:
    for state in _match_all(query.arguments, candidate.arguments, MatchState({})):
        for after in _match(query.result, candidate.result, state, argument=False):
            if _satisfies_classes(after, candidate):
                yield after.cost + _binding_cost(after)


def _with_frame(query: FunctionType, candidate: FunctionType) -> Iterator[TypeMatch]:
    """Matches of a candidate that is applied to cells: leading axes of the result are removed, also from arguments that have
    them."""
    queried = [one.parts for one in (*query.arguments, query.result) if one.head == "array"]
    given = [item for one in (*candidate.arguments, candidate.result) if one.head == "array" for item in one.parts[1:]]
    if len(queried) != len(query.arguments) + 1 or any(item.sort == SHAPE or item.head == "≤" for item in given):
        return
    *arguments, (element, *shape) = queried
    for length in range(1, min(len(shape), max([len(parts) - 1 for parts in arguments], default=0)) + 1):
        frame = tuple(shape[:length])
        if any(item.sort == SHAPE or item.head == "≤" for item in frame):
            return
        framed = [parts[1 : 1 + length] == frame for parts in arguments]
        if not any(framed):
            continue
        cells = [TypeTerm("array", (e, *items[length * has :])) for (e, *items), has in zip(arguments, framed, strict=True)]
        inner = FunctionType(tuple(cells), TypeTerm("array", (element, *shape[length:])), query.classes)
        for cost in _costs(inner, candidate):
            yield TypeMatch(cost + LIFTED * length, f"for each cell of the frame [{' '.join(map(_shown, frame))}]")


def _shown(size: TypeTerm) -> str:
    parts = [f"({_shown(part)})" if part.parts else _shown(part) for part in size.parts]
    return size.head.join(parts) if len(parts) == 2 else size.head + "".join(parts)


# ------------------------------------------------------------------------------------------ terms


def _match(query: TypeTerm, candidate: TypeTerm, state: MatchState, *, argument: bool = True) -> States:
    """Match two types, elements or sizes; variables on both sides may be bound."""
    one, other = state.resolved(query), state.resolved(candidate)
    if one.is_wildcard:
        yield state
    elif other.is_wildcard:
        yield state.dearer(SPECIAL * (other.sort == SIZE or one.head in ("array", "⋄")))
    elif one == other and one.is_variable:
        yield state
    elif other.is_variable:
        yield from _bind(other, one, state)
    elif one.is_variable:
        yield from _bind(one, other, state)
    elif one.head == other.head == "array":
        for after in _match(one.parts[0], other.parts[0], state, argument=argument):
            yield from _match_shapes(one.parts[1:], other.parts[1:], after)
    elif one.head == other.head and len(one.parts) == len(other.parts):
        both_orders = len(other.parts) == 2 and one.head in "+×⌈⌊"
        for parts in (other.parts, other.parts[::-1]) if both_orders else (other.parts,):
            yield from _match_all(one.parts, parts, state, argument=argument)
    elif _is_narrower(*((one.head, other.head) if argument else (other.head, one.head))):
        yield state.dearer(WIDENED if argument else NARROWED)


def _match_all(
    query: Sequence[TypeTerm], candidate: Sequence[TypeTerm], state: MatchState, *, argument: bool = True
) -> Iterable[MatchState]:  # fmt: skip
    """Match terms in pairs."""
    states = [state]
    for one, other in zip(query, candidate, strict=True):
        states = [after for before in states for after in _match(one, other, before, argument=argument)]
    return states


def _is_narrower(narrow: str, wide: str) -> bool:
    """Can an element of the `narrow` type be converted to the `wide` one without loss?"""
    if wide in ("idx", "perm", "int", "size"):
        return (narrow, wide) in (("perm", "idx"), ("idx", "int"), ("idx", "size"))
    return narrow in _ORDER and wide in _ORDER and _ORDER[narrow] < _ORDER[wide]


def _match_shapes(query: Sequence[TypeTerm], candidate: Sequence[TypeTerm], state: MatchState) -> States:
    """Match two shapes item by item; a shape variable matches any number of items."""
    if candidate and candidate[0].sort == SHAPE:
        for taken, left in _split(candidate[0], query, state):
            for after in left:
                yield from _match_shapes(query[taken:], candidate[1:], after)
    elif query and query[0].sort == SHAPE:
        for taken, left in _split(query[0], candidate, state):
            for after in left:
                yield from _match_shapes(query[1:], candidate[taken:], after)
    elif query and candidate:
        for after in _match_items(query[0], candidate[0], state):
            yield from _match_shapes(query[1:], candidate[1:], after)
    elif not query and not candidate:
        yield state


def _split(rest: TypeTerm, items: Sequence[TypeTerm], state: MatchState) -> Iterator[tuple[int, Iterable[MatchState]]]:
    """The numbers of items that a shape variable may stand for, each with the states in which it does."""
    known = state.bindings.get(rest)
    for length in range(len(items) + 1):
        if known is None:
            yield length, _bind(rest, TypeTerm("⍴", tuple(items[:length])), state)
        elif len(known.parts) == length and all(
            a.is_wildcard or b.is_wildcard or a == b for a, b in zip(known.parts, items, strict=False)
        ):
            yield length, (state,)


def _match_items(query: TypeTerm, candidate: TypeTerm, state: MatchState) -> States:
    if query.sort == SHAPE or candidate.sort == SHAPE:
        return
    states: Iterable[MatchState] = (state,)
    if query.head == candidate.head == "≤":
        states = list(_match(query.parts[1], candidate.parts[1], state))
    elif candidate.head == "≤":
        states = (state.dearer(RUN_TIME),) if state.resolved(query).sort == SIZE else ()
    one, other = [item.parts[0] if item.head == "≤" else item for item in (query, candidate)]
    for after in states:
        yield from _match(one, other, after)


# --------------------------------------------------------------------------------------- bindings


def _bind(variable: TypeTerm, term: TypeTerm, state: MatchState) -> States:
    """The state with one more binding; none if the variable occurs in the term (occurs check)."""
    if variable.sort != SIZE or not _occurs(variable, term, state):
        yield MatchState({**state.bindings, variable: term}, state.cost)


def _occurs(variable: TypeTerm, size: TypeTerm, state: MatchState) -> bool:
    """Does a variable occur in a size, also through bindings?"""
    resolved = state.resolved(size)
    return resolved == variable or any(_occurs(variable, part, state) for part in resolved.parts)


def _binding_cost(state: MatchState) -> int:
    """The cost of the bindings: renaming a variable costs nothing the first time, any other binding costs."""
    cost = 0
    first: dict[TypeTerm, TypeTerm] = {}
    for variable, bound in state.bindings.items():
        term, of_other = state.resolved(bound), GENERAL if variable.of_candidate else SPECIAL
        if term.head == "⍴":
            is_shape = len(term.parts) == 1 and term.parts[0].sort == SHAPE
            cost += 0 if is_shape else GENERAL - 1 if variable.of_candidate else SPECIAL
        elif not term.is_wildcard:
            is_renamed = term.is_variable and first.setdefault(term, variable).head == variable.head
            cost += 0 if is_renamed and term.of_candidate != variable.of_candidate else of_other
    return cost


def _satisfies_classes(state: MatchState, candidate: FunctionType) -> bool:
    """Is every element variable bound to a type of the class that `where` requires?"""
    elements = [(state.resolved(TypeTerm(name, (), ELEMENT, True)), kind) for name, kind in candidate.classes.items()]
    return all(element.is_variable or element.head in _CLASSES[kind] for element, kind in elements)


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
