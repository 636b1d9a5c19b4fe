"""What hands that know Python, C, R or MATLAB type, and how Rho spells it: one table.

A row is a pattern.  It sees the text with the insides of quotes as letters and comments as blanks.  A group `w` is the word at
fault: an E001 is explained only if it is about that word.  `all` is what the fix replaces, the whole match without it; `after`
is what follows the match up to the end of its brackets or statement.

Neighbours: `habits_told` (errors and notes in a row's words), `foreign` (whole expressions of Python), `primitives_syntax`
(characters that Rho leaves out).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from .codes import Code
from .records import dataclass

Groups: TypeAlias = Mapping[str, str]
Write: TypeAlias = "str | Callable[[Groups], str] | None"

_START = r"(?:^|(?<=⋄))[ \t]*(?P<all>"
_REST = r"[^\n⋄]*[^\s⋄]"
_FLAT = r"[^\n⋄;\[\](){}]*"
NAME = r"[A-Za-z_]\w*"
_ITEM = r"(?:[\w.¯]+|\([^()\n]*\))"
_BEFORE = r"(?<![\w.¯)\]'\"])(?<![\w.¯)\]'\"] )"
_BOTH = r"(?P<a>[^\n⋄←]*?)(?P<all>"
_TEXT = r"(?:'[^'\n]*'|\"[^\"\n]*\")"


@dataclass(frozen=True, slots=True)
class Habit:
    """`says` is why, `write` the Rho spelling: a template over the groups, a function of them, None where no text can be offered.
    `codes`: the errors that it explains, None for any.  `legal`: is the text a program that means something else?"""

    pattern: str
    says: str
    write: Write = None
    codes: tuple[Code, ...] | None = None
    legal: bool = False


_MEANT_ELSEWHERE = "…"
"""Stands in a fix for what its writer has to say anew: such a fix is words without an edit."""


def expression(text: str) -> str:
    """The text of another language's expression in Rho."""
    from .foreign import rho_of

    return rho_of(text, _SPELLING) or _MEANT_ELSEWHERE


class _Spelling:
    """What this table says of names and brackets."""

    def array(self, text: str) -> str | None:
        return _array_of(text) if re.fullmatch(r"[\[\]\d.,\s-]+", text) else None

    def call(self, word: str, arguments: list[str]) -> str | None:
        return _called(word, arguments) if len(arguments) > 1 else WORDS[word] + arguments[0]

    def slice(self, name: str, first: str, last: str) -> str | None:
        return _slice_of({"x": name, "a": first, "b": last})

    def constant(self, name: str) -> str | None:
        return CONSTANTS.get(name)

    def knows(self, word: str) -> bool:
        return word in WORDS


_SPELLING = _Spelling()


def _function_of(parameters: str, body: str) -> str:
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


def _array_of(text: str) -> str:
    """A list of lists as a strand, or as cells in brackets."""
    inner = text.strip()[1:-1]
    if "[" in inner:
        return "[" + " ⋄ ".join(_array_of(row) for row in re.findall(r"\[[^\[\]]*\]", inner)) + "]"
    return " ".join(item.strip().replace("-", "¯") for item in inner.split(",") if item.strip())


def _each(found: Groups) -> str:
    if "x" not in found:
        return "{…⍵…}¨x"
    counted = re.fullmatch(r"range\((.*)\)", found["x"].strip())
    items = found["x"].strip() if counted is None else f"⍳{counted[1]}"
    if counted is not None and "," in counted[1]:
        first, last, *step = (part.strip() for part in counted[1].split(","))
        items = f"{first}+⍳{last}-{first}" if not step and re.fullmatch(_ATOM, first) and re.fullmatch(_ATOM, last) else "…"
    return f"{_function_of(found['i'], found.get('v') or '…')}¨{items}"


def _slice_of(found: Groups) -> str:
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


_ATOM = r"[A-Za-z_]\w*|\d+"


def _counted(text: str) -> str:
    """A bound of a slice as a left argument."""
    number = re.fullmatch(r"-?(\d+)", text)
    if number:
        return f"¯{number[1]}" if text.startswith("-") else text
    return text if re.fullmatch(_ATOM, text) else _MEANT_ELSEWHERE


