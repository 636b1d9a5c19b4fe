"""Compare what Rho prints with the recorded answers of APL interpreters: values and layout of rows, not column widths.

Texts are split into tokens line by line; numeric tokens are compared to the digits that were recorded (six or ten), in any
of the recorded spellings (`¯3`, `-3`, `3J4`, `3.0j4.0`, `1E18`); everything else must be equal.
"""

from __future__ import annotations

import re

_APLTAIL_VECTOR = re.compile(r"^\[\d*\]\((.*)\)$")


def number(token: str) -> complex | None:
    """The number a token spells, or None if it is text."""
    text = token.replace("¯", "-").replace("−", "-").replace("∞", "inf")
    parts = re.split("[jJ]", text)
    try:
        if len(parts) == 2:
            return complex(float(parts[0]), float(parts[1]))
        return complex(float(text))
    except ValueError:
        return None


def close(left: complex, right: complex, digits: int) -> bool:
    if left == right or (left != left and right != right):
        return True
    return abs(left - right) <= 10.0 ** (1 - digits) * max(abs(left), abs(right)) + 1e-14


def same_line(actual: str, expected: str, digits: int) -> bool:
    if actual.rstrip() == expected.rstrip():
        return True
    left, right = actual.split(), expected.split()
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        a, b = number(one), number(other)
        if a is None or b is None:
            if one != other:
                return False
        elif not close(a, b, digits):
            return False
    return True


def same_lines(actual: list[str], expected: list[str], digits: int) -> bool:
    actual, expected = [*actual], [*expected]
    while actual and not actual[-1].strip():
        actual.pop()
    while expected and not expected[-1].strip():
        expected.pop()
    return len(actual) == len(expected) and all(same_line(a, b, digits) for a, b in zip(actual, expected, strict=True))


def apltail_lines(text: str) -> list[str]:
    """The lines of an APLTAIL answer without its `[n](a,b)` wrapping of vectors and its blank lines around matrices."""
    lines = []
    for line in text.splitlines():
        wrapped = _APLTAIL_VECTOR.match(line)
        if wrapped:
            line = wrapped[1].replace(",", " ")
        if line.strip():
            lines.append(line)
    return lines
