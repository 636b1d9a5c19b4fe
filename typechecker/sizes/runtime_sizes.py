"""The size variables of a program.  Structurally equal masks, and equal integers, share one run-time size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ..core.arrays import ValueId
from ..elements import ArrayType
from ..proof.obligations import Relation, SizeFact
from ..values.facts import MaskFacts
from .polynomials import Size, SizeOrigin, SizeVariable, product, variable

SPECULATIVE_IDS = 1 << 40
"""The first id of size variables of speculative work, which so does not change the ids of the program's."""


@dataclass(slots=True)
class SizeVariables:
    """The size variables so far.  `spans` has the span and the reason of each run-time size; ids count up in the order of
    creation, separately for speculative work."""

    spans: dict[SizeVariable, tuple[Span, str]] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    next: list[int] = field(default_factory=lambda: [0])
    _aside: list[int] = field(default_factory=lambda: [SPECULATIVE_IDS])
    _masks: dict[ValueId, SizeVariable] = field(default_factory=dict)
    _values: dict[ValueId, SizeVariable] = field(default_factory=dict)
    _same: dict[ValueId, ValueId] = field(default_factory=dict)

    def trial(self, fresh_names: bool) -> SizeVariables:
        """A copy for speculative work; with `fresh_names`, names are chosen as in an empty program."""
        names = {} if fresh_names else dict(self.names)
        return SizeVariables(self.spans, names, self._aside, self._aside, dict(self._masks), dict(self._values), dict(self._same))

    def counts(self) -> tuple[int, ...]:
        """The lengths of all tables, to detect changes."""
        return (self.next[0], len(self._masks), len(self._values), len(self._same))

    def create(self, name: str, origin: SizeOrigin, cap: Size | None = None, minimum: int = 0) -> SizeVariable:
        """A new size variable."""
        self.names.setdefault(name, 1)
        size = SizeVariable(name, self.next[0], origin, cap, minimum)
        self.next[0] += 1
        return size

    def at_run_time(self, name: str, cap: Size, span: Span, why: str, least: int, origin: SizeOrigin) -> SizeVariable:
        """A run-time size from `least` to `cap`; its printed name is made unique."""
        count = self.names.get(name, 0)
        while count and f"{name}{count + 1}" in self.names:
            count += 1
        self.names[name] = count + 1
        size = self.create(name if count == 0 else f"{name}{count + 1}", origin, cap, least)
        self.spans[size] = (span, why)
        return size

    def share(self, value: ValueId, original: ValueId) -> None:
        """Let both values, if used as sizes, be one size."""
        if value != original:
            self._same[value] = self._same.get(original, original)

    def of_mask(
        self, mask: ValueId, cap: Size, span: Span, facts: MaskFacts, types: Mapping[ValueId, ArrayType]
    ) -> tuple[SizeVariable, tuple[SizeFact, ...]]:  # fmt: skip
        """The size of a mask's true elements, and facts about the sum with that of the opposite mask."""
        value = self._same.get(mask, mask)
        known = self._masks.get(value)
        new_facts: tuple[SizeFact, ...] = ()
        if known is None:
            known = next((size for other, size in self._masks.items() if facts.is_same(other, value)), None)
            if known is None:
                why, least = "the number of elements this mask keeps", facts.minimum_true(value)
                known = self.at_run_time("k", cap, span, why, least, SizeOrigin.RUNTIME)
                opposite = next((size for other, size in self._masks.items() if facts.is_opposite(other, value)), None)
                if opposite is not None:
                    together = variable(opposite) + variable(known)
                    new_facts = (SizeFact(Relation.EQUAL, together, product(types[mask].shape)),)
            self._masks[value] = known
        return known, new_facts

    def of_integer(self, x: ValueId, cap: Size, span: Span, least: int) -> SizeVariable:
        """The run-time size of an integer value."""
        value = self._same.get(x, x)
        known = self._values.get(value)
        if known is None:
            known = self.at_run_time("k", cap, span, "the value of this integer", least, SizeOrigin.RUNTIME)
            self._values[value] = known
        return known
