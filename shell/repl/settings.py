"""What a user can set in a session: `)set` shows and changes it; kept in `repl.json` beside the history."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ...lang.json_text import decode
from ...lang.numerals import natural
from ...lang.opening import read_text
from ...lang.user_cache import state_folder
from ..cli.results import write_whole

_MOST_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Settings:
    """`prefix` starts a spelling beside the backtick; `pause` (milliseconds) shows the language bar; `digits` printed;
    `types` above values; `preview` below what is typed."""

    prefix: str = "`"
    pause: int = 500
    digits: int = 10
    types: bool = True
    preview: bool = True


def changed(settings: Settings, name: str, text: str) -> Settings | str:
    """The settings with one of them changed, or what is wrong."""
    current = {field.name: getattr(settings, field.name) for field in fields(Settings)}
    if name not in current:
        return f"there is no setting `{name}`; they are {', '.join(current)}"
    old = current[name]
    if isinstance(old, bool):
        if text not in ("on", "off"):
            return f"`{name}` is on or off"
        return _with(settings, name, text == "on")
    if isinstance(old, int):
        low, high = (1, 17) if name == "digits" else (0, 10_000)
        number = natural(text, high)
        if number is None or number < low:
            return f"`{name}` is a number from {low} to {high}"
        return _with(settings, name, number)
    if len(text) != 1 or text.isalnum() or text.isspace():
        return "the prefix is one character, no letter, digit or blank"
    return _with(settings, name, text)


def _with(settings: Settings, name: str, value: Any) -> Settings:
    return replace(settings, **{name: value})


def shown(settings: Settings) -> list[str]:
    def word(value: object) -> str:
        return ("on" if value else "off") if isinstance(value, bool) else str(value)

    return [f"{name:<8} {word(value)}" for name, value in asdict(settings).items()]


def folder(environment: Mapping[str, str]) -> Path | None:
    """Where history and settings are kept; None for a user without a home."""
    return state_folder(environment)


def load(environment: Mapping[str, str]) -> Settings:
    """As last set; what cannot be read is as if it were not there."""
    place = folder(environment)
    if place is None:
        return Settings()
    try:
        found = decode(read_text(place / "repl.json", _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return Settings()
    settings = Settings()
    for name, value in found.items() if isinstance(found, dict) else ():
        text = ("on" if value else "off") if isinstance(value, bool) else str(value)
        made = changed(settings, str(name), text)
        settings = settings if isinstance(made, str) else made
    return settings


def save(settings: Settings, environment: Mapping[str, str]) -> None:
    """Best effort: a home that cannot be written keeps nothing."""
    place = folder(environment)
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(place / "repl.json", json.dumps(asdict(settings), ensure_ascii=False) + "\n")
