"""Whole-number arithmetic of known small range in narrow lanes: eight times as many to a vector.

Sums of truth values, digits and bytes are i64 in the language; where every value on the way is known to fit u8 or i32, it is
computed there, exactly, and widened only where something wide uses it.

Neighbours: `build` (makes bodies), `nest`, `ir`; `loops.transform.narrowing` (the same of loop programs).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...typechecker.elements import Kind
from .build import Body
from .ir import Apply, Literal, Node

Range = tuple[int, int]

LIMITS: Final = ((Kind.U8, 0, 255), (Kind.I32, -(1 << 31), (1 << 31) - 1))
SOURCES: Final = {Kind.BOOL: (0, 1), Kind.U8: (0, 255)}
ARITHMETIC: Final = frozenset({"add", "sub", "mul", "min", "max", "neg", "abs"})
COMPARISONS: Final = frozenset({"lt", "le", "eq", "ge", "gt", "ne"})


def narrow(body: Body) -> Body:
    """The body with small whole numbers in a narrow kind; itself where that gains nothing."""
    ranges = _ranges(body)
    used = {arg for node in body.nodes if isinstance(node, Apply) and _is_small(node, body, ranges) for arg in node.args}
    kind = narrowest([found for place, found in ranges.items() if place in used])
    if kind is None or not any(
        isinstance(n, Apply) and n.function in ARITHMETIC and p in ranges for p, n in enumerate(body.nodes)
    ):
        return body
    low, high = next((a, b) for k, a, b in LIMITS if k is kind)
    fits = {place for place, (a, b) in ranges.items() if low <= a and b <= high}
    return _rewritten(body, kind, _closed(body, fits))


def _ranges(body: Body) -> dict[int, Range]:
    """The values that i64 nodes may have, where something is known."""
    found: dict[int, Range] = {}
    for place, node in enumerate(body.nodes):
        match node:
            case Literal(Kind.I64, bits):
                found[place] = (bits, bits)
            case Apply(function="convert", compute=source, kind=Kind.I64, args=(arg,)):
                if source in SOURCES:
                    found[place] = SOURCES[source]
                elif arg in found:
                    found[place] = found[arg]
            case Apply(function="select", compute=Kind.I64, args=(_, x, y)) if x in found and y in found:
                found[place] = (min(found[x][0], found[y][0]), max(found[x][1], found[y][1]))
            case Apply(function=function, compute=Kind.I64, args=args) if function in ARITHMETIC and all(
                a in found for a in args
            ):
                made = combined(function, [found[arg] for arg in args])
                if made[0] > -(1 << 40) and made[1] < 1 << 40:
                    found[place] = made
    return found


def combined(function: str, args: list[Range]) -> Range:
    """The values that a function may have on operands of these ranges."""
    (a, b), (c, d) = args[0], args[-1]
    match function:
        case "add":
            return a + c, b + d
        case "sub":
            return a - d, b - c
        case "mul":
            corners = (a * c, a * d, b * c, b * d)
            return min(corners), max(corners)
        case "min":
            return min(a, c), min(b, d)
        case "max":
            return max(a, c), max(b, d)
        case "neg":
            return -b, -a
    return 0, max(abs(a), abs(b))


def _is_small(node: Apply, body: Body, ranges: dict[int, Range]) -> bool:
    if node.compute is not Kind.I64 or node.function not in ARITHMETIC | COMPARISONS | {"select"}:
        return False
    return all(arg in ranges for arg in node.args if body.kinds[arg] is Kind.I64)


def narrowest(ranges: list[Range]) -> Kind | None:
    """The narrowest kind that holds most."""
    for kind, low, high in LIMITS:
        if ranges and all(low <= a and b <= high for a, b in ranges):
            return kind
    return None


def _closed(body: Body, fits: set[int]) -> set[int]:
    """The nodes that can be computed narrow: their operands are narrow too."""
    small = set(fits)
    for place, node in enumerate(body.nodes):
        if place in small and isinstance(node, Apply) and node.function != "convert":
            args = [arg for arg in node.args if body.kinds[arg] is Kind.I64]
            if not all(arg in small for arg in args):
                small.discard(place)
    return small


def _rewritten(body: Body, kind: Kind, small: set[int]) -> Body:
    nodes: list[Node] = []
    kinds: list[Kind] = []
    places: dict[int, int] = {}
    wide: dict[int, int] = {}

    def add(node: Node, of: Kind) -> int:
        nodes.append(node)
        kinds.append(of)
        return len(nodes) - 1

    def widened(place: int) -> int:
        if place not in small:
            return places[place]
        if place not in wide:
            wide[place] = add(Apply("convert", (places[place],), kind, Kind.I64), Kind.I64)
        return wide[place]

    for place, node in enumerate(body.nodes):
        match node:
            case Literal(Kind.I64, bits) if place in small:
                places[place] = add(Literal(kind, bits), kind)
            case Apply() if place in small and node.function == "convert":
                (arg,) = node.args
                source = kind if arg in small else node.compute
                if source is kind:
                    places[place] = places[arg]
                else:
                    places[place] = add(Apply("convert", (places[arg],), source, kind), kind)
            case Apply() if place in small:
                args = tuple(places[arg] for arg in node.args)
                places[place] = add(replace(node, args=args, compute=kind, kind=kind), kind)
            case Apply() if node.function in COMPARISONS and node.compute is Kind.I64 and all(arg in small for arg in node.args):
                places[place] = add(replace(node, args=tuple(places[arg] for arg in node.args), compute=kind), node.kind)
            case Apply():
                places[place] = add(replace(node, args=tuple(widened(arg) for arg in node.args)), node.kind)
            case _:
                places[place] = add(node, body.kinds[place])
    results = tuple(
        replace(r, node=widened(r.node), imaginary=widened(r.imaginary) if r.imaginary >= 0 else -1,
                states=tuple(places[s] for s in r.states), following=tuple(map(widened, r.following)))
        for r in body.results
    )  # fmt: skip
    return replace(body, nodes=tuple(nodes), kinds=tuple(kinds), results=results)
