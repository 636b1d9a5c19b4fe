"""Patterns of foreign syntax (Python, C, R, MATLAB), each with a hint and an optional rewrite.

A pattern is a regular expression over the text in which quotes are filled with letters and comments with blanks (`mask_quotes`).
Its group `w` is the word at fault: an E001 is explained only if it is about that word.  The group `all` is what the fix replaces
(without it, the whole match); `after` is the text from the match to the end of its brackets or statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from ..diagnostics.model import Code
from ..support.records import dataclass
from .equivalence_domains import TranslationContext
from .function_names import (
    BUILTINS,
    CALLS,
    CONSTANTS,
    JOINING_FUNCTIONS,
    METHODS,
    MONADIC_FUNCTIONS,
    PACKAGES,
    ROW_BY_ROW,
    SUBPACKAGES,
    UNTRANSLATED,
)

# ---------------------------------------------------------------------------------------------------- rewrites
#
# Each function writes the Rho text for the groups of a match: names, calls, slices, indices, lists and functions.

class PatternGroups(dict[str, str]):
    """The groups of a match by name, and the translation context at its position."""

    def __init__(self, groups: Mapping[str, str], context: TranslationContext) -> None:
        super().__init__(groups)
        self.context = context


NAME = r"[A-Za-z_]\w*"
ITEM = r"(?:[\w.¯]+|\([^()\n]*\))"
TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"

_TO_BE_WRITTEN = "…"
"""Stands for a part that the user has to write; a fix that contains it is shown without an edit."""


def expression(text: str, context: TranslationContext) -> str:
    """The translation of a foreign expression, or `…`."""
    from .python import rho_of

    if not is_power(text):
        return _TO_BE_WRITTEN
    return rho_of(text.replace("^", "**"), context) or _TO_BE_WRITTEN


def is_power(text: str) -> bool:
    """Is each `^` followed by a number, and so a power?  Between names it may be Python's exclusive or."""
    return re.search(r"\^(?![ \t=]*[\d.])", text) is None


_BY_NAME = r"[(,][ \t]*(?!(?:axis|dim|dtype)\b)([A-Za-z]\w*)[ \t]*=(?!=)"
"""An argument by name other than an axis or a type."""


def named_arguments_hint(text: str) -> str:
    """The hint about the arguments by name of a call without a translation; empty if it has none."""
    named = dict.fromkeys(re.findall(_BY_NAME, text))
    parts = " and ".join(f"`{one}=`" for one in named)
    if list(named) == ["keepdims"]:
        return "; no axis of length 1 is needed: `A÷+/A` has each row with its sum, `A ÷⍤1 ⊢ +⌿A` each column"
    return f"; arguments have no names: what {parts} asks for is written out" if named else ""


_STACKED: Final = {"stack": "[x ⋄ y]", "column_stack": "⍉[x ⋄ y]"}
_OF_LIBRARY: Final = {"round": "{1} stats.round {0}"}
"""Library functions for calls of several arguments whose spelling in glyphs is long."""
_OF_SEVERAL: Final = {"min": "⌊/", "max": "⌈/"}
"""Reductions that other languages apply to numbers given as separate arguments: `max(a, b)`."""
_SIMPLE_ARGUMENT: Final = re.compile(r"[ \t]*([A-Za-z]\w*|\d+(?:\.\d+)?)[ \t]*")


def _in_rho(text: str) -> str:
    """A text with the arguments of a dfn as Rho writes them."""
    return text.replace("omega_", "⍵").replace("alpha_", "⍺")


def _shown_arguments(call: str) -> tuple[list[str], int]:
    """The arguments of a call as a proposal shows them (names and numbers as they are, else x, y and n, at least three), and how
    many there are."""
    inside = call.partition("(")[2].rpartition(")")[0]
    parts = inside.split(",") if inside.strip() else []
    known = [match[1] for part in parts if (match := _SIMPLE_ARGUMENT.fullmatch(part)) is not None]
    given = [_in_rho(name) for name in known] if len(known) == len(parts) else []
    return [*given, *"xyn"[len(given) :]], len(parts)


def call_of(groups: PatternGroups) -> str:
    """The translation of a call; without one, the usual spelling of its function, of the call's arguments or of x and y."""
    from .python import reduction_along, rho_of

    word, call = groups["w"], groups["all"].replace("⍵", "omega_").replace("⍺", "alpha_")  # names that Python can read
    text = rho_of(call, groups.context)
    if text is None and re.search(_BY_NAME, call):
        return _TO_BE_WRITTEN
    axis = re.search(r"\b(?:axis|dim)[ \t]*=[ \t]*(-?\d+)", call)
    if text is None and axis is not None and (reduction := reduction_along(word, axis[1])):
        return reduction
    if text is None or text == call:
        groups.context.is_example = True
        given, count = _shown_arguments(call)
        if word in _OF_LIBRARY and count > 1:
            return _OF_LIBRARY[word].format(*given)
        if word in _OF_SEVERAL and count > 2 and call.startswith(word):
            return f"{_OF_SEVERAL[word]}{' '.join(given)}"
        several = next((template for (one, _), template in CALLS.items() if one == word), "")
        if several and (word not in MONADIC_FUNCTIONS or "," in call):
            return several.format(*given)
        if word in MONADIC_FUNCTIONS:
            return f"{MONADIC_FUNCTIONS[word].rstrip(',')}{given[0]}"
        return f"x{JOINING_FUNCTIONS[word]}y" if word in JOINING_FUNCTIONS else _STACKED.get(word, _TO_BE_WRITTEN)
    return f"({_in_rho(text)})" if groups["after"] else _in_rho(text)


