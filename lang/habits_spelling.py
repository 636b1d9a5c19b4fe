"""Texts of other languages written as Rho: names, calls, slices, indices, lists and functions.

Neighbours: `habits` (the table whose rows are written so), `foreign` (whole expressions of Python).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

Groups: TypeAlias = Mapping[str, str]

NAME = r"[A-Za-z_]\w*"
ITEM = r"(?:[\w.¯]+|\([^()\n]*\))"
TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"

_MEANT_ELSEWHERE = "…"
"""Stands in a fix for what its writer has to say anew: such a fix is words without an edit."""


def expression(text: str) -> str:
    """The text of another language's expression in Rho."""
    from .foreign import rho_of

    return rho_of(text.replace("^", "**"), _SPELLING) or _MEANT_ELSEWHERE


class _Spelling:
    """What this table says of names and brackets."""

    def array(self, text: str) -> str | None:
        return array_of(text) if re.fullmatch(r"[\[\]\d.,\s-]+", text) else None

    def call(self, word: str, arguments: list[str]) -> str | None:
        return _called(word, arguments) if len(arguments) > 1 else WORDS[word] + arguments[0]

    def slice(self, name: str, first: str, last: str) -> str | None:
        return slice_of({"x": name, "a": first, "b": last})

    def constant(self, name: str) -> str | None:
        return CONSTANTS.get(name)

    def knows(self, word: str) -> bool:
        return word in WORDS


_SPELLING = _Spelling()


def function_of(parameters: str, body: str) -> str:
    """A dfn of one or two parameters; "…" for a body that prints, assigns or has no spelling of its own here."""
    names = re.findall(NAME, parameters)
    if body == _MEANT_ELSEWHERE:
        return "{…}"
    body = _MEANT_ELSEWHERE if re.search(r"\bprint|(?<![=!<>])=(?!=)", body) else expression(body)
    if body == _MEANT_ELSEWHERE:
        return "{…⍵…}"
    for name, argument in zip(names, "⍵" if len(names) == 1 else "⍺⍵", strict=False):
        body = re.sub(rf"\b{name}\b", argument, body)
    return "{" + body.strip() + "}"


def array_of(text: str) -> str:
    """A list of lists as a strand, or as cells in brackets."""
    inner = text.strip()[1:-1]
    if "[" in inner:
        return "[" + " ⋄ ".join(array_of(row) for row in re.findall(r"\[[^\[\]]*\]", inner)) + "]"
    return " ".join(item.strip().replace("-", "¯") for item in inner.split(",") if item.strip())


def rows_of(found: Groups) -> str:
    """A matrix whose rows end with `;`."""
    return f"[{re.sub(r'(?<![^ ;])-(?=[.0-9])', '¯', re.sub(r' *;', ' ⋄', found['x']))}]"


def each_of(found: Groups) -> str:
    if "x" not in found:
        return "{…⍵…}¨x"
    counted = re.fullmatch(r"range\((.*)\)", found["x"].strip())
    items = found["x"].strip() if counted is None else f"⍳{counted[1]}"
    if counted is not None and "," in counted[1]:
        first, last, *step = (part.strip() for part in counted[1].split(","))
        items = f"{first}+⍳{last}-{first}" if not step and re.fullmatch(ATOM, first) and re.fullmatch(ATOM, last) else "…"
    return f"{function_of(found['i'], found.get('v') or '…')}¨{items}"


def slice_of(found: Groups) -> str:
    name, first, last = found["x"], found["a"].strip(), found["b"].strip()
    if not last and not first:
        return name
    if last and not last.startswith("-") and first not in ("", "0"):
        return f"{name}[{_places(first, last)}]"
    if not last:
        part = f"{_counted(first)}↑{name}" if first.startswith("-") else f"{_counted(first)}↓{name}"
    elif last.startswith("-"):
        part = f"{_counted(last)}↓{name}" if first in ("", "0") else f"{_counted(last)}↓{_counted(first)}↓{name}"
    else:
        part = f"{_counted(last)}↑{name}"
    return f"({part})" if found.get("after") else part


ATOM = r"[A-Za-z_]\w*|\d+"


