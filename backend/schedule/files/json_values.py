"""The value of a JSON text, and what is wrong with an instance, whatever its format is."""

from __future__ import annotations

import json
from typing import Final

from ....lang.json_text import TooManyValues, require_few
from ...devices.fields import Places, Problems

LARGEST: Final = (1 << 53) - 1
"""Of every number in a file: what JSON readers of other languages keep exactly."""
MOST_CHARACTERS: Final = 64 << 20
MOST_VALUES: Final = 1 << 23


def problems_of(file: str) -> Problems:
    """None so far."""
    return Problems(Places(file, "", {}), LARGEST, "an object")


def load_json(text: str, problems: Problems) -> object:
    """The value of a JSON text: no repeated names, no NaN, no depth that breaks a stack.  Refused: E705."""
    if len(text) > MOST_CHARACTERS:
        problems.fail("", f"the file has {len(text)} characters; at most {MOST_CHARACTERS} are read")

    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            problems.add("", f"an object says `{twice}` twice")
        return made

    def constant(word: str) -> object:
        problems.add("", f"{word} is not a number of JSON")
        return 0

    value: object = None
    try:
        require_few(text, MOST_VALUES)
        value = json.loads(text, object_pairs_hook=without_repeats, parse_constant=constant)
    except json.JSONDecodeError as error:
        problems.add(f"line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}")
    except RecursionError:
        problems.add("", "the lists and objects are nested too deeply")
    except TooManyValues as error:
        problems.add("", f"it holds {error}")
    except ValueError:
        problems.add("", "a number has too many digits")
    problems.stop()
    return value
