"""The checker's front door: source text → typed core and diagnostics.  Executes nothing, reads no data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from ..lang.diagnostics import Diagnostic
from ..lang.properties import cached_property
from ..lang.records import dataclass
from ..lang.source import Source
from .core_blocks import Core
from .display import show_type
from .elaborate.environment import FunctionValue, Module, OperatorValue
from .elaborate.programs import Elaborated, elaborate
from .elaborate.sites import Memory, Reach
from .elaborate.valence import drops_left
from .operands import Operand, TupleOperand, Value, leaves

if TYPE_CHECKING:
    from .elaborate.sampling import Instance
    from .quantities.describe import NamedQuantity

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
        found: dict[str, str] = {}
        for name, entry in self.elaborated.names.items():
            if isinstance(entry, (Operand, TupleOperand)):
                found[name] = show_value_type(entry)
            elif isinstance(entry, Module):
                found[name] = "module"
            elif isinstance(entry, OperatorValue):
                found[name] = "operator"
            elif isinstance(entry, FunctionValue):
                found[name] = "function"
        return found

    def drops_left(self, name: str) -> bool:
        """Is it a top-level function that drops a left argument?"""
        return drops_left(self.elaborated.names.get(name))

    @property
    def last(self) -> str | None:
        """The type of the last expression statement or binding."""
        return None if self.elaborated.last is None else show_value_type(self.elaborated.last)

    def quantities(self) -> tuple[NamedQuantity, ...]:
        """How often the elements of inputs and named values are read; none if there is an error."""
        from .quantities.describe import named_quantities

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
        from .elaborate.sampling import instances
        from .quantities.describe import show_instance

        found: dict[str, tuple[tuple[str, Instance], ...]] = {}
        for name, entry in self.elaborated.names.items():
            if isinstance(entry, FunctionValue):
                made = instances(self.elaborated.context, entry)
                found[name] = tuple([(show_instance(name, one.arguments, one.results, one.facts), one) for one in made])
        return found

    def described(self, name: str) -> tuple[str, ...]:
        """What an editor shows on a top-level name: type and reads of a value; each way to apply a function, with what it
        needs of the sizes as `where`.  Nothing for an unknown name."""
        entry = self.elaborated.names.get(name)
        if entry is None:
            return ()
        if isinstance(entry, FunctionValue):
            return self._signatures_of(name, entry) or (f"{name} : {GENERIC}",)
        values = {x.value for x in leaves(entry)} if isinstance(entry, (Operand, TupleOperand)) else set()
        found = tuple([quantity.line() for quantity in self.quantities() if quantity.name == name and quantity.value in values])
        return found or (f"{name} : {self.types.get(name, '?')}",)

    def _signatures_of(self, name: str, function: FunctionValue) -> tuple[str, ...]:
        from .elaborate.sampling import instances
        from .quantities.describe import show_instance

        context, site = self.elaborated.context, self.elaborated.sites.get(name)
        kept = context.memory.signatures
        known = None if site is None else kept.get((name, site.key))
        if known is None:
            made = instances(context, function)
            known = tuple([show_instance(name, one.arguments, one.results, one.facts) for one in made])
            if site is not None and site.reach <= Reach.CONSTANTS:
                kept.put((name, site.key), known)
        return known


def no_modules(name: str, importer: str | None) -> Source | None:
    """A loader that finds nothing."""
    return None


def check(
    source: Source, *, load_module: LoadModule = no_modules, strict: bool = False, index_origin: int | None = None,
    memory: Memory | None = None,
) -> CheckResult:  # fmt: skip
    """Check a program.  `index_origin` overrides what the file says (for `eval --lines` and corpora); `memory` is what a
    `Checker` keeps from earlier versions."""
    done = elaborate(source, load_module, strict=strict, index_origin=index_origin, memory=memory)
    return CheckResult(done.core, done.diagnostics, done)


def show_value_type(value: Value) -> str:
    """A type as text; `?` after an error."""
    if isinstance(value, Operand):
        return "?" if value.poisoned else show_type(value.type)
    items = [show_value_type(item) for item in value.items]
    return "(" + " ⋄ ".join(items) + ")"
