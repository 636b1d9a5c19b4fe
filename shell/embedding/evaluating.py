"""`rho.eval`: runs a text as a program and returns the value that it shows last.

A text without inputs and modules always means the same: it is checked and planned once, and run each time it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from ...backend.cpu.views import NumArray
from ...backend.io.cells import from_numpy
from ...backend.io.errors import missing_package
from ...backend.io.parquet import ArrowColumn, columns_of_arrow, items_of, offers_arrow, padded_texts
from ...backend.vm.executor import Runs
from ...backend.vm.values import kind_of_dtype
from ...lang.diagnostics.model import Rejected, RhoError
from ...lang.diagnostics.render import render_text
from ...lang.support import processes
from ...lang.syntax.source import Source
from ...lang.tree.program import AS_WRITTEN, ColumnFormat
from ...typechecker.core.arrays import CorePrint
from ...typechecker.core.blocks import Core
from ...typechecker.elements import Kind
from ..console.messages import EVAL
from ..execution.outcome import as_numpy, constant_results
from ..execution.run_request import RunRequest
from ..pipeline import Session
from ..pipeline_types import Checked, LoadedProgram

# ---------------------------------------------------------------------------------------------------- showing
#
# Errors that Python shows as the command line does, with the program's lines.

E = TypeVar("E", bound=RhoError)


@contextmanager
def shown(sources: Mapping[str, Source]) -> Iterator[None]:
    """Errors inside the block say where in these texts they are."""
    try:
        yield
    except RhoError as error:
        raise showing(error, sources) from None


def require_accepted(checked: Checked) -> Core:
    """The typed core.  Rejected: there is none, with the errors alone."""
    if checked.core is None:
        errors = [one for one in checked.diagnostics if one.is_error]
        raise showing(Rejected(errors or checked.diagnostics), checked.sources)
    return checked.core


def showing(error: E, sources: Mapping[str, Source]) -> E:
    """The error, which now says where in these texts it is."""
    error.text = error.text or render_text(error.diagnostics, sources).rstrip("\n")
    return error


# ---------------------------------------------------------------------------------------------------- evaluating

MOST_KEPT: Final = 256
"""Texts that are kept; the oldest goes first."""


class _ConstantResult:
    """A text whose value is known; every caller has a copy."""

    def __init__(self, values: Sequence[NumArray]) -> None:
        self._values = values

    def value(self) -> Any:
        return _as_one([value.copy() for value in self._values])


class _PreparedText:
    """A text that is run; prepared for one run at a time."""

    def __init__(self, loaded: LoadedProgram) -> None:
        self._runs, self._several = Runs(loaded.plan, loaded.bound), _several(loaded.core)

    def value(self) -> Any:
        printed = self._runs.use(lambda prepared: prepared.run({})).printed
        return _as_one([shown.value for shown in printed[-self._several :]])


_Kept: TypeAlias = "_ConstantResult | _PreparedText"
_kept: dict[tuple[Session, str], _Kept] = {}
_lock = processes.lock()
_SESSION: Final = Session()


def evaluate(text: str, session: Session | None = None) -> Any:
    """The value that a program's text shows last, as an array; several that are one result (`⎕qr A`) as a tuple, as from a
    compiled function; None if it shows nothing.

    Rejected, Refused, RunFailed: as for any program.  The array is the caller's own."""
    session = session or _SESSION
    cached = _kept.get((session, text))
    if cached is not None:
        try:
            return cached.value()
        except RhoError as error:
            raise showing(error, {EVAL: Source(EVAL, text)}) from None
    checked = session.check(Source(EVAL, text))
    core = require_accepted(checked)
    pathless = [entry.name for entry in core.data if entry.path is None]
    if pathless:
        raise TypeError(f"no value for {', '.join(pathless)}, which the text names no file for")
    with shown(checked.sources):
        loaded = session.load(checked, RunRequest())
        if core.inputs or core.schedules or len(checked.sources) > 1:
            printed = session.run(loaded).printed
            return _as_one([as_numpy(one.value) for one in printed[-_several(core) :]])
        with _lock:
            evaluator = _kept[session, text] = _made(loaded)
            while len(_kept) > MOST_KEPT:
                del _kept[next(iter(_kept))]
        return evaluator.value()


def _made(loaded: LoadedProgram) -> _Kept:
    folded = constant_results(loaded.bound)
    if folded is None:
        return _PreparedText(loaded)
    return _ConstantResult([as_numpy(value) for value in folded[0][-_several(loaded.core) :]])


def _several(core: Core) -> int:
    """How many of the printed values are the last one."""
    printed = [op for op in core.block.ops if isinstance(op, CorePrint)]
    return 1 + len([*takewhile(lambda shown: shown.goes_on, reversed(printed))])


def _as_one(values: Sequence[Any]) -> Any:
    return tuple(values) if len(values) > 1 else values[0] if values else None


# ---------------------------------------------------------------------------------------------------- arrays
#
# Python values as arrays that Rho can take, without copying where the memory can be shared.
#
# Taken: anything with the array interface, the buffer protocol, DLPack (on the CPU) or the Arrow interface (columns and tables of
# pandas, polars and pyarrow, which are copied), numbers, text, and nested lists.  Rows of text are padded with blanks, dates are
# days and times microseconds since 1970.