def _places(first: str, last: str) -> str:
    """The positions of a slice, inside brackets."""
    if first.isdigit() and last.isdigit():
        return f"{first}+⍳{max(0, int(last) - int(first))}"
    return f"{first}+⍳{last}-{first}" if all(re.fullmatch(_ATOM, bound) for bound in (first, last)) else _MEANT_ELSEWHERE


def _axes_of(found: Groups) -> str:
    """`x[:,0]` and its like: `;` between the axes."""
    axes = []
    for axis in map(str.strip, found["i"].split(",")):
        first, colon, last = (part.strip() for part in axis.partition(":"))
        if colon:
            axes.append("" if not first and not last else _places(first or "0", last) if last else _MEANT_ELSEWHERE)
        else:
            axes.append(axis if re.fullmatch(_ATOM, axis) else _MEANT_ELSEWHERE)
    return f"{found['x']}[{';'.join(axes)}]"


def _cells_from_one(found: Groups) -> str:
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


def _range_of(found: Groups) -> str:
    """`a:b` and `a:step:b`, both ends in it."""
    first, step, last = found["a"], found.get("s", "1"), found["b"]
    if first.isdigit() and step.isdigit() and last.isdigit() and int(step):
        counted = f"⍳{max(0, (int(last) - int(first)) // int(step) + 1)}"
        counted = counted if int(step) == 1 else f"{step}×{counted}"
        return counted if int(first) == 0 else f"{first}+{counted}"
    return f"{first}+⍳1+{last}-{first}" if step == "1" else _MEANT_ELSEWHERE


def _transposed(found: Groups) -> str:
    return f"(⍉{found['x']})" if found["after"] else f"⍉{found['x']}"


def _changed(found: Groups) -> str:
    glyph = {"*": "×", "/": "÷", "&": "∧", "^": "*"}.get(found["f"], found["f"])
    return f"{found['x']} {glyph}← {expression(found['v'])}"


def _assigned(found: Groups) -> str:
    return f"{found['x'] if 'x' in found else found['w']} ← {expression(found['v'])}"


def _both(glyph: str) -> Callable[[Groups], str]:
    """A function of two arguments, the left one of which ends there: an item, or what must stand in parentheses."""
    return lambda found: glyph if re.fullmatch(rf"[ \t]*{_ITEM}[ \t]*", found["a"]) else f"(…){glyph}…"


