"""One JSON object of a plan while it is read: each field once, by type, and nothing left over.

Neighbours: `plan_json` (what the fields mean).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..graph.phases import ValueId
from .plan import Box

Item = TypeVar("Item")

LARGEST: Final = 1 << 62
"""Numbers of a plan are less: bytes, ticks, ids."""
LONGEST: Final = 10_000
"""Characters of one text of a plan."""
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_DEVICE: Final = re.compile(r"\w[\w.\-]{0,200}(\[[0-9]{1,9}\])?")


class PlanFormatError(ValueError):
    """The text is not a `plan/1`; the message says where."""


class Fields:
    """One JSON object being read: each field once, by type."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise PlanFormatError(f"{where} is not an object")
        self.data: dict[str, Any] = dict(data)
        self.where = where

    def take(self, name: str) -> Any:
        if name not in self.data:
            raise PlanFormatError(f"{self.where} has no {name}")
        return self.data.pop(name)

    def done(self) -> None:
        if self.data:
            raise PlanFormatError(f"{self.where} has unknown fields: {', '.join(sorted(self.data))}")

    def text(self, name: str) -> str:
        value = self.take(name)
        if not isinstance(value, str):
            raise PlanFormatError(f"{self.where}.{name} is not text")
        return readable(value, f"{self.where}.{name}")

    def device(self, name: str) -> str:
        """The id of a device: letters, digits, `_.-`, and the number of an instance."""
        value = self.text(name)
        if not _DEVICE.fullmatch(value):
            raise PlanFormatError(f"{self.where}.{name} is not the name of a device")
        return value

    def text_or_none(self, name: str) -> str | None:
        value = self.take(name)
        if value is not None and not isinstance(value, str):
            raise PlanFormatError(f"{self.where}.{name} is not text or null")
        return None if value is None else readable(value, f"{self.where}.{name}")

    def count(self, name: str) -> int:
        return natural(self.take(name), f"{self.where}.{name}")

    def count_or_none(self, name: str) -> int | None:
        value = self.take(name)
        return None if value is None else natural(value, f"{self.where}.{name}")

    def counts(self, name: str) -> list[tuple[str, int]]:
        value = self.take(name)
        if not isinstance(value, dict):
            raise PlanFormatError(f"{self.where}.{name} is not an object")
        return [(key, natural(number, f"{self.where}.{name}.{key}")) for key, number in value.items()]

    def items(self, name: str) -> list[Any]:
        value = self.take(name)
        if not isinstance(value, list):
            raise PlanFormatError(f"{self.where}.{name} is not a list")
        return value

    def values(self, name: str) -> tuple[ValueId, ...]:
        return tuple(ValueId(natural(v, f"{self.where}.{name}")) for v in self.items(name))

    def texts(self, name: str) -> tuple[str, ...]:
        found = self.items(name)
        if not all(isinstance(item, str) for item in found):
            raise PlanFormatError(f"{self.where}.{name} has an item that is not text")
        return tuple(readable(item, f"{self.where}.{name}") for item in found)

    def flag(self, name: str) -> bool:
        value = self.take(name)
        if not isinstance(value, bool):
            raise PlanFormatError(f"{self.where}.{name} is not true or false")
        return value

    def box(self, name: str) -> Box | None:
        """An interval an axis, or null."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(one, list) and len(one) == 2 for one in value):
            raise PlanFormatError(f"{self.where}.{name} is not a list of intervals")
        where = f"{self.where}.{name}"
        return tuple((natural(start, where), natural(stop, where)) for start, stop in value)

    def interval(self, name: str) -> tuple[int, int]:
        found = self.items(name)
        if len(found) != 2:
            raise PlanFormatError(f"{self.where}.{name} is not an interval")
        return natural(found[0], self.where), natural(found[1], self.where)

    def interval_or_none(self, name: str) -> tuple[int, int] | None:
        if self.data.get(name, 0) is None:
            return self.take(name)  # type: ignore[no-any-return]
        return self.interval(name)

    def rows(self, name: str) -> list[Fields]:
        return [Fields(v, f"{self.where}.{name}[{i}]") for i, v in enumerate(self.items(name))]

    def row(self, name: str) -> Fields:
        return Fields(self.take(name), f"{self.where}.{name}")

    def row_or_none(self, name: str) -> Fields | None:
        value = self.take(name)
        return None if value is None else Fields(value, f"{self.where}.{name}")

    def named_counts(self, name: str) -> tuple[tuple[str, int], ...]:
        return tuple((key, int(value)) for key, value in self.named_values(name))

    def named_values(self, name: str) -> list[tuple[str, ValueId]]:
        found = []
        for item in self.items(name):
            if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)):
                raise PlanFormatError(f"{self.where}.{name} has an item that is not a name and a value")
            found.append((item[0], ValueId(natural(item[1], f"{self.where}.{name}"))))
        return found


def natural(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise PlanFormatError(f"{where} is not a natural number")
    if value >= LARGEST:
        raise PlanFormatError(f"{where} is larger than any number of a plan")
    return value


def readable(text: str, where: str) -> str:
    """No text is endless, or does anything but be read where it is shown."""
    if len(text) > LONGEST or (_UNSEEN.search(text) and not where.endswith(".label")):
        raise PlanFormatError(f"{where} is too long, or has characters that are not seen")
    return text


def choice(kinds: Callable[[str], Item], value: str, where: str) -> Item:
    try:
        return kinds(value)
    except ValueError:
        raise PlanFormatError(f"{where} cannot be {value!r}") from None
