"""How sizes are written: as types have them (`str` of a `Size`), and as formulas of costs.

What `show` writes can be read back: sizes read right to left there, so every compound operand is in parentheses.

Neighbours: `sizes`, `lang.type_expressions` (reads them), `shell.display.costs` (formulas).
"""

from __future__ import annotations

from collections.abc import Sequence

from .size_terms import Atom, Monomial, Node, Size, SizeVariable

_MOST_CHARACTERS = 100


def show_short(size: Size) -> str:
    """For messages: a long size is cut."""
    return _cut(show(size))


def show_short_formula(size: Size) -> str:
    """For costs: a long formula is cut."""
    return _cut(show_formula(size))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"


# --------------------------------------------------------------------------------- as types are written


def show(size: Size) -> str:
    """`(2×n)+1`, `n÷2`, `0⌈n-1`, `(n+1)-k`: the syntax of types."""
    plus = [(m, c) for m, c in size.terms if c > 0]
    minus = [(m, -c) for m, c in size.terms if c < 0]
    if not minus:
        return _sum(plus)
    if not plus and size.constant is not None:
        return f"¯{-size.constant}"
    less = _wrapped(_sum(minus), compound=len(minus) > 1)
    return f"{_wrapped(_sum(plus), compound=len(plus) > 1 or _is_compound(plus))}-{less}"


def operand(size: Size) -> str:
    """A size as the left operand of a function."""
    return _wrapped(show(size), compound=len(size.terms) > 1 or _is_compound(size.terms))


def _sum(terms: Sequence[tuple[Monomial, int]]) -> str:
    if not terms:
        return "0"
    if len(terms) == 1:
        return _product(*terms[0])
    return "+".join(_wrapped(_product(m, c), compound=_is_compound([(m, c)])) for m, c in terms)


def _is_compound(terms: Sequence[tuple[Monomial, int]]) -> bool:
    """Is a lone term more than a name or a number?"""
    return any(m and (c != 1 or len(m) > 1 or m[0][1] > 1 or not isinstance(m[0][0], SizeVariable)) for m, c in terms)


def _product(monomial: Monomial, coefficient: int) -> str:
    factors = [a for a, power in monomial for _ in range(power)]
    alone = len(factors) == 1 and coefficient == 1
    written = [_atom(a, alone=alone) for a in factors]
    if coefficient != 1 or not written:
        written.insert(0, str(coefficient))
    return "×".join(written)


def _atom(atom: Atom, *, alone: bool) -> str:
    if isinstance(atom, SizeVariable):
        return atom.name
    args = atom.args
    match atom.node:
        case Node.QUOTIENT:
            text = f"{operand(args[0])}÷{operand(args[1])}"
        case Node.REMAINDER:
            text = f"{operand(args[1])}|{operand(args[0])}"
        case _:
            text = atom.node.value.join([*(operand(a) for a in args[:-1]), show(args[-1])])
    return text if alone else f"({text})"


def _wrapped(text: str, *, compound: bool) -> str:
    return f"({text})" if compound else text


# ------------------------------------------------------------------------------------- as formulas


def show_formula(size: Size) -> str:
    """As costs are written, products before sums: `2·n+1`, `4·n·n`."""
    if not size.terms:
        return "0"
    parts: list[str] = []
    terms = [t for t in size.terms if t[0] and t[1] > 0] + [t for t in size.terms if t[0] and t[1] < 0]
    number_at = len(terms) if terms and terms[0][1] > 0 else 0  # `n-k+1`, but `1-k`
    terms[number_at:number_at] = [t for t in size.terms if not t[0]]
    for monomial, coefficient in terms:
        factors = [_factor(a, alone=len(size.terms) == 1 and len(monomial) == 1 and coefficient == 1 and p == 1)
                   for a, p in monomial for _ in range(p)]  # fmt: skip
        magnitude = abs(coefficient)
        if magnitude != 1 or not factors:
            factors.insert(0, str(magnitude))
        parts.append(("-" if coefficient < 0 else "+") + "·".join(factors))
    text = "".join(parts)
    return text[1:] if text[0] == "+" else "¯" + text[1:] if len(parts) == 1 and size.constant is not None else text


def _factor(atom: Atom, *, alone: bool) -> str:
    if isinstance(atom, SizeVariable):
        return atom.name
    shown = [show_formula(a) for a in atom.args]
    match atom.node:
        case Node.QUOTIENT:
            text = f"{_enclosed(shown[0], atom.args[0])}÷{_enclosed(shown[1], atom.args[1])}"
        case Node.REMAINDER:
            text = f"{_enclosed(shown[1], atom.args[1])}|{_enclosed(shown[0], atom.args[0])}"
        case _:
            text = atom.node.value.join([*(_enclosed(s, a) for s, a in zip(shown[:-1], atom.args[:-1], strict=True)), shown[-1]])
    return text if alone else f"({text})"


def _enclosed(text: str, size: Size) -> str:
    simple = size.constant is not None or (len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1
                                           and isinstance(size.terms[0][0][0][0], SizeVariable))  # fmt: skip
    return text if simple else f"({text})"
