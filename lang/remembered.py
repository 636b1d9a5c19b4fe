"""Bound statements kept from one reading of a program to the next: what has not changed is moved, not read again.

How a statement binds depends on its text and on the classes of the names in it (for modules, on what they export).
A statement that bound without a diagnostic is kept under exactly these, and when it is met again its tree is the same
but for where it stands.  Statements with something wrong, and user operators (which are bound when they are applied),
are read anew every time.

Neighbours: `parser` asks; `typechecker.incremental` owns a `Statements` for as long as it checks versions of a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, field, fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar, cast

from . import tree
from .lexer import NAME
from .recent import Recent
from .records import compiled, dataclass
from .scope import Scope
from .source import Span
from .splitter import Piece
from .tree import NameClass
from .units import Binding

_WORDS = re.compile(NAME)
_MOST_CHARACTERS = 4_000  # of a statement worth keeping

_Class = tuple[bool, NameClass | None]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A bound statement that stood at `start`, the classes that its names had afterwards, and the module it put in use."""

    statement: tree.Statement
    start: int
    after: tuple[tuple[str, _Class], ...]
    paths: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Statements:
    """What has been read so far; `words` are the names that may occur in a text."""

    _kept: Recent[tuple[object, ...], _Kept] = field(default_factory=Recent)
    _words: Recent[str, tuple[str, ...]] = field(default_factory=Recent)

    def turn(self) -> None:
        """A program has been read."""
        self._kept.turn()
        self._words.turn()

    def words(self, text: str) -> tuple[str, ...]:
        """Everything in a text that looks like a name, in order; words of comments and texts too."""
        known = self._words.get(text)
        if known is None:
            known = tuple(dict.fromkeys(_WORDS.findall(text)))
            self._words.put(text, known)
        return known

    def bind(
        self, binding: Binding, scope: Scope, piece: Piece, read: Callable[[Binding, Scope, Piece], tree.Statement]
    ) -> tree.Statement:
        """The statement of a piece: one that is kept, else what `read` makes of it (and raises)."""
        start = _unmoved(binding, piece)
        if start is None:
            return read(binding, scope, piece)
        words = self.words(piece.text)
        key = (binding.spelled.file, piece.text, *[_context(binding, scope, word) for word in words])
        found = self._kept.get(key)
        if found is not None:
            for word, (known, name_class) in found.after:
                if known:
                    scope.names[word] = name_class
            binding.module_paths.update(found.paths)
            if found.start != start:
                found = replace(found, statement=shifted(found.statement, start - found.start), start=start)
                self._kept.put(key, found)
            return found.statement
        reported, paths = len(binding.diagnostics), dict(binding.module_paths)
        statement = read(binding, scope, piece)
        if len(binding.diagnostics) == reported and not _has_operator(statement):
            before = dict(zip(words, key[2:], strict=True))
            after = tuple([(w, c) for w in words if (c := scope.find(w)) != _class_of(before[w])])
            used = tuple([entry for entry in binding.module_paths.items() if paths.get(entry[0]) != entry[1]])
            self._kept.put(key, _Kept(statement, start, after, used))
        return statement


def _unmoved(binding: Binding, piece: Piece) -> int | None:
    """Where the piece starts in the source, if every character of it is what the user typed; None for what is not kept."""
    if piece.damage is not None or len(piece.text) > _MOST_CHARACTERS:
        return None
    offsets = binding.spelled.offsets
    if offsets is None:
        return piece.start
    start, end = piece.start, piece.start + len(piece.text)
    first = offsets[start]
    return first if offsets[start : end + 1] == tuple(range(first, first + end - start + 1)) else None


def _context(binding: Binding, scope: Scope, word: str) -> object:
    """What is known of a word where it is read."""
    known, name_class = scope.find(word)
    if name_class is not NameClass.MODULE:
        return known, name_class
    exported = None if binding.modules is None else binding.modules(binding.module_paths.get(word, word))
    return known, name_class, None if exported is None else tuple(exported.items())


def _class_of(context: object) -> _Class:
    assert isinstance(context, tuple)
    return context[0], context[1]


# ------------------------------------------------------------------------------------ moving a tree

_T = TypeVar("_T")
_Mover = Callable[[Any, int], Any]
_MOVERS: dict[type[object], _Mover] = {}
_UNMOVED = frozenset({"str", "int", "bool", "str | None", "tuple[int | float | complex, ...]"})


def shifted(node: _T, by: int) -> _T:
    """The same tree `by` characters further on."""
    return node if by == 0 else cast(_T, _moved(node, by))


def _moved(node: Any, by: int) -> Any:
    kind = type(node)
    mover = _MOVERS.get(kind)
    if mover is None:
        mover = _MOVERS[kind] = _mover(kind)
    return mover(node, by)


def _mover(kind: type[object]) -> _Mover:
    """How a node of a class is moved: written once for its fields, as a program of a thousand statements has many nodes."""
    if kind is Span:
        return lambda span, by: Span(span.file, span.start + by, span.end + by)
    if kind is tuple:
        return lambda items, by: tuple([_moved(item, by) for item in items]) if items else items
    if not _fields(kind):
        return lambda leaf, by: leaf
    known = {"kind": kind, "moved": _moved, "Span": Span}
    parts = [_moved_field(one) for one in fields(cast(Any, kind))]
    return cast(_Mover, compiled("move", ["by"], [f"return kind({', '.join(parts)})"], known))


def _moved_field(one: Field[Any]) -> str:
    """What moves a field; the text of its annotation says what needs no look."""
    value = f"self.{one.name}"
    if one.type in _UNMOVED:
        return value
    return f"Span({value}.file, {value}.start + by, {value}.end + by)" if one.type == "Span" else f"moved({value}, by)"


def _fields(kind: type[object]) -> tuple[str, ...]:
    """The fields of a node's class; none for what holds no span."""
    return tuple([f.name for f in fields(cast(Any, kind))]) if is_dataclass(kind) and not issubclass(kind, Enum) else ()


def _has_operator(node: object) -> bool:
    """Is there a user operator in the tree?"""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, tree.OperatorDfn):
            return True
        if isinstance(part, tuple):
            pending += part
        elif not isinstance(part, Span):
            pending += [getattr(part, name) for name in _fields(type(part))]
    return False
