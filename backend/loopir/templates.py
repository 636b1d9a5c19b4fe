"""Loop programs that are written by hand rather than lowered from phases: the inner loops of library functions.

Each is a file of loop text (`text`), whose names begin with `$`; directives stand on lines of their own and begin with `%`:

    %if name … %else name … %end name        text by the truth of a value
    %for name … %end name                    text for each of a list of values, each of which has names of its own
    %macro name parameters … %end name       text that `%name argument; argument` stands for

The argument words of a program are those of `codegen.llvm_registers`: parameters, then each view's base and strides.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Final

from ...lang.support.files import read_text
from ...lang.support.records import dataclass
from ...typechecker.elements import Kind, is_ordered, neutral_element
from ..graph.phases import bits_of
from ..jit.compiler import vector_bytes
from ..lower.loop_order import BLOCK, RUN, VectorStride
from .ir import LoopProgram
from .text import literal, parse

PHILOX_ROUNDS: Final = 10
_MOST_TEXT_BYTES: Final = 1 << 16
_BLOCK: Final = re.compile(r" *%(if|for|macro) (\w+)(.*)\n((?:.*\n)*?)(?: *%else \2\n((?:.*\n)*?))? *%end \2\n")
_USE: Final = re.compile(r" *%(\w+) (.*)\n")


def expanded(text: str, values: Mapping[str, Any]) -> str:
    """The text with its directives expanded and its names replaced by values."""
    macros: dict[str, tuple[list[str], str]] = {}

    def block(match: re.Match[str]) -> str:
        directive, name, parameters, body, otherwise = match.groups()
        if directive == "macro":
            macros[name] = parameters.split(), body
            return ""
        if directive == "if":
            return str(body if values[name] else otherwise or "")
        return "".join([Template(body).safe_substitute(item) for item in values[name]])

    def used(match: re.Match[str]) -> str:
        parameters, body = macros[match[1]]
        return Template(body).safe_substitute(dict(zip(parameters, map(str.strip, match[2].split(";")), strict=True)))

    replaced = 1
    while replaced:
        text, replaced = _BLOCK.subn(block, text)
        if not replaced:
            text, replaced = _USE.subn(used, text)
    return Template(text).substitute(values)


def written(*files: str, **values: Any) -> LoopProgram:
    """The program made from files of loop text with values for their names."""
    paths = [Path(__file__).with_name(f"{file}.loop") for file in files]
    return parse(expanded("".join([read_text(path, _MOST_TEXT_BYTES) for path in paths]), values))


def numbered(count: int, first: int = 0) -> list[dict[str, int]]:
    return [{"k": number, "next": number + 1} for number in range(first, count)]


def neutral_literal(function: str, kind: Kind) -> str:
    return literal(kind, bits_of(kind, neutral_element(function, kind)))


class LoopTemplate(ABC):
    """A loop program determined by its fields; `text` is its LLVM IR."""

    @abstractmethod
    def program(self) -> LoopProgram: ...

    def text(self) -> str:
        from ..codegen.llvm_printer import llvm_text

        return llvm_text(self.program(), vector_bytes())


@dataclass(frozen=True, slots=True)
class CombinePartials(LoopTemplate):
    """Combines the partial results of a split reduction."""

    function: str
    kind: Kind

    def program(self) -> LoopProgram:
        return written("joining", function=self.function, kind=self.kind.value)


@dataclass(frozen=True, slots=True)
class LatestState(LoopTemplate):
    """Copies the latest state of a loop out of its two buffers."""

    kind: Kind

    def program(self) -> LoopProgram:
        return written("latest", kind=self.kind.value)


@dataclass(frozen=True, slots=True)
class CountTrue(LoopTemplate):
    """Counts the true items of a mask."""

    def program(self) -> LoopProgram:
        return written("counting")


@dataclass(frozen=True, slots=True)
class Scatter(LoopTemplate):
    """A keyed reduction into several `tables` (a power of two, at most four) or by `runs` of keys.  `unit`: keys are contiguous.
    `step`: the stride of the items."""

    function: str
    kind: Kind
    tables: int
    unit: bool = False
    step: VectorStride = VectorStride.STRIDED
    runs: bool = False

    def program(self) -> LoopProgram:
        several = self.step is not VectorStride.NONE
        grouped = [{"k": k, "table": k % self.tables, "value": f"value{k}" if several else "value"} for k in range(4)]
        return written(
            "scatter", function=self.function, kind=self.kind.value, tables=self.tables, runs=self.runs, several=several,
            grouped=grouped, key_layout="" if self.unit else " strided", item_shape="count" if several else "",
            item_layout="" if self.step is VectorStride.UNIT else " strided",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PhiloxUniforms(LoopTemplate):
    """Uniform random numbers of a key."""

    def program(self) -> LoopProgram:
        last = PHILOX_ROUNDS
        rounds = [{**names, "c": f"c{k}" if k else "low", "d": f"d{k}" if k else "high"}
                  for k, names in enumerate(numbered(last))]  # fmt: skip
        halves = [{"half": half, "upper": f"{upper}{last}", "lower": f"{lower}{last}"}
                  for half, (upper, lower) in enumerate((("a", "b"), ("c", "d")))]  # fmt: skip
        keys = ", ".join([f"low{number}, high{number}" for number in range(last)])
        return written("uniforms", rounds=rounds, halves=halves, keys=keys)


class SelectionForm(Enum):
    ITEMS = "items"
    """Selects items of a source, of `kind`, each of one number or two."""
    CELLS = "cells"
    """Selects cells of a source, as runs of numbers."""
    PLACES = "places"
    """Selects the numbers of the items."""
    PAIRS = "pairs"
    """Selects the number of the table and that of the item (coordinates in a matrix)."""


@dataclass(frozen=True, slots=True)
class SelectTemplate(LoopTemplate):
    """A selection by a mask.  `count`: numbers per item, for ITEMS.  `unit`: the items are contiguous."""

    form: SelectionForm
    kind: Kind = Kind.I64
    count: int = 1
    unit: bool = False

    @property
    def is_numbering(self) -> bool:
        return self.form in (SelectionForm.PLACES, SelectionForm.PAIRS)

    def program(self) -> LoopProgram:
        form, count = self.form, self.count
        is_cells, numbers = form is SelectionForm.CELLS, 2 if form is SelectionForm.PAIRS else count
        later = [{"k": k, "shift": 8 * k - 8} for k in range(2, 8)]
        parts = [{"part": number} for number in range(count)] if form is SelectionForm.ITEMS else []
        source = f"{count}*items" if self.unit else "items, cell" if is_cells else f"items, {count}"
        return written(
            "selecting", kind=self.kind.value, later=later, parts=parts, count=count, unit=self.unit, cells=is_cells,
            places=form is SelectionForm.PLACES, pairs=form is SelectionForm.PAIRS, source="" if self.is_numbering else source,
            result="due, cell" if is_cells else f"{numbers}*due", end="end.slow" if is_cells else "end.some",
        )  # fmt: skip


MOST_BINS: Final = 1 << 10
"""The most bins that fit in shared memory."""
_CHUNK: Final = 1 << 12
"""Items that one thread block combines, several per bin."""


class KeyedReductionForm(Enum):
    SCATTER = ("count", "width", "bins")
    FEW = ("count", "bins")
    GROUPED = ("bins", "width", "count")


@cache
def gpu_keyed_reduction(function: str, kind: Kind, form: KeyedReductionForm, *, checked: bool) -> LoopProgram:
    return written(
        "keyed", function=function, kind=kind.value, checked=checked, sizes=", ".join(form.value), most=MOST_BINS, chunk=_CHUNK,
        few=form is KeyedReductionForm.FEW, grouped=form is KeyedReductionForm.GROUPED, neutral=neutral_literal(function, kind),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- scans

_ABSORBING: Final = {"min": 0, "max": 1}
"""The absorbing element of a function of 0 and 1."""
_ON_BYTES: Final = {"and": "min", "or": "max", "ne": "bxor", "eq": "bxor"}
"""Functions of bools, as functions of 0 and 1."""


class ScanForm(Enum):
    LINES = "lines"
    COLUMNS = "columns"


def _scan_values(function: str, kind: Kind) -> dict[str, Any]:
    """Values for the names of scans, which scan bools as 0 and 1."""
    is_bool = kind is Kind.BOOL
    number, inside = (Kind.U8, _ON_BYTES[function]) if is_bool else (kind, function)
    return {
        "kind": kind.value, "number": number.value, "function": inside, "neutral": neutral_literal(inside, number),
        "is_bool": is_bool, "negated": function == "eq", "test": "eq" if function == "eq" else "ne",
        "run": RUN, "block_items": BLOCK, "ahead": numbered(8),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScanTemplate(LoopTemplate):
    """A scan along lines.  `unit`: the items of a source line are contiguous.  `streamed`: results bypass the caches, and lines
    of the result start at multiples of 64 bytes."""

    function: str
    kind: Kind
    form: ScanForm
    unit: bool = True
    streamed: bool = False

    @property
    def is_order_free(self) -> bool:
        """Is the scan exact in any order?"""
        return not is_ordered(self.function, self.kind)

    def program(self) -> LoopProgram:
        values = _scan_values(self.function, self.kind)
        absorbing = _ABSORBING.get(values["function"]) if values["is_bool"] else None
        return written(
            "scan", f"scan_{self.form.value}", **values, ordered=not self.is_order_free, by=f" by {values['function']}",
            absorbs=absorbing is not None, absorbing=absorbing, source="" if self.unit else " strided",
            result=" streamed" if self.streamed else "",
        )  # fmt: skip


class GpuScanForm(Enum):
    """`TOTALS` and `AFTER` are the two passes of a scan of lines of several blocks."""

    LINES = "lines"
    BLOCK = "block"
    BLOCKS = "blocks"
    TOTALS = "totals"
    AFTER = "after"

    @property
    def sizes(self) -> tuple[str, ...]:
        if self is GpuScanForm.LINES:
            return "tables", "length", "cells"
        return ("lines", "length") if self is GpuScanForm.BLOCK else ("lines", "length", "blocks")


@cache
def gpu_scan(function: str, kind: Kind, form: GpuScanForm) -> LoopProgram:
    runs, is_first, is_second = BLOCK // RUN, form is GpuScanForm.TOTALS, form is GpuScanForm.AFTER
    return written(
        "scan", "scan_gpu", **_scan_values(function, kind), sizes=", ".join(form.sizes), lines=form is GpuScanForm.LINES,
        is_long=form is GpuScanForm.BLOCKS, is_first=is_first, is_second=is_second, blocks=form.sizes[2] if form.sizes[2:] else 1,
        has_totals=form is GpuScanForm.BLOCKS or is_first, has_before=form is GpuScanForm.BLOCKS or is_second, runs=runs,
        tile=BLOCK + runs, padded=RUN + 1,
    )  # fmt: skip
