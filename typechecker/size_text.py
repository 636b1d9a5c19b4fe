"""How sizes are written in types and messages (`str` of a `Size`).  Neighbour: `sizes`."""

from __future__ import annotations

from .size_terms import Atom, Node, Size, SizeVariable

_MOST_CHARACTERS = 100


def show_short(size: Size) -> str:
    """For types: a long formula is cut."""
    text = show(size)
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"


def show(size: Size) -> str:
    """As the types page writes sizes: `2·n+1`, `n÷2`, `0⌈n-1`."""
    if not size.terms:
        return "0"
    parts: list[str] = []
    terms = [t for t in size.terms if t[0] and t[1] > 0] + [t for t in size.terms if t[0] and t[1] < 0]
    number_at = len(terms) if terms and terms[0][1] > 0 else 0  # `n-k+1`, but `1-k`
    terms[number_at:number_at] = [t for t in size.terms if not t[0]]
    for monomial, coefficient in terms:
        factors = [_show_atom(a, alone=len(size.terms) == 1 and len(monomial) == 1 and coefficient == 1 and p == 1)
                   for a, p in monomial for _ in range(p)]  # fmt: skip
        magnitude = abs(coefficient)
        if magnitude != 1 or not factors:
            factors.insert(0, str(magnitude))
        parts.append(("-" if coefficient < 0 else "+") + "·".join(factors))
    text = "".join(parts)
    return text[1:] if text[0] == "+" else "¯" + text[1:] if len(parts) == 1 and size.constant is not None else text


def _show_atom(atom: Atom, *, alone: bool) -> str:
    if isinstance(atom, SizeVariable):
        return atom.name
    shown = [show(a) for a in atom.args]
    match atom.node:
        case Node.QUOTIENT:
            text = f"{_wrapped(shown[0], atom.args[0])}÷{_wrapped(shown[1], atom.args[1])}"
        case Node.REMAINDER:
            text = f"{_wrapped(shown[1], atom.args[1])}|{_wrapped(shown[0], atom.args[0])}"
        case _:
            text = atom.node.value.join([*(_wrapped(s, a) for s, a in zip(shown[:-1], atom.args[:-1], strict=True)), shown[-1]])
    return text if alone else f"({text})"


def _wrapped(text: str, size: Size) -> str:
    simple = size.constant is not None or (len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1
                                           and isinstance(size.terms[0][0][0][0], SizeVariable))  # fmt: skip
    return text if simple else f"({text})"
