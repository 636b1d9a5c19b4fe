"""Patterns of foreign syntax (Python, C, R, MATLAB), each with a hint and an optional rewrite: one table.

A row is a pattern.  It sees the text with the insides of quotes as letters and comments as blanks.  A group `w` is the word at
fault: an E001 is explained only if it is about that word.  `all` is what the fix replaces, the whole match without it; `after`
is what follows the match up to the end of its brackets or statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from ..diagnostics.model import Code
from ..support.records import dataclass
from .equivalence_domains import Known
from .function_names import BUILTINS, CALLS, CONSTANTS, JOINED, PACKAGES, ROWS, SUBPACKAGES, TOLD, WORDS

# ---------------------------------------------------------------------------------------------------- habits_spelling
#
# Texts of other languages written as Rho: names, calls, slices, indices, lists and functions.

class PatternGroups(dict[str, str]):
    """What a pattern found, by the names of its groups, and what is known at that place."""

    def __init__(self, groups: Mapping[str, str], known: Known) -> None:
        super().__init__(groups)
        self.known = known


NAME = r"[A-Za-z_]\w*"
ITEM = r"(?:[\w.¯]+|\([^()\n]*\))"
TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"

_MEANT_ELSEWHERE = "…"
"""Stands in a fix for what its writer has to say anew: such a fix is words without an edit."""


def expression(text: str, known: Known) -> str:
    """The text of another language's expression in Rho."""
    from .python import rho_of

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


def applied(groups: PatternGroups) -> str:
    """A call of a function of another language; where it has no spelling, its usual one with "…" for the arguments."""
    from .python import rho_of

    word, asked = groups["w"], groups["all"].replace("⍵", "omega_").replace("⍺", "alpha_")  # names that Python can read
    text = rho_of(asked, groups.known)
    if text is None and re.search(_BY_NAME, asked):
        return _MEANT_ELSEWHERE
    if text is None or text == asked:
        several = next((template for (one, _), template in CALLS.items() if one == word), "")
        if several and (word not in WORDS or "," in asked):
            return re.sub(r"\{\d\}", "…", several).replace("{{", "{").replace("}}", "}")
        return f"{WORDS[word].rstrip(',')}…" if word in WORDS else f"…{JOINED.get(word, '')}…"
    text = text.replace("omega_", "⍵").replace("alpha_", "⍺")
    return f"({text})" if groups["after"] else text


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


def rows_of(groups: PatternGroups) -> str:
    """A matrix whose rows end with `;`."""
    return f"[{re.sub(r'(?<![^ ;])-(?=[.0-9])', '¯', re.sub(r' *;', ' ⋄', groups['x']))}]"


def each_of(groups: PatternGroups) -> str:
    if "x" not in groups:
        return "{…⍵…}¨x"
    body = groups.get("v") or _MEANT_ELSEWHERE
    if re.search(r"[(\[]|\.[A-Za-z]", body) and not re.match(r"[ \t]*(?:range|\[)", groups["x"]):
        return f"{{…⍵…}}¨{expression(groups['x'], groups.known)}"  # of the rows of a matrix
    items = expression(groups["x"], groups.known)
    return f"{function_of(groups['i'], body, groups.known.with_item(groups['i'], items))}¨{items}"


ATOM = r"[A-Za-z_]\w*|\d+"


def read_whole(groups: PatternGroups) -> str:
    """A part that is an expression of Python."""
    text = expression(groups["all"], groups.known)
    return f"({text})" if groups["after"] and text != _MEANT_ELSEWHERE and not re.fullmatch(r"\w+\[[^\[\]]*\]", text) else text


