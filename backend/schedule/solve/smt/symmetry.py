"""Equal devices: any plan can be renamed so that they are first used in the order of their numbers.

Devices count as equal if they are instances of one group, nobody names one of them, and every candidate mode is a candidate
with any two of them exchanged.  Home is one of them only where nothing is special about it.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise

from ...problem import Duplex
from .shape import Shape


def equal_devices(shape: Shape) -> list[list[int]]:
    """Sets of devices that may be exchanged, each in order."""
    problem = shape.problem
    plain = not (problem.links or any(phase.home or phase.combine is not None for phase in problem.phases))
    named = {link.source for link in problem.links} | {link.target for link in problem.links}
    for directive in problem.directives:
        for each in fields(directive):
            value = getattr(directive, each.name)
            named |= {value} if isinstance(value, str) else set(value) if isinstance(value, tuple) else set()
    wanted = shape.timer.limits.wanted
    result: list[list[int]] = []
    first = 0
    for group in problem.devices:
        names = list(group.names())
        members = [
            first + i
            for i in range(group.count)
            if (plain or first + i != shape.home) and not any(first + i in targets for targets in wanted.values())
        ]
        first += group.count
        if _directed(shape, group.id) or any(name in named for name in names if name != group.id):
            continue
        if len(members) > 1 and _closed(shape, members):
            result.append(members)
    return result


def _directed(shape: Shape, group: str) -> bool:
    """Whether a shared channel between the group's own instances has directions, which go by their numbers."""
    return any(
        link.source == link.target == group and link.duplex is Duplex.FULL and link.group is not None
        for link in shape.problem.links
    )


def _closed(shape: Shape, members: list[int]) -> bool:
    """Whether modes stay candidates when two neighbours of `members` are exchanged."""
    for options in shape.modes:
        known = set(options)
        for one, other in pairwise(members):
            swap = {one: other, other: one}
            if any(tuple((swap.get(d, d), rows) for d, rows in mode) not in known for mode in options):
                return False
    return True
