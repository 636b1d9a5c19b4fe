"""The checker's front door: source text → typed core and diagnostics.  Executes nothing, reads no data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from ..lang.diagnostics.model import Diagnostic, RhoError
from ..lang.support.records import cached_property, dataclass
from ..lang.syntax.parser import Parsed
from ..lang.syntax.source import Source
from .core.blocks import Core
from .diagnostics import show_type
from .elaborate import programs
from .elaborate.context import CheckCache, DependencyLevel, FunctionValue, Module, OperatorValue
from .elaborate.functions import drops_left
from .elaborate.programs import Elaborated, elaborate
from .elements import Kind
from .values.facts import Operand, TupleOperand, Value, leaves

if TYPE_CHECKING:
    from ..lang.foreign.equivalence_domains import ArgumentFact
    from .elaborate.infer_signature import Instance
    from .usage.check_moves import NamedQuantity


# ---------------------------------------------------------------------------------------------------- check

GENERIC = "generic: checked at each use"

LoadModule = Callable[[str, str | None], Source | None]
"""(library name or path, importing file) → the module's source, None if there is none."""


@dataclass(frozen=True)
class CheckResult:
    """`core` is None if there is an error.  Types as text and quantities are worked out when asked for."""

    core: Core | None
    diagnostics: tuple[Diagnostic, ...]
    elaborated: Elaborated = field(repr=False, compare=False)

    @cached_property
    def types(self) -> Mapping[str, str]:
        """The top-level names' types."""
        shown: dict[str, str] = {}
        for name, entry in self.elaborated.names.items():
            if isinstance(entry, (Operand, TupleOperand)):
                shown[name] = show_value_type(entry)
            elif isinstance(entry, Module):
                shown[name] = "module"
            elif isinstance(entry, OperatorValue):
                shown[name] = "operator"
            elif isinstance(entry, FunctionValue):
                shown[name] = "function"
        return shown

    def drops_left(self, name: str) -> bool:
        """Is it a top-level function that drops a left argument?"""
        return drops_left(self.elaborated.names.get(name))

    @property
    def last(self) -> str | None:
        """The type of the last expression statement or binding."""
        return None if self.elaborated.last is None else show_value_type(self.elaborated.last)

    def quantities(self) -> tuple[NamedQuantity, ...]:
        """How often the elements of inputs and named values are read; none if there is an error."""
        from .usage.check_moves import named_quantities

        return () if self.core is None else named_quantities(self.core)

    def signatures(self) -> Mapping[str, tuple[str, ...]]:
        """What every function of the program takes and gives for symbolic sizes, with quantities: a line for each way to
        apply it, none for a generic one."""
        return {
            name: self._signatures_of(name, entry)
            for name, entry in self.elaborated.names.items()
            if isinstance(entry, FunctionValue)
        }

    def instances(self) -> Mapping[str, tuple[tuple[str, Instance], ...]]:
        """The ways to apply each function, with their signatures; see `signatures`."""
        from .elaborate.infer_signature import instances
        from .usage.check_moves import show_instance

        shown: dict[str, tuple[tuple[str, Instance], ...]] = {}
        for name, entry in self.elaborated.names.items():
            if isinstance(entry, FunctionValue):
                inferred = instances(self.elaborated.context, entry)
                shown[name] = tuple([(show_instance(name, one.arguments, one.results, one.facts), one) for one in inferred])
        return shown

    def describe(self, name: str) -> tuple[str, ...]:
        """What an editor shows on a top-level name: type and reads of a value; each way to apply a function, with what it
        needs of the sizes as `where`.  Nothing for an unknown name."""
        entry = self.elaborated.names.get(name)
        if entry is None:
            return ()
        if isinstance(entry, FunctionValue):
            return self._signatures_of(name, entry) or (f"{name} : {GENERIC}",)
        values = {x.value for x in leaves(entry)} if isinstance(entry, (Operand, TupleOperand)) else set()
        lines = tuple([quantity.line() for quantity in self.quantities() if quantity.name == name and quantity.value in values])
        return lines or (f"{name} : {self.types.get(name, '?')}",)

    def _signatures_of(self, name: str, function: FunctionValue) -> tuple[str, ...]:
        from .elaborate.infer_signature import instances
        from .usage.check_moves import show_instance

        context, definition = self.elaborated.context, self.elaborated.definition_keys.get(name)
        signatures = context.check_cache.signatures
        known = None if definition is None else signatures.get((name, definition.key))
        if known is None:
            inferred = instances(context, function)
            known = tuple([show_instance(name, one.arguments, one.results, one.facts) for one in inferred])
            if definition is not None and definition.dependency <= DependencyLevel.CONSTANTS:
                signatures.put((name, definition.key), known)
        return known


def no_modules(name: str, importer: str | None) -> Source | None:
    """A loader that finds nothing."""
    return None


