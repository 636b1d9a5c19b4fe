"""What hands that know Python, C, R or MATLAB type, and how Rho spells it: one table.

A row is a pattern.  It sees the text with the insides of quotes as letters and comments as blanks.  A group `w` is the word at
fault: an E001 is explained only if it is about that word.  `all` is what the fix replaces, the whole match without it; `after`
is what follows the match up to the end of its brackets or statement.

Neighbours: `habits_spelling` (how the fixes are written), `habits_told` (errors and notes in a row's words),
`primitives_syntax` (characters that Rho leaves out).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from .codes import Code
from .habits_spelling import (
    ATOM,
    CONSTANTS,
    ITEM,
    KINDS_OF_WORDS,
    NAME,
    TEXT,
    WORDS,
    Groups,
    applied,
    array_of,
    assigned,
    axes_of,
    between_percents,
    both_sides,
    cells_from_one,
    changed_by,
    complex_of,
    converted,
    each_of,
    function_of,
    item_by_item,
    range_of,
    rows_of,
    slice_of,
    transposed,
)
from .records import dataclass

Write: TypeAlias = "str | Callable[[Groups], str] | None"

_START = r"(?:^|(?<=⋄))[ \t]*(?P<all>"
_REST = r"[^\n⋄]*[^\s⋄]"
_FLAT = r"[^\n⋄;\[\](){}]*"
_BEFORE = r"(?<![\w.¯)\]'\"])(?<![\w.¯)\]'\"] )"
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
          lambda g: f"{g['f']} ← {function_of(g['p'], g['v']) if g['v'].strip() else '{…⍵…}'}"),
    Habit(rf"lambda[ \t]*(?P<p>[^:\n]*):[ \t]*(?P<v>{_REST})",
          "a function is `{…}` with `⍵` for its argument (`⍺` is the left one)", lambda g: function_of(g["p"], g["v"])),
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
    Habit(r"\b(?:axis|dim|keepdims|dtype)[ \t]*=[^\n⋄]*",
          "arguments have no names: `f/x` is along the last axis, `f⌿x` along the first",
          "f⌿…", (Code.E001, Code.E002)),
    Habit(r"\*\*", "`**` is `*` twice: one `*` is power", "*", (), legal=True),
    Habit(rf"(?P<a>{ITEM})[ \t]*%(?P<f>in|o|[*/]|)%[ \t]*(?P<b>{ITEM})", "functions between `%` are glyphs", between_percents),
    Habit(rf"(?P<a>{ITEM})[ \t]*\.(?P<f>[*/^])[ \t]*(?P<b>{ITEM})", "functions go item by item", item_by_item,
          (Code.E005, Code.E006, Code.E008)),
    Habit(rf"(?P<a>{NAME})[ \t]*\\[ \t]*(?P<b>{NAME})(?![\w.\[(])", "`b⌹A` solves A x = b", "{b}⌹{a}", (Code.E131,)),
    Habit(rf"(?P<a>{ITEM})[ \t]*%[ \t]*(?P<b>{ITEM})", "the remainder is `|`, with the divisor on its left", "{b}|{a}"),
    Habit(rf"(?P<a>{ITEM})[ \t]*\^[ \t]*(?P<b>{ITEM})", "power is `*` (and is `∧`)", "{a}*{b}"),
    Habit(rf"(?P<a>{NAME})[ \t]*@[ \t]*(?P<b>{NAME})", "the matrix product is `+.×`", "{a}+.×{b}"),
    Habit(rf"(?P<a>{ITEM})[ \t]*//[ \t]*(?P<b>{ITEM})", "division is `÷`, and `⌊` rounds down", "⌊{a}÷{b}"),
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
    Habit(r"(?<![\w.])0[xX](?P<x>[0-9a-fA-F]+)\b", "there are no hexadecimal numbers", lambda g: str(int(g["x"], 16))),
    Habit(rf"(?P<a>{TEXT})[ \t]*\+[ \t]*(?P<b>{TEXT}|{NAME})", "`,` joins texts", "{a},{b}"),
    # ---- indices and lists
    Habit(rf"\[[ \t]*(?P<v>[^\[\]\n]+?)[ \t]+for[ \t]+(?P<i>{NAME})[ \t]+in[ \t]+(?P<x>[^\[\]\n]+?)[ \t]*\]",
          "`f¨x` is f of each item", each_of),
    Habit(rf"(?:(?:np|numpy)\.)?(?P<w>concatenate|hstack|append|vstack)\([ \t]*[\[(]?(?P<a>{ITEM})[ \t]*,[ \t]*"
          rf"(?P<b>{ITEM})[\])]?[ \t]*\)", "`,` joins along the last axis, `⍪` along the first",
          lambda g: f"{g['a']}{'⍪' if g['w'] == 'vstack' else ','}{g['b']}"),
    Habit(rf"(?P<x>{NAME}|\([^()\n]*\))\.astype\((?P<w>{'|'.join(KINDS_OF_WORDS)})\)",
          "a type converts what is right of it", converted, (Code.E001,)),
    Habit(rf"(?P<x>{NAME})\.(?P<w>size)\b(?!\()", "the items are as many as the product of the lengths", "×/⍴{x}", (Code.E001,)),
    Habit(rf"(?P<x>(?<![\w.]){NAME})\([ \t]*(?P<i>\d+)[ \t]*\)", "`x[i]` indexes, from 0", cells_from_one, (Code.E111,)),
    Habit(r"(?<![\w)\]⍵⍺])\[(?P<x>[^\[\]\n⋄;,]+(?:;[^\[\]\n⋄;,]+)+)\]", "`⋄` separates the cells of a matrix",
          rows_of, (Code.E002,)),
    Habit(rf"(?P<x>{NAME})\[[ \t]*::[ \t]*-1[ \t]*\]", "`⊖` reverses the major cells", "⊖{x}"),
    Habit(rf"(?P<x>{NAME})\[(?P<i>[^\[\]();\n]*:[^\[\]();\n]*,[^\[\]();\n]*|[^\[\]();\n]*,[^\[\]();\n]*:[^\[\]();\n]*)\]",
          "`;` separates the axes of an index, and an axis that is taken whole is left empty", axes_of),
    Habit(rf"(?P<x>{NAME})\[(?P<i>[ \t]*(?:{NAME}|\d+)[ \t]*(?:,[ \t]*(?:{NAME}|\d+)[ \t]*)+)\]",
          "`,` joins positions of one axis; `;` separates the axes of an index", axes_of, (), legal=True),
    Habit(rf"(?P<x>{NAME})\[(?P<a>[^\[\]:;\n]*):(?P<b>[^\[\]:;\n]*)\]",
          "`k↑x` are the first k items, `k↓x` those after them, `x[a+⍳k]` k items from a on", slice_of),
    Habit(rf"(?P<x>{NAME})\[[ \t]*-1[ \t]*\]", "positions count from the start; the last cell is the first of the reverse",
          "0⌷⊖{x}"),
    Habit(rf"(?P<x>{NAME})\[[ \t]*-(?P<k>\d+)[ \t]*\]", "positions count from the start", "{x}[(≢{x})-{k}]"),
    Habit(rf"(?P<x>{NAME})\((?P<i>[^()\n]*:[^()\n]*,[^()\n]*|[^()\n]*,[^()\n]*:[^()\n]*)\)",
          "`x[i;j]` indexes: in brackets, from 0, with `;` between the axes, and an axis that is taken whole is left empty",
          cells_from_one, (Code.E017,)),
    Habit(rf"(?:^|(?<=[⋄(=←])|(?<=<-))[ \t]*(?P<all>(?P<a>{ATOM}):(?:(?P<s>{ATOM}):)?(?P<b>{ATOM}))(?=[ \t]*(?:$|[\n⋄)#]))",
          "`⍳n` counts from 0 to n-1", range_of, (Code.E017,)),
    Habit(rf"(?P<x>(?<![\w.]){NAME}|\([^()\n]*\))'(?=[ \t]*(?:$|[-+*/^@,;#\n⋄)\]]))", "`'` starts a text; `⍉` transposes",
          transposed, (Code.E004,)),
    Habit(r"(?<![\w)\]⍵⍺])(?P<x>\[(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*,(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*\])",
          "items of a vector stand side by side, rows of a matrix in brackets with `⋄` between them",
          lambda g: array_of(g["x"])),
    Habit(r"(?<![\w.])(?P<w>null|nil|NULL|nullptr|undefined)\b",
          "there is no `null`: every item has a value (and `⎕nan` is the float that is not a number)", None, (Code.E001,)),
)  # fmt: skip

_NAMED = (Code.E001, Code.E002, Code.E014)


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
              rf"(?:\([ \t]*\)|(?P<v>{given}))?", "", applied, _NAMED),
        Habit(rf"{package}\b(?P<w>{words})\((?P<x>[^()\n]*(?:\([^()\n]*\))*[^()\n]*)\)", "", applied, _NAMED),
        Habit(rf"{package}\b(?P<w>{words})\b[ \t]*(?!\()", "", lambda g: WORDS[g["w"]], (Code.E001,)),
        Habit(rf"{package}\b(?P<w>{values})\b", "", lambda g: CONSTANTS[g["w"]], (Code.E001,)),
    )
    return tuple([(row, re.compile(row.pattern)) for row in (*HABITS, *names)])
