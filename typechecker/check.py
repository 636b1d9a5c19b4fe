"""The entry points of the type checker: from source text to typed core and diagnostics.  Executes nothing, reads no data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..lang.diagnostics.model import Diagnostic, RhoError
from ..lang.support.records import cached_property, dataclass, field
from ..lang.syntax.parser import Parsed
from ..lang.syntax.source import Source
from .core.operations import Core
from .diagnostics import show_type
from .elaborate import programs
from .elaborate.context import CheckCache, DependencyLevel, FunctionValue, Module, OperatorValue
from .elaborate.functions import drops_left
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
    """The result of checking a program; `core` is None if there is an error.  Types as text and quantities are computed on
    demand."""

    core: Core | None
    diagnostics: tuple[Diagnostic, ...]
    elaborated: programs.Elaborated = field(repr=False, compare=False)

    @cached_property
    def types(self) -> Mapping[str, str]:
        """The types of the top-level names, as text."""
        types: dict[str, str] = {}
        for name, entry in self.elaborated.names.items():
            if isinstance(entry, (Operand, TupleOperand)):
                types[name] = show_value_type(entry)
            elif isinstance(entry, Module):
                types[name] = "module"
            elif isinstance(entry, OperatorValue):
                types[name] = "operator"
            elif isinstance(entry, FunctionValue):
                types[name] = "function"
        return types

    def drops_left(self, name: str) -> bool:
        """Is a name a top-level function that ignores its left argument?"""
        return drops_left(self.elaborated.names.get(name))

    @property
    def last(self) -> str | None:
        """The type of the last expression statement or binding."""
        return None if self.elaborated.last is None else show_value_type(self.elaborated.last)

    def quantities(self) -> tuple[NamedQuantity, ...]:
        """The grades of inputs and named values, which count the reads of their elements; empty if there is an error."""
        from .usage.check_moves import named_quantities

        return () if self.core is None else named_quantities(self.core)

    def signatures(self) -> Mapping[str, tuple[str, ...]]:
        """The inferred signatures of every function of the program, with quantities: one for each way to apply it, none for a
        generic one."""
        return {
            name: self._signatures_of(name, entry)
            for name, entry in self.elaborated.names.items()
            if isinstance(entry, FunctionValue)
        }

    def instances(self) -> Mapping[str, tuple[tuple[str, Instance], ...]]:
        """Each function with its instances, and each instance with its signature as text."""
        from .elaborate.infer_signature import instances

        result: dict[str, tuple[tuple[str, Instance], ...]] = {}
        for name, entry in self.elaborated.names.items():
            if isinstance(entry, FunctionValue):
                result[name] = tuple(instances(self.elaborated.context, name, entry))
        return result

    def describe(self, name: str) -> tuple[str, ...]:
        """The lines that an editor shows for a top-level name; empty for an unknown one.

        Of a value they are its type and the reads of its elements; of a function its signatures, with the facts about sizes that
        it needs after `where`.
        """
        entry = self.elaborated.names.get(name)
        if entry is None:
            return ()
        if isinstance(entry, FunctionValue):
            return self._signatures_of(name, entry) or (f"{name} : {GENERIC}",)
        if isinstance(entry, OperatorValue) and entry.signed is not None:
            from .signatures.calls import show_signature

            return (f"{name} : {show_signature(entry.signed.signature)}",)
        values = {x.value for x in leaves(entry)} if isinstance(entry, (Operand, TupleOperand)) else set()
        lines = tuple([quantity.line() for quantity in self.quantities() if quantity.name == name and quantity.value in values])
        return lines or (f"{name} : {self.types.get(name, '?')}",)

    def _signatures_of(self, name: str, function: FunctionValue) -> tuple[str, ...]:
        from .elaborate.infer_signature import instances

        context, definition = self.elaborated.context, self.elaborated.definition_keys.get(name)
        signatures = context.check_cache.signatures
        known = None if definition is None else signatures.get((name, definition.key))
        if known is None:
            known = tuple([text for text, _ in instances(context, name, function)])
            if definition is not None and definition.dependency <= DependencyLevel.CONSTANTS:
                signatures.put((name, definition.key), known)
        return known


def no_modules(name: str, importer: str | None) -> Source | None:
    """A loader of no modules."""
    return None


def check(
    source: Source, *, load_module: LoadModule = no_modules, strict: bool = False, index_origin: int | None = None,
    check_cache: CheckCache | None = None, checkpoints: bool = False,
) -> CheckResult:  # fmt: skip
    """Check a program.

    `index_origin` overrides the file's `⎕IO` (for `eval --lines` and corpora).  With `strict`, checks that are left to loading or
    running are errors.  `check_cache` has the results of earlier versions (`Checker`).  With `checkpoints`, gradients of loops
    store few states and recompute the others.
    """
    elaborated = programs.elaborate(
        source, load_module, strict=strict, index_origin=index_origin, check_cache=check_cache, checkpoints=checkpoints
    )
    return CheckResult(elaborated.core, elaborated.diagnostics, elaborated)


def show_value_type(value: Value) -> str:
    """A type as text; `?` after an error."""
    if isinstance(value, Operand):
        return "?" if value.poisoned else show_type(value.type)
    items = [show_value_type(item) for item in value.items]
    return "(" + " ⋄ ".join(items) + ")"


# ---------------------------------------------------------------------------------------------------- incremental checking
#
# Checks the versions of a program one after another, at the cost of what changed: for editors, sessions and `check --watch`.
#
# A `Checker` caches bound statements by their texts and the outcomes of definitions by all that they depend on
# (`elaborate.context`).  For every version it gives exactly what `check` gives: diagnostics, core, types, quantities, signatures.
#
# A checker is for one loader of modules and one strictness, and for one thread at a time.

class Checker:
    """Checks the versions of a program; `index_origin` overrides the `⎕IO` of files."""

    def __init__(self, load_module: LoadModule = no_modules, *, strict: bool = False, index_origin: int | None = None) -> None:
        self._load_module = load_module
        self._strict = strict
        self._index_origin = index_origin
        self._check_cache = CheckCache()

    @cached_property
    def sibling(self) -> Checker:
        """A checker with the same settings and an empty cache, for other texts, which would displace this program in the
        cache."""
        return Checker(self._load_module, strict=self._strict, index_origin=self._index_origin)

    def read(self, source: Source, load_module: LoadModule | None = None) -> Parsed:
        """Parse and bind this version without checking it."""
        return programs.read(source, self._load_module if load_module is None else load_module, {}, self._check_cache)

    def check(self, source: Source, load_module: LoadModule | None = None) -> CheckResult:
        """Check this version; `load_module` replaces the checker's loader."""
        load = self._load_module if load_module is None else load_module
        try:
            return check(
                source, load_module=load, strict=self._strict, index_origin=self._index_origin, check_cache=self._check_cache
            )
        finally:
            self._check_cache.end_generation()


