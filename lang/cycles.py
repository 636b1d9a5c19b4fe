"""Definitions that need each other: found when a dfn mentions a name that is only bound further down."""

from __future__ import annotations

from collections.abc import Mapping

from .tokens import names_in, read


def cycle_through(definitions: Mapping[str, tuple[int, str]], first: str, mentioned: str) -> tuple[str, ...] | None:
    """The names of a cycle `first → mentioned → … → first`, or None.

    `definitions` gives the offset and the text of each name's statement.
    """
    if mentioned == first:
        return (first, first)
    came_from: dict[str, str] = {mentioned: first}
    pending = [mentioned]
    while pending:
        name = pending.pop()
        if name not in definitions:
            continue
        names = names_in(read(definitions[name][1]).tokens)
        if first in names:
            path = [name]
            while path[-1] != mentioned:
                path.append(came_from[path[-1]])
            return (first, *reversed(path), first)
        for other in sorted(names - came_from.keys() - {name}):
            came_from[other] = name
            pending.append(other)
    return None
