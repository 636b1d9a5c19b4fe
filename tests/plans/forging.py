"""Forgeries of a value made of dataclasses: every field of every dataclass in it, each changed in every way its type has.

Fields are found in the types themselves (`fields_in`), so one that is added to a dataclass is forged without being named here.
"""

from __future__ import annotations

import dataclasses
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

from rho.backend.schedule import problem

Path = tuple[Any, ...]
"""Names of fields and places in tuples."""
HUGE = 1 << 63


def fields_in(*roots: type) -> list[tuple[str, str]]:
    """(class, field) of all dataclasses that can be in a value of these."""
    seen: dict[type, None] = {}
    pending: list[Any] = list(roots)
    while pending:
        kind = pending.pop(0)
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            if kind not in seen:
                seen[kind] = None
                pending += _hints(kind).values()
        else:
            pending += typing.get_args(kind)
    return [(kind.__name__, field.name) for kind in seen for field in dataclasses.fields(kind)]


@cache
def _hints(kind: type) -> dict[str, Any]:
    names = vars(sys.modules[kind.__module__])
    missing = {"Mapping": Mapping, "Sequence": Sequence, **vars(problem)}  # what its module imports for its annotations alone
    return typing.get_type_hints(kind, {**missing, **names})


def places_of(root: Any, kind: str, name: str) -> list[tuple[Path, Any]]:
    """Where the field of that class is in a value, and the object that has it."""
    found: list[tuple[Path, Any]] = []
    pending: list[tuple[Path, Any]] = [((), root)]
    while pending:
        at, value = pending.pop(0)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                if (type(value).__name__, field.name) == (kind, name):
                    found.append((at, value))
                pending.append(((*at, field.name), getattr(value, field.name)))
        elif isinstance(value, tuple):
            pending += [((*at, place), item) for place, item in enumerate(value)]
    return found


def put(root: Any, at: Path, value: Any) -> Any:
    """The root with another value in a place."""
    if not at:
        return value
    first, *rest = at
    if isinstance(root, tuple):
        return (*root[:first], put(root[first], tuple(rest), value), *root[first + 1 :])
    return dataclasses.replace(root, **{first: put(getattr(root, first), tuple(rest), value)})


def options_of(hint: Any) -> list[Any]:
    """The kinds of value that a hint allows."""
    if hasattr(hint, "__supertype__"):
        return options_of(hint.__supertype__)
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return [option for each in typing.get_args(hint) for option in options_of(each)]
    return [hint]


def others(value: Any, hint: Any) -> Iterator[Any]:
    """What may be forged in place of a value: of a kind that the field may have."""
    options = options_of(hint)
    if value is None:
        yield from (sample for option in options for sample in _samples(option))
    elif types.NoneType in options:
        yield None
    match value:
        case bool():
            yield not value
        case Enum():
            yield from (other for other in type(value) if other is not value)
        case int():
            yield from (n for n in (value + 1, value - 1, 0, HUGE, -1, 2 * value + 2) if n != value)
        case str():
            yield from (text for text in (value + "x", "", "../../etc/passwd", "\x1b[2J") if text != value)
        case tuple():
            inner = next(typing.get_args(option) for option in options if typing.get_origin(option) is tuple)
            if inner[-1] is Ellipsis:
                yield from _lists(value, inner[0])
            else:
                for place, item in enumerate(value):
                    yield from ((*value[:place], other, *value[place + 1 :]) for other in others(item, inner[place]))
        case Mapping():
            yield {**value, "x": 1}
            for key in value:
                yield {k: v for k, v in value.items() if k != key}
                yield from ({**value, key: other} for other in others(value[key], int))
        case _:
            return


def _lists(value: tuple[Any, ...], inner: Any) -> Iterator[tuple[Any, ...]]:
    if not value:
        yield from ((sample,) for option in options_of(inner) for sample in _samples(option))
        return
    yield value[1:]
    yield value[:-1]
    yield (*value, value[-1])
    for place in range(min(4, len(value) - 1)):
        if value[place] != value[place + 1]:
            yield (*value[:place], value[place + 1], value[place], *value[place + 2 :])
    if not dataclasses.is_dataclass(value[0]):  # of which the fields are forged by themselves
        for place, item in enumerate(value[:4]):
            yield from ((*value[:place], other, *value[place + 1 :]) for other in others(item, inner))


def _samples(option: Any) -> Iterator[Any]:
    """Of what is absent."""
    if typing.get_origin(option) is tuple:
        inner = typing.get_args(option)
        items = [list(_samples(options_of(each)[0])) for each in inner if each is not Ellipsis]
        if all(items):
            yield tuple(item[-1] for item in items)
    elif option is int:
        yield from (0, 1)
    elif option is str:
        yield "x"
    elif isinstance(option, type) and issubclass(option, Enum):
        yield next(iter(option))


def forgeries(root: Any, kind: str, name: str, most: int = 6) -> Iterator[tuple[str, Any]]:
    """(what was forged, the forged value): of at most so many objects of that class, spread over all of them.

    Beside what its type allows, a field is given what stands in the same field elsewhere."""
    places = places_of(root, kind, name)
    siblings = list({repr(getattr(holder, name)): getattr(holder, name) for _, holder in places}.values())[:4]
    step = max(1, -(-len(places) // most))
    for at, holder in places[::step]:
        value = getattr(holder, name)
        seen = [repr(value)]
        for other in (*siblings, *others(value, _hints(type(holder))[name])):
            if repr(other) not in seen:
                seen.append(repr(other))
                where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*at, name))
                yield f"{where[1:]}: {_short(value)} → {_short(other)}", put(root, (*at, name), other)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