def function_of(parameters: str, body: str, context: TranslationContext) -> str:
    """A dfn for a function of one or two parameters, with `…` for a body that prints, assigns or cannot be translated."""
    names = re.findall(NAME, parameters)
    if body == _TO_BE_WRITTEN:
        return "{…}"
    body = _TO_BE_WRITTEN if re.search(r"\bprint|(?<![=!<>])=(?!=)", body) else expression(body, context)
    if body == _TO_BE_WRITTEN:
        return "{…⍵…}"
    for name, argument in zip(names, "⍵" if len(names) == 1 else "⍺⍵", strict=False):
        body = re.sub(rf"\b{name}\b", argument, body)
    return "{" + body.strip() + "}"


def rows_of(groups: PatternGroups) -> str:
    """The matrix `[1 2; 3 4]` of MATLAB."""
    return f"[{re.sub(r'(?<![^ ;])-(?=[.0-9])', '¯', re.sub(r' *;', ' ⋄', groups['x']))}]"


def each_of(groups: PatternGroups) -> str:
    """A loop over the items of a sequence, as `f¨x`."""
    if "x" not in groups:
        return "{…⍵…}¨x"
    body = groups.get("v") or _TO_BE_WRITTEN
    if re.search(r"[(\[]|\.[A-Za-z]", body) and not re.match(r"[ \t]*(?:range|\[)", groups["x"]):
        return f"{{…⍵…}}¨{expression(groups['x'], groups.context)}"  # elsewhere the items of a matrix are its rows
    items = expression(groups["x"], groups.context)
    (fact,) = groups.context.facts([items])
    if {*re.findall(NAME, body)} - {groups["i"], "e"} and not groups.context.qualifies and (fact is None or fact.rank != 1):
        return f"{{…⍵…}}¨{items}"
    return f"{function_of(groups['i'], body, groups.context.with_item(groups['i'], items))}¨{items}"


ATOM = r"[A-Za-z_]\w*|\d+"


def translated_part(groups: PatternGroups) -> str:
    """The translation of the matched expression, in parentheses where something follows it."""
    text = expression(groups["all"], groups.context)
    return f"({text})" if groups["after"] and text != _TO_BE_WRITTEN and not re.fullmatch(r"\w+\[[^\[\]]*\]", text) else text


def cells_from_one(groups: PatternGroups) -> str:
    """An index of MATLAB such as `A(1,:)`: positions count from 1, and ranges include both ends."""
    axes = []
    for axis in map(str.strip, groups["i"].split(",")):
        first, colon, last = (part.strip() for part in axis.partition(":"))
        if colon and not first and not last:
            axes.append("")
        elif colon:
            is_literal = first.isdigit() and last.isdigit()
            axes.append(f"{int(first) - 1}+⍳{int(last) - int(first) + 1}" if is_literal else _TO_BE_WRITTEN)
        else:
            axes.append(str(int(axis) - 1) if axis.isdigit() and int(axis) else _TO_BE_WRITTEN)
    return f"{groups['x']}[{';'.join(axes)}]"


def range_of(groups: PatternGroups) -> str:
    """The range `a:b` or `a:step:b`, which includes both ends."""
    first, step, last = groups["a"], groups.get("s", "1"), groups["b"]
    if first.isdigit() and step.isdigit() and last.isdigit() and int(step):
        if int(first) > int(last):
            return _TO_BE_WRITTEN  # R counts down, others have no item
        result = f"⍳{(int(last) - int(first)) // int(step) + 1}"
        result = result if int(step) == 1 else f"{step}×{result}"
        return result if int(first) == 0 else f"{first}+{result}"
    if step != "1":
        return _TO_BE_WRITTEN
    groups.context.remarks["R counts down where the end is less than the start; `⍳` is then empty or an error"] = None
    return f"{first}+⍳1+{last}-{first}"


def transposed(groups: PatternGroups) -> str:
    """`A'` of MATLAB, which conjugates too, and for which a vector is a row or a column."""
    (fact,) = groups.context.facts([groups["x"]])
    if fact is None or fact.rank != 2 or fact.kind == "z":
        words = "it means the same only for matrices of real numbers: it conjugates, and makes columns of rows"
        groups.context.differences[words] = None
        return _TO_BE_WRITTEN
    return f"(⍉{groups['x']})" if groups["after"] else f"⍉{groups['x']}"


