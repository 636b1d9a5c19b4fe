"""Typed decoding of JSON and TOML values: every bad field becomes a fault with its path, such as `phases[3].ticks`.

A `Field` is a value with the path that leads to it.  Readers note a fault and go on with a harmless value, so that one run
reports all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ....lang.codes import Code
from ....lang.json_text import TooManyValues, require_few
from ....lang.primitives import nearest

LARGEST: Final = (1 << 53) - 1
"""Of every number in a file: what JSON readers of other languages keep exactly."""
MOST_FAULTS: Final = 20
MOST_CHARACTERS: Final = 64 << 20
MOST_VALUES: Final = 1 << 23


@dataclass(frozen=True, slots=True)
class Fault:
    """`path` says where (`edges[2].from`, or `line 4`); `code` is set where the fault has a page of its own."""

    path: str
    message: str
    code: Code | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class InstanceError(Exception):
    """A file is not an instance; `faults` are in the order of the file."""

    def __init__(self, file: str, faults: Sequence[Fault]) -> None:
        self.file = file
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, self.faults)))


@dataclass(slots=True)
class Faults:
    """Collects; `stop` raises if there are any."""

    file: str
    found: list[Fault] = field(default_factory=list)

    def add(self, path: str, message: str, code: Code | None = None) -> None:
        self.found.append(Fault(path, message, code))
        if len(self.found) >= MOST_FAULTS:
            self.stop()

    def stop(self) -> None:
        if self.found:
            raise InstanceError(self.file, self.found)


def shown(value: object) -> str:
    """A value as JSON, cut."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a file."""

    value: object
    path: str
    faults: Faults

    def fault(self, message: str, code: Code | None = None) -> None:
        self.faults.add(self.path, message, code)

    def wrong(self, wanted: str) -> None:
        self.fault(f"must be {wanted}, not {shown(self.value)}")

    def members(self, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Field]:
        """The fields of an object; unknown and missing ones are faults, null is as good as missing where optional."""
        if not isinstance(self.value, dict):
            self.wrong("an object")
            return {}
        known = (*required, *optional)
        for name in self.value:
            if name not in known:
                guess = nearest(str(name), known)
                meant = f"; did you mean `{guess}`?" if guess else f"; known here: {', '.join(known)}"
                self.faults.add(self.below(str(name)), "unknown field" + meant)
        for name in required:
            if name not in self.value:
                self.fault(f"`{name}` is missing")
        return {
            name: Field(value, self.below(name), self.faults)
            for name, value in self.value.items()
            if name in known and not (value is None and name in optional)
        }

    def entries(self) -> dict[str, Field]:
        """An object whose names are free."""
        if not isinstance(self.value, dict):
            self.wrong("an object")
            return {}
        return {name: Field(value, self.below(name), self.faults) for name, value in self.value.items()}

    def elements(self, most: int) -> list[Field]:
        if not isinstance(self.value, list):
            self.wrong("a list")
            return []
        if len(self.value) > most:
            self.fault(f"has {len(self.value)} elements; at most {most} are read")
            return []
        return [Field(value, f"{self.path}[{place}]", self.faults) for place, value in enumerate(self.value)]

    def integer(self, least: int = 0) -> int:
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong("a whole number")
            return least
        if not least <= value <= LARGEST:
            self.fault(f"must be between {least} and {LARGEST}, not {shown(value)}")
            return least
        return value

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.wrong("a text")
            return ""
        return self.value

    def name(self) -> str:
        """A text that can stand for something in messages and directives."""
        value = self.value
        if not isinstance(value, str) or not value or value != value.strip() or not value.isprintable():
            self.wrong("a text of at least one character, all of them visible, without spaces around it")
            return ""
        return value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.wrong("true or false")
            return False
        return self.value

    def choice(self, choices: Sequence[str]) -> str:
        if not isinstance(self.value, str) or self.value not in choices:
            guess = nearest(self.value, choices) if isinstance(self.value, str) else None
            meant = f"; did you mean `{guess}`?" if guess else ""
            wanted = " or ".join(f'"{choice}"' for choice in choices)
            self.fault(f"must be {wanted}, not {shown(self.value)}{meant}")
            return choices[0]
        return self.value

    def below(self, name: str) -> str:
        plain = name.replace("_", "").isalnum()
        step = name if plain else f"[{shown(name)}]"
        if not self.path:
            return step
        return f"{self.path}.{step}" if plain else self.path + step


def load_json(text: str, faults: Faults) -> object:
    """The value of a JSON text: no repeated names, no NaN, no depth that breaks a stack."""
    if len(text) > MOST_CHARACTERS:
        faults.add("", f"the file has {len(text)} characters; at most {MOST_CHARACTERS} are read")
        faults.stop()

    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            faults.add("", f"an object says `{twice}` twice")
        return made

    def constant(word: str) -> object:
        faults.add("", f"{word} is not a number of JSON")
        return 0

    value: object = None
    try:
        require_few(text, MOST_VALUES)
        value = json.loads(text, object_pairs_hook=without_repeats, parse_constant=constant)
    except json.JSONDecodeError as error:
        faults.add(f"line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}")
    except RecursionError:
        faults.add("", "the lists and objects are nested too deeply")
    except TooManyValues as error:
        faults.add("", f"it holds {error}")
    except ValueError:
        faults.add("", "a number has too many digits")
    faults.stop()
    return value