def _counted(text: str) -> str:
    """A bound of a slice as a left argument."""
    number = re.fullmatch(r"-?(\d+)", text)
    if number:
        return f"¯{number[1]}" if text.startswith("-") else text
    return text if re.fullmatch(ATOM, text) else _MEANT_ELSEWHERE


def _places(first: str, last: str) -> str:
    """The positions of a slice, inside brackets."""
    if first.isdigit() and last.isdigit():
        return f"{first}+⍳{max(0, int(last) - int(first))}"
    return f"{first}+⍳{last}-{first}" if all(re.fullmatch(ATOM, bound) for bound in (first, last)) else _MEANT_ELSEWHERE


def axes_of(found: Groups) -> str:
    """`x[:,0]` and its like: `;` between the axes."""
    axes = []
    for axis in map(str.strip, found["i"].split(",")):
        first, colon, last = (part.strip() for part in axis.partition(":"))
        if colon:
            axes.append("" if not first and not last else _places(first or "0", last) if last else _MEANT_ELSEWHERE)
        else:
            axes.append(axis if re.fullmatch(ATOM, axis) else _MEANT_ELSEWHERE)
    return f"{found['x']}[{';'.join(axes)}]"


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
    return f"{found['x']} {glyph}← {expression(found['v'])}"


def assigned(found: Groups) -> str:
    return f"{found['x'] if 'x' in found else found['w']} ← {expression(found['v'])}"


def both_sides(glyph: str) -> Callable[[Groups], str]:
    """A function of two arguments, the left one of which ends there: an item, or what must stand in parentheses."""
    return lambda found: glyph if re.fullmatch(rf"[ \t]*{ITEM}[ \t]*", found["a"]) else f"(…){glyph}…"


def between_percents(found: Groups) -> str:
    """The functions of R between `%`."""
    a, b = found["a"], found["b"]
    return {"in": f"{a}∊{b}", "o": f"{a}∘.×{b}", "*": f"{a}+.×{b}", "/": f"⌊{a}÷{b}", "": f"{b}|{a}"}[found["f"]]


def item_by_item(found: Groups) -> str:
    return f"{found['a']}{ {'*': '×', '/': '÷', '^': '*'}[found['f']]}{found['b']}"


KINDS_OF_WORDS: Mapping[str, str] = {
    "float32": "f32", "float64": "f64", "float": "f64", "int32": "i32", "int64": "i64", "int": "i64", "bool": "bool",
    "uint8": "u8", "complex128": "c128", "complex": "c128",
}  # fmt: skip
"""Types by their names elsewhere."""


def converted(found: Groups) -> str:
    text = f"{KINDS_OF_WORDS[found['w']]} {found['x']}"
    return f"({text})" if found["after"] else text


def complex_of(found: Groups) -> str:
    return f"{found['a']}J{'¯' if found['s'] == '-' else ''}{found['b']}"


CONSTANTS: Mapping[str, str] = {
    "True": "1", "False": "0", "true": "1", "false": "0", "pi": "○1", "inf": "∞", "Inf": "∞", "infinity": "∞",
    "newaxis": "", "None": "⎕nan", "nan": "⎕nan", "NaN": "⎕nan",
}  # fmt: skip
"""Values by their names elsewhere."""