def augmented_assignment(groups: PatternGroups) -> str:
    """`x += y` and its like, as `x +← y` where Rho has the function, else as an assignment of the translation."""
    name, operator, value = groups["x"], groups["f"], groups["v"]
    text = expression(f"{name} {operator} ({value})", groups.context)
    match = re.fullmatch(rf"{name}([^\w\s])(.*)", text)
    if match is None:
        return text if text == _TO_BE_WRITTEN else f"{name} ← {text}"
    right = match[2][1:-1] if re.fullmatch(r"\([^()]*\)", match[2]) else match[2]
    return f"{name} {match[1]}← {right}"


def assignment_of(groups: PatternGroups) -> str:
    return f"{groups['x'] if 'x' in groups else groups['w']} ← {expression(groups['v'], groups.context)}"


def dyadic_of(glyph: str) -> Callable[[PatternGroups], str]:
    """The dyadic function `glyph` of truth values; if its left argument is more than one item, `…` says that it needs
    parentheses."""

    def written(groups: PatternGroups) -> str:
        if not re.fullmatch(rf"[ \t]*{ITEM}[ \t]*", groups["a"]):
            return f"(…){glyph}…"
        for fact in groups.context.facts([groups["a"].strip(), groups["after"] or "…"]):
            if fact is not None and fact.kind != "b":
                groups.context.differences[f"of what is no truth value `{glyph}` is another function here"] = None
                return _TO_BE_WRITTEN
        return glyph

    return written


def between_percents(groups: PatternGroups) -> str:
    """A function of R between percent signs, such as `%in%`."""
    a, b = groups["a"], groups["b"]
    if groups["f"] in ("in", "o"):
        return {"in": f"{a}∊{b}", "o": f"{a}∘.×{b}"}[groups["f"]]
    if groups["f"] == "*" and any(fact is None or fact.rank != 2 for fact in groups.context.facts([a, b])):
        groups.context.differences["it means the same only for matrices: with a vector it is a matrix in R"] = None
        return _TO_BE_WRITTEN
    return infix({"*": "@", "/": "//", "": "%"}[groups["f"]])(groups)


def infix(operator: str) -> Callable[[PatternGroups], str]:
    """The translation of an operator between two items."""
    return lambda groups: expression(f"{groups['a']} {operator} {groups['b']}", groups.context)


def elementwise_of(groups: PatternGroups) -> str:
    return infix("**" if groups["f"] == "^" else groups["f"])(groups)


def chosen_of(groups: PatternGroups) -> str:
    """The translation of `a if c else b`; none if a and b differ in type, since Python's result has the type of the value
    taken."""
    kinds = {fact.kind for fact in groups.context.facts([groups["a"], groups["b"]]) if fact is not None}
    if len(kinds) > 1:
        groups.context.differences["the result has the type of the chosen one there"] = None
        return _TO_BE_WRITTEN
    return f"({groups['c']}) ¿ ({groups['a']} ⋄ {groups['b']})"


def complex_of(groups: PatternGroups) -> str:
    return f"{groups['a']}J{'¯' if groups['s'] == '-' else ''}{groups['b']}"


# ---------------------------------------------------------------------------------------------------- patterns

Write: TypeAlias = "str | Callable[[PatternGroups], str] | None"