def check(
    source: Source, *, load_module: LoadModule = no_modules, strict: bool = False, index_origin: int | None = None,
    check_cache: CheckCache | None = None,
) -> CheckResult:  # fmt: skip
    """Check a program.  `index_origin` overrides what the file says (for `eval --lines` and corpora); `memory` is what a
    `Checker` keeps from earlier versions."""
    done = elaborate(source, load_module, strict=strict, index_origin=index_origin, check_cache=check_cache)
    return CheckResult(done.core, done.diagnostics, done)


def show_value_type(value: Value) -> str:
    """A type as text; `?` after an error."""
    if isinstance(value, Operand):
        return "?" if value.poisoned else show_type(value.type)
    items = [show_value_type(item) for item in value.items]
    return "(" + " ⋄ ".join(items) + ")"


# ---------------------------------------------------------------------------------------------------- incremental
#
# Checking one version of a program after another, paying for what changed: for editors, sessions and `check --watch`.
#
# A `Checker` keeps bound statements by their texts and the outcomes of definitions by all that they mean
# (`elaborate.context`), and gives for every version exactly what `check` gives for it alone: diagnostics, core, types,
# quantities and signatures.  Whatever is not certain to be the same is done again.
#
# One checker serves one loader of modules and one strictness; it is not to be used by two threads at once.

class Checker:
    """Checks versions of programs; `index_origin` overrides what files say."""

    def __init__(self, load_module: LoadModule = no_modules, *, strict: bool = False, index_origin: int | None = None) -> None:
        self._load_module = load_module
        self._strict = strict
        self._index_origin = index_origin
        self._check_cache = CheckCache()

    @cached_property
    def sibling(self) -> Checker:
        """A checker of other texts by the same rules, so that this one's memory stays with its program."""
        return Checker(self._load_module, strict=self._strict, index_origin=self._index_origin)

    def read(self, source: Source, load_module: LoadModule | None = None) -> Parsed:
        """This version with what its names stand for, without checking it."""
        return programs.read(source, self._load_module if load_module is None else load_module, {}, self._check_cache)

    def check(self, source: Source, load_module: LoadModule | None = None) -> CheckResult:
        """The result of checking this version; `load_module` may read the modules anew."""
        load = self._load_module if load_module is None else load_module
        try:
            return check(source, load_module=load, strict=self._strict, index_origin=self._index_origin,
                check_cache=self._check_cache)
        finally:
            self._check_cache.end_generation()


# ---------------------------------------------------------------------------------------------------- judging
#
# What is known of expressions at a place of a program, beside what checking the program finds: ranks, element kinds, ranges.

_LETTERS: Final = {Kind.BOOL: "b", Kind.I64: "i", Kind.F64: "f", Kind.CHAR: "c"}
_LIBRARIES: Final = re.compile(r"(?<![\w.])(stats|sort|text|linalg)\.")


class ExpressionFacts:
    """Facts of expressions after the first statements of one file; expensive ones are worked out once."""

    def __init__(self, checker: Checker, load: LoadModule, file: str) -> None:
        self._checker, self._load, self._file = checker, load, file
        self._known: dict[tuple[str, str], ArgumentFact | None] = {}

    def __call__(self, before: str, texts: Sequence[str]) -> list[ArgumentFact | None]:
        """The facts of some expressions after a text; None for what has an error or is no array."""
        from ..lang.foreign.equivalence_domains import literal_fact

        asked = [text for text in dict.fromkeys(texts) if (before, text) not in self._known]
        for text in asked:
            self._known[before, text] = literal_fact(text)
        self._work_out(before, [text for text in asked if self._known[before, text] is None])
        return [self._known[before, text] for text in texts]

    def _work_out(self, before: str, texts: Sequence[str]) -> None:
        needed = [name for name in dict.fromkeys(_LIBRARIES.findall(" ".join(texts))) if f"use {name}" not in before]
        if not texts or any("\n" in text or "…" in text for text in texts):
            return
        names = [f"expression_{number}_asked" for number in range(len(texts))]
        lines = [f"use {name}" for name in needed] + [f"{name} ← {text}" for name, text in zip(names, texts, strict=True)]
        try:
            entries = self._checker.check(Source(self._file, "\n".join([before, *lines, ""])), self._load).elaborated.names
        except RhoError:
            return
        for name, text in zip(names, texts, strict=True):
            entry = entries.get(name)
            if isinstance(entry, Operand) and not entry.poisoned:
                self._known[before, text] = _fact(entry)


def _fact(value: Operand) -> ArgumentFact:
    from ..lang.foreign.equivalence_domains import ArgumentFact

    element, shape = value.type.element, value.type.shape
    low, high = element.low, element.high
    if element.index_bound is not None:
        low = 0
    return ArgumentFact(tuple([size.constant for size in shape]), _LETTERS.get(element.kind, "o"), low, high, value.constant)
