"""What hands that know Python, C or R type, and how Rho spells it: one table.

A row is a pattern.  Where the text is wrong, the row's words and its fix take the place of the error that the text happens to
cause (`explained`).  Where the text is legal Rho that means something else, there is a note (`notes`, N001), which sessions,
`rho eval` and editors show and `rho run` and `rho check` do not.  Notes are only for statements in ASCII (and `←`): whoever
writes the glyphs knows them.

Patterns see the text with the insides of quotes as letters and comments as blanks.  A group `w` is the word at fault: an E001
is explained only if it is about that word.  `all` is what the fix replaces, the whole match without it.

Neighbours: `shell.session` and `shell.lsp.documents` (who ask), `primitives_syntax` (characters that Rho leaves out).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from .codes import Code
from .diagnostics import Diagnostic, Edit, Fix, Severity
from .records import dataclass
from .source import Source, Span

NOTE = Code.N001
Groups: TypeAlias = Mapping[str, str]
Write: TypeAlias = "str | Callable[[Groups], str] | None"

_START = r"(?:^|(?<=⋄))[ \t]*(?P<all>"
_REST = r"[^\n⋄]*[^\s⋄]"
_FLAT = r"[^\n⋄;\[\](){}]*"
_NAME = r"[A-Za-z_]\w*"
_ITEM = r"(?:[\w.¯]+|\([^()\n]*\))"
_BEFORE = r"(?<![\w.¯)\]'\"])(?<![\w.¯)\]'\"] )"
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


def _expression(text: str) -> str:
    """The text of another language's expression in Rho."""
    from .foreign import rho_of

    return rho_of(text, _SPELLING) or _MEANT_ELSEWHERE


class _Spelling:
    """What this table says of names and brackets."""

    def array(self, text: str) -> str | None:
        return _array_of(text) if re.fullmatch(r"[\[\]\d.,\s-]+", text) else None

    def call(self, word: str, argument: str) -> str | None:
        return WORDS[word] + argument

    def slice(self, name: str, first: str, last: str) -> str | None:
        return _slice_of({"x": name, "a": first, "b": last})

    def constant(self, name: str) -> str | None:
        return CONSTANTS.get(name)

    def knows(self, word: str) -> bool:
        return word in WORDS


_SPELLING = _Spelling()


def _function_of(parameters: str, body: str) -> str:
    """A dfn of one or two parameters; "…" for a body that prints, assigns or has no spelling of its own here."""
    names = re.findall(_NAME, parameters)
    if body == _MEANT_ELSEWHERE:
        return "{…}"
    body = _MEANT_ELSEWHERE if re.search(r"\bprint|(?<![=!<>])=(?!=)", body) else _expression(body)
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
    if not last:
        return f"{_counted(first)}↑{name}" if first.startswith("-") else f"{_counted(first)}↓{name}"
    if last.startswith("-"):
        return f"{_counted(last)}↓{name}" if first in ("", "0") else f"{_counted(last)}↓{_counted(first)}↓{name}"
    if not first or first == "0":
        return f"{_counted(last)}↑{name}"
    return f"{name}[{_places(first, last)}]"


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


def _changed(found: Groups) -> str:
    glyph = {"*": "×", "/": "÷", "&": "∧", "^": "*"}.get(found["f"], found["f"])
    return f"{found['x']} {glyph}← {_expression(found['v'])}"


