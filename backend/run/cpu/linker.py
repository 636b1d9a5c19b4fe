"""The drafts of linked calls: what each word of a program becomes.

Values are made, freed and written over as the plan says; where a large value that would be written over cannot be, the plan is
not linked.

Neighbours: `linking` (asks), `linked_library`, `linked_calls` and `linked_control` (phases of their sorts), `launching` (words of
launches), `drafting`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...graph.phases import (
    AxisKind,
    Constant,
    Fold,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    Print,
    ReadNode,
    Structured,
    ValueId,
)
from ...kernels import policy
from ..native.words import Operation
from ..words.program import Chain, Free, Inside, Run, Word
from .compiled import CompiledRun
from .drafting import Refused, Verdict, distances
from .kinds import DTYPES, constants
from .linked_calls import call_structured
from .linked_control import link_control
from .linked_library import link_library
from .linked_rows import link_rows
from .linked_values import Values
from .loops import LoopRun, compile_loop_kernel
from .reduce import identity_array
from .regions import region_of
from .structured import compile_structured, compiled_of
from .views import View

Show: TypeAlias = Callable[[Mapping[ValueId, Any], Any], tuple[Any, ...]]


def printed_name(place: int) -> str:
    """By which a printed value is asked for; no output is named so."""
    return f"print {place}"


class Linker(Values):
    """The words of a program."""

    def word(self, word: Word) -> None:
        match word:
            case Run():
                self.phase(word.phase, word.overwrite)
            case Chain():
                link_rows(self, word.members, word.results, word.overwrite)
            case Free():
                for value in word.values:
                    self.forget(value)
            case Inside():
                self.inside(word)
            case _:
                link_control(self, word)

    def inside(self, word: Inside) -> None:
        """A phase that has others inside.  Refused: machine code for all of it is better than launch by launch."""
        phase = word.phase
        if isinstance(phase, Loop) and self.loop(phase):
            return
        region, memory, before = None, dict(self.examples), self.duration
        if isinstance(phase, Loop | Map | Fold):
            region = region_of(phase)
            if region.is_better(memory, self.types, self.phases):
                raise Refused(Verdict.NEVER)
        for inner in word.words:
            self.word(inner)
        if region is not None and region.is_better(memory, self.types, self.phases, self.duration - before):
            raise Refused(Verdict.NEVER)

    def phase(self, phase: Phase, overwrite: ValueId | None) -> None:
        match phase:
            case Input():
                place = self.arguments[phase.name]
                array = self.bases[place]
                assert array is not None
                if self.types.kind(phase.result) is Kind.CHAR or array.dtype is not DTYPES[self.types.kind(phase.result)]:
                    raise Refused(Verdict.NEVER)
                self.examples[phase.result], self.roots[phase.result] = array, place
            case Constant():
                array = self.constant(constants(self.types.kind(phase.result), phase.data, self.types.shape(phase.result)))
                self.examples[phase.result], self.roots[phase.result] = array, None
            case Output():
                self.outputs[phase.name] = self.given(phase.arg)
            case Print():
                self.outputs[printed_name(self.prints)] = self.given(phase.arg)
                self.prints += 1
            case Structured():
                self.structured(phase, overwrite)
            case LibraryPhase():
                link_library(self, phase)
            case _:
                raise Refused(Verdict.NEVER)

    def structured(self, phase: Structured, overwrite: ValueId | None) -> None:
        run = compile_structured(phase, self.types.kind, self.types.number, self.threads)
        compiled = compiled_of(run)
        if isinstance(compiled, CompiledRun):
            self.kernel(phase, compiled, overwrite)
        elif all(r.reduction is None and isinstance(phase.body[r.node], ReadNode) for r in phase.results):
            for place, result in enumerate(phase.results):
                node = phase.body[result.node]
                assert isinstance(node, ReadNode)
                if not self.view(phase, run, place, phase.reads[node.index].value):
                    call_structured(self, phase, run)
        else:
            call_structured(self, phase, run)

    def view(self, phase: Structured, run: Show, place: int, source: ValueId) -> bool:
        """A result that shows part of a value; False: it is a copy."""
        example, value = self.examples[source], phase.results[place].value
        array = np.asarray(run(self.examples, None)[place])
        if array.size == 1 and not np.may_share_memory(array, example):  # NumPy copies an item that is taken out
            far = distances(example)
            places = np.argwhere(far == np.asarray(run({**self.examples, source: far}, None)[place]).reshape(()))
            if len(places) != 1:
                return False
            array = example[tuple([slice(place, place + 1) for place in places[0].tolist()])].reshape(array.shape)
        if array.size == 0 or not np.may_share_memory(array, example):
            return False
        self.examples[value], self.roots[value] = array, self.roots[source]
        return True

    def loop(self, phase: Loop) -> bool:
        """A loop that is one kernel, in one stretch of turns; False: it is of another sort."""
        if not phase.is_plain:
            return False
        types = self.types.types
        shapes = lambda value: types[value].shape  # noqa: E731
        runner = compile_loop_kernel(phase, self.types.kind, shapes, self.types.number, self.threads)
        run, turns = getattr(runner, "__self__", None), self.types.number(phase.trip)
        if type(run) is not LoopRun or turns < 1 or phase.keep or phase.until is not None or self.found:
            if run is not None and max(self.examples[value].size for value in phase.initial) >= policy.SMALL:
                raise Refused(Verdict.NEVER)
            return False
        outside = run.views[len(phase.initial) :]
        arrays = [self.examples[value] for value in phase.initial]
        arrays += [np.asarray(view(self.examples[value])) for value, view in outside]
        sources: list[tuple[ValueId, View | None]] = [*((value, None) for value in phase.initial), *outside]
        operands = [self.base(array, value, view) for array, (value, view) in zip(arrays, sources, strict=True)]
        self.run(run, arrays, operands, phase.results, turns)
        return True

    def kernel(self, phase: Structured, run: CompiledRun, overwrite: ValueId | None = None) -> None:
        arrays = [np.asarray(view(self.examples[value])) for value, view in run.views]
        operands = [self.base(array, value, view) for array, (value, view) in zip(arrays, run.views, strict=True)]
        made = [result.value for result in phase.results]
        reduced = phase.axes[-1] if phase.axes and phase.axes[-1].kind is AxisKind.REDUCE else None
        if reduced is None or not reduced.size.variables() & set(self.found):
            self.run(run, arrays, operands, made, overwrite=overwrite)
            return
        if any(FUNCTIONS[result.reduction or ""].identity is None for result in phase.results):  # the plan says what is wrong
            self.steps.append((Operation.CHECK, self.types.number(reduced.size) - 1))
            self.run(run, arrays, operands, made, overwrite=overwrite)
            return
        items = [identity_array(result.reduction, self.types.kind(result.value), ()) for result in phase.results]
        self.run(run, arrays, operands, made, empty=(self.types.number(reduced.size), items))

    def given(self, value: ValueId) -> int:
        """Which value an output is: what was made for it, or a copy where others have it too."""
        root, kind = self.roots[value], self.types.kind(value)
        if kind is Kind.CHAR:
            raise Refused(Verdict.NEVER)
        if root is None or root < len(self.arguments) or root in self.origins:
            value = self.copied(value, kind)
            root = self.roots[value]
            assert root is not None
        self.origins.append(root)
        example = self.examples[value]
        return root if example is self.bases[root] else self.show(example, root)

    def values(self, names: Sequence[str]) -> list[int]:
        """Which values the outputs are."""
        if set(names) != set(self.outputs):
            raise Refused(Verdict.NEVER)
        return [self.outputs[name] for name in names]
