"""`rho.eval`: runs a text as a program and returns the last value that it prints; conversion of Python values to arrays.

A text without inputs and modules has the same meaning at every call: it is checked and planned once, and then only run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import takewhile
from opcode import opmap
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from ...backend.cpu.views import NumArray
from ...backend.io.cells import COUNTED_DTYPES, from_numpy
from ...backend.io.formats import missing_package
from ...backend.io.parquet import ArrowColumn, columns_of_arrow, items_of, offers_arrow
from ...backend.io.sources_and_sinks import padded_texts
from ...backend.vm.executor import PreparedPlanPool
from ...backend.vm.values import NUMPY_NAMES, from_numpy as values_from_numpy, kind_of_dtype, nested
from ...lang.diagnostics.model import Rejected, RhoError
from ...lang.diagnostics.render import render_text
from ...lang.support import processes
from ...lang.syntax.source import Source
from ...lang.tree.program import AS_WRITTEN, MISSING_POINT, CellFormat, ColumnFormat
from ...typechecker.core.operations import Core, CorePrint
from ...typechecker.elements import Kind, Unit
from ..console.standard_streams import EVAL, plain_data
from ..execution.run_request import RunRequest, as_numpy, constant_results
from ..pipeline import Session
from ..pipeline_types import Checked, LoadedProgram

# ---------------------------------------------------------------------------------------------------- errors
#
# Errors with the text that the command line shows, with lines of the program.

E = TypeVar("E", bound=RhoError)


@contextmanager
def locating_errors(sources: Mapping[str, Source]) -> Iterator[None]:
    """A block whose errors get a text with the lines of these sources."""
    try:
        yield
    except RhoError as error:
        raise with_source_lines(error, sources) from None


def require_accepted(checked: Checked) -> Core:
    """The typed core of an accepted program.  Rejected: with its errors, without warnings."""
    if checked.core is None:
        errors = [one for one in checked.diagnostics if one.is_error]
        raise with_source_lines(Rejected(errors or checked.diagnostics), checked.sources)
    return checked.core


_PACKAGE: Final = __name__.partition(".shell.")[0]
_RAISE: Final = opmap["RAISE_VARARGS"]


def for_caller(error: Exception) -> Exception:
    """An error without the frames inside Rho, if a statement of Rho raises it, so that callers see their own line; others
    unchanged."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return error
    module = str(last.tb_frame.f_globals.get("__name__", ""))
    is_raised = last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE and module.partition(".")[0] == _PACKAGE
    return error.with_traceback(None) if isinstance(error, RhoError) or is_raised else error


def with_source_lines(error: E, sources: Mapping[str, Source]) -> E:
    """The error, with a text that quotes lines of these sources."""
    error.text = error.text or render_text(error.diagnostics, sources).rstrip("\n")
    return error


# ---------------------------------------------------------------------------------------------------- evaluation

MOST_CACHED: Final = 256
"""The most texts that are cached; the oldest is dropped first."""


class _ConstantResult:
    """A text with a constant value; every caller gets a copy."""

    def __init__(self, values: Sequence[NumArray]) -> None:
        self._values = values

    def value(self) -> Any:
        return _single_or_tuple([value.copy() for value in self._values])


class _PreparedText:
    """A text with a plan that is prepared once and run at each call."""

    def __init__(self, loaded: LoadedProgram) -> None:
        self._runs, self._units = PreparedPlanPool(loaded.plan, loaded.bound), _result_units(loaded.core)

    def value(self) -> Any:
        printed = self._runs.use(lambda prepared: prepared.run({})).printed
        last = zip(printed[-len(self._units) :], self._units, strict=True)
        return _single_or_tuple([for_numpy(shown.value, unit) for shown, unit in last])


_Evaluator: TypeAlias = "_ConstantResult | _PreparedText"
_evaluators: dict[tuple[Session, str], _Evaluator] = {}
_lock = processes.lock()
_SESSION: Final = Session()


def evaluate(text: str, session: Session | None = None, returns: object = None) -> Any:
    """The value of `last_value`.  TypeError: `returns` states other element types."""
    value = last_value(text, session)
    if returns is not None:
        items = value if isinstance(value, tuple) else () if value is None else (value,)
        require_kinds([kind_of_dtype(item.dtype) for item in items], returns, isinstance(value, tuple), "the text")
    return value


