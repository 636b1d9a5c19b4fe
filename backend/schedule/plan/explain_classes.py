"""Equal devices in one piece of text: queues that do the same, with numbers that grow evenly from one to the next, are told once.

    node[0] … node[5]  (memory 1.0 MB, 52 % busy), i = 0 … 5
      0–117120       add [1261568+1093632i:2355200+1093632i]
      ---fence f2+i

Nothing is left out: the lines of any of them can be told again (the tests do).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

Piece: TypeAlias = tuple[str, ...]
"""The heading of a queue and its lines."""

FEWEST: Final = 4
"""Queues from which on they are told as one."""
_NUMBER: Final = re.compile(r"\d+")
_INSTANCE: Final = re.compile(r"(.*)\[(\d+)\]")
_WAITS: Final = re.compile(r"( *)sync\(f(\d+)\)")


def folded(pieces: Sequence[Piece]) -> list[str]:
    """The lines of all pieces, runs of equal ones as one."""
    lines: list[str] = []
    place = 0
    while place < len(pieces):
        stop = _end_of_run(pieces, place)
        if stop - place < FEWEST:
            stop = place + 1
            lines += _short(pieces[place])
        else:
            lines += _short(_together(pieces[place], pieces[place + 1], pieces[stop - 1], stop - place))
        place = stop
    return lines


def ranges(names: Sequence[str]) -> list[str]:
    """Names of instances as `node[8..39]` where they follow each other, the others as they are."""
    found: list[str] = []
    run: list[tuple[str, int]] = []

    def close() -> None:
        if run:
            stem, first = run[0]
            found.append(f"{stem}[{first}..{run[-1][1]}]" if len(run) > 1 else f"{stem}[{first}]")
            run.clear()

    for name in names:
        instance = _INSTANCE.fullmatch(name)
        if instance is None or (run and (instance[1], int(instance[2])) != (run[-1][0], run[-1][1] + 1)):
            close()
        if instance is None:
            found.append(name)
        else:
            run.append((instance[1], int(instance[2])))
    close()
    return found


def _end_of_run(pieces: Sequence[Piece], place: int) -> int:
    """After the last of the pieces from `place` on that differ in evenly growing numbers only."""
    if place + 1 == len(pieces) or _shape(pieces[place]) != _shape(pieces[place + 1]):
        return place + 1
    steps = _steps(pieces[place], pieces[place + 1])
    if any(steps[1 : len(_NUMBER.findall(pieces[place][0]))]) or not pieces[place][0].partition(" ")[0].endswith("]"):
        return place + 1  # the heading has an instance, and nothing else of it grows
    stop = place + 2
    while (
        stop < len(pieces) and _shape(pieces[stop]) == _shape(pieces[place]) and _steps(pieces[stop - 1], pieces[stop]) == steps
    ):
        stop += 1
    return stop


def _shape(piece: Piece) -> tuple[str, ...]:
    return tuple(" ".join(_NUMBER.sub("#", line).split()) for line in piece)


def _numbers(piece: Piece) -> list[int]:
    return [int(number) for line in piece for number in _NUMBER.findall(line)]


def _steps(first: Piece, then: Piece) -> list[int]:
    return [b - a for a, b in zip(_numbers(first), _numbers(then), strict=True)]


def _together(first: Piece, second: Piece, last: Piece, count: int) -> Piece:
    steps = iter(_steps(first, second))

    def growing(found: re.Match[str]) -> str:
        step = next(steps)
        if not step:
            return found[0]
        if found[0] == "0" and step == 1 and found.string[found.end() :].startswith("]"):
            return "i"
        return f"{found[0]}{'+' if step > 0 else '-'}{abs(step) if abs(step) != 1 else ''}i"

    lines = [_NUMBER.sub(growing, line) for line in first]
    name, _, rest = first[0].partition(" ")
    heading = f"{name} … {last[0].partition(' ')[0]} {rest}, i = 0 … {count - 1}"
    return (heading, *lines[1:])


def _short(piece: Piece) -> list[str]:
    """Waits for fences one after the other on one line."""
    lines: list[str] = []
    run: list[tuple[str, int]] = []
    for line, after in pairwise((*piece, "")):
        found, next_one = _WAITS.fullmatch(line), _WAITS.fullmatch(after)
        if found is None:
            lines.append(line)
            continue
        run.append((found[1], int(found[2])))
        if next_one is None or int(next_one[2]) != run[-1][1] + 1:
            if len(run) < FEWEST:
                lines += [f"{indent}sync(f{number})" for indent, number in run]
            else:
                lines.append(f"{run[0][0]}sync(f{run[0][1]} … f{run[-1][1]})")
            run = []
    return lines