def cells_from_one(groups: PatternGroups) -> str:
    """`A(1,:)` and its like: positions count from 1, and both ends of a range are in it."""
    axes = []
    for axis in map(str.strip, groups["i"].split(",")):
        first, colon, last = (part.strip() for part in axis.partition(":"))
        if colon and not first and not last:
            axes.append("")
        elif colon:
            counted = first.isdigit() and last.isdigit()
            axes.append(f"{int(first) - 1}+⍳{int(last) - int(first) + 1}" if counted else _MEANT_ELSEWHERE)
        else:
            axes.append(str(int(axis) - 1) if axis.isdigit() and int(axis) else _MEANT_ELSEWHERE)
    return f"{groups['x']}[{';'.join(axes)}]"


def range_of(groups: PatternGroups) -> str:
    """`a:b` and `a:step:b`, both ends in it."""
    first, step, last = groups["a"], groups.get("s", "1"), groups["b"]
    if first.isdigit() and step.isdigit() and last.isdigit() and int(step):
        counted = f"⍳{max(0, (int(last) - int(first)) // int(step) + 1)}"
        counted = counted if int(step) == 1 else f"{step}×{counted}"
        return counted if int(first) == 0 else f"{first}+{counted}"
    return f"{first}+⍳1+{last}-{first}" if step == "1" else _MEANT_ELSEWHERE


def transposed(groups: PatternGroups) -> str:
    return f"(⍉{groups['x']})" if groups["after"] else f"⍉{groups['x']}"


def changed_by(groups: PatternGroups) -> str:
    glyph = {"*": "×", "/": "÷", "&": "∧", "^": "*"}.get(groups["f"], groups["f"])
    value = expression(groups["v"], groups.known) if is_power(groups["f"] + "=" + groups["v"]) else _MEANT_ELSEWHERE
    return f"{groups['x']} {glyph}← {value}"


def assigned(groups: PatternGroups) -> str:
    return f"{groups['x'] if 'x' in groups else groups['w']} ← {expression(groups['v'], groups.known)}"


def both_sides(glyph: str) -> Callable[[PatternGroups], str]:
    """A function of two arguments, the left one of which ends there: an item, or what must stand in parentheses."""
    return lambda groups: glyph if re.fullmatch(rf"[ \t]*{ITEM}[ \t]*", groups["a"]) else f"(…){glyph}…"


def between_percents(groups: PatternGroups) -> str:
    """The functions of R between `%`."""
    a, b = groups["a"], groups["b"]
    if groups["f"] in ("in", "o"):
        return {"in": f"{a}∊{b}", "o": f"{a}∘.×{b}"}[groups["f"]]
    return operated({"*": "@", "/": "//", "": "%"}[groups["f"]])(groups)


def operated(operator: str) -> Callable[[PatternGroups], str]:
    """An operator between two items."""
    return lambda groups: expression(f"{groups['a']} {operator} {groups['b']}", groups.known)


def item_by_item(groups: PatternGroups) -> str:
    return f"{groups['a']}{ {'*': '×', '/': '÷', '^': '*'}.get(groups['f'], groups['f']) }{groups['b']}"


def complex_of(groups: PatternGroups) -> str:
    return f"{groups['a']}J{'¯' if groups['s'] == '-' else ''}{groups['b']}"


# ---------------------------------------------------------------------------------------------------- habits

Write: TypeAlias = "str | Callable[[PatternGroups], str] | None"

_START = r"(?:^|(?<=⋄))[ \t]*(?P<all>"
_REST = r"[^\n⋄]*[^\s⋄]"
_AXIS = r"(?:[^\[\]();\n]|\[[^\[\]();\n]*\])*"
_FLAT = r"[^\n⋄;\[\](){}]*"
GIVEN = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
_BEFORE = r"(?<![\w.¯)\]'\"])(?<![\w.¯)\]'\"] )"
_END = r"(?=[ \t]*(?:$|[\n⋄#]))"
_BOTH = r"(?P<a>[^\n⋄←]*?)(?P<all>"