def require_kinds(kinds: Sequence[Kind | None], returns: object, is_tuple: bool, what: str) -> None:
    """Raise TypeError unless results of these kinds have the NumPy element types of `returns`, a tuple for several results."""
    stated = require_element_types(returns)
    wanted = tuple([kind_of_dtype(_dtype_of(one)) for one in stated])
    if wanted == tuple(kinds) and is_tuple is isinstance(returns, tuple):
        return
    have = [np.dtype(NUMPY_NAMES[kind]).type for kind in kinds if kind is not None]
    gives, says = _type_names(have, is_tuple), _type_names(stated, isinstance(returns, tuple))
    raise TypeError(f"{what} gives {gives}, and returns= says {says}")


def _type_names(elements: Sequence[type[np.generic]], is_tuple: bool) -> str:
    names = [f"numpy.{element.__name__}" for element in elements]
    return f"({', '.join(names)})" if is_tuple else names[0] if names else "nothing"


def require_element_types(returns: object) -> tuple[type[np.generic], ...]:
    """The element types that `returns` states.  TypeError: not NumPy types that Rho has."""
    stated: list[type[np.generic]] = []
    for one in returns if isinstance(returns, tuple) else (returns,):
        if not (isinstance(one, type) and issubclass(one, np.generic)) or kind_of_dtype(_dtype_of(one)) is None:
            raise TypeError(f"returns= is an element type such as numpy.float64, or a tuple of them, not {returns!r}")
        stated.append(one)
    return tuple(stated)


def _dtype_of(element: type) -> np.dtype[Any]:
    return np.dtype("U1") if element is np.str_ else np.dtype(element)


def plain(value: object) -> object:
    """A value of Rho as numbers, texts and lists, which `json.dumps` takes: `json.dumps(result, default=rho.plain)`.

    Complex numbers become pairs, rows of characters become texts, NaN and infinities the texts `nan`, `inf` and `-inf`, as in the
    output of `rho run --json`.  TypeError: not an array, number or result.
    """
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        kind = kind_of_dtype(array.dtype)
        if kind is not None:
            return plain_data(nested(values_from_numpy(array)) if kind is Kind.CHAR else array.tolist())
    if value is None or isinstance(value, (str, int, float, complex)):
        return plain_data(value)
    raise TypeError(f"{type(value).__name__} is no array, number or result of Rho")


def last_value(text: str, session: Session | None = None) -> Any:
    """The last value that a program prints, as a new array; None if it prints nothing.

    Several values of one result (`⎕qr A`) are a tuple, as from a compiled function.  Raises Rejected, Refused and RunFailed as
    for any program, and TypeError for an input without a file.
    """
    session = session or _SESSION
    cached = _evaluators.get((session, text))
    if cached is not None:
        try:
            return cached.value()
        except RhoError as error:
            raise with_source_lines(error, {EVAL: Source(EVAL, text)}) from None
    checked = session.check(Source(EVAL, text))
    core = require_accepted(checked)
    pathless = [entry.name for entry in core.data if entry.path is None]
    if pathless:
        raise TypeError(f"no value for {', '.join(pathless)}, which the text names no file for")
    with locating_errors(checked.sources):
        loaded = session.load(checked, RunRequest())
        if core.inputs or core.schedules or len(checked.sources) > 1:
            printed = session.run(loaded).printed
            return _single_or_tuple([for_numpy(as_numpy(one.value), one.unit) for one in printed[-_result_count(core) :]])
        with _lock:
            evaluator = _evaluators[session, text] = _evaluator_of(loaded)
            while len(_evaluators) > MOST_CACHED:
                del _evaluators[next(iter(_evaluators))]
        return evaluator.value()


def _evaluator_of(loaded: LoadedProgram) -> _Evaluator:
    folded = constant_results(loaded.bound)
    if folded is None:
        return _PreparedText(loaded)
    units = _result_units(loaded.core)
    last = zip(folded[0][-len(units) :], units, strict=True)
    return _ConstantResult([for_numpy(as_numpy(value), unit) for value, unit in last])


def _result_count(core: Core) -> int:
    """The number of printed values that belong to the last result: 1, or the length of a tuple."""
    printed = [op for op in core.block.ops if isinstance(op, CorePrint)]
    return 1 + len([*takewhile(lambda shown: shown.goes_on, reversed(printed))])


def _result_units(core: Core) -> list[Unit | None]:
    """The units of the printed values of the last result."""
    printed = [op for op in core.block.ops if isinstance(op, CorePrint)]
    return [core.types[op.arg].element.unit for op in printed[-_result_count(core) :]]


def _single_or_tuple(values: Sequence[Any]) -> Any:
    return tuple(values) if len(values) > 1 else values[0] if values else None


