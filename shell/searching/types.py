"""Types as they are searched for and compared: read from what people type and from the signatures of the catalogue.

They are read as signatures of the language, and are its trees of types.  The name `_` stands for anything.  `perm<n>` is a vector
of `perm<n>` elements here, so that it can be compared with `i64[n]`.

Neighbours: `matching` (compares them), `catalogue` (whose signatures are read).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeGuard

from ...lang import program_tree
from ...lang.parser import parse_program
from ...lang.primitives import nearest
from ...lang.source import Source
from ...lang.type_tree import ArrayTypeExpression, BoundedSize, ElementName, SizeName, TupleTypeExpression, TypeExpression

ELEMENTS: Final = ("bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128", "char")
_OTHER_NAMES: Final = {
    "float": "f64", "double": "f64", "real": "f64", "number": "f64", "num": "f64", "int": "i64", "integer": "i64",
    "string": "char[n]",
    "str": "char[n]", "text": "char[n]", "boolean": "bool", "complex": "c128", "byte": "u8", "array": "T[..s]", "vector": "T[n]",
    "matrix": "T[n m]", "permutation": "perm<n>", "index": "idx<n>", "float64": "f64", "float32": "f32", "int64": "i64",
    "int32": "i32",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple[Type, ...]


Type: TypeAlias = ArrayTypeExpression | Tuple | ElementName
"""An element type by itself is `_`, any type."""


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
            classes = {size.name: relation for size, relation in lone if isinstance(size, SizeName)}
            return Function(tuple(arguments), _type(result), classes)
    why = found[0].message if found else "it goes on after its end"
    raise NoType(f"`{text}` is not a type: {why}", "for example: f64[n m] → f64[n]")


def _type(written: TypeExpression) -> Type:
    if isinstance(written, TupleTypeExpression):
        items = tuple([_type(item) for item in written.items])
        return items[0] if len(items) == 1 else Tuple(items)
    element = _element(written.element)
    if is_hole(element) and not written.shape:
        return element
    shape = (*written.shape, element.args[0]) if element.name == "perm" else written.shape
    return replace(written, element=element, shape=shape)


def _element(written: ElementName) -> ElementName:
    """NoType: there is none of this name."""
    word = written.name
    if written.args:
        return replace(written, args=tuple([size.bound if isinstance(size, BoundedSize) else size for size in written.args]))
    if word in ("idx", "perm"):
        return replace(written, args=(SizeName(written.span, "_"),))
    if word in ELEMENTS or is_hole(written) or is_variable(written):
        return written
    meant = _OTHER_NAMES.get(word.lower()) or nearest(word, ELEMENTS)
    raise NoType(f"there is no element type `{word}`", f"did you mean `{meant}`?" if meant else "T stands for any: T[n] → T")


def is_hole(term: object) -> bool:
    """Is it `_`: any size, element or type?"""
    return isinstance(term, SizeName | ElementName) and term.name == "_"


def is_variable(term: object) -> TypeGuard[SizeName | ElementName]:
    """Is it `n` in a shape, or `T` before one?"""
    if isinstance(term, ElementName):
        return term.name[0].isupper() and len(term.name) <= 2
    return isinstance(term, SizeName) and term.name != "_"