def _complex(found: Groups) -> str:
    return f"{found['a']}J{'¯' if found['s'] == '-' else ''}{found['b']}"


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
          lambda g: f"{g['f']} ← {_function_of(g['p'], g['v']) if g['v'].strip() else '{…⍵…}'}"),
    Habit(rf"lambda[ \t]*(?P<p>[^:\n]*):[ \t]*(?P<v>{_REST})",
          "a function is `{…}` with `⍵` for its argument (`⍺` is the left one)", lambda g: _function_of(g["p"], g["v"])),
    Habit(_START + rf"for\b[ \t]*(?:(?P<i>{NAME})[ \t]+in\b[ \t]*(?P<x>[^:\n⋄]+)(?::(?P<v>[^\n⋄]*))?|{_REST}))",
          "there is no `for`: `f¨x` is f of each item, `f/x` folds, `f⍣n` repeats, and `{…⍺…}⍣(⍳n)` counts", _each),
    Habit(_START + rf"while\b{_REST})", "there is no `while`: `f⍣(n ⋄ p)` repeats f until p holds, n times at most",
          "{{…}}⍣(n ⋄ {{…}})"),
    Habit(rf"(?P<a>{_ITEM})[ \t]+if[ \t]+(?P<c>[^\n⋄]+?)[ \t]+else[ \t]+(?P<b>{_ITEM})", "`¿` chooses", "({c}) ¿ ({a} ⋄ {b})"),
    Habit(rf"(?P<c>[^\n⋄?:←]*[^\s⋄?:←])[ \t]*\?[ \t]*(?P<a>{_ITEM})[ \t]*:[ \t]*(?P<b>{_ITEM})", "`¿` chooses",
          "({c}) ¿ ({a} ⋄ {b})"),
    Habit(_START + rf"if\b[ \t]*(?P<c>[^\n⋄]+?)[ \t]+then[ \t]+(?P<a>[^\n⋄]+?)[ \t]+else[ \t]+(?P<b>{_REST}))", "`¿` chooses",
          "({c}) ¿ ({a} ⋄ {b})"),
    Habit(_START + rf"(?:if|elif|else)\b(?:{_REST}|:))",
          "there is no `if`: `m ¿ (a ⋄ b)` chooses items, and a function chooses by a guard", "{{condition : value ⋄ …}}"),
    Habit(_START + rf"return\b[ \t]*(?P<v>{_REST}))", "the last expression of a function is its value", "{v}"),
    # ---- assignment and comparison
    Habit(_START + rf"(?P<x>{NAME})[ \t]*:=[ \t]*(?P<v>{_REST}))", "a name gets a value by `←`", _assigned),
    Habit(_START + rf"(?P<w>{NAME})[ \t]*<-[ \t]*(?P<v>{_REST}))", "`<-` is `<` and `-`; a name gets a value by `←`",
          _assigned, (Code.E001,), legal=True),
    Habit(_START + rf"(?P<x>{NAME})[ \t]*(?P<f>[-+*/|&^])=[ \t]*(?P<v>{_REST}))", "a function left of `←` changes a value",
          _changed),
    Habit(_START + rf"(?P<x>{NAME})(?P<f>\+\+|--)[ \t]*(?=$|[\n⋄]))", "a function left of `←` changes a value",
          lambda g: f"{g['x']} {g['f'][0]}← 1"),
    Habit(r"==", "there is no `==`: `=` compares", "="),
    Habit(r"!=", "there is no `!=`: `≠` is not equal", "≠"),
    Habit(r"<=", "there is no `<=`: `≤` is at most", "≤"),
    Habit(r">=", "there is no `>=`: `≥` is at least", "≥"),
    Habit(_START + rf"(?P<w>{NAME})[ \t]*=(?![=])[ \t]*(?P<v>{_REST}))", "`=` compares; a name gets a value by `←`", _assigned,
          (Code.E001, Code.E002), legal=True),
    Habit(_START + rf"(?P<x>{NAME}\[[^\[\]\n⋄]*\])[ \t]*=(?![=])[ \t]*(?P<v>{_REST}))",
          "`=` compares; items get a value by `←`", _assigned, (Code.E001, Code.E002), legal=True),
    Habit(_BOTH + r"&&)", "there is no `&&`: `∧` is and", _both("∧")),
    Habit(_BOTH + r"\|\|)", "`||` is `|` twice: `∨` is or", _both("∨"), legal=True),
    Habit(_BOTH + r"(?<![\w.])(?P<w>and)\b)", "there is no `and`: `∧` is and", _both("∧"), (Code.E001,)),
    Habit(_BOTH + r"(?<![\w.])(?P<w>or)\b)", "there is no `or`: `∨` is or", _both("∨"), (Code.E001,)),
    Habit(r"!(?P<x>[A-Za-z]\w*)", "`!` is the factorial; `~` is not", "~{x}", (Code.E300, Code.E303), legal=True),
    # ---- arithmetic
    Habit(r"\b(?:axis|dim|keepdims|dtype)[ \t]*=[^\n⋄]*",
          "arguments have no names: `f/x` is along the last axis, `f⌿x` along the first",
          "f⌿…", (Code.E001, Code.E002)),
    Habit(r"\*\*", "`**` is `*` twice: one `*` is power", "*", (), legal=True),
    Habit(rf"(?P<a>{_ITEM})[ \t]*%[ \t]*(?P<b>{_ITEM})", "the remainder is `|`, with the divisor on its left", "{b}|{a}"),
    Habit(rf"(?P<a>{_ITEM})[ \t]*\^[ \t]*(?P<b>{_ITEM})", "power is `*` (and is `∧`)", "{a}*{b}"),
    Habit(rf"(?P<a>{NAME})[ \t]*@[ \t]*(?P<b>{NAME})", "the matrix product is `+.×`", "{a}+.×{b}"),
    Habit(rf"(?P<a>{_ITEM})[ \t]*//[ \t]*(?P<b>{_ITEM})", "division is `÷`, and `⌊` rounds down", "⌊{a}÷{b}"),
    Habit(rf"{_BEFORE}(?P<a>[\d.]+)/(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])", "`/` repeats what is right of it; division is `÷`",
          "{a}÷{b}", (Code.E303,), legal=True),
    Habit(rf"{_BEFORE}(?P<a>{NAME})[ \t]*/[ \t]*(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])",
          "`/` repeats what is right of it; division is `÷`", "{a}÷{b}", (Code.E101, Code.E303)),
    Habit(rf"{_BEFORE}(?P<a>[\w.]+)(?P<s>[ \t]*)\*[ \t]*(?P<b>[\w.]+)(?P<f>[ \t]*[-+][ \t]*)(?P<c>[\w.]+)",
          "`*` is power, and a function takes all that is right of it", "({a}{s}×{s}{b}){f}{c}", (), legal=True),
    Habit(r"(?:^|(?<=[⋄(\[=←]))(?P<s>[ \t]*)(?P<all>-(?P<x>\d[\d.]*))(?![\w.]|[ \t]+[\d¯])",
          "`-` is a function, which negates all that is right of it; `¯` is the sign of a number", "¯{x}", (), legal=True),
    Habit(r"(?<![\w.¯])(?P<a>\d[\d.]*)[eE]-(?P<b>\d+)", "`¯` is the sign of a number, of its exponent too", "{a}e¯{b}",
          (Code.E005,)),
    Habit(r"(?<![\w.])(?P<a>\d[\d.]*)[ \t]*(?P<s>[-+])[ \t]*(?P<b>\d[\d.]*)[ij]\b", "`J` joins the parts of a complex number",
          _complex, (Code.E005,)),
    Habit(r"(?<![\w.])(?P<b>\d[\d.]*)[ij]\b", "`J` joins the parts of a complex number", "0J{b}", (Code.E005,)),
    Habit(r"(?<![\w.])0[xX](?P<x>[0-9a-fA-F]+)\b", "there are no hexadecimal numbers", lambda g: str(int(g["x"], 16))),
    Habit(rf"(?P<a>{_TEXT})[ \t]*\+[ \t]*(?P<b>{_TEXT}|{NAME})", "`,` joins texts", "{a},{b}"),
    # ---- indices and lists
    Habit(rf"(?P<x>{NAME})\[[ \t]*::[ \t]*-1[ \t]*\]", "`⊖` reverses the major cells", "⊖{x}"),
    Habit(rf"(?P<x>{NAME})\[(?P<i>[^\[\]();\n]*:[^\[\]();\n]*,[^\[\]();\n]*|[^\[\]();\n]*,[^\[\]();\n]*:[^\[\]();\n]*)\]",
          "`;` separates the axes of an index, and an axis that is taken whole is left empty", _axes_of),
    Habit(rf"(?P<x>{NAME})\[(?P<i>[ \t]*(?:{NAME}|\d+)[ \t]*(?:,[ \t]*(?:{NAME}|\d+)[ \t]*)+)\]",
          "`,` joins positions of one axis; `;` separates the axes of an index", _axes_of, (), legal=True),
    Habit(rf"(?P<x>{NAME})\[(?P<a>[^\[\]:;\n]*):(?P<b>[^\[\]:;\n]*)\]",
          "`k↑x` are the first k items, `k↓x` those after them, `x[a+⍳k]` k items from a on", _slice_of),
    Habit(rf"(?P<x>{NAME})\[[ \t]*-1[ \t]*\]", "positions count from the start; the last cell is the first of the reverse",
          "0⌷⊖{x}"),
    Habit(rf"(?P<x>{NAME})\[[ \t]*-(?P<k>\d+)[ \t]*\]", "positions count from the start", "{x}[(≢{x})-{k}]"),
    Habit(rf"(?P<x>{NAME})\((?P<i>[^()\n]*:[^()\n]*,[^()\n]*|[^()\n]*,[^()\n]*:[^()\n]*)\)",
          "`x[i;j]` indexes: in brackets, from 0, with `;` between the axes, and an axis that is taken whole is left empty",
          _cells_from_one, (Code.E017,)),
    Habit(rf"(?:^|(?<=[⋄(=←])|(?<=<-))[ \t]*(?P<all>(?P<a>{_ATOM}):(?:(?P<s>{_ATOM}):)?(?P<b>{_ATOM}))(?=[ \t]*(?:$|[\n⋄)#]))",
          "`⍳n` counts from 0 to n-1", _range_of, (Code.E017,)),
    Habit(rf"(?P<x>(?<![\w.]){NAME}|\([^()\n]*\))'(?=[ \t]*(?:$|[-+*/^@,;#\n⋄)\]]))", "`'` starts a text; `⍉` transposes",
          _transposed, (Code.E004,)),
    Habit(r"(?<![\w)\]⍵⍺])(?P<x>\[(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*,(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*\])",
          "items of a vector stand side by side, rows of a matrix in brackets with `⋄` between them",
          lambda g: _array_of(g["x"])),
    Habit(r"(?<![\w.])(?P<w>null|nil|NULL|nullptr|undefined)\b",
          "there is no `null`: every item has a value (and `⎕nan` is the float that is no number)", None, (Code.E001,)),
)  # fmt: skip

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
    "maximum": "⌈", "minimum": "⌊", "power": "*", "outer": "∘.×", "dot": "+.×", "isnan": "≠⍨",
    "eye": "∘.=⍨⍳", "identity": "∘.=⍨⍳", "linspace": "a+(b-a)×(⍳n)÷n-1…", "full": "shape⍴item…",
}  # fmt: skip
"""Functions by their names elsewhere, as what is written left of the argument; a dotted name is of a library (`use`)."""


