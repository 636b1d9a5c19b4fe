"""`x[⍸m]` is `m⌿x`: where the places of a mask are only used to take items, those are compressed out, and no place is made.

The mask must be as long as the axis, by its type.  Every taker is made where the places were, as it now says how many there are.

Neighbours: `table` (the rule), `run.cpu.selecting` (runs it).
"""

from __future__ import annotations

from dataclasses import replace

from ...cells import frame_of
from ...phases import LibraryPhase, ValueId
from .patterns import Match
from .rule import Change, Scope


def are_places_of_a_mask(match: Match, scope: Scope) -> Change | None:
    """See the module."""
    where = match.root
    (mask,), (places,) = where.args, where.results
    shape = scope.types[mask].shape
    takers = [_taker(reader, scope, where) for reader in scope.readers(places)]
    known = [taker for taker in takers if taker is not None]
    if len(shape) != 1 or not known or len(known) < len(takers):
        return None
    compressed = tuple(_compressed(taker, where) for taker in known)
    return Change({**{taker.id: () for taker in known}, where.id: compressed})


def _taker(reader: object, scope: Scope, where: LibraryPhase) -> LibraryPhase | None:
    """A gather in the same block by the places, of a value that is there before them."""
    (mask,), (places,) = where.args, where.results
    if not isinstance(reader, LibraryPhase) or reader.op != "gather" or frame_of(reader) or reader.attributes.get("fills"):
        return None
    arg, indices = reader.args
    axis = reader.attributes["axis"]
    assert isinstance(axis, int)
    if indices != places or arg == places or scope.types[arg].shape[axis] != scope.types[mask].shape[0]:
        return None
    return reader if scope.is_before(arg, where) and scope.is_beside(reader, where) else None


def _compressed(taker: LibraryPhase, where: LibraryPhase) -> LibraryPhase:
    args: tuple[ValueId, ...] = (where.args[0], taker.args[0])
    return replace(taker, op="compress", args=args, attributes={"axis": taker.attributes["axis"]}, defines=where.defines)