_START = r"(?:^|(?<=⋄))[ \t]*(?P<all>"
_START_INSIDE = r"(?:^|(?<=[⋄{]))[ \t]*(?P<all>"
"""The start of a statement, also of the first one of a function."""
_REST = r"[^\n⋄]*[^\s⋄]"
_REST_INSIDE = r"[^\n⋄{}]*[^\s⋄{}]"
_AXIS = r"(?:[^\[\]();\n]|\[[^\[\]();\n]*\])*"
_FLAT = r"[^\n⋄;\[\](){}]*"
CALL_ARGUMENTS = r"\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\)"
_BEFORE = r"(?<![\w.¯)\]'\"])(?<![\w.¯)\]'\"] )"
_END = r"(?=[ \t]*(?:$|[\n⋄#]))"
_VARIABLE = rf"{NAME}(?:\[[^\[\]\n⋄]*\])?"
_GUARD = r"(?:\[[^\[\]\n]*\]|\([^()\n]*\)|(?!lambda\b)[^\n⋄\[\](){}?:'\"])*:"
"""The rest of a condition before the colon of a guard."""
_BOTH = r"(?P<a>[^\n⋄←]*?)(?P<all>"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row of the table: the regular expression, its hint and its rewrite.

    `rewrite` is a template over the groups, a function of them, or None where no text can be offered.  `codes` are the errors
    that the row explains, None for any.  `legal`: the text is valid Rho of another meaning, so it gets a note."""

    pattern: str
    hint: str
    rewrite: Write = None
    codes: tuple[Code, ...] | None = None
    legal: bool = False

    def rewrite_of(self, groups: PatternGroups) -> str | None:
        """The rewrite of a match with these groups; None if the row has none."""
        if self.rewrite is None:
            return None
        return self.rewrite.format_map(groups) if isinstance(self.rewrite, str) else self.rewrite(groups)


PATTERNS: tuple[Pattern, ...] = (
    # ---- statements
    Pattern(_START + rf"{_FLAT}←{_FLAT}(?P<s>;)[^\n⋄]*)", "`⋄` separates statements, `;` the axes of `x[…;…]`",
            lambda g: g["all"].replace(";", " ⋄", 1) if g["all"].rstrip()[-1] != ";" else g["all"].rstrip()[:-1],
            (Code.E001, Code.E002)),
    Pattern(r"#(?P<x>.*)", "a comment starts with `⍝`", "⍝{x}"),
    Pattern(_START + r"//(?P<x>.*))", "a comment starts with `⍝`", "⍝{x}"),
    Pattern(_START + rf"(?:import|from)[ \t]+{_REST})",
            "nothing is imported: functions are glyphs, and `use stats` gives a library", ""),
    Pattern(_START + rf"def[ \t]+(?P<f>{NAME})[ \t]*\((?P<p>[^()\n]*)\)[ \t]*:[ \t]*(?:return\b)?(?P<v>[^\n⋄]*))",
            "a function is `{…}` with `⍵` for its argument (`⍺` is the left one), and its last expression is its value",
            lambda g: f"{g['f']} ← {function_of(g['p'], g['v'], g.context.of_parameters()) if g['v'].strip() else '{…⍵…}'}"),
    Pattern(r"(?<![\w.])(?P<all>(?:list\((?=(?:map|filter)\())?(?:map|filter)\([ \t]*lambda\b"
            rf"(?:[^()\n⋄]|{CALL_ARGUMENTS})*\)(?:(?<=\)\))\))?)",
            "`f¨x` is f of each item, and `m⌿x` keeps what a mask m says", translated_part),
    Pattern(r"lambda[ \t]*(?P<p>[^:\n]*):[ \t]*"
            rf"(?P<v>(?:[^()\[\],\n⋄]|{CALL_ARGUMENTS}|\[[^\[\]\n]*\])*[^\s()\[\],\n⋄]|[^()\[\],\n⋄]*{CALL_ARGUMENTS})",
            "a function is `{…}` with `⍵` for its argument (`⍺` is the left one)",
            lambda g: function_of(g["p"], g["v"], g.context.of_parameters())),
    Pattern(_START + rf"for\b[ \t]*(?:(?P<i>{NAME})[ \t]+in\b[ \t]*(?P<x>[^:\n⋄]+)(?::(?P<v>[^\n⋄]*))?|{_REST}))",
            "there is no `for`: `f¨x` is f of each item, `f/x` folds, `f⍣n` repeats, and `{…⍺…}⍣(⍳n)` counts", each_of),
    Pattern(_START + rf"while\b{_REST})", "there is no `while`: `f⍣(n ⋄ p)` repeats f until p holds, n times at most",
            "{{…}}⍣(n ⋄ {{…}})"),
    Pattern(rf"(?P<a>{ITEM})[ \t]+if[ \t]+(?P<c>[^\n⋄]+?)[ \t]+else[ \t]+(?P<b>{ITEM})", "`m ¿ (a ⋄ b)` chooses", chosen_of),
    Pattern(rf"(?P<c>[^\n⋄?:←]*[^\s⋄?:←])[ \t]*\?[ \t]*(?P<a>{ITEM})[ \t]*:[ \t]*(?P<b>{ITEM})", "`m ¿ (a ⋄ b)` chooses",
            chosen_of),
    Pattern(_START + rf"if\b[ \t]*(?P<c>[^\n⋄]+?)[ \t]+then[ \t]+(?P<a>[^\n⋄]+?)[ \t]+else[ \t]+(?P<b>{_REST}))",
            "`m ¿ (a ⋄ b)` chooses",
            chosen_of),
    Pattern(_START + rf"(?:if|elif|else)\b(?:{_REST}|:))",
            "there is no `if`: `m ¿ (a ⋄ b)` chooses items, and a function chooses by a guard", "{{condition : value ⋄ …}}"),
    Pattern(_START + rf"return\b[ \t]*(?P<v>{_REST}))", "the last expression of a function is its value", "{v}"),
    # ---- assignment and comparison
    Pattern(_START + rf"(?P<x>{NAME})[ \t]*:=[ \t]*(?P<v>{_REST}))", "a name gets a value by `←`", assignment_of),
    Pattern(_START + rf"(?P<w>{NAME})[ \t]*<-[ \t]*(?P<v>{_REST}))", "`<-` is `<` and `-`; a name gets a value by `←`",
            assignment_of, (Code.E001,), legal=True),
    Pattern(_START + rf"(?P<x>{NAME})[ \t]*(?P<f>[-+*/|&^])=[ \t]*(?P<v>{_REST}))", "a function left of `←` changes a value",
            augmented_assignment),
    Pattern(_START + rf"(?P<x>{NAME})(?P<f>\+\+|--)[ \t]*(?=$|[\n⋄]))", "a function left of `←` changes a value",
            lambda g: f"{g['x']} {g['f'][0]}← 1"),
    Pattern(r"~=|<>", "there is no `~=` or `<>`: `≠` is not equal", "≠", (Code.E131, Code.E133)),
    Pattern(rf"(?:^|(?<=⋄))[ \t]*{_VARIABLE}(?P<all>[ \t]*==[ \t]*)", "there is no `==`: `=` compares", "="),
    Pattern(r"==", "there is no `==`: `=` compares", "="),
    Pattern(r"!=", "there is no `!=`: `≠` is not equal", "≠"),
    Pattern(r"<=", "there is no `<=`: `≤` is at most", "≤"),
    Pattern(r">=", "there is no `>=`: `≥` is at least", "≥"),
    *(Pattern(start + rf"{target}[ \t]{blanks}=(?!=)[ \t]*(?!{_GUARD})(?P<v>{rest}))",
              f"`=` compares; {given} by `←`", assignment_of, (Code.E001, Code.E002), legal)
      for target, given in ((rf"(?P<w>{NAME})", "a name gets a value"), (rf"(?P<x>{NAME}\[[^\[\]\n⋄]*\])", "items get a value"))
      for blanks, legal, start, rest in (
          ("+", True, _START, _REST), ("*", False, _START_INSIDE, _REST_INSIDE), ("*", False, _START, _REST))),
    Pattern(_BOTH + r"&&)", "there is no `&&`: `∧` is and", dyadic_of("∧")),
    Pattern(_BOTH + r"\|\|)", "`||` is `|` twice: `∨` is or", dyadic_of("∨"), legal=True),
    Pattern(_BOTH + r"(?<![\w.])(?P<w>and)\b)", "there is no `and`: `∧` is and", dyadic_of("∧"), (Code.E001,)),
    Pattern(_BOTH + r"(?<![\w.])(?P<w>or)\b)", "there is no `or`: `∨` is or", dyadic_of("∨"), (Code.E001,)),
    Pattern(r"!(?P<x>[A-Za-z]\w*)", "`!` is the factorial; `~` is not", "~{x}", (Code.E300, Code.E303), legal=True),
    # ---- arithmetic
    Pattern(r"\*\*", "`**` is `*` twice: one `*` is power", "*", (Code.E101,), legal=True),
    Pattern(rf"(?P<a>{ITEM})[ \t]*%(?P<f>in|o|[*/]|)%[ \t]*(?P<b>{ITEM})", "functions between `%` are glyphs", between_percents),
    Pattern(rf"(?P<a>{ITEM})[ \t]*\.(?P<f>[-+*/^<>])[ \t]*(?P<b>{ITEM})", "functions go item by item", elementwise_of,
            (Code.E005, Code.E006, Code.E008)),
    Pattern(rf"(?P<a>{NAME})[ \t]*\\[ \t]*(?P<b>{NAME})(?![\w.\[(])", "`b⌹A` solves A x = b", "{b}⌹{a}", (Code.E131,)),
    Pattern(rf"(?P<a>{ITEM})[ \t]*%[ \t]*(?P<b>{ITEM})", "the remainder is `|`, with the divisor on its left", infix("%")),
    Pattern(rf"(?P<all>(?P<a>{ITEM})[ \t]*\^[ \t]*(?P<b>{ITEM}))", "power is `*`; Python's exclusive or is `⎕bxor`, of masks `≠`",
            lambda g: f"{g['a']}*{g['b']}" if is_power(g["all"]) else "…"),
    Pattern(r"~(?![~*])", "`~` is not, and needs a bool; `⎕bnot n` turns the bits of integers, and `0=n` says which are 0", None,
            (Code.E303,)),
    Pattern(rf"(?P<a>{NAME})[ \t]*@[ \t]*(?P<b>{NAME})", "the matrix product is `+.×`", infix("@")),
    Pattern(rf"(?P<a>{ITEM})[ \t]*//[ \t]*(?P<b>{ITEM})", "division is `÷`, and `⌊` rounds down", infix("//")),
    Pattern(rf"{_BEFORE}(?P<a>[\w.]+[ \t]+(?!/[ \t]+[A-Za-z_])(?P<f>[-/])[ \t]+[\w.]+)[ \t]+(?P=f)[ \t]+(?P<b>[\w.]+){_END}",
            "a function takes all that is right of it (and `÷` divides)",
            lambda g: f"({g['a']}) {g['f']} {g['b']}".replace("/", "÷"), (), legal=True),
    Pattern(rf"{_BEFORE}(?P<a>[\d.]+)[ \t]+/[ \t]+(?P<b>{NAME}){_END}", "`/` repeats what is right of it; division is `÷`",
            "{a}÷{b}", (), legal=True),
    Pattern(rf"{_BEFORE}(?P<a>[\w.]+)[ \t]*(?P<f>[<>])[ \t]*(?P<b>[\w.]+)[ \t]*(?P=f)[ \t]*(?P<c>[\w.]+){_END}",
            "a function takes all that is right of it, so the second comparison is of the first's result; `∧` is and",
            "({a}{f}{b})∧{b}{f}{c}", (), legal=True),
    Pattern(rf"(?P<a>\([^()\n]*[<>=][^()\n]*\))[ \t]*\|[ \t]*(?P<b>\([^()\n]*[<>=][^()\n]*\)){_END}",
            "`|` is the remainder; `∨` is or", "{a}∨{b}", (), legal=True),
    Pattern(rf"{_BEFORE}(?P<a>[\d.]+)/(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])", "`/` repeats what is right of it; division is `÷`",
            "{a}÷{b}", (Code.E303,), legal=True),
    Pattern(rf"{_BEFORE}(?P<a>{NAME})[ \t]*/[ \t]*(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])",
            "`/` repeats what is right of it; division is `÷`", "{a}÷{b}", (Code.E101, Code.E303), legal=True),
    Pattern(rf"(?P<all>(?P<a>{ITEM})[ \t]+/[ \t]+(?P<b>{ITEM}))", "`/` repeats what is right of it; division is `÷`",
            translated_part, (Code.E131,)),
    Pattern(rf"{_BEFORE}(?P<a>[\w.]+)(?P<s>[ \t]*)\*[ \t]*(?P<b>[\w.]+)(?P<f>[ \t]*[-+][ \t]*)(?P<c>[\w.]+)",
            "`*` is power, and a function takes all that is right of it", "({a}{s}×{s}{b}){f}{c}", (), legal=True),
    Pattern(r"⎕(?:date|time)[ \t]+(?P<all>\d{4}-\d{2}-\d{2})(?![\w.-])", "a date is written in quotes: `-` subtracts", "'{all}'",
            (), legal=True),
    Pattern(rf"{NAME}[ \t]+where[ \t]+[\w(~][^\n⋄]*", "`mask⌿x` keeps the rows where the mask holds", None, (Code.E014,)),
    Pattern(r"(?<![\w.-])(?P<all>\d{4}-\d{2}-\d{2})(?![\w.-])", "a date is written in quotes: `-` subtracts", "⎕date '{all}'",
            (Code.E300,)),
    Pattern(r"(?:^|(?<=[⋄(\[=←]))(?P<s>[ \t]*)(?P<all>-(?P<x>\d[\d.]*))(?![\w.]|[ \t]+[\d¯])",
            "`-` is a function, which negates all that is right of it; `¯` is the sign of a number", "¯{x}", (), legal=True),
    Pattern(r"(?<![\w.¯])(?P<a>\d[\d.]*)[eE]-(?P<b>\d+)", "`¯` is the sign of a number, of its exponent too", "{a}e¯{b}",
            (Code.E005,)),
    Pattern(r"(?<![\w.])(?P<a>\d[\d.]*)[ \t]*(?P<s>[-+])[ \t]*(?P<b>\d[\d.]*)[ij]\b", "`J` joins the parts of a complex number",
            complex_of, (Code.E005,)),
    Pattern(r"(?<![\w.])(?P<b>\d[\d.]*)[ij]\b", "`J` joins the parts of a complex number", "0J{b}", (Code.E005,)),
    Pattern(r"(?<![\w.])(?P<all>0(?:[xX][0-9a-fA-F]+|[bB][01]+|[oO][0-7]+))\b", "numbers are decimal",
            lambda g: str(int(g["all"], 0))),
    Pattern(rf"(?P<a>{TEXT})[ \t]*\+[ \t]*(?P<b>{TEXT}|{NAME})", "`,` joins texts", "{a},{b}"),
    Pattern(rf"(?P<a>{NAME})[ \t]*\+[ \t]*(?P<b>{TEXT})", "`,` joins texts", "{a},{b}", (Code.E300,)),
    Pattern(rf"(?P<all>(?P<a>{TEXT})[ \t]*\*[ \t]*(?P<b>\d+))", "`⍴` repeats", "({b}×≢{a})⍴{a}", (Code.E300,)),
    Pattern(rf"\[[ \t]*(?P<v>[^\[\]\n]+?)[ \t]+for[ \t]+(?P<i>{NAME})[ \t]+in[ \t]+"
            r"(?P<x>(?:(?![ \t]if[ \t])[^\[\]\n])+?)[ \t]*\]",
            "`f¨x` is f of each item", each_of),
    Pattern(rf"\bfor[ \t]+{NAME}[ \t]+(?P<w>in)\b", "`f¨x` is f of each item", None, (Code.E001,)),
    Pattern(rf"(?<!for )(?<![\w.])(?P<a>{ITEM})[ \t]+(?P<f>(?:not[ \t]+)?)(?P<w>in)[ \t]+(?P<b>{NAME})(?=[ \t]*(?:$|[\n⋄)#]))",
            "`∊` says which items are in an array", lambda g: infix("not in" if "not" in g["f"] else "in")(g), (Code.E001,)),
    Pattern(rf"(?P<a>{ITEM})[ \t]*<<[ \t]*(?P<b>{ITEM})", "there are no shifts: `2*n` is a power of 2", infix("<<")),
    Pattern(rf"(?P<a>{ITEM})[ \t]*>>[ \t]*(?P<b>{ITEM})", "there are no shifts: `2*n` is a power of 2", infix(">>")),
    Pattern(rf"(?P<all>(?P<a>{ITEM})[ \t]*&[ \t]*(?P<b>{ITEM}))", "`∧` is and", translated_part),
    Pattern(rf"(?P<all>(?:{NAME}|(?:{NAME}\.)*{NAME}{CALL_ARGUMENTS})\[[^\[\]\n]*\b(?P<w>None|newaxis)\b[^\[\]\n]*\])",
            "no axis of length 1 is stretched: `x∘.f y` is f of each item of x with each of y, `A f⍤1 ⊢ x` of each row with x",
            translated_part, (Code.E001, Code.E017)),
    Pattern(r"\bis[ \t]+(?:not[ \t]+)?(?P<w>None)\b",
            "every item has a value; `x≠x` finds the floats that are not a number", None,
            (Code.E001,)),
    Pattern(rf"(?<![\w.])(?P<w>[fF]){TEXT}", "`⍕n` is the text of a number, and `,` joins texts", None, (Code.E001,)),
)  # fmt: skip

_NAME_CODES = (Code.E001, Code.E002, Code.E005, Code.E009, Code.E014, Code.E017, Code.E304, Code.E310)

BRACKET_PATTERNS: tuple[Pattern, ...] = (
    Pattern(r"\b(?:axis|dim|keepdims|dtype)[ \t]*=[^\n⋄]*",
            "arguments have no names: `f/x` is along the last axis, `f⌿x` along the first",
            "f⌿…", (Code.E001, Code.E002)),
    Pattern(rf"(?P<x>(?<![\w.]){NAME})\([ \t]*(?P<i>\d+)[ \t]*\)", "`x[i]` indexes, from 0", cells_from_one, (Code.E111,)),
    Pattern(r"(?<![\w)\]⍵⍺])\[(?P<x>[^\[\]\n⋄;,]+(?:;[^\[\]\n⋄;,]+)+)\]", "`⋄` separates the cells of a matrix",
            rows_of, (Code.E002,)),
    Pattern(rf"(?<![\w.])(?P<all>(?:{NAME}\.)*{NAME}{CALL_ARGUMENTS}(?:\.{NAME}{CALL_ARGUMENTS})*\[[^\[\]\n;]*:[^\[\]\n;]*\])",
            "`k↑x` are the first k items, `k↓x` those after them, `⊖x` the reverse", translated_part, (Code.E017,)),
    Pattern(rf"(?P<x>{NAME})\[[ \t]*(?P<i>[1-9]\d*)[ \t]*:[ \t]*end[ \t]*\]", "`k↓x` leaves out the first k items",
            lambda g: f"{int(g['i']) - 1}↓{g['x']}" if g["i"] != "1" else g["x"]),
    Pattern(rf"(?P<all>{NAME}\[[ \t]*::[ \t]*-1[ \t]*\])", "`⊖` reverses the major cells", translated_part),
    Pattern(rf"(?P<all>{NAME}\[(?:{_AXIS}:{_AXIS},|{_AXIS},{_AXIS}:){_AXIS}\])",
            "`;` separates the axes of an index, and an axis that is taken whole is left empty", translated_part),
    Pattern(rf"(?P<all>{NAME}\[[ \t]*-?(?:{NAME}|\d+)[ \t]*(?:,[ \t]*-?(?:{NAME}|\d+)[ \t]*)+\])",
            "`,` joins positions of one axis; `;` separates the axes of an index", translated_part, (Code.E310,), legal=True),
    Pattern(rf"(?P<all>{NAME}\[[^\[\];\n]*:[^\[\];\n]*\])",
            "`k↑x` are the first k items, `k↓x` those after them, `x[a+⍳k]` k items from a on", translated_part),
    Pattern(rf"(?P<all>{NAME}\[[ \t]*-[ \t]*1[ \t]*\])",
            "positions count from the start; the last cell is the first of the reverse", translated_part),
    Pattern(rf"(?P<all>{NAME}\[[ \t]*-[ \t]*\d+[ \t]*\])", "positions count from the start", translated_part),
    Pattern(rf"(?P<all>{NAME}\[[^\[\]\n]*[<>=&|][^\[\]\n]*\])", "`m⌿x` keeps the cells that the mask m selects", translated_part,
            (Code.E304,)),
    Pattern(rf"(?P<x>{NAME})\[(?P<w>end)\]", "the last cell is the first of the reverse", "0⌷⊖{x}", (Code.E001,)),
    Pattern(rf"(?P<x>{NAME})\[(?P<i>{NAME})\]", "`m⌿x` keeps the cells that the mask m selects", "{i}⌿{x}", (Code.E304,)),
    Pattern(rf"(?P<x>{NAME})\((?P<i>[^()\n]*:[^()\n]*,[^()\n]*|[^()\n]*,[^()\n]*:[^()\n]*)\)",
            "`x[i;j]` indexes: in brackets, from 0, with `;` between the axes, and an axis that is taken whole is left empty",
            cells_from_one, (Code.E017,)),
    Pattern(rf"(?:^|(?<=[⋄(=←])|(?<=<-))[ \t]*(?P<all>(?P<a>{ATOM}):(?:(?P<s>{ATOM}):)?(?P<b>{ATOM}))(?=[ \t]*(?:$|[\n⋄)#]))",
            "`⍳n` counts from 0 to n-1", range_of, (Code.E017,)),
    Pattern(rf"(?P<x>(?<![\w.]){NAME}|\([^()\n]*\))'(?=[ \t]*(?:$|[-+*/^@,;#\n⋄)\]]))", "`'` starts a text; `⍉` transposes",
            transposed, (Code.E004,)),
    Pattern(r"(?<![\w)\]⍵⍺])(?P<all>\[(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*,(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*\])",
            "items of a vector stand side by side, rows of a matrix in brackets with `⋄` between them",
            translated_part),
    Pattern(rf"{NAME}\[[ \t]*\.\.\.", "`k⌷⍤1 ⊢ x` is the k-th item of each row", None, (Code.E008,)),
    Pattern(r"(?<![\w.])(?P<w>null|nil|nothing|NULL|nullptr|undefined)\b",
            "every item has a value (and `⎕nan` is the float that is not a number)", None, (Code.E001,)),
)  # fmt: skip
"""Patterns of brackets and of text after a name; tried after calls, which may contain them."""


@lru_cache(maxsize=2)
def rows(legal: bool) -> tuple[tuple[Pattern, re.Pattern[str]], ...]:
    """The rows with their compiled patterns: those of valid Rho, or all."""
    chosen = [*PATTERNS, *([] if legal else _name_patterns()), *BRACKET_PATTERNS]
    chosen = [row for row in chosen if row.legal or not legal]
    return tuple([(row, re.compile(row.pattern)) for row in chosen])


def _name_patterns() -> tuple[Pattern, ...]:
    """The rows of names: calls as functions and as methods, functions without parentheses, constants."""
    functions = {
        *MONADIC_FUNCTIONS, *ROW_BY_ROW, *JOINING_FUNCTIONS, *(word for word, _ in (*CALLS, *BUILTINS)),
        "stack", "column_stack", "astype",
    }  # fmt: skip
    words, values, hinted = ("|".join(sorted(names, key=len, reverse=True)) for names in (functions, CONSTANTS, UNTRANSLATED))
    context = rf"(?:{'|'.join(PACKAGES)})\.(?:(?:{'|'.join(SUBPACKAGES)})\.)*"
    every = rf"(?:{'|'.join(PACKAGES)})\.(?:[a-z]\w*\.)*"
    libraries = r"(?:stats|sort|text|linalg)\."
    arguments = CALL_ARGUMENTS
    chained = rf"(?P<chain>(?:\.{NAME}(?:{arguments})?|\[[^\[\]\n]*\])*)"
    return (
        Pattern(rf"(?<![\w.'\"])(?P<all>(?!{context})(?:{NAME}|{TEXT})(?:\[[^\[\]\n]*\])?(?:\.(?:str|dt))?"
                rf"\.(?P<w>{'|'.join(METHODS)})\b[ \t]*{arguments}{chained})", "", None, (*_NAME_CODES, Code.E131, Code.E133)),
        Pattern(rf"(?<![\w.])(?P<all>(?:{'|'.join(PACKAGES)})\.\w+\.(?P<w>outer|reduce|accumulate){arguments})",
                "`x∘.f y` is f of each item of x with each of y, `f⌿x` folds with f, `f⍀x` keeps what comes on the way",
                translated_part, _NAME_CODES),
        Pattern(rf"(?<![\w.])(?:{'|'.join(PACKAGES)})\.(?P<w>size)\b(?=[ \t]*\()",
                "`≢,x` is the number of items of x, `⍴x` its shape", None, _NAME_CODES),
        Pattern(rf"(?<![\w.])(?:{every}|{NAME}\.)?(?P<w>{hinted})\b(?=[ \t]*\()", "", None, (*_NAME_CODES, Code.E131, Code.E133)),
        Pattern(rf"(?<![\w.])(?P<all>(?:(?!{context}|{libraries}){NAME}(?:\[[^\[\]\n]*\])?|(?:{context})?{NAME}{arguments}|{arguments}|{TEXT})"
                rf"(?:\.{NAME}{arguments})*\.(?P<w>{words})\b(?:{arguments})?)", "", call_of, _NAME_CODES),
        Pattern(rf"(?<![\w.])(?P<all>(?:{context})?(?P<w>{words}){arguments})", "", call_of, _NAME_CODES),
        Pattern(rf"(?<![\w.])(?P<all>(?:{context})?(?P<w>{'|'.join(MONADIC_FUNCTIONS)})\b[ \t]*)(?!\()", "",
                lambda g: MONADIC_FUNCTIONS[g["w"]], (Code.E001,)),
        Pattern(rf"(?<![\w.])(?:{context})?(?P<w>{values})\b", "", lambda g: CONSTANTS[g["w"]], (Code.E001,)),
        Pattern(rf"(?<![\w.])(?:{'|'.join(PACKAGES)}|pd|pandas)\.(?:{NAME}\.)*(?P<w>{NAME})",
                "Rho has no spelling of this function or value of a package; docs/from-numpy.md has those of NumPy that it has",
                None, (Code.E001,)),
    )  # fmt: skip