@dataclass(frozen=True, slots=True)
class Habit:
    """`says` is why, `write` the Rho spelling: a template over the groups, a function of them, None where no text can be offered.
    `codes`: the errors that it explains, None for any.  `legal`: is the text a program that means something else?"""

    pattern: str
    says: str
    write: Write = None
    codes: tuple[Code, ...] | None = None
    legal: bool = False


HABITS: tuple[Habit, ...] = (
    # ---- statements
    Habit(_START + rf"{_FLAT}←{_FLAT}(?P<s>;)[^\n⋄]*)", "`⋄` separates statements, `;` the axes of `x[…;…]`",
          lambda g: g["all"].replace(";", " ⋄", 1) if g["all"].rstrip()[-1] != ";" else g["all"].rstrip()[:-1],
          (Code.E001, Code.E002)),
    Habit(r"#(?P<x>.*)", "a comment starts with `⍝`", "⍝{x}"),
    Habit(_START + r"//(?P<x>.*))", "a comment starts with `⍝`", "⍝{x}"),
    Habit(_START + rf"(?:import|from)[ \t]+{_REST})",
          "nothing is imported: functions are glyphs, and `use stats` gives a library", ""),
    Habit(_START + rf"def[ \t]+(?P<f>{NAME})[ \t]*\((?P<p>[^()\n]*)\)[ \t]*:[ \t]*(?:return\b)?(?P<v>[^\n⋄]*))",
          "a function is `{…}` with `⍵` for its argument (`⍺` is the left one), and its last expression is its value",
          lambda g: f"{g['f']} ← {function_of(g['p'], g['v'], g.known.of_parameters()) if g['v'].strip() else '{…⍵…}'}"),
    Habit(r"(?<![\w.])(?P<all>(?:list\((?=(?:map|filter)\())?(?:map|filter)\([ \t]*lambda\b"
          rf"(?:[^()\n⋄]|{GIVEN})*\)(?:(?<=\)\))\))?)",
          "`f¨x` is f of each item, and `m⌿x` keeps what a mask m says", read_whole),
    Habit(r"lambda[ \t]*(?P<p>[^:\n]*):[ \t]*"
          rf"(?P<v>(?:[^()\[\],\n⋄]|{GIVEN}|\[[^\[\]\n]*\])*[^\s()\[\],\n⋄]|[^()\[\],\n⋄]*{GIVEN})",
          "a function is `{…}` with `⍵` for its argument (`⍺` is the left one)",
          lambda g: function_of(g["p"], g["v"], g.known.of_parameters())),
    Habit(_START + rf"for\b[ \t]*(?:(?P<i>{NAME})[ \t]+in\b[ \t]*(?P<x>[^:\n⋄]+)(?::(?P<v>[^\n⋄]*))?|{_REST}))",
          "there is no `for`: `f¨x` is f of each item, `f/x` folds, `f⍣n` repeats, and `{…⍺…}⍣(⍳n)` counts", each_of),
    Habit(_START + rf"while\b{_REST})", "there is no `while`: `f⍣(n ⋄ p)` repeats f until p holds, n times at most",
          "{{…}}⍣(n ⋄ {{…}})"),
    Habit(rf"(?P<a>{ITEM})[ \t]+if[ \t]+(?P<c>[^\n⋄]+?)[ \t]+else[ \t]+(?P<b>{ITEM})", "`¿` chooses", "({c}) ¿ ({a} ⋄ {b})"),
    Habit(rf"(?P<c>[^\n⋄?:←]*[^\s⋄?:←])[ \t]*\?[ \t]*(?P<a>{ITEM})[ \t]*:[ \t]*(?P<b>{ITEM})", "`¿` chooses",
          "({c}) ¿ ({a} ⋄ {b})"),
    Habit(_START + rf"if\b[ \t]*(?P<c>[^\n⋄]+?)[ \t]+then[ \t]+(?P<a>[^\n⋄]+?)[ \t]+else[ \t]+(?P<b>{_REST}))", "`¿` chooses",
          "({c}) ¿ ({a} ⋄ {b})"),
    Habit(_START + rf"(?:if|elif|else)\b(?:{_REST}|:))",
          "there is no `if`: `m ¿ (a ⋄ b)` chooses items, and a function chooses by a guard", "{{condition : value ⋄ …}}"),
    Habit(_START + rf"return\b[ \t]*(?P<v>{_REST}))", "the last expression of a function is its value", "{v}"),
    # ---- assignment and comparison
    Habit(_START + rf"(?P<x>{NAME})[ \t]*:=[ \t]*(?P<v>{_REST}))", "a name gets a value by `←`", assigned),
    Habit(_START + rf"(?P<w>{NAME})[ \t]*<-[ \t]*(?P<v>{_REST}))", "`<-` is `<` and `-`; a name gets a value by `←`",
          assigned, (Code.E001,), legal=True),
    Habit(_START + rf"(?P<x>{NAME})[ \t]*(?P<f>[-+*/|&^])=[ \t]*(?P<v>{_REST}))", "a function left of `←` changes a value",
          changed_by),
    Habit(_START + rf"(?P<x>{NAME})(?P<f>\+\+|--)[ \t]*(?=$|[\n⋄]))", "a function left of `←` changes a value",
          lambda g: f"{g['x']} {g['f'][0]}← 1"),
    Habit(r"~=|<>", "there is no `~=` or `<>`: `≠` is not equal", "≠", (Code.E131, Code.E133)),
    Habit(r"==", "there is no `==`: `=` compares", "="),
    Habit(r"!=", "there is no `!=`: `≠` is not equal", "≠"),
    Habit(r"<=", "there is no `<=`: `≤` is at most", "≤"),
    Habit(r">=", "there is no `>=`: `≥` is at least", "≥"),
    Habit(_START + rf"(?P<w>{NAME})[ \t]*=(?![=])[ \t]*(?P<v>{_REST}))", "`=` compares; a name gets a value by `←`", assigned,
          (Code.E001, Code.E002), legal=True),
    Habit(_START + rf"(?P<x>{NAME}\[[^\[\]\n⋄]*\])[ \t]*=(?![=])[ \t]*(?P<v>{_REST}))",
          "`=` compares; items get a value by `←`", assigned, (Code.E001, Code.E002), legal=True),
    Habit(_BOTH + r"&&)", "there is no `&&`: `∧` is and", both_sides("∧")),
    Habit(_BOTH + r"\|\|)", "`||` is `|` twice: `∨` is or", both_sides("∨"), legal=True),
    Habit(_BOTH + r"(?<![\w.])(?P<w>and)\b)", "there is no `and`: `∧` is and", both_sides("∧"), (Code.E001,)),
    Habit(_BOTH + r"(?<![\w.])(?P<w>or)\b)", "there is no `or`: `∨` is or", both_sides("∨"), (Code.E001,)),
    Habit(r"!(?P<x>[A-Za-z]\w*)", "`!` is the factorial; `~` is not", "~{x}", (Code.E300, Code.E303), legal=True),
    # ---- arithmetic
    Habit(r"\*\*", "`**` is `*` twice: one `*` is power", "*", (), legal=True),
    Habit(rf"(?P<a>{ITEM})[ \t]*%(?P<f>in|o|[*/]|)%[ \t]*(?P<b>{ITEM})", "functions between `%` are glyphs", between_percents),
    Habit(rf"(?P<a>{ITEM})[ \t]*\.(?P<f>[-+*/^<>])[ \t]*(?P<b>{ITEM})", "functions go item by item", item_by_item,
          (Code.E005, Code.E006, Code.E008)),
    Habit(rf"(?P<a>{NAME})[ \t]*\\[ \t]*(?P<b>{NAME})(?![\w.\[(])", "`b⌹A` solves A x = b", "{b}⌹{a}", (Code.E131,)),
    Habit(rf"(?P<a>{ITEM})[ \t]*%[ \t]*(?P<b>{ITEM})", "the remainder is `|`, with the divisor on its left", operated("%")),
    Habit(rf"(?P<all>(?P<a>{ITEM})[ \t]*\^[ \t]*(?P<b>{ITEM}))", "power is `*`; Python's exclusive or is `⎕bxor`, of masks `≠`",
          lambda g: f"{g['a']}*{g['b']}" if is_power(g["all"]) else "…"),
    Habit(r"~(?![~*])", "`~` is not, and needs a bool; `⎕bnot n` turns the bits of integers, and `0=n` says which are 0", None,
          (Code.E303,)),
    Habit(rf"(?P<a>{NAME})[ \t]*@[ \t]*(?P<b>{NAME})", "the matrix product is `+.×`", operated("@")),
    Habit(rf"(?P<a>{ITEM})[ \t]*//[ \t]*(?P<b>{ITEM})", "division is `÷`, and `⌊` rounds down", operated("//")),
    Habit(rf"{_BEFORE}(?P<a>[\w.]+[ \t]+(?!/[ \t]+[A-Za-z_])(?P<f>[-/])[ \t]+[\w.]+)[ \t]+(?P=f)[ \t]+(?P<b>[\w.]+){_END}",
          "a function takes all that is right of it (and `÷` divides)",
          lambda g: f"({g['a']}) {g['f']} {g['b']}".replace("/", "÷"), (), legal=True),
    Habit(rf"{_BEFORE}(?P<a>[\d.]+)[ \t]+/[ \t]+(?P<b>{NAME}){_END}", "`/` repeats what is right of it; division is `÷`",
          "{a}÷{b}", (), legal=True),
    Habit(rf"{_BEFORE}(?P<a>[\w.]+)[ \t]*(?P<f>[<>])[ \t]*(?P<b>[\w.]+)[ \t]*(?P=f)[ \t]*(?P<c>[\w.]+){_END}",
          "a function takes all that is right of it, so the second comparison is of the first's result; `∧` is and",
          "({a}{f}{b})∧{b}{f}{c}", (), legal=True),
    Habit(rf"(?P<a>\([^()\n]*[<>=][^()\n]*\))[ \t]*\|[ \t]*(?P<b>\([^()\n]*[<>=][^()\n]*\)){_END}",
          "`|` is the remainder; `∨` is or", "{a}∨{b}", (), legal=True),
    Habit(rf"{_BEFORE}(?P<a>[\d.]+)/(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])", "`/` repeats what is right of it; division is `÷`",
          "{a}÷{b}", (Code.E303,), legal=True),
    Habit(rf"{_BEFORE}(?P<a>{NAME})[ \t]*/[ \t]*(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])",
          "`/` repeats what is right of it; division is `÷`", "{a}÷{b}", (Code.E101, Code.E303), legal=True),
    Habit(rf"{_BEFORE}(?P<a>[\w.]+)(?P<s>[ \t]*)\*[ \t]*(?P<b>[\w.]+)(?P<f>[ \t]*[-+][ \t]*)(?P<c>[\w.]+)",
          "`*` is power, and a function takes all that is right of it", "({a}{s}×{s}{b}){f}{c}", (), legal=True),
    Habit(r"(?:^|(?<=[⋄(\[=←]))(?P<s>[ \t]*)(?P<all>-(?P<x>\d[\d.]*))(?![\w.]|[ \t]+[\d¯])",
          "`-` is a function, which negates all that is right of it; `¯` is the sign of a number", "¯{x}", (), legal=True),
    Habit(r"(?<![\w.¯])(?P<a>\d[\d.]*)[eE]-(?P<b>\d+)", "`¯` is the sign of a number, of its exponent too", "{a}e¯{b}",
          (Code.E005,)),
    Habit(r"(?<![\w.])(?P<a>\d[\d.]*)[ \t]*(?P<s>[-+])[ \t]*(?P<b>\d[\d.]*)[ij]\b", "`J` joins the parts of a complex number",
          complex_of, (Code.E005,)),
    Habit(r"(?<![\w.])(?P<b>\d[\d.]*)[ij]\b", "`J` joins the parts of a complex number", "0J{b}", (Code.E005,)),
    Habit(r"(?<![\w.])(?P<all>0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+))\b", "numbers are decimal",
          lambda g: str(int(g["all"], 0))),
    Habit(rf"(?P<a>{TEXT})[ \t]*\+[ \t]*(?P<b>{TEXT}|{NAME})", "`,` joins texts", "{a},{b}"),
    Habit(rf"(?P<a>{NAME})[ \t]*\+[ \t]*(?P<b>{TEXT})", "`,` joins texts", "{a},{b}", (Code.E300,)),
    Habit(rf"(?P<all>(?P<a>{TEXT})[ \t]*\*[ \t]*(?P<b>\d+))", "`⍴` repeats", "({b}×≢{a})⍴{a}", (Code.E300,)),
    Habit(rf"\[[ \t]*(?P<v>[^\[\]\n]+?)[ \t]+for[ \t]+(?P<i>{NAME})[ \t]+in[ \t]+(?P<x>(?:(?![ \t]if[ \t])[^\[\]\n])+?)[ \t]*\]",
          "`f¨x` is f of each item", each_of),
    Habit(rf"\bfor[ \t]+{NAME}[ \t]+(?P<w>in)\b", "`f¨x` is f of each item", None, (Code.E001,)),
    Habit(rf"(?<!for )(?<![\w.])(?P<a>{ITEM})[ \t]+(?P<f>(?:not[ \t]+)?)(?P<w>in)[ \t]+(?P<b>{NAME})(?=[ \t]*(?:$|[\n⋄)#]))",
          "`∊` says which items are in an array", lambda g: operated("not in" if "not" in g["f"] else "in")(g), (Code.E001,)),
    Habit(rf"(?P<a>{ITEM})[ \t]*<<[ \t]*(?P<b>{ITEM})", "there are no shifts: `2*n` is a power of 2", operated("<<")),
    Habit(rf"(?P<a>{ITEM})[ \t]*>>[ \t]*(?P<b>{ITEM})", "there are no shifts: `2*n` is a power of 2", operated(">>")),
    Habit(rf"(?P<all>(?P<a>{ITEM})[ \t]*&[ \t]*(?P<b>{ITEM}))", "`∧` is and", read_whole),
    Habit(rf"{NAME}\[[^\[\]\n]*\b(?P<w>None|newaxis)\b[^\[\]\n]*\]",
          "no axis of length 1 is stretched: `x∘.f y` is f of each item of x with each of y, `A f⍤1 ⊢ x` of each row with x",
          None, (Code.E001, Code.E017)),
    Habit(r"\bis[ \t]+(?:not[ \t]+)?(?P<w>None)\b", "every item has a value; `x≠x` finds the floats that are not a number", None,
          (Code.E001,)),
    Habit(rf"(?<![\w.])(?P<w>[fF]){TEXT}", "`⍕n` is the text of a number, and `,` joins texts", None, (Code.E001,)),
)  # fmt: skip

