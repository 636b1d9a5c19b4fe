"""Everything that a search can find, with its names, its description and its types.

Primitives, operators, short expressions (`idioms`), the library, and the definitions of a file that is given.

Neighbours: `words` and `by_type` rank these; `shell.display.library` and `lang.primitives` are where they come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ...lang.primitives import PRIMITIVES, Primitive, Role, Trait, Use
from ..display import library
from .elsewhere import FUNCTIONS, LIBRARY, OPERATORS
from .idioms import IDIOMS

if TYPE_CHECKING:
    from ..stages import Checked


class Origin(IntEnum):
    """Where something comes from; of equal results the first comes first."""

    YOURS = 0
    LIBRARY = 1
    IDIOM = 2
    PRIMITIVE = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` is what to type and `title` what it is called; `types` are signatures without the name; `elsewhere` are other
    systems' words for it."""

    name: str
    title: str
    summary: str
    origin: Origin
    names: str
    types: tuple[str, ...] = ()
    elsewhere: str = ""

    @property
    def heading(self) -> str:
        return f"{self.name}  {self.title}" if self.title else self.name


@lru_cache(maxsize=1)
def shipped() -> tuple[Entry, ...]:
    """What comes with Rho."""
    return (*_library(), *_idioms(), *_primitives())


def _library() -> Iterator[Entry]:
    for entry in library.entries():
        type_ = entry.source.partition("←")[0].partition(" : ")[2]
        types = (type_,) if "→" in type_ else ()
        yield Entry(entry.name, "", entry.doc, Origin.LIBRARY, entry.name.replace(".", " "), types, LIBRARY.get(entry.name, ""))


def _idioms() -> Iterator[Entry]:
    for row in IDIOMS:
        expression, value = row.example
        shown = f"{expression} is {' ⋄ '.join(value.splitlines())}"
        yield Entry(row.code, row.title, shown, Origin.IDIOM, row.title, (row.type,), row.elsewhere)


def _primitives() -> Iterator[Entry]:
    for row in PRIMITIVES:
        uses = [use for use in (row.monadic, row.dyadic) if use is not None]
        operator = row.role in (Role.MONADIC_OPERATOR, Role.DYADIC_OPERATOR)
        elsewhere = (OPERATORS if operator else FUNCTIONS).get(row.glyph, "")
        names = " ".join([*row.names, *(use.name for use in uses)])
        summary = "; ".join(dict.fromkeys(use.doc for use in uses)) or row.doc
        types = () if operator else tuple(_types(row))
        yield Entry(row.glyph, row.title, summary, Origin.PRIMITIVE, names, types, elsewhere)


def _types(row: Primitive) -> Iterator[str]:
    for use, dyadic in ((row.monadic, False), (row.dyadic, True)):
        if use is not None:
            found = _pervasive(use, dyadic) if Trait.SCALAR in use.traits and not use.type else signature_of(row.glyph, use)
            if found:
                yield found


def _pervasive(use: Use, dyadic: bool) -> str:
    result = "T"
    if Trait.COMPARISON in use.traits:
        result = "bool"
    elif Trait.FLOAT_RESULT in use.traits:
        result = "f64"
    elif use.name in ("floor", "ceiling"):
        result = "i64"
    element = "f64" if use.name in ("floor", "ceiling") else "bool" if use.name in ("not", "nand", "nor") else "T"
    result = "bool" if element == "bool" else result
    classes = " where T num" if element == "T" and Trait.COMPARISON not in use.traits else ""
    return f"{element}[..s] → {f'{element}[..s] → ' if dyadic else ''}{result}[..s]{classes}"


_SCALARS: Final = frozenset({"k", "i", "n", "key"})
_REST: Final = ("s", "u", "s′")


def signature_of(glyph: str, use: Use) -> str:
    """`T[s n] , T[s m] : T[s n+m]` as a signature; empty where the line is not a type."""
    form, colon, result = use.type.partition(" : ")
    if not colon:
        return ""
    left, found, right = form.partition(f" {glyph} ")
    sides = [left, right] if found else [form.removeprefix(glyph).strip()]
    parts = [_part(side.strip()) for side in sides] + [_result(result)]
    return " → ".join(parts) if all(parts) else ""


def _part(text: str) -> str:
    """A side of such a line as a type."""
    if text == "any":
        return "_"
    if text in _SCALARS:
        return "i64"
    if text in ("s", "p"):
        return "i64[_]"
    if text.startswith("r["):
        text = "f64" + text[1:]
    elif text.startswith("i["):
        text = "idx<n>" + text[1:]
    opened = text.find("[")
    if opened == -1:
        return text
    out, inside = [], ""
    for character in text:
        if character in "[] ":
            out.append(_item(inside) + character)
            inside = ""
        else:
            inside += character
    return "".join([*out, inside])


def _item(word: str) -> str:
    """A word between brackets: `s` is any axes there."""
    if word in _REST:
        return f"..{word.replace('s′', 't')}"
    return "_" if word == "×/s" else word


def _result(text: str) -> str:
    if text in ("n", "0 or 1"):
        return "i64"
    if text == "s as a vector":
        return "i64[_]"
    return "char[_]" if text == "text" else _part(text)


def yours(checked: Checked) -> tuple[Entry, ...]:
    """The definitions of a checked file, described by the comments above them."""
    if checked.result is None:
        return ()
    docs = {entry.name[2:]: entry.doc for entry in library.entries_of("_", checked.source.text)}
    found = []
    for name, type_ in checked.types.items():
        lines = checked.result.described(name) if type_ == "function" else ()
        types = tuple([line.partition(" : ")[2] for line in lines if " → " in line])
        title = "" if type_ == "function" else f": {type_}"
        found.append(Entry(name, title, docs.get(name, ""), Origin.YOURS, name, types))
    return tuple(found)