@lru_cache(maxsize=2)
def rows(legal: bool) -> tuple[tuple[Habit, re.Pattern[str]], ...]:
    """The rows with their patterns: those that are legal, or all, names after the table."""
    if legal:
        return tuple([(row, re.compile(row.pattern)) for row in HABITS if row.legal])
    words, values = "|".join(WORDS), "|".join(CONSTANTS)
    known = r"(?:np|numpy|math|jnp|torch)\.(?:linalg\.)?"
    package, given = f"(?:{known})?", r"\([^()\n]*(?:\([^()\n]*\))*[^()\n]*\)"
    names = (
        Habit(rf"(?<![\w.])(?!{known}|(?:stats|sort)\.)(?P<x>{NAME}|\([^()\n]*\))\.(?P<w>{words})\b"
              rf"(?:\([ \t]*\)|(?P<v>{given}))?", "", _applied, (Code.E001, Code.E002)),
        Habit(rf"{package}\b(?P<w>{words})\((?P<x>[^()\n]*(?:\([^()\n]*\))*[^()\n]*)\)", "", _applied, (Code.E001, Code.E002)),
        Habit(rf"{package}\b(?P<w>{words})\b[ \t]*(?!\()", "", lambda g: WORDS[g["w"]], (Code.E001,)),
        Habit(rf"{package}\b(?P<w>{values})\b", "", lambda g: CONSTANTS[g["w"]], (Code.E001,)),
    )
    return tuple([(row, re.compile(row.pattern)) for row in (*HABITS, *names)])