_NAMED = (Code.E001, Code.E002, Code.E005, Code.E009, Code.E014, Code.E017, Code.E304, Code.E310)

BRACKETS: tuple[Habit, ...] = (
    Habit(r"\b(?:axis|dim|keepdims|dtype)[ \t]*=[^\n⋄]*",
          "arguments have no names: `f/x` is along the last axis, `f⌿x` along the first",
          "f⌿…", (Code.E001, Code.E002)),
    Habit(rf"(?P<x>(?<![\w.]){NAME})\([ \t]*(?P<i>\d+)[ \t]*\)", "`x[i]` indexes, from 0", cells_from_one, (Code.E111,)),
    Habit(r"(?<![\w)\]⍵⍺])\[(?P<x>[^\[\]\n⋄;,]+(?:;[^\[\]\n⋄;,]+)+)\]", "`⋄` separates the cells of a matrix",
          rows_of, (Code.E002,)),
    Habit(rf"(?<![\w.])(?P<all>(?:{NAME}\.)*{NAME}{GIVEN}(?:\.{NAME}{GIVEN})*\[[^\[\]\n;]*:[^\[\]\n;]*\])",
          "`k↑x` are the first k items, `k↓x` those after them, `⊖x` the reverse", read_whole, (Code.E017,)),
    Habit(rf"(?P<x>{NAME})\[[ \t]*(?P<i>[1-9]\d*)[ \t]*:[ \t]*end[ \t]*\]", "`k↓x` leaves out the first k items",
          lambda g: f"{int(g['i']) - 1}↓{g['x']}" if g["i"] != "1" else g["x"]),
    Habit(rf"(?P<all>{NAME}\[[ \t]*::[ \t]*-1[ \t]*\])", "`⊖` reverses the major cells", read_whole),
    Habit(rf"(?P<all>{NAME}\[(?:{_AXIS}:{_AXIS},|{_AXIS},{_AXIS}:){_AXIS}\])",
          "`;` separates the axes of an index, and an axis that is taken whole is left empty", read_whole),
    Habit(rf"(?P<all>{NAME}\[[ \t]*-?(?:{NAME}|\d+)[ \t]*(?:,[ \t]*-?(?:{NAME}|\d+)[ \t]*)+\])",
          "`,` joins positions of one axis; `;` separates the axes of an index", read_whole, (Code.E310,), legal=True),
    Habit(rf"(?P<all>{NAME}\[[^\[\];\n]*:[^\[\];\n]*\])",
          "`k↑x` are the first k items, `k↓x` those after them, `x[a+⍳k]` k items from a on", read_whole),
    Habit(rf"(?P<all>{NAME}\[[ \t]*-[ \t]*1[ \t]*\])",
          "positions count from the start; the last cell is the first of the reverse", read_whole),
    Habit(rf"(?P<all>{NAME}\[[ \t]*-[ \t]*\d+[ \t]*\])", "positions count from the start", read_whole),
    Habit(rf"(?P<all>{NAME}\[[^\[\]\n]*[<>=&|][^\[\]\n]*\])", "`m⌿x` keeps the cells that the mask m selects", read_whole,
          (Code.E304,)),
    Habit(rf"(?P<x>{NAME})\[(?P<w>end)\]", "the last cell is the first of the reverse", "0⌷⊖{x}", (Code.E001,)),
    Habit(rf"(?P<x>{NAME})\[(?P<i>{NAME})\]", "`m⌿x` keeps the cells that the mask m selects", "{i}⌿{x}", (Code.E304,)),
    Habit(rf"(?P<x>{NAME})\((?P<i>[^()\n]*:[^()\n]*,[^()\n]*|[^()\n]*,[^()\n]*:[^()\n]*)\)",
          "`x[i;j]` indexes: in brackets, from 0, with `;` between the axes, and an axis that is taken whole is left empty",
          cells_from_one, (Code.E017,)),
    Habit(rf"(?:^|(?<=[⋄(=←])|(?<=<-))[ \t]*(?P<all>(?P<a>{ATOM}):(?:(?P<s>{ATOM}):)?(?P<b>{ATOM}))(?=[ \t]*(?:$|[\n⋄)#]))",
          "`⍳n` counts from 0 to n-1", range_of, (Code.E017,)),
    Habit(rf"(?P<x>(?<![\w.]){NAME}|\([^()\n]*\))'(?=[ \t]*(?:$|[-+*/^@,;#\n⋄)\]]))", "`'` starts a text; `⍉` transposes",
          transposed, (Code.E004,)),
    Habit(r"(?<![\w)\]⍵⍺])(?P<all>\[(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*,(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*\])",
          "items of a vector stand side by side, rows of a matrix in brackets with `⋄` between them",
          read_whole),
    Habit(rf"{NAME}\[[ \t]*\.\.\.", "`k⌷⍤1 ⊢ x` is the k-th item of each row", None, (Code.E008,)),
    Habit(r"(?<![\w.])(?P<w>null|nil|nothing|NULL|nullptr|undefined)\b",
          "every item has a value (and `⎕nan` is the float that is not a number)", None, (Code.E001,)),
)  # fmt: skip
"""What stands in brackets or goes on from a name, looked at after calls, which may hold it."""


