"""The statically known class of every name in scope, and what to say about a name that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TypeAlias

from .primitives import nearest
from .records import dataclass
from .tree import NameClass

ModuleNames: TypeAlias = Callable[[str], Mapping[str, NameClass] | None]
"""Names and classes a module exports, by library name (`stats`) or path (`./geometry.rho`); None if there is no such module."""


@dataclass(slots=True)
class Scope:
    """Names bound so far in one block.  A class of None marks a name whose binding failed: its uses stay quiet.

    `own` is the name the current statement binds to a function, and its class: dfns inside the statement see it
    before any older binding, so mentioning it there is recursion.  `operands` are the classes of `⍺⍺` and `⍵⍵`;
    they reach into no inner dfn.
    """

    parent: Scope | None = None
    names: dict[str, NameClass | None] = field(default_factory=dict)
    in_dfn: bool = False
    operands: dict[str, NameClass] = field(default_factory=dict)
    own: tuple[str, NameClass] | None = None

    def inner(self, operands: Mapping[str, NameClass] | None = None) -> Scope:
        """The scope of a dfn's body."""
        return Scope(self, in_dfn=True, operands=dict(operands or {}))

    def find(self, name: str) -> tuple[bool, NameClass | None]:
        """Whether the name is in scope, and its class."""
        scope: Scope | None = self
        while scope is not None:
            if scope is not self and scope.own is not None and scope.own[0] == name:
                return True, scope.own[1]
            if name in scope.names:
                return True, scope.names[name]
            scope = scope.parent
        return False, None

    def class_of(self, name: str) -> NameClass | None:
        return self.find(name)[1]

    def outermost(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def every_name(self) -> Iterator[str]:
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent

    def nearest(self, name: str) -> str | None:
        """A name in scope that the user may have meant."""
        return nearest(name, (known for known in dict.fromkeys(self.every_name()) if self.class_of(known) is not None))


@dataclass(frozen=True, slots=True)
class ScopeRecord:
    """The classes an operator dfn was written under, kept so that it can be bound when it is applied."""

    names: tuple[tuple[str, NameClass | None], ...]
    in_dfn: bool
    context: object = field(compare=False, repr=False)
