"""Types as they are searched for and compared: read from what people type and from the signatures of the catalogue.

More than the language's types: `_` stands for anything, unknown words of one letter are variables.  `perm<n>` is a vector of
`perm<n>` elements here, so that it can be compared with `i64[n]`.

Neighbours: `matching` (compares them), `catalogue` (whose signatures are read).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...lang.numerals import natural
from ...lang.primitives import nearest
from ...lang.source import Source
from ...lang.spelling import spell

ELEMENTS: Final = ("bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", "char")
_OTHER_NAMES: Final = {
    "float": "f64", "double": "f64", "real": "f64", "number": "f64", "num": "f64", "int": "i64", "integer": "i64",
    "string": "char[n]",
    "str": "char[n]", "text": "char[n]", "boolean": "bool", "complex": "c128", "byte": "u8", "array": "T[..s]", "vector": "T[n]",
    "matrix": "T[n m]", "permutation": "perm<n>", "index": "idx<n>", "float64": "f64", "float32": "f32", "int64": "i64",
    "int32": "i32",
}  # fmt: skip
_LARGEST: Final = 2**63 - 1
_TOKEN: Final = re.compile(r"\s*(\.\.[\w′]+|\.\.|[^\W\d][\w′]*|\d+|[\[\]()<>⋄+×÷|⌈⌊≤_-])")


@dataclass(frozen=True, slots=True)
class Hole:
    """`_`: any size, element or type."""


@dataclass(frozen=True, slots=True)
class Variable:
    """`n` in a shape, `T` before one."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    value: int


@dataclass(frozen=True, slots=True)
class Operation:
    """`n+m`, `⌊n` and the like."""

    glyph: str
    arguments: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """`..s`: any axes."""

    name: str


@dataclass(frozen=True, slots=True)
class Bounded:
    """`k≤n`: known when it runs."""

    name: str
    bound: Size


Size: TypeAlias = Hole | Variable | Number | Operation
Item: TypeAlias = Size | Rest | Bounded


@dataclass(frozen=True, slots=True)
class Named:
    """An element type of the language; `idx`, `int` and `perm` have sizes."""

    name: str
    arguments: tuple[Size, ...] = ()


Element: TypeAlias = Hole | Variable | Named


@dataclass(frozen=True, slots=True)
class Array:
    element: Element
    shape: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple[Type, ...]


Type: TypeAlias = Hole | Array | Tuple


@dataclass(frozen=True, slots=True)
class Function:
    """`classes`: what `where` says of element variables (`num`, `ord` …)."""

    arguments: tuple[Type, ...]
    result: Type
    classes: Mapping[str, str]


