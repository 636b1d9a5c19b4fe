"""A prepared plan as one native call: arguments checked, results made, every kernel launched, without a step of Python.

Arguments of another layout, and anything that fails, come back as `OTHER`; the caller then runs the plan as ever, so that errors
are the same.  Results are fresh arrays.

Neighbours: `linker` (drafts a call), `encoding` (its words), `run.prepared` (asks for this).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ....typechecker.sizes import SizeVariable
from ...graph.phases import Phase, PhaseId
from ...kernels import policy
from ..device import Types
from ..native import native
from ..words.program import Word
from .accounting import is_accounted
from .drafting import Refused, Take, Verdict
from .encoding import finished, merged
from .kinds import NumArray
from .linked_sizes import MOST_SIZES, ExampleTypes, Unfit, examples, found_sizes, least_of
from .linker import Linker, printed_name

__all__ = ["link", "printed_name"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be linked; `shared`: the constants of all drafts."""

    words: Sequence[Word]
    phases: Mapping[PhaseId, Phase]
    types: Types
    threads: int
    arguments: Sequence[tuple[str, NumArray, Take]]
    outputs: Sequence[str]
    runs: int
    shared: dict[Any, NumArray] = field(default_factory=dict)

    def draft(self, types: ExampleTypes, least: int) -> Linker:
        linker = Linker(types, self.phases, self.threads, self.arguments, self.runs, least, self.shared)
        for word in self.words:
            linker.word(word)
        linker.give(linker.values(self.outputs))
        if not linker.is_ready:
            raise Refused(Verdict.LATER)
        if not is_accounted(linker.steps, len(self.arguments)):
            raise Refused(Verdict.UNWRITTEN)
        return linker


def link(
    words: Sequence[Word], phases: Mapping[PhaseId, Phase], types: Types, threads: int,
    arguments: Sequence[tuple[str, NumArray, Take]], outputs: Sequence[str], runs: int,
) -> Callable[..., Any] | Verdict:  # fmt: skip
    """The call for arguments like these, by the names of inputs; a tuple if there are several outputs.

    `runs`: how often the plan has run since this was asked last."""
    made = None if policy.mode() is policy.Mode.OFF else native()
    if made is None:
        return Verdict.NEVER
    asked = _Asked(words, phases, types, threads, arguments, outputs, runs)
    found = found_sizes(phases.values())
    try:
        if found:
            drafts, sizes = _of_examples(asked, found)
            return finished(made, drafts[0], merged(drafts, sizes), drafts[0].found)
        draft = asked.draft(ExampleTypes(types.types, types.guards, dict(types.sizes)), 0)
        return finished(made, draft, draft.steps, {})
    except Refused as refusal:
        verdict: Verdict = refusal.args[0]
        return verdict


def _of_examples(asked: _Asked, found: Sequence[SizeVariable]) -> tuple[list[Linker], list[dict[SizeVariable, int]]]:
    """Drafts for several numbers of the sizes that a run finds, and these numbers."""
    known = {variable: value for variable, value in asked.types.sizes.items() if variable not in found}
    least = least_of(asked.types, asked.phases.values(), known, found) if len(found) <= MOST_SIZES else None
    drafts: list[Linker] = []
    if least is not None:
        for example in examples(asked.types, known, found, max(2, least)):
            with suppress(Unfit):
                drafts.append(asked.draft(example, least))
    if not drafts:
        raise Refused(Verdict.NEVER)
    return drafts, [{size: draft.types.sizes[size] for size in found} for draft in drafts]