# ---------------------------------------------------------------------------------------------------- facts about expressions
#
# Ranks, element kinds and ranges of expressions at a position of a program, for the translation of foreign syntax.

_LETTERS: Final = {
    Kind.BOOL: "b", Kind.I64: "i", Kind.F64: "f", Kind.CHAR: "c", Kind.F32: "g", Kind.U8: "u", Kind.I32: "u", Kind.C64: "z",
    Kind.C128: "z",
}  # fmt: skip
_LIBRARIES: Final = re.compile(r"(?<![\w.])(stats|sort|text|linalg)\.")


class ExpressionFacts:
    """Facts about the values of expressions after a prefix of one file (a `FactQuery` of `lang.foreign`), cached."""

    def __init__(self, checker: Checker, load: LoadModule, file: str) -> None:
        self._checker, self._load, self._file = checker, load, file
        self._known: dict[tuple[str, str], ArgumentFact | None] = {}

    def __call__(self, before: str, texts: Sequence[str]) -> list[ArgumentFact | None]:
        """The facts about some expressions after a text; None for one that has an error or is no array."""
        from ..lang.foreign.equivalence_domains import literal_fact

        unknown = [text for text in dict.fromkeys(texts) if (before, text) not in self._known]
        for text in unknown:
            self._known[before, text] = literal_fact(text)
        self._infer_facts(before, [text for text in unknown if self._known[before, text] is None])
        return [self._known[before, text] for text in texts]

    def _infer_facts(self, before: str, texts: Sequence[str]) -> None:
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
    return ArgumentFact(tuple([size.constant for size in shape]), _LETTERS[element.kind], low, high, value.constant)
