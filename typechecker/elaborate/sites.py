"""What a top-level statement means, as a number: so that a definition whose meaning has not changed is not checked again.

A `Site` is a statement of this version of the program.  Its `key` stands for its text, the index origin, the signature
before it and the keys of all that its names stand for; two sites with one key mean the same, wherever they stand.  What
was found out about a definition is kept under its key (`Memory`), with spans relative to the sites it depends on, and is
anchored again to where these stand now.

What a definition reads from around it decides whether its outcome may be kept (`Reach`): values whose sizes are symbolic
bring in facts that other statements state, so a definition that captures them is always checked.

Neighbours: `programs` makes the sites, `definitions` and `check` keep outcomes; `typechecker.incremental` owns a `Memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from enum import IntEnum

from ...lang.definitions import Symbol
from ...lang.diagnostics import Diagnostic
from ...lang.parser import Parsed
from ...lang.recent import Recent
from ...lang.records import dataclass
from ...lang.remembered import Statements
from ...lang.source import Source, Span
from ..obligations import Proof


class Reach(IntEnum):
    """What the meaning of a site depends on besides texts, from least to most."""

    NOTHING = 0
    CONSTANTS = 1
    PARAMS = 2
    SIZES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A statement where it stands now, and the sites of what it mentions."""

    key: int
    span: Span
    uses: tuple[Site, ...]
    reach: Reach

    def closure(self) -> list[Site]:
        """The site and all it depends on, in an order that the key alone determines."""
        found: dict[int, Site] = {}
        pending = [self]
        while pending:
            site = pending.pop()
            if site.key not in found:
                found[site.key] = site
                pending += reversed(site.uses)
        return list(found.values())


@dataclass(slots=True, eq=False)
class Sites:
    """The sites of one file: of what is bound so far and of signatures whose binding is still to come."""

    bound: dict[Symbol, Site] = field(default_factory=dict)
    declared: dict[str, Site] = field(default_factory=dict)
    current: Site | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What checking a definition found: diagnostics relative to the sites of its closure, and how it went."""

    diagnostics: tuple[Diagnostic, ...]
    accepted: bool
    proof: Proof
    nodes: int = 0


class Memory:
    """What is kept from one version of a program to the next; for one strictness and one loader of modules."""

    def __init__(self) -> None:
        self.statements = Statements()
        self.read: tuple[Source, Parsed] | None = None  # what has been read last
        self.outcomes: Recent[object, Outcome] = Recent()
        self.signatures: Recent[object, tuple[str, ...]] = Recent()
        self.well_formed: Recent[tuple[int, frozenset[str]], bool] = Recent()
        self.done: Recent[int, object] = Recent()  # what `replaying` knows of a statement
        self._keys: Recent[tuple[object, ...], int] = Recent()
        self._next = 0

    def turn(self) -> None:
        """A version has been checked: what none of the last ones asked for is forgotten."""
        self.statements.turn()
        for table in (self.outcomes, self.signatures, self.well_formed, self.done, self._keys):
            table.turn()

    def key(self, meaning: tuple[object, ...]) -> int:
        """The number of a meaning: the same for the same, never one that has stood for another."""
        found = self._keys.get(meaning)
        if found is None:
            found = self._next
            self._keys.put(meaning, found)
            self._next += 1
        return found

    def site(
        self, uses: Sequence[tuple[Symbol, Site | None]], text: str, span: Span, origin: int, declared: Site | None
    ) -> Site:  # fmt: skip
        """The site of a statement before it is elaborated, `uses` being the sites of what it mentions."""
        used = [(symbol.name, site) for symbol, site in uses if site is not None]
        needed = tuple(site for _, site in used) if declared is None else (declared, *[site for _, site in used])
        reach = max((site.reach for site in needed), default=Reach.NOTHING)
        names = tuple((name, site.key) for name, site in used)
        meaning = (text, origin, -1 if declared is None else declared.key, names)
        return Site(self.key(meaning), span, needed, reach)

    def with_texts(self, site: Site, texts: Sequence[str], reach: Reach, known: Site | None) -> Site:
        """The site as names bound by the statement have it: with the texts of the files it brings in, and what they reach; the
        one that is known from the version before if it is the same."""
        if not texts and reach <= site.reach:
            return site
        made = Site(self.key((site.key, *texts)) if texts else site.key, site.span, site.uses, max(site.reach, reach))
        return known if known is not None and (known.key, known.reach) == (made.key, made.reach) else made


# ------------------------------------------------------------------------------------ moving diagnostics

_ANCHOR = "\0"


def fixed(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic where it is now, for good."""
    return _moved(diagnostic, lambda span: span.fixed())


def relative(diagnostics: Sequence[Diagnostic], site: Site) -> tuple[Diagnostic, ...] | None:
    """The diagnostics with spans counted from the sites they lie in; None if one lies in none of them."""
    places = [(f"{_ANCHOR}{index}", part.span) for index, part in enumerate(site.closure())]

    def anchored(span: Span) -> Span:
        if span.file != site.span.file:
            return span  # another file: its text is part of the key
        for anchor, place in places:
            if place.file == span.file and place.start <= span.start and span.end <= place.end:
                return Span(anchor, span.start - place.start, span.end - place.start)
        raise LookupError

    try:
        return tuple([_moved(diagnostic, anchored) for diagnostic in diagnostics])
    except LookupError:
        return None


def absolute(diagnostics: Sequence[Diagnostic], site: Site) -> list[Diagnostic]:
    """The diagnostics where the sites stand now."""
    if not diagnostics:
        return []
    places: Mapping[str, Span] = {f"{_ANCHOR}{index}": part.span for index, part in enumerate(site.closure())}

    def placed(span: Span) -> Span:
        place = places.get(span.file)
        return span if place is None else Span(place.file, span.start + place.start, span.end + place.start)

    return [_moved(diagnostic, placed) for diagnostic in diagnostics]


def _moved(diagnostic: Diagnostic, move: Callable[[Span], Span]) -> Diagnostic:
    labels = tuple([replace(label, span=move(label.span)) for label in diagnostic.labels])
    fixes = tuple([
        replace(fix, edits=tuple([replace(edit, span=move(edit.span)) for edit in fix.edits])) for fix in diagnostic.fixes
    ])  # fmt: skip
    return replace(diagnostic, span=move(diagnostic.span), labels=labels, fixes=fixes)