WORDS: Mapping[str, str] = {
    "sum": "+/,", "prod": "×/,", "product": "×/,", "mean": "(+/÷≢),", "average": "(+/÷≢),", "avg": "(+/÷≢),",
    "max": "⌈/,", "amax": "⌈/,", "min": "⌊/,", "amin": "⌊/,", "len": "≢", "length": "≢", "shape": "⍴", "reshape": "⍴",
    "T": "⍉", "transpose": "⍉", "arange": "⍳", "range": "⍳", "print": "⎕←", "println": "⎕←", "abs": "|", "sqrt": "√",
    "exp": "*", "log": "⍟", "ln": "⍟", "floor": "⌊", "ceil": "⌈", "argsort": "(⍋⍤1)", "argmax": "⊃⍒,", "argmin": "⊃⍋,",
    "cumsum": "+\\,", "cumprod": "×\\,", "unique": "sort.up ∪,", "ravel": ",", "flatten": ",", "reverse": "⊖", "any": "∨/0≠,",
    "all": "∧/0≠,", "sin": "1○", "cos": "2○", "tan": "3○", "array": "", "list": "", "asarray": "", "int": "⌊",
    "float": "f64 ", "str": "⍕", "round": "⌊0.5+", "sort": "(sort.up⍤1) ", "sorted": "sort.up ",
    "median": "stats.median ,", "std": "stats.deviation ,", "var": "stats.variance ,", "zeros": "0⍴⍨", "ones": "1⍴⍨",
    "diff": "2-⍨/", "where": "⍸", "nonzero": "⍸", "inv": "⌹", "sign": "×", "factorial": "!",
    "arctan2": "⎕atan2", "atan2": "⎕atan2", "roll": "⌽", "slogdet": "⎕slogdet ", "det": "⎕det ",
    "maximum": "⌈", "minimum": "⌊", "power": "*", "outer": "∘.×", "dot": "+.×", "isnan": "≠⍨",
    "size": "⍴", "solve": "⌹", "numel": "×/⍴", "ndim": "≢⍴", "reversed": "⊖", "flip": "⊖", "tile": "(n×≢x)⍴x…",
    "repmat": "(n×≢x)⍴x…",
    "eye": "∘.=⍨⍳", "identity": "∘.=⍨⍳", "linspace": "a+(b-a)×(⍳n)÷n-1…", "full": "shape⍴item…",
}  # fmt: skip
"""Functions by their names elsewhere, as what is written left of the argument; a dotted name is of a library (`use`)."""


_CALLS: Mapping[tuple[str, int], str] = {
    ("max", 2): "{0}⌈{1}", ("min", 2): "{0}⌊{1}", ("full", 2): "{0}⍴{1}", ("linspace", 3): "{0}+({1}-{0})×(⍳{2})÷{2}-1",
    ("maximum", 2): "{0}⌈{1}", ("minimum", 2): "{0}⌊{1}", ("power", 2): "{0}*{1}", ("outer", 2): "{0}∘.×{1}",
    ("arctan2", 2): "{0} ⎕atan2 {1}", ("atan2", 2): "{0} ⎕atan2 {1}", ("roll", 2): "(⍴{0})⍴(-{1})⌽,{0}",
    ("where", 3): "{0} ¿ ({1} ⋄ {2})", ("tile", 2): "({1}×≢{0})⍴{0}", ("solve", 2): "{1}⌹{0}",
    ("dot", 2): "{0}+.×{1}", ("range", 2): "{0}+⍳{1}-{0}", ("arange", 2): "{0}+⍳{1}-{0}",
}  # fmt: skip
"""Functions by their names elsewhere and how many arguments they have there; what follows `⍳` is a whole number or a name."""


def applied(found: Groups) -> str:
    """A function before its argument, in parentheses where more follows."""
    from .foreign import arguments_of

    word, given = found["w"], arguments_of(found["x"])
    text = _called(word, given)
    if text is None:
        if len(given) > 1 or "v" in found:
            return f"{WORDS[word].rstrip(',…')}…"  # along an axis, or what else
        argument = expression(found["x"]) if given else found["x"]
        if argument == _MEANT_ELSEWHERE:
            return f"{WORDS[word]}…"
        text = WORDS[word] + (argument if re.fullmatch(rf"[\w.]*|\(.*\)|{TEXT}", argument) else f"({argument})")
    return f"({text})" if found["after"] else text


def _called(word: str, given: list[str]) -> str | None:
    """A function of several arguments that are items."""
    template = _CALLS.get((word, len(given)))
    if template is None:
        return None
    counted = template[template.index("⍳") :] if "⍳" in template else ""
    written: list[str] = []
    for index, one in enumerate(given):
        if re.fullmatch(ATOM if f"{{{index}}}" in counted else rf"{ITEM}|-\d+", one):
            written.append(one.replace("-", "¯") if one[0] == "-" else one)
            continue
        spelled = _MEANT_ELSEWHERE if counted else expression(one)
        if spelled == _MEANT_ELSEWHERE:
            return None
        written.append(f"({spelled})")
    return template.format(*written)
