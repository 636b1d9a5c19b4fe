"""Texts of other languages written as Rho: names, calls, slices, indices, lists and functions.

Neighbours: `habits` (the table whose rows are written so), `foreign` (whole expressions of Python).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from .foreign_domains import Known
from .habits_functions import CALLS, JOINED, WORDS


class Groups(dict[str, str]):
    """What a pattern found, by the names of its groups, and what is known at that place."""

    def __init__(self, found: Mapping[str, str], known: Known) -> None:
        super().__init__(found)
        self.known = known


NAME = r"[A-Za-z_]\w*"
ITEM = r"(?:[\w.¯]+|\([^()\n]*\))"
TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"

_MEANT_ELSEWHERE = "…"
"""Stands in a fix for what its writer has to say anew: such a fix is words without an edit."""


def expression(text: str, known: Known) -> str:
    """The text of another language's expression in Rho."""
    from .foreign import rho_of

    if not is_power(text):
        return _MEANT_ELSEWHERE
    return rho_of(text.replace("^", "**"), known) or _MEANT_ELSEWHERE


def is_power(text: str) -> bool:
    """Is each `^` before a number?  Between names it may be the exclusive or of Python."""
    return re.search(r"\^(?![ \t=]*[\d.])", text) is None


_BY_NAME = r"[(,][ \t]*(?!(?:axis|dim|dtype)\b)([A-Za-z]\w*)[ \t]*=(?!=)"
"""An argument by name that says more than an axis or a type."""


def by_name(text: str) -> str:
    """What is said of the arguments by name in a call that has no spelling."""
    named = dict.fromkeys(re.findall(_BY_NAME, text))
    asked = " and ".join(f"`{one}=`" for one in named)
    return f"; arguments have no names: what {asked} asks for is written out" if named else ""


def applied(found: Groups) -> str:
    """A call of a function of another language; where it has no spelling, its usual one with "…" for the arguments."""
    from .foreign import rho_of

    word, asked = found["w"], found["all"].replace("⍵", "omega_").replace("⍺", "alpha_")  # names that Python can read
    text = rho_of(asked, found.known)
    if text is None and re.search(_BY_NAME, asked):
        return _MEANT_ELSEWHERE
    if text is None or text == asked:
        several = next((template for (one, _), template in CALLS.items() if one == word), "")
        if several and (word not in WORDS or "," in asked):
            return re.sub(r"\{\d\}", "…", several).replace("{{", "{").replace("}}", "}")
        return f"{WORDS[word].rstrip(',')}…" if word in WORDS else f"…{JOINED.get(word, '')}…"
    text = text.replace("omega_", "⍵").replace("alpha_", "⍺")
    return f"({text})" if found["after"] else text


def function_of(parameters: str, body: str, known: Known) -> str:
    """A dfn of one or two parameters; "…" for a body that prints, assigns or has no spelling of its own here."""
    names = re.findall(NAME, parameters)
    if body == _MEANT_ELSEWHERE:
        return "{…}"
    body = _MEANT_ELSEWHERE if re.search(r"\bprint|(?<![=!<>])=(?!=)", body) else expression(body, known)
    if body == _MEANT_ELSEWHERE:
        return "{…⍵…}"
    for name, argument in zip(names, "⍵" if len(names) == 1 else "⍺⍵", strict=False):
        body = re.sub(rf"\b{name}\b", argument, body)
    return "{" + body.strip() + "}"


def rows_of(found: Groups) -> str:
    """A matrix whose rows end with `;`."""
    return f"[{re.sub(r'(?<![^ ;])-(?=[.0-9])', '¯', re.sub(r' *;', ' ⋄', found['x']))}]"


def each_of(found: Groups) -> str:
    if "x" not in found:
        return "{…⍵…}¨x"
    body = found.get("v") or _MEANT_ELSEWHERE
    if re.search(r"[(\[]|\.[A-Za-z]", body) and not re.match(r"[ \t]*(?:range|\[)", found["x"]):
        return f"{{…⍵…}}¨{expression(found['x'], found.known)}"  # of the rows of a matrix
    items = expression(found["x"], found.known)
    return f"{function_of(found['i'], body, found.known.with_item(found['i'], items))}¨{items}"


ATOM = r"[A-Za-z_]\w*|\d+"


def read_whole(found: Groups) -> str:
    """A part that is an expression of Python."""
    text = expression(found["all"], found.known)
    return f"({text})" if found["after"] and text != _MEANT_ELSEWHERE and not re.fullmatch(r"\w+\[[^\[\]]*\]", text) else text


def cells_from_one(found: Groups) -> str:
    """`A(1,:)` and its like: positions count from 1, and both ends of a range are in it."""
    axes = []
    for axis in map(str.strip, found["i"].split(",")):
        first, colon, last = (part.strip() for part in axis.partition(":"))
        if colon and not first and not last:
            axes.append("")
        elif colon:
            counted = first.isdigit() and last.isdigit()
            axes.append(f"{int(first) - 1}+⍳{int(last) - int(first) + 1}" if counted else _MEANT_ELSEWHERE)
        else:
            axes.append(str(int(axis) - 1) if axis.isdigit() and int(axis) else _MEANT_ELSEWHERE)
    return f"{found['x']}[{';'.join(axes)}]"


def range_of(found: Groups) -> str:
    """`a:b` and `a:step:b`, both ends in it."""
    first, step, last = found["a"], found.get("s", "1"), found["b"]
    if first.isdigit() and step.isdigit() and last.isdigit() and int(step):
        counted = f"⍳{max(0, (int(last) - int(first)) // int(step) + 1)}"
        counted = counted if int(step) == 1 else f"{step}×{counted}"
        return counted if int(first) == 0 else f"{first}+{counted}"
    return f"{first}+⍳1+{last}-{first}" if step == "1" else _MEANT_ELSEWHERE


def transposed(found: Groups) -> str:
    return f"(⍉{found['x']})" if found["after"] else f"⍉{found['x']}"


def changed_by(found: Groups) -> str:
    glyph = {"*": "×", "/": "÷", "&": "∧", "^": "*"}.get(found["f"], found["f"])
    value = expression(found["v"], found.known) if is_power(found["f"] + "=" + found["v"]) else _MEANT_ELSEWHERE
    return f"{found['x']} {glyph}← {value}"


def assigned(found: Groups) -> str:
    return f"{found['x'] if 'x' in found else found['w']} ← {expression(found['v'], found.known)}"


def both_sides(glyph: str) -> Callable[[Groups], str]:
    """A function of two arguments, the left one of which ends there: an item, or what must stand in parentheses."""
    return lambda found: glyph if re.fullmatch(rf"[ \t]*{ITEM}[ \t]*", found["a"]) else f"(…){glyph}…"


def between_percents(found: Groups) -> str:
    """The functions of R between `%`."""
    a, b = found["a"], found["b"]
    if found["f"] in ("in", "o"):
        return {"in": f"{a}∊{b}", "o": f"{a}∘.×{b}"}[found["f"]]
    return operated({"*": "@", "/": "//", "": "%"}[found["f"]])(found)


def operated(operator: str) -> Callable[[Groups], str]:
    """An operator between two items."""
    return lambda found: expression(f"{found['a']} {operator} {found['b']}", found.known)


def item_by_item(found: Groups) -> str:
    return f"{found['a']}{ {'*': '×', '/': '÷', '^': '*'}.get(found['f'], found['f']) }{found['b']}"


def complex_of(found: Groups) -> str:
    return f"{found['a']}J{'¯' if found['s'] == '-' else ''}{found['b']}"