_CALLS: Mapping[tuple[str, int], str] = {
    ("max", 2): "{0}⌈{1}", ("min", 2): "{0}⌊{1}", ("full", 2): "{0}⍴{1}", ("linspace", 3): "{0}+({1}-{0})×(⍳{2})÷{2}-1",
    ("maximum", 2): "{0}⌈{1}", ("minimum", 2): "{0}⌊{1}", ("power", 2): "{0}*{1}", ("outer", 2): "{0}∘.×{1}",
    ("dot", 2): "{0}+.×{1}", ("range", 2): "{0}+⍳{1}-{0}", ("arange", 2): "{0}+⍳{1}-{0}",
}  # fmt: skip
"""Functions by their names elsewhere and how many arguments they have there; what follows `⍳` is a whole number or a name."""


def _applied(found: Groups) -> str:
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
        text = WORDS[word] + (argument if re.fullmatch(rf"[\w.]*|\(.*\)|{_TEXT}", argument) else f"({argument})")
    return f"({text})" if found["after"] else text


def _called(word: str, given: list[str]) -> str | None:
    """A function of several arguments that are items."""
    template = _CALLS.get((word, len(given)))
    if template is None:
        return None
    counted = template[template.index("⍳") :] if "⍳" in template else ""
    for index, one in enumerate(given):
        if not re.fullmatch(_ATOM if f"{{{index}}}" in counted else rf"{_ITEM}|-\d+", one):
            return None
    return template.format(*[one.replace("-", "¯") if one[0] == "-" else one for one in given])