def require_writable(targets: Mapping[str, object]) -> None:
    """Check the arrays for the results of a run before it; `targets` has them by their names in messages.

    TypeError: not a NumPy array.  ValueError: not contiguous in rows, read-only, or two share memory.
    """
    arrays: dict[str, NumArray] = {}
    for what, target in targets.items():
        if not isinstance(target, np.ndarray) or isinstance(target, np.ma.MaskedArray):
            raise TypeError(f"{what} is a NumPy array for the result, not {type(target).__name__}")
        if not target.flags.c_contiguous or not target.flags.writeable:
            raise ValueError(f"{what} is {'read-only' if target.flags.c_contiguous else 'not contiguous in rows'}")
        for other, array in arrays.items():
            if np.may_share_memory(array, target):  # exact for contiguous arrays
                raise ValueError(f"{other} and {what} share memory, where one result would replace the other: give two arrays")
        arrays[what] = target


def copied_out(results: Mapping[str, tuple[Any, str, object]]) -> dict[str, NumArray]:
    """Copy each result into its target; all fit, or none is written.

    `results` has triples (result, the target's name in messages, target) by name; `require_writable` has accepted the targets.
    Returns the targets by name.  ValueError: a target has another element type or shape than its result.
    """
    for result, what, target in results.values():
        for part in ("dtype", "shape"):
            wanted, given = getattr(result, part), getattr(target, part)
            if wanted != given:
                raise ValueError(f"{what} has {part} {given}, and the result {wanted}")
    written: dict[str, NumArray] = {}
    for name, (result, _, target) in results.items():
        assert isinstance(target, np.ndarray)
        np.copyto(target, result)
        written[name] = target
    return written


# ---------------------------------------------------------------------------------------------------- arrays
#
# Python values as arrays, without copying where the memory can be shared.
#
# Accepted are values with the array interface, the buffer protocol, DLPack (on the CPU) or the Arrow interface (columns and
# tables of pandas, polars and pyarrow, which are copied), numbers, text, and nested lists.  Rows of text are padded with
# blanks; NumPy's dates and times become days and nanoseconds since 1970.

def as_array(value: object, what: str, reading: ColumnFormat = AS_WRITTEN) -> tuple[np.ndarray[Any, Any], Kind, Unit | None]:
    """The value as an array, with its element kind and, for dates, times and differences, its unit.

    `what` names the argument in messages, `reading` has the clauses of its declaration.  The array may be the caller's: never
    write to it.  TypeError: not an array, or elements without an element type of Rho.  FileTrouble: a column with missing items
    for which no value is declared, or of another than the declared form.
    """
    if isinstance(value, str):
        array = np.array(list(value), dtype="U1")
    elif isinstance(value, np.ndarray):
        array = _fill_masked(value, what, reading) if isinstance(value, np.ma.MaskedArray) else value
    elif offers_arrow(value) and not isinstance(getattr(value, "dtype", None), np.dtype):
        array = _from_arrow(value, what, reading)
    elif hasattr(value, "__array__") or hasattr(value, "__array_interface__") or isinstance(value, (int, float, complex, bool)):
        array = _by_numpy(value, what)
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value, what)
    else:
        array = _from_items(value, what)
    unit: Unit | None = None
    kind = kind_of_dtype(array.dtype)
    if kind is None and array.dtype.kind in "mM":
        array, unit = _counted(array, what, reading)
        kind = Kind.I64
    elif kind is None:
        array = _widened(array, what) if array.dtype.name in _WIDER else _rows_or_numbers(array)
        kind = kind_of_dtype(array.dtype)
    if kind is None:
        raise TypeError(f"{what} has elements of type {array.dtype}, which no Rho element type stores; {_ADVICE}")
    return array, kind, unit


def _counted(array: np.ndarray[Any, Any], what: str, reading: ColumnFormat) -> tuple[np.ndarray[Any, Any], Unit]:
    """NumPy's dates, times and differences as days or nanoseconds, with NaT as `⎕nat`; in the declared form, if there is one.
    FileTrouble: beyond 64 bits."""
    is_point, size = array.dtype.kind == "M", np.datetime_data(array.dtype)[0]
    if not is_point and size in ("M", "Y"):
        raise TypeError(f"{what} has differences of months, whose lengths differ: convert them to days or seconds")
    values, present, form = from_numpy(array.reshape(-1))
    forms = (CellFormat.DATE, CellFormat.TIME) if is_point else (CellFormat.DAYS, CellFormat.DURATION)
    column = ArrowColumn("", values, present, forms[form is CellFormat.TIME])
    form = reading.form if reading.form in forms else column.form
    counts = items_of(column, ColumnFormat(form, missing=MISSING_POINT)) if len(column.values) else column.values
    return counts.reshape(array.shape), Unit[form.name]


