"""Values made of dataclasses as JSON, and back: what a type annotation says is what is written and what is read.

A dataclass is an object with exactly its fields, one of several (`TAGS`) with its tag as well; a tuple a list, or an object if it
is `AsObject`; an enum its value.  Reading accepts nothing else: no number below 0 or above `LARGEST`, no endless text, and none
that does anything but be read where it is shown.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Never, Union, get_args, get_origin, get_type_hints

from .model import TAGS
from .parts import AS_OBJECT

LARGEST: Final = 1 << 62
"""Numbers of a plan are less: bytes, ticks, ids."""
LONGEST: Final = 10_000
"""Characters of one text of a plan, but for the program's."""
LONGEST_PROGRAM: Final = 1 << 24
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_DEVICE: Final = re.compile(r"\w[\w.\-]{0,200}(\[[0-9]{1,9}\])?")
_DEVICES: Final = frozenset({"Device.id", "Plan.home", "Buffer.device"})
_PROGRAM: Final = frozenset({"PlannedFile.text", "PlannedPhase.label"})
"""Texts that are shown as they are in the program."""


class PlanFormatError(ValueError):
    """The text is not a plan of this version; the message says where."""


def encoded(value: Any, hint: Any = None) -> Any:
    """Dicts, lists, texts and integers."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return dict(value) if _is_object(hint) else [encoded(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    if not dataclasses.is_dataclass(value):
        return value
    kind: Any = type(value)
    tag = {"step": TAGS[kind]} if kind in TAGS else {}
    return {**tag, **{name: encoded(getattr(value, name), own) for name, own in hints_of(kind).items()}}


def decoded(kind: Any, data: object, where: str, field: str = "") -> Any:
    """The value of that type which JSON says.  PlanFormatError."""
    origin = get_origin(kind)
    if origin is Annotated:
        if not isinstance(data, dict):
            raise PlanFormatError(f"{where} is not an object")
        return tuple(sorted((key, _natural(number, f"{where}.{key}")) for key, number in data.items()))
    if origin in (Union, UnionType):
        options = [option for option in get_args(kind) if option is not NoneType]
        if data is None and len(options) < len(get_args(kind)):
            return None
        return decoded(options[0] if len(options) == 1 else _tagged(options, data, where), data, where, field)
    if origin is tuple:
        return _tuple(get_args(kind), data, where, field)
    if origin is Mapping:
        return dict(decoded(Annotated[tuple[Any, ...], AS_OBJECT], data, where))
    if kind is Never:
        raise PlanFormatError(f"{where} says what this version does not know")
    if dataclasses.is_dataclass(kind):
        return _record(kind, data, where)
    base = getattr(kind, "__supertype__", kind)
    if isinstance(base, type) and issubclass(base, Enum):
        return _choice(base, data, where)
    if base is bool:
        if not isinstance(data, bool):
            raise PlanFormatError(f"{where} is not true or false")
        return data
    return _natural(data, where) if base is int else _text(data, where, field)


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass with their types, in order."""
    hints = get_type_hints(kind, {"Mapping": Mapping, **vars(sys.modules[kind.__module__])}, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _is_object(hint: Any) -> bool:
    return get_origin(hint) is Annotated and AS_OBJECT in hint.__metadata__


def _record(kind: Any, data: object, where: str) -> Any:
    if not isinstance(data, dict):
        raise PlanFormatError(f"{where} is not an object")
    hints = hints_of(kind)
    known = {*hints, "step"} if kind in TAGS else set(hints)
    if missing := [name for name in known if name not in data]:
        raise PlanFormatError(f"{where} has no {min(missing)}")
    if strange := [name for name in data if name not in known]:
        raise PlanFormatError(f"{where} has unknown fields: {', '.join(sorted(strange))}")
    return kind(**{name: decoded(own, data[name], f"{where}.{name}", f"{kind.__name__}.{name}") for name, own in hints.items()})


def _tagged(options: list[Any], data: object, where: str) -> Any:
    tag = data.get("step") if isinstance(data, dict) else None
    for option in options:
        if tag is not None and TAGS.get(option) == tag:
            return option
    raise PlanFormatError(f"{where} has an unknown step {tag!r}")


def _tuple(inner: tuple[Any, ...], data: object, where: str, field: str) -> tuple[Any, ...]:
    if not isinstance(data, list) or (inner[-1:] != (Ellipsis,) and len(data) != len(inner)):
        raise PlanFormatError(f"{where} is not a list, or not of {len(inner)} items")
    kinds = [inner[0]] * len(data) if inner[-1:] == (Ellipsis,) else inner
    return tuple(decoded(kind, item, f"{where}[{at}]", field) for at, (kind, item) in enumerate(zip(kinds, data, strict=True)))


def _choice(kind: type[Enum], data: object, where: str) -> Enum:
    try:
        return kind(data)
    except ValueError:
        raise PlanFormatError(f"{where} cannot be {data!r}") from None


def _natural(data: object, where: str) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data < LARGEST:
        raise PlanFormatError(f"{where} is not a number from 0 to {LARGEST - 1}")
    return data


def _text(data: object, where: str, field: str) -> str:
    if not isinstance(data, str):
        raise PlanFormatError(f"{where} is not text")
    if len(data) > (LONGEST_PROGRAM if field == "PlannedFile.text" else LONGEST):
        raise PlanFormatError(f"{where} is too long")
    if _UNSEEN.search(data) and field not in _PROGRAM:
        raise PlanFormatError(f"{where} has characters that are not seen")
    if field in _DEVICES and not _DEVICE.fullmatch(data):
        raise PlanFormatError(f"{where} is not the name of a device")
    return data
