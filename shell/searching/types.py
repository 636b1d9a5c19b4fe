"""Types as they are searched for and compared: read from what people type and from the signatures of the catalogue.

They are read as signatures of the language.  The name `_` stands for anything.  `perm<n>` is a vector of
`perm<n>` elements here, so that it can be compared with `i64[n]`.

Neighbours: `matching` (compares them), `catalogue` (whose signatures are read).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...lang import program_tree, type_tree
from ...lang.parser import parse_program
from ...lang.primitives import nearest
from ...lang.source import Source

ELEMENTS: Final = ("bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", "char")
_OTHER_NAMES: Final = {
    "float": "f64", "double": "f64", "real": "f64", "number": "f64", "num": "f64", "int": "i64", "integer": "i64",
    "string": "char[n]",
    "str": "char[n]", "text": "char[n]", "boolean": "bool", "complex": "c128", "byte": "u8", "array": "T[..s]", "vector": "T[n]",
    "matrix": "T[n m]", "permutation": "perm<n>", "index": "idx<n>", "float64": "f64", "float32": "f32", "int64": "i64",
    "int32": "i32",
}  # fmt: skip



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
    text = text.replace("->", "→")
    parts = [part.strip() for part in text.partition(" where ")[0].split("→")]
    if len(parts) > 3:
        raise NoType("a function has one or two arguments", "for example: f64[n] → f64[n] → f64")
    if not all(parts):
        raise NoType("a type is missing beside the arrow; `_` stands for any type", "for example: f64[n] → _")
    program, found = parse_program(Source("<type>", f"f : {text.strip()}"))
    match program.statements:
        case (program_tree.Signature(left=left, right=right, result=result, where=facts),) if not found:
            arguments = [_type(one.type) for one in (left, right) if one is not None]
            lone = [(one.left, one.relation) for one in facts if one.right is None]
            classes = {size.name: relation for size, relation in lone if isinstance(size, type_tree.SizeName)}
            return Function(tuple(arguments), _type(result), classes)
    why = found[0].message if found else "it goes on after its end"
    raise NoType(f"`{text}` is not a type: {why}", "for example: f64[n m] → f64[n]")


def _type(written: type_tree.TypeExpression) -> Type:
    if isinstance(written, type_tree.TupleTypeExpression):
        items = tuple([_type(item) for item in written.items])
        return items[0] if len(items) == 1 else Tuple(items)
    element, shape = _element(written.element), tuple(map(_item, written.shape))
    if isinstance(element, Hole) and not shape:
        return element
    if isinstance(element, Named) and element.name == "perm":
        return Array(element, (*shape, element.arguments[0]))
    return Array(element, shape)


def _element(written: type_tree.ElementName) -> Element:
    word = written.name
    if word == "_":
        return Hole()
    if word in ("idx", "perm") or written.args:
        arguments = [_size(size.bound if isinstance(size, type_tree.BoundedSize) else size) for size in written.args]
        return Named(word, tuple(arguments) or (Hole(),))
    if word in ELEMENTS:
        return Named(word)
    if word[0].isupper() and len(word) <= 2:
        return Variable(word)
    meant = _OTHER_NAMES.get(word.lower()) or nearest(word, ELEMENTS)
    raise NoType(f"there is no element type `{word}`", f"did you mean `{meant}`?" if meant else "T stands for any: T[n] → T")


def _item(written: type_tree.ShapeItem) -> Item:
    match written:
        case type_tree.ShapeVariable(name=name):
            return Rest(name)
        case type_tree.BoundedSize(name=name, bound=bound):
            return Bounded(name, _size(bound))
        case _:
            return _size(written)


def _size(written: type_tree.SizeExpression) -> Size:
    match written:
        case type_tree.SizeNumber(value=value):
            return Number(value)
        case type_tree.SizeCall(function=glyph, args=arguments):
            return Operation(glyph, tuple(map(_size, arguments)))
        case type_tree.SizeName(name=name):
            return Hole() if name == "_" else Variable(name)