def as_array(value: object, what: str, reading: ColumnFormat = AS_WRITTEN) -> tuple[np.ndarray[Any, Any], Kind]:
    """The array and its element kind; `what` names the argument in messages, `reading` are the clauses of its declaration.

    TypeError: not an array, or of elements that Rho has no type for.  FileTrouble: a column with missing items for which nothing
    stands, or that is not of the declared form.  The array may be the caller's own: never write to it."""
    if isinstance(value, str):
        array = np.array(list(value), dtype="U1")
    elif isinstance(value, np.ndarray):
        array = _filled(value, what, reading) if isinstance(value, np.ma.MaskedArray) else value
    elif offers_arrow(value) and not isinstance(getattr(value, "dtype", None), np.dtype):
        array = _from_arrow(value, what, reading)
    elif hasattr(value, "__array__") or hasattr(value, "__array_interface__") or isinstance(value, (int, float, complex, bool)):
        array = _as_numpy_takes_it(value, what)
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value, what)
    else:
        array = _from_items(value, what)
    kind = kind_of_dtype(array.dtype)
    if kind is None:
        array = _widened(array, what) if array.dtype.name in _WIDER else _of_rows(array, what, reading)
        kind = kind_of_dtype(array.dtype)
    if kind is None:
        raise TypeError(f"{what} has elements of type {array.dtype}, which no Rho element type stores; {_ADVICE}")
    return array, kind


_WIDER = {"int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64", "float16": "float32"}
"""Element types that no kind stores, and the narrowest that holds what they hold (but for the upper half of uint64)."""


def _widened(array: np.ndarray[Any, Any], what: str) -> np.ndarray[Any, Any]:
    if array.dtype.name == "uint64" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise TypeError(f"{what} holds {array.max()}, which is beyond i64")
    return array.astype(_WIDER[array.dtype.name])


def _filled(array: np.ma.MaskedArray[Any, Any], what: str, reading: ColumnFormat) -> np.ndarray[Any, Any]:
    """With what stands for its masked items."""
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.ndim != 1:
        raise TypeError(f"{what} has masked items; fill them with `.filled(…)`")
    items: np.ndarray[Any, Any] = items_of(ArrowColumn("", np.asarray(array.data), ~np.ma.getmaskarray(array)), reading)
    return items


_ADVICE = "convert it to bool, uint8, int32, int64, float32, float64, complex64, complex128 or one-character text"


def _from_arrow(value: object, what: str, reading: ColumnFormat) -> np.ndarray[Any, Any]:
    """A column as a vector (of text as rows), a table of numbers as a matrix; without pyarrow as NumPy takes it, if it does."""
    try:
        columns, is_table = columns_of_arrow(value)
    except ImportError:
        if not hasattr(value, "__array__"):
            raise missing_package("parquet", "pyarrow") from None
        return _as_numpy_takes_it(value, what)
    items: list[np.ndarray[Any, Any]] = [items_of(column, reading) for column in columns]
    if not is_table:
        return items[0]
    texts = [column.name for column, item in zip(columns, items, strict=True) if item.dtype.kind == "U"]
    if texts:
        raise TypeError(f"{what} has the text column {texts[0]}; give its columns one by one")
    return np.stack(items, axis=1) if items else np.zeros((0, 0))


def _as_numpy_takes_it(value: Any, what: str) -> np.ndarray[Any, Any]:
    """The array; TypeError where missing items, which are no NaN of a NumPy dtype, would become one."""
    of_numpy = isinstance(getattr(value, "dtype", np.dtype(float)), np.dtype)
    if not of_numpy and hasattr(value, "isna") and np.asarray(value.isna()).any():
        raise TypeError(f"{what} has missing items; fill them before (pandas `fillna`)")
    return np.asarray(value)


def _of_rows(array: np.ndarray[Any, Any], what: str, reading: ColumnFormat) -> np.ndarray[Any, Any]:
    """Texts as rows of characters; dates and times as numbers.  Others stay."""
    if array.dtype.kind == "M":
        counts: np.ndarray[Any, Any] = items_of(ArrowColumn("", *from_numpy(array.reshape(-1))), reading)
        return counts.reshape(array.shape)
    texts = [text for text in array.reshape(-1).tolist() if isinstance(text, str)] if array.dtype.kind in "UO" else []
    if array.dtype.kind not in "UO" or len(texts) != array.size:
        return array
    rows: np.ndarray[Any, Any] = padded_texts(texts)
    return rows.reshape(*array.shape, rows.shape[1])


def _from_dlpack(value: Any, what: str) -> np.ndarray[Any, Any]:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"{what} is not in memory that NumPy can share: {error}") from None


def _from_items(value: object, what: str) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise TypeError(f"{what} is not a rectangular array: {error}") from None
    if array.dtype.kind not in "OU" and not _may_have_rounded(array):
        return array
    items = np.asarray(value, object)
    for item in items.flat:
        if isinstance(item, (int, np.integer)) and not np.iinfo(np.int64).min <= item <= np.iinfo(np.int64).max:
            raise TypeError(f"{what} holds {item}, which is beyond i64")
    if array.dtype.kind in "OU":
        if not all(isinstance(item, str) for item in items.flat):
            raise TypeError(f"{what} is a {type(value).__name__}, not an array of numbers or text")
        return array
    return items.astype(np.int64) if all(isinstance(item, (int, np.integer)) for item in items.flat) else array


def _may_have_rounded(array: np.ndarray[Any, Any]) -> bool:
    """Are there floats which NumPy may have rounded integers to?"""
    return array.dtype.kind in "fc" and bool((np.abs(array) >= 2**53).any())