@lru_cache(maxsize=2)
def rows(legal: bool) -> tuple[tuple[Habit, re.Pattern[str]], ...]:
    """The rows with their patterns: those that are legal, or all."""
    chosen = [row for row in (*HABITS, *BRACKETS) if row.legal] if legal else [*HABITS, *_named(), *BRACKETS]
    return tuple([(row, re.compile(row.pattern)) for row in chosen])


def _named() -> tuple[Habit, ...]:
    """The rows of names: calls as functions and as methods, functions without parentheses, values."""
    functions = {*WORDS, *ROWS, *JOINED, *(word for word, _ in (*CALLS, *BUILTINS)), "stack", "column_stack", "astype"}
    words, values, hinted = ("|".join(sorted(names, key=len, reverse=True)) for names in (functions, CONSTANTS, TOLD))
    known = rf"(?:{'|'.join(PACKAGES)})\.(?:(?:{'|'.join(SUBPACKAGES)})\.)*"
    every = rf"(?:{'|'.join(PACKAGES)})\.(?:[a-z]\w*\.)*"
    libraries = r"(?:stats|sort|text|linalg)\."
    given = GIVEN
    return (
        Habit(rf"(?<![\w.])(?P<all>(?:{'|'.join(PACKAGES)})\.\w+\.(?P<w>outer|reduce|accumulate){given})",
              "`x∘.f y` is f of each item of x with each of y, `f⌿x` folds with f, `f⍀x` keeps what comes on the way",
              read_whole, _NAMED),
        Habit(rf"(?<![\w.])(?:{'|'.join(PACKAGES)})\.(?P<w>size)\b(?=[ \t]*\()",
              "`≢,x` is the number of items of x, `⍴x` its shape", None, _NAMED),
        Habit(rf"(?<![\w.])(?:{every}|{NAME}\.)?(?P<w>{hinted})\b(?=[ \t]*\()", "", None, (*_NAMED, Code.E131, Code.E133)),
        Habit(rf"(?<![\w.])(?P<all>(?:(?!{known}|{libraries}){NAME}(?:\[[^\[\]\n]*\])?|(?:{known})?{NAME}{given}|{given}|{TEXT})"
              rf"(?:\.{NAME}{given})*\.(?P<w>{words})\b(?:{given})?)", "", applied, _NAMED),
        Habit(rf"(?<![\w.])(?P<all>(?:{known})?(?P<w>{words}){given})", "", applied, _NAMED),
        Habit(rf"(?<![\w.])(?P<all>(?:{known})?(?P<w>{'|'.join(WORDS)})\b[ \t]*)(?!\()", "",
              lambda g: WORDS[g["w"]], (Code.E001,)),
        Habit(rf"(?<![\w.])(?:{known})?(?P<w>{values})\b", "", lambda g: CONSTANTS[g["w"]], (Code.E001,)),
        Habit(rf"(?<![\w.])(?:{'|'.join(PACKAGES)}|pd|pandas)\.(?:{NAME}\.)*(?P<w>{NAME})",
              "Rho has no spelling of this function or value of a package; docs/from-numpy.md has those of NumPy that it has",
              None, (Code.E001,)),
    )  # fmt: skip