def dtype_of(kind: Kind, unit: Unit | None) -> np.dtype[Any]:
    """NumPy's dtype for an element type."""
    return np.dtype(NUMPY_NAMES[kind] if unit is None else COUNTED_DTYPES[unit.cell_format])


def for_numpy(array: Any, unit: Unit | None) -> Any:
    """The array of a result with NumPy's dtype for its unit."""
    return array if unit is None else array.view(COUNTED_DTYPES[unit.cell_format])


_WIDER = {"int8": "int32", "int16": "int32", "uint16": "int32", "uint32": "int64", "uint64": "int64", "float16": "float32"}
"""NumPy types without an element type of Rho, and the narrowest type that stores their values (but the upper half of uint64)."""


def _widened(array: np.ndarray[Any, Any], what: str) -> np.ndarray[Any, Any]:
    if array.dtype.name == "uint64" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise TypeError(f"{what} holds {array.max()}, which is beyond i64")
    return array.astype(_WIDER[array.dtype.name])


def _fill_masked(array: np.ma.MaskedArray[Any, Any], what: str, reading: ColumnFormat) -> np.ndarray[Any, Any]:
    """A masked array with its masked items filled by the `missing` value of `reading`."""
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.ndim != 1:
        raise TypeError(f"{what} has masked items; fill them with `.filled(…)`")
    items: np.ndarray[Any, Any] = items_of(ArrowColumn("", np.asarray(array.data), ~np.ma.getmaskarray(array)), reading)
    return items


_ADVICE = "convert it to bool, uint8, int32, int64, float32, float64, complex64, complex128 or one-character text"


def _from_arrow(value: object, what: str, reading: ColumnFormat) -> np.ndarray[Any, Any]:
    """A column as a vector (text as rows), a table of numbers as a matrix; without pyarrow converted by NumPy, if possible."""
    try:
        columns, is_table = columns_of_arrow(value)
    except ImportError:
        if not hasattr(value, "__array__"):
            raise missing_package("parquet", "pyarrow") from None
        return _by_numpy(value, what)
    items: list[np.ndarray[Any, Any]] = [items_of(column, reading) for column in columns]
    if not is_table:
        form = reading.form if reading.form in COUNTED_DTYPES else columns[0].form
        return items[0].view(COUNTED_DTYPES[form]) if form in COUNTED_DTYPES else items[0]
    texts = [column.name for column, item in zip(columns, items, strict=True) if item.dtype.kind == "U"]
    if texts:
        raise TypeError(f"{what} has the text column {texts[0]}; give its columns one by one")
    return np.stack(items, axis=1) if items else np.zeros((0, 0))


def _by_numpy(value: Any, what: str) -> np.ndarray[Any, Any]:
    """The value as NumPy converts it.  TypeError: it has missing items, which would become NaN."""
    of_numpy = isinstance(getattr(value, "dtype", np.dtype(float)), np.dtype)
    if not of_numpy and hasattr(value, "isna") and np.asarray(value.isna()).any():
        raise TypeError(f"{what} has missing items; fill them before (pandas `fillna`)")
    return np.asarray(value)


def _rows_or_numbers(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Texts as rows of characters; other arrays as they are."""
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


def _not_rectangular(value: object, what: str) -> str:
    """The reason why NumPy makes no array of items, with a remedy if the items are arrays."""
    items = value if isinstance(value, (list, tuple)) else ()
    shapes = [item.shape for item in items if isinstance(item, np.ndarray)]
    other = next((shape for shape in shapes if shape != shapes[0]), None)
    if other is None:
        return f"{what} is not a rectangular array: its items have different shapes"
    cure = (
        "join their items by `numpy.concatenate` and take them apart in Rho (`2 3⍴6↑⍵` and `6↓⍵`), "
        "or write a program with an input for each (`rho.load`)"
    )
    return f"{what} is a {type(value).__name__} of arrays of shapes {shapes[0]} and {other}, and one array is needed: {cure}"


def _from_items(value: object, what: str) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(value)
    except OverflowError as error:
        raise TypeError(f"{what} is not an array: {error}") from None
    except ValueError:
        raise TypeError(_not_rectangular(value, what)) from None
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
    """Does the array have floats (2**53 or larger) that NumPy may have rounded from integers?"""
    return array.dtype.kind in "fc" and bool((np.abs(array) >= 2**53).any())