def _assigned(found: Groups) -> str:
    return f"{found['x'] if 'x' in found else found['w']} ← {_expression(found['v'])}"


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
    Habit(_START + rf"def[ \t]+(?P<f>{_NAME})[ \t]*\((?P<p>[^()\n]*)\)[ \t]*:[ \t]*(?:return\b)?(?P<v>[^\n⋄]*))",
          "a function is `{…}` with `⍵` for its argument (`⍺` is the left one), and its last expression is its value",
          lambda g: f"{g['f']} ← {_function_of(g['p'], g['v']) if g['v'].strip() else '{…⍵…}'}"),
    Habit(rf"lambda[ \t]*(?P<p>[^:\n]*):[ \t]*(?P<v>{_REST})",
          "a function is `{…}` with `⍵` for its argument (`⍺` is the left one)", lambda g: _function_of(g["p"], g["v"])),
    Habit(_START + rf"for\b[ \t]*(?:(?P<i>{_NAME})[ \t]+in\b[ \t]*(?P<x>[^:\n⋄]+)(?::(?P<v>[^\n⋄]*))?|{_REST}))",
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
    Habit(_START + rf"(?P<x>{_NAME})[ \t]*:=[ \t]*(?P<v>{_REST}))", "a name gets a value by `←`", _assigned),
    Habit(_START + rf"(?P<w>{_NAME})[ \t]*<-[ \t]*(?P<v>{_REST}))", "`<-` is `<` and `-`; a name gets a value by `←`",
          _assigned, (Code.E001,), legal=True),
    Habit(_START + rf"(?P<x>{_NAME})[ \t]*(?P<f>[-+*/|&^])=[ \t]*(?P<v>{_REST}))", "a function left of `←` changes a value",
          _changed),
    Habit(_START + rf"(?P<x>{_NAME})(?P<f>\+\+|--)[ \t]*(?=$|[\n⋄]))", "a function left of `←` changes a value",
          lambda g: f"{g['x']} {g['f'][0]}← 1"),
    Habit(r"==", "there is no `==`: `=` compares", "="),
    Habit(r"!=", "there is no `!=`: `≠` is not equal", "≠"),
    Habit(r"<=", "there is no `<=`: `≤` is at most", "≤"),
    Habit(r">=", "there is no `>=`: `≥` is at least", "≥"),
    Habit(_START + rf"(?P<w>{_NAME})[ \t]*=(?![=])[ \t]*(?P<v>{_REST}))", "`=` compares; a name gets a value by `←`", _assigned,
          (Code.E001, Code.E002), legal=True),
    Habit(_START + rf"(?P<x>{_NAME}\[[^\[\]\n⋄]*\])[ \t]*=(?![=])[ \t]*(?P<v>{_REST}))",
          "`=` compares; items get a value by `←`", _assigned, (Code.E001, Code.E002), legal=True),
    Habit(r"&&", "there is no `&&`: `∧` is and", "∧"),
    Habit(r"\|\|", "`||` is `|` twice: `∨` is or", "∨", legal=True),
    Habit(r"!(?P<x>[A-Za-z]\w*)", "`!` is the factorial; `~` is not", "~{x}", (Code.E300, Code.E303), legal=True),
    # ---- arithmetic
    Habit(r"\b(?:axis|dim|keepdims|dtype)[ \t]*=[^\n⋄]*",
          "arguments have no names: `f/x` is along the last axis, `f⌿x` along the first",
          "f⌿…", (Code.E001, Code.E002)),
    Habit(r"\*\*", "`**` is `*` twice: one `*` is power", "*", (), legal=True),
    Habit(rf"(?P<a>{_ITEM})[ \t]*%[ \t]*(?P<b>{_ITEM})", "the remainder is `|`, with the divisor on its left", "{b}|{a}"),
    Habit(rf"(?P<a>{_ITEM})[ \t]*\^[ \t]*(?P<b>{_ITEM})", "power is `*` (and is `∧`)", "{a}*{b}"),
    Habit(rf"(?P<a>{_NAME})[ \t]*@[ \t]*(?P<b>{_NAME})", "the matrix product is `+.×`", "{a}+.×{b}"),
    Habit(rf"(?P<a>{_ITEM})[ \t]*//[ \t]*(?P<b>{_ITEM})", "division is `÷`, and `⌊` rounds down", "⌊{a}÷{b}"),
    Habit(rf"{_BEFORE}(?P<a>[\d.]+)/(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])", "`/` repeats what is right of it; division is `÷`",
          "{a}÷{b}", (Code.E303,), legal=True),
    Habit(rf"{_BEFORE}(?P<a>{_NAME})[ \t]*/[ \t]*(?P<b>[\d.]+)(?![\w.]|[ \t]+[\d¯])",
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
    Habit(rf"(?P<a>{_TEXT})[ \t]*\+[ \t]*(?P<b>{_TEXT}|{_NAME})", "`,` joins texts", "{a},{b}"),
    # ---- indices and lists
    Habit(rf"(?P<x>{_NAME})\[[ \t]*::[ \t]*-1[ \t]*\]", "`⊖` reverses the major cells", "⊖{x}"),
    Habit(rf"(?P<x>{_NAME})\[(?P<i>[^\[\]();\n]*:[^\[\]();\n]*,[^\[\]();\n]*|[^\[\]();\n]*,[^\[\]();\n]*:[^\[\]();\n]*)\]",
          "`;` separates the axes of an index, and an axis that is taken whole is left empty", _axes_of),
    Habit(rf"(?P<x>{_NAME})\[(?P<i>[ \t]*(?:{_NAME}|\d+)[ \t]*(?:,[ \t]*(?:{_NAME}|\d+)[ \t]*)+)\]",
          "`,` joins positions of one axis; `;` separates the axes of an index", _axes_of, (), legal=True),
    Habit(rf"(?P<x>{_NAME})\[(?P<a>[^\[\]:;\n]*):(?P<b>[^\[\]:;\n]*)\]",
          "`k↑x` are the first k items, `k↓x` those after them, `x[a+⍳k]` k items from a on", _slice_of),
    Habit(rf"(?P<x>{_NAME})\[[ \t]*-1[ \t]*\]", "positions count from the start; the last cell is the first of the reverse",
          "0⌷⊖{x}"),
    Habit(rf"(?P<x>{_NAME})\[[ \t]*-(?P<k>\d+)[ \t]*\]", "positions count from the start", "{x}[(≢{x})-{k}]"),
    Habit(r"(?<![\w)\]⍵⍺])(?P<x>\[(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*,(?:[^\[\]\n⋄;]|\[[^\[\]\n⋄;]*\])*\])",
          "items of a vector stand side by side, rows of a matrix in brackets with `⋄` between them",
          lambda g: _array_of(g["x"])),
    Habit(r"(?<![\w.])(?P<w>null|nil|NULL|nullptr|undefined)\b",
          "there is no `null`: every item has a value (and `⎕nan` is the float that is no number)", None, (Code.E001,)),
)  # fmt: skip

CONSTANTS: Mapping[str, str] = {
    "True": "1", "False": "0", "true": "1", "false": "0", "pi": "○1", "inf": "∞", "Inf": "∞", "infinity": "∞",
    "newaxis": "", "None": "⎕nan",
}  # fmt: skip
"""Values by their names elsewhere."""

WORDS: Mapping[str, str] = {
    "sum": "+/,", "prod": "×/,", "product": "×/,", "mean": "(+/÷≢),", "average": "(+/÷≢),", "avg": "(+/÷≢),",
    "max": "⌈/,", "amax": "⌈/,", "min": "⌊/,", "amin": "⌊/,", "len": "≢", "length": "≢", "shape": "⍴", "reshape": "⍴",
    "T": "⍉", "transpose": "⍉", "arange": "⍳", "range": "⍳", "print": "⎕←", "println": "⎕←", "abs": "|", "sqrt": "√",
    "exp": "*", "log": "⍟", "ln": "⍟", "floor": "⌊", "ceil": "⌈", "argsort": "(⍋⍤1)", "argmax": "⊃⍒,", "argmin": "⊃⍋,",
    "cumsum": "+\\,", "cumprod": "×\\,", "unique": "∪,", "ravel": ",", "flatten": ",", "reverse": "⊖", "any": "∨/,",
    "all": "∧/,", "sin": "1○", "cos": "2○", "tan": "3○", "array": "", "list": "", "asarray": "", "int": "⌊",
    "float": "f64 ", "str": "⍕", "round": "⌊0.5+", "sort": "(sort.up⍤1) ", "sorted": "sort.up ",
    "median": "stats.median ,", "std": "stats.deviation ,", "var": "stats.variance ,", "zeros": "0⍴⍨", "ones": "1⍴⍨",
    "diff": "2-⍨/", "where": "⍸", "nonzero": "⍸", "inv": "⌹", "sign": "×", "factorial": "!",
}  # fmt: skip
"""Functions by their names elsewhere, as what is written left of the argument; a dotted name is of a library (`use`)."""


@lru_cache(maxsize=2)
def _rows(legal: bool) -> tuple[tuple[Habit, re.Pattern[str]], ...]:
    """The rows with their patterns: those that are legal, or all, names after the table."""
    if legal:
        return tuple([(row, re.compile(row.pattern)) for row in HABITS if row.legal])
    words, values = "|".join(WORDS), "|".join(CONSTANTS)
    known = r"(?:np|numpy|math|jnp|torch)\."
    package, given = f"(?:{known})?", r"\([^()\n]*(?:\([^()\n]*\))*[^()\n]*\)"
    names = (
        Habit(rf"(?<![\w.])(?!{known})(?P<x>{_NAME}|\([^()\n]*\))\.(?P<w>{words})\b(?:\([ \t]*\)|(?P<v>{given}))?", "", _applied,
              (Code.E001, Code.E002)),
        Habit(rf"{package}\b(?P<w>{words})\((?P<x>[^()\n]*(?:\([^()\n]*\))*[^()\n]*)\)", "", _applied, (Code.E001, Code.E002)),
        Habit(rf"{package}\b(?P<w>{words})\b[ \t]*(?!\()", "", lambda g: WORDS[g["w"]], (Code.E001,)),
        Habit(rf"{package}\b(?P<w>{values})\b", "", lambda g: CONSTANTS[g["w"]], (Code.E001,)),
    )
    return tuple([(row, re.compile(row.pattern)) for row in (*HABITS, *names)])


_BETWEEN: Mapping[str, str] = {"max": "⌈", "min": "⌊"}


def _applied(found: Groups) -> str:
    """A function before its argument, in parentheses where more follows."""
    from .foreign import arguments_of

    word, given = found["w"], arguments_of(found["x"])
    if len(given) > 1:
        if word in ("range", "arange") and len(given) == 2 and all(re.fullmatch(_ATOM, one) for one in given):
            return f"({given[0]}+⍳{given[1]}-{given[0]})"
        if word in _BETWEEN and len(given) == 2 and all(re.fullmatch(rf"{_ITEM}|-\d+", one) for one in given):
            text = f"{given[0]}{_BETWEEN[word]}{given[1]}".replace("-", "¯")
            return f"({text})" if found["after"] else text
        return f"{WORDS[word].rstrip(',')}…"  # along an axis, or what else
    if "v" in found:
        return f"{WORDS[word].rstrip(',')}…"
    argument = _expression(found["x"]) if len(given) == 1 else found["x"]
    if argument == _MEANT_ELSEWHERE:
        return f"{WORDS[word]}…"
    argument = argument if re.fullmatch(rf"[\w.]*|\(.*\)|{_TEXT}", argument) else f"({argument})"
    text = WORDS[found["w"]] + argument
    return f"({text})" if found["after"] else text


# ----------------------------------------------------------------------------------- what is said of a text


def explained(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> tuple[Diagnostic, ...]:
    """The diagnostics, errors that come of a habit in its words."""
    masked: dict[str, str] = {}
    told: list[Diagnostic] = []
    for found in diagnostics:
        source = sources.get(found.span.file) if found.is_error and len(told) < _MOST else None
        if source is None or found.code not in _CAUSED:
            told.append(found)
            continue
        if found.span.file not in masked:
            masked[found.span.file] = unquoted(source.text)
        told.append(_explanation(found, source, masked[found.span.file]) or found)
    return tuple(told)


_CAUSED = frozenset({
    Code.E001, Code.E002, Code.E003, Code.E004, Code.E005, Code.E006, Code.E008, Code.E009, Code.E010,
    Code.E011, Code.E017, Code.E101, Code.E131, Code.E133, Code.E134, Code.E300, Code.E303, Code.E310,
})  # fmt: skip
"""The errors that habits cause."""

_REACH, _MOST = 300, 50
"""Characters around an error that are looked at, and errors that are looked into: patterns cost the square of the one."""


def _explanation(error: Diagnostic, source: Source, text: str) -> Diagnostic | None:
    first = text.rfind("\n", 0, error.span.start) + 1
    last = text.find("\n", error.span.end)
    line, at = text[first : last if last >= 0 else len(text)], error.span.start - first
    for row, pattern in _rows(legal=False):
        if row.codes is not None and error.code not in row.codes:
            continue
        for match in _matches(pattern, line, max(0, at - _REACH), at + _REACH):
            if _causes(match, error, first):
                return _told(row, match, source, first, error)
    return None


def _matches(pattern: re.Pattern[str], line: str, first: int, last: int) -> Iterable[re.Match[str]]:
    """The matches, those inside another too: the word at fault may be in the argument of such a word."""
    if "w" not in pattern.groupindex:
        yield from pattern.finditer(line, first, last)
        return
    while (match := pattern.search(line, first, last)) is not None:
        yield match
        first = match.start() + 1


def _causes(match: re.Match[str], error: Diagnostic, base: int) -> bool:
    """Is the error about what a pattern found?"""
    if error.code == Code.E001 and "w" in match.re.groupindex:
        return base + match.start("w") == error.span.start
    return base + match.start() <= error.span.end and error.span.start <= base + match.end()


def notes(source: Source, diagnostics: Iterable[Diagnostic] = ()) -> tuple[Diagnostic, ...]:
    """What a text may not mean as its writer thinks, apart from statements with an error."""
    wrong = [found.span for found in diagnostics if found.is_error and found.span.file == source.name]
    told: list[Diagnostic] = []
    for base, statement in _in_ascii(source.text):
        if any(span.start <= base + len(statement) and base <= span.end for span in wrong):
            continue
        spans: list[tuple[int, int]] = []
        for row, pattern in _rows(legal=True):
            for match in pattern.finditer(statement):
                start, end = match.span("all" if "all" in match.re.groupindex else 0)
                if not any(first < end and start < last for first, last in spans):
                    spans.append((start, end))
                    note = Diagnostic(NOTE, "", Span(source.name, base, base), Severity.NOTE)
                    told.append(_told(row, match, source, base, note))
    return tuple(sorted(told, key=lambda one: one.span.start))


_SIGNS = re.compile(r"[=<|!*/,-]")


def _in_ascii(text: str) -> Iterable[tuple[int, str]]:
    """The masked statements that hold no glyph but `←`, and a sign that some row is about, with where they start."""
    start = 0
    for line in text.split("\n"):
        code = line.partition("⍝")[0]
        if _SIGNS.search(code) and ("⋄" in code or code.replace("←", "").isascii()):
            at = start
            for statement in unquoted(line).split("⋄"):
                if len(statement) <= _REACH and statement.replace("←", "").isascii():
                    yield at, statement
                at += len(statement) + 1
        start += len(line) + 1


def _told(row: Habit, match: re.Match[str], source: Source, base: int, found: Diagnostic) -> Diagnostic:
    """What a row says of a place, with its fix."""
    start, end = match.span("all" if "all" in match.re.groupindex else 0)
    groups = [name for name in match.re.groupindex if match[name] is not None]
    given = {name: source.text[base + match.start(name) : base + match.end(name)] for name in groups}
    given["after"] = re.split(r"[\n⋄)\]}]", match.string[end:], maxsplit=1)[0].strip()
    written = row.write.format_map(given) if isinstance(row.write, str) else row.write(given) if row.write is not None else None
    span = Span(source.name, base + start, base + end)
    if written is not None and (whole := _statement_around(match, source, base, span, written)) is not None:
        span, written = whole
    says = row.says or f"there is no `{given['w']}`"
    fixes: tuple[Fix, ...] = ()
    notes: tuple[str, ...] = ()
    if written is not None:
        shown = f"write `{written.strip()}`" if written.strip() else "leave it out"
        says = says if f"`{written}`" in says else f"{says}; {shown}"
        fixes = (Fix(shown, (Edit(span, written),)),) if "…" not in written else (Fix(shown),)
        notes = tuple([f"`use {name}` first" for name in re.findall(r"\b(stats|sort)\.", written)])
    return replace(found, message=says, span=span, label="", labels=(), notes=notes, fixes=fixes)


_HEAD = re.compile(rf"[ \t]*(?:(?P<x>{_NAME})[ \t]*(?P<f>←|<-|:=|=(?!=))[ \t]*)?")


def _statement_around(match: re.Match[str], source: Source, base: int, part: Span, written: str) -> tuple[Span, str] | None:
    """The statement around a part and how Rho writes it, if it is Python that means something else where only the part is written
    anew: it is repaired as one.  Of an assignment by `←` only the value is another's."""
    from .foreign import is_computed

    line, start, end = match.string, part.start - base, part.end - base
    first = line.rfind("⋄", 0, start) + 1
    last = min(stop for stop in (line.find("⋄", end), line.find("#", end), len(line)) if stop >= end)
    head = _HEAD.match(line, first, start)
    name = head["x"] if head is not None and head["f"] not in (None, "←") else None
    at = first if head is None else head.end()
    value = source.text[base + at : base + at + len(line[at:last].rstrip())]
    if not value.isascii() or not is_computed(value) or (name is None and (at, at + len(value)) == (start, end)):
        return None
    whole = _expression(value)
    if name is not None and head is not None:
        return Span(source.name, base + head.start("x"), base + at + len(value)), f"{name} ← {whole}"
    alone = f"{value[: start - at]}{written}{value[end - at :]}"
    if "#" in line[start:end] or alone.replace(" ", "") == whole.replace(" ", ""):
        return None
    return Span(source.name, base + at, base + at + len(value)), whole


_QUOTED = re.compile(r"⍝[^\n]*|#[^\n]*|'(?:[^'\n]|'')*'|\"(?:[^\"\n]|\"\")*\"")


def unquoted(text: str) -> str:
    """The text, as long as it is, with letters for what is quoted and blanks for what is remarked."""

    def mask(found: re.Match[str]) -> str:
        part = found.group()
        return part[0] + "s" * (len(part) - 2) + part[0] if part[0] in "'\"" else part if part[0] == "#" else " " * len(part)

    return _QUOTED.sub(mask, text)

