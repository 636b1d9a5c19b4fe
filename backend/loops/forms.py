"""Arithmetic on affine forms (`ir.Index`).

Neighbours: `ir` (`plus`, `times`), `affine` (what is known of them).
"""

from __future__ import annotations

from math import gcd

from .ir import Index, plus


def combined(left: Index, a: int, right: Index, b: int) -> Index:
    """a × left + b × right."""
    constant = a * left.constant + b * right.constant
    coefficients = {name: a * c for name, c in left.terms}
    for name, c in right.terms:
        total = coefficients.get(name, 0) + b * c
        if total:
            coefficients[name] = total
        else:
            del coefficients[name]
    return Index(tuple(sorted(coefficients.items())), constant)


def minus(left: Index, right: Index) -> Index:
    return combined(left, 1, right, -1)


def coefficient(form: Index, register: str) -> int:
    for name, c in form.terms:
        if name == register:
            return c
    return 0


def substitute(form: Index, values: dict[str, Index]) -> Index:
    """The form with registers replaced by forms."""
    for name, _ in form.terms:
        if name in values:
            break
    else:
        return form
    total = Index((), form.constant)
    for name, c in form.terms:
        total = combined(total, 1, values[name], c) if name in values else plus(total, Index(((name, c),)))
    return total


def tight(form: Index) -> Index:
    """The strongest form that says the same of whole numbers that are not negative."""
    divisor = 0
    for _, c in form.terms:
        if c in (1, -1):
            return form
        divisor = gcd(divisor, c)
    return form if divisor <= 1 else Index(tuple([(name, c // divisor) for name, c in form.terms]), form.constant // divisor)