class NoType(Exception):
    """A text that is not a type; `hint` may say what was meant."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(message)


def is_type(text: str) -> bool:
    """Is a search for a type meant?"""
    return "→" in text or "->" in text


def read(text: str) -> Function:
    """A function type.  NoType where it is none."""
    spelled = spell(Source("<type>", text.replace("->", "→"))).text
    body, _, facts = spelled.partition(" where ")
    parts = [part.strip() for part in body.split("→")]
    if len(parts) > 3:
        raise NoType("a function has one or two arguments", "for example: f64[n] → f64[n] → f64")
    if not all(parts):
        raise NoType("a type is missing beside the arrow; `_` stands for any type", "for example: f64[n] → _")
    types = [_Reader(_without_quantity(part)).whole() for part in parts]
    classes = dict(re.findall(r"(\w+) (num|real|int|ord)\b", facts))
    return Function(tuple(types[:-1]), types[-1], classes)


def _without_quantity(part: str) -> str:
    """A parameter without its quantity: what follows the last blank outside brackets."""
    depth, at = 0, 0
    for place, character in enumerate(part):
        if character in "[(<":
            depth += 1
        elif character in "])>":
            depth -= 1
        elif character == " " and not depth:
            at = place + 1
    rest = part[at:]
    return rest if rest and (rest[0].isalpha() or rest[0] in "(_") else part


class _Reader:
    """Reads one type from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0

    def whole(self) -> Type:
        found = self._type()
        if self._next():
            raise NoType(f"`{self._text}` is not a type: `{self._next()}` comes unexpected", "for example: f64[n m] → f64[n]")
        return found

    def _next(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _tight(self) -> bool:
        """Does the next token follow without a blank?"""
        return self._at < len(self._tokens) and not self._tokens[self._at][1]

    def _take(self, wanted: str = "") -> str:
        token = self._next()
        if not token or (wanted and token != wanted):
            need = f"`{wanted}`" if wanted else "something"
            raise NoType(f"`{self._text}` is not a type: {need} is missing{f' before `{token}`' if token else ' at the end'}",
                         "for example: f64[n m] → f64[n]")  # fmt: skip
        self._at += 1
        return token

    def _type(self) -> Type:
        if self._next() == "(":
            self._take()
            items = [self._type()]
            while self._next() == "⋄":
                self._take()
                items.append(self._type())
            self._take(")")
            return items[0] if len(items) == 1 else Tuple(tuple(items))
        if self._next() == "_" and (self._at + 1 == len(self._tokens) or self._tokens[self._at + 1][0] != "["):
            self._take()
            return Hole()
        element = self._element()
        shape: tuple[Item, ...] = ()
        if self._next() == "[":
            shape = self._shape()
        if isinstance(element, Named) and element.name == "perm":
            return Array(element, (*shape, element.arguments[0]))
        return Array(element, shape)

    def _element(self) -> Element:
        word = self._take()
        if word == "_":
            return Hole()
        if not word[0].isalpha():
            raise NoType(f"`{self._text}` is not a type: `{word}` is not an element type", "for example: f64[n m] → f64[n]")
        if self._next() == "<" and word in ("idx", "int", "perm"):
            self._take()
            arguments = [self._size()]
            if self._next().startswith(".."):
                self._at += self._next() == ".."
                if self._next().startswith(".."):  # `0..n` reads as the rest `..n`
                    arguments.append(_word(self._take()[2:]))
                else:
                    arguments.append(self._size())
            self._take(">")
            return Named(word, tuple(arguments))
        if word in ELEMENTS:
            return Named(word)
        if word in ("idx", "int", "perm") and word != "int":
            return Named(word, (Hole(),))
        if word[0].isupper() and len(word) <= 2:
            return Variable(word)
        meant = _OTHER_NAMES.get(word.lower()) or nearest(word, ELEMENTS)
        raise NoType(f"there is no element type `{word}`", f"did you mean `{meant}`?" if meant else "T stands for any: T[n] → T")

    def _shape(self) -> tuple[Item, ...]:
        self._take("[")
        items: list[Item] = []
        while self._next() and self._next() != "]":
            if self._next().startswith("..") and len(self._next()) > 2:
                items.append(Rest(self._take()[2:]))
                continue
            size = self._size()
            if self._next() == "≤" and isinstance(size, Variable):
                self._take()
                items.append(Bounded(size.name, self._size()))
            else:
                items.append(size)
        self._take("]")
        return tuple(items)

    def _size(self) -> Size:
        """Read right to left, without blanks except in parentheses."""
        glyph = ""
        if self._next() in ("⌊", "⌈", "-"):
            glyph = self._take()
            return Operation(glyph, (self._size(),))
        if self._next() == "(":
            self._take()
            left = self._loose()
            self._take(")")
        else:
            left = _word(self._take())
        if self._tight() and self._next() in ("+", "-", "×", "÷", "|", "⌈", "⌊"):
            glyph = self._take()
            return Operation(glyph, (left, self._size()))
        return left

    def _loose(self) -> Size:
        left = self._size()
        if self._next() in ("+", "-", "×", "÷", "|", "⌈", "⌊"):
            return Operation(self._take(), (left, self._loose()))
        return left


def _word(token: str) -> Size:
    if token == "_":
        return Hole()
    if token.isdigit():
        number = natural(token, _LARGEST)
        if number is None:
            raise NoType(f"`{token[:20]}…` is not a size", f"sizes are at most {_LARGEST}")
        return Number(number)
    if token[0].isalpha():
        return Variable(token)
    raise NoType(f"`{token}` is not a size", "sizes are names and numbers: f64[n 3]")


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Every token and whether blanks stand before it."""
    at = 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if found is None:
            first = text[at:].strip()[0]
            raise NoType(f"`{text}` is not a type: `{first}` has no meaning in one", "for example: f64[n m] → f64[n]")
        yield found[1], found.start(1) > at
        at = found.end()
