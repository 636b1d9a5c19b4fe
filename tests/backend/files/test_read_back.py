"""Every written file is read back: the same bits, or refused by name when it is written; never silently something else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import half

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.backend.io.writing import prepare_table, prepare_values, write_together, write_values
from rho.lang.diagnostics.model import RhoError
from rho.lang.support.records import replace
from rho.lang.syntax.source import Span
from rho.lang.tree.program import AS_WRITTEN, MISSING_POINT, CellFormat, ColumnFormat
from rho.typechecker.elements import Kind

SPAN = Span("p.rho", 0, 0)
NAN, INF = float("nan"), float("inf")
REALS = [0.0, -0.0, 1.5, -1.0, NAN, INF, -INF, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 0.1, 1e22, 1e16, 2.0**53]
SINGLES = [0.0, -0.0, 1.5, NAN, INF, 1e-45, 3.4028235e38, 0.1, 16777216.0, 1e-38]
VALUES: dict[Kind, Any] = {
    Kind.BOOL: np.array([True, False]), Kind.U8: np.array([0, 255, 7], "u1"), Kind.I32: np.array([0, -(2**31), 2**31 - 1], "i4"),
    Kind.I64: np.array([0, -(2**63), 2**63 - 1, -1, 2**53 + 1]), Kind.F64: np.array(REALS), Kind.F32: np.array(SINGLES, "f4"),
    Kind.C128: np.array([complex(a, b) for a in REALS for b in REALS]),
    Kind.C64: np.array([complex(a, b) for a in SINGLES for b in SINGLES], "c8"),
}  # fmt: skip
TEXTS = [
    "", "a", " a", "NA", " NA", "1", "-", "1e5", "nan", "a,b", "a\tb", 'q"q', '""', '"', "l\nm", "l\rm", "l\r\nm", "\n", "\n\n",
    "é", "𝄞", "\ufeffx", "x;y", "'", "2020-01-01", "true", "\x0b", "\x1f", "\u2028", "\x85", "\\", "#", "∞", "¯1", "\0", "a\0b",
    "\ud800", '"\n', '\n"', "x\r", "NA\nNA", '""\n', "\t",
]  # fmt: skip
FORMATS = ["csv", "tsv", "npy", "parquet", "arrow", "json", "jsonl", "zarr.zip"]
ARROW = ["parquet", "arrow"]
RANKED = [*ARROW, "jsonl"]
"""Tables of columns, in which a scalar is a column of one item, and one line of JSON is that of each row."""
REFUSED = {
    "has no columns, which a table cannot express", "axes, a table has two", "is complex, which no column of such a table is",
    "has numbers, not text or dates", "NUL", "not a character of UTF-8", "byte order mark", "holds the end of one",
    "which JSON has not",
}  # fmt: skip
"""What outputs may be refused for."""


def _shapes(values: Any) -> Iterator[Any]:
    yield values[0].reshape(())
    yield from (values, values[:0], values.reshape(-1, 1), values.reshape(1, -1))
    yield from (values[:0].reshape(0, 3), values[:0].reshape(3, 0))
    yield from (np.resize(values, (3, 4)), np.resize(values, (2, 3, 2)), np.resize(values, (2, 3))[:, ::-1])
    yield np.asfortranarray(np.resize(values, (3, 5)))
    for item in values[:16]:
        yield item.reshape(1)
        yield item.reshape(1, 1)


def _bits(array: Any) -> bytes:
    """With one NaN for all."""
    if array.dtype.kind not in "fc":
        return bytes(array.tobytes())
    parts = np.ascontiguousarray(array).reshape(-1).view(array.real.dtype)
    return bytes(np.where(np.isnan(parts), NAN, parts).astype(parts.dtype).tobytes())


def _written(path: Path, values: Any, kind: Kind) -> bool:
    try:
        write_values(str(path), values, kind, SPAN)
    except RhoError as error:
        (found,) = error.diagnostics
        assert found.code == "E708" and any(words in found.message for words in REFUSED), found.message
        return False
    return True


def _read(path: str, kind: Kind, rank: int, reading: ColumnFormat = AS_WRITTEN) -> Any:
    wanted = InputSpec(kind, rank, SPAN, reading)
    return read_values(path, wanted, read_shape(path, wanted))


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("format", FORMATS)
def test_numbers_are_read_back(format: str, kind: Kind, tmp_path: Path) -> None:
    if format in ARROW:
        pytest.importorskip("pyarrow")
    path, count = tmp_path / f"x.{format}", 0
    reading = replace(AS_WRITTEN, missing=NAN if format == "jsonl" and kind.is_float else None)
    for values in _shapes(VALUES[kind]):
        if (values.size or format != "jsonl") and (values.ndim or format not in RANKED) and _written(path, values, kind):
            found = _read(str(path), kind, values.ndim, reading)
            assert (found.shape, found.dtype) == (values.shape, values.dtype) and _bits(found) == _bits(values), values
            count += 1
    assert count > (5 if format in RANKED else 10) or (format in RANKED and kind.is_complex)


@pytest.mark.parametrize("kind", VALUES)
def test_json_holds_the_numbers(kind: Kind, tmp_path: Path) -> None:
    for values in _shapes(VALUES[kind]):
        assert _written(tmp_path / "x.json", values, kind)
        told = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
        assert (told["elem"], told["shape"]) == (kind.value, list(values.shape))
        items = np.array(told["data"], dtype=object if kind is Kind.I64 else None).reshape(-1)
        parts = [float(item) for item in items] if kind in (Kind.F64, Kind.C128, Kind.F32, Kind.C64) else items.tolist()
        flat = np.ascontiguousarray(values).reshape(-1)
        assert _bits(np.array(parts, flat.real.dtype)) == _bits(flat.view(flat.real.dtype)), values


def _padded(texts: list[str]) -> Any:
    width = max(map(len, texts), default=0)
    codes = np.array([[ord(sign) for sign in text.ljust(width)] for text in texts], "u4").reshape(len(texts), width)
    return codes.view("U1").reshape(codes.shape)


def _texts(rows: Any) -> list[str]:
    codes = np.ascontiguousarray(rows).view("u4").reshape(rows.shape)
    return ["".join(map(chr, row)).rstrip(" ") for row in codes.tolist()]


@pytest.mark.parametrize("format", ["csv", "tsv", "npy", "parquet", "txt"])
def test_texts_are_read_back(format: str, tmp_path: Path) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    path, count = tmp_path / f"x.{format}", 0
    plain = [text for text in TEXTS if not set("\0\ud800\n\ufeff\r") & set(text)]
    quoted = [text for text in TEXTS if not set("\0\ud800") & set(text)]
    tables = [plain, quoted, [], ["", ""], *([text] for text in TEXTS), *(["x", text, "y"] for text in half(TEXTS, format))]
    for texts in tables:
        if _written(path, _padded(texts), Kind.CHAR):
            found = _read(str(path) + (":#1" if format in ("csv", "tsv") else ""), Kind.CHAR, 2)
            assert _texts(found) == [text.rstrip(" ") for text in texts], texts
            count += 1
    assert count > 35


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_columns_beside_each_other_are_read_back(format: str, tmp_path: Path) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    texts = [text for text in TEXTS if not set("\0\ud800") & set(text)]
    path = str(tmp_path / f"t.{format}")
    columns: list[tuple[str, Any, Kind, ColumnFormat]] = [
        (kind.value, np.resize(values, len(texts)), kind, AS_WRITTEN) for kind, values in VALUES.items() if not kind.is_complex
    ]
    columns += [("a", _padded(texts), Kind.CHAR, AS_WRITTEN), ("b", _padded(texts[::-1]), Kind.CHAR, AS_WRITTEN)]
    write_together([prepare_table(path, columns, SPAN)])
    for name, values, kind, _ in columns:
        found = _read(f"{path}:{name}", kind, values.ndim)
        assert _texts(found) == _texts(values) if kind is Kind.CHAR else _bits(found) == _bits(values), name


DAYS = np.array([(date(year, 3, 1) - date(1970, 1, 1)).days for year in (1, 9, 123, 1969, 1970, 2024, 9999)])
MOMENTS = np.array([(date(year, 3, 1) - date(1970, 1, 1)).days for year in (1678, 1969, 1970, 2024, 2261)]) * 86_400_000_000_000
FAR = np.array([-(2**63) + 1, -1, 0, 1, 2**62, 2**63 - 1])
READINGS = [
    (ColumnFormat(CellFormat.DATE), DAYS), (ColumnFormat(CellFormat.DATE, "%d.%m.%Y"), DAYS), (ColumnFormat(CellFormat.DATE,
    "%Y%%%j"), DAYS),
    (ColumnFormat(CellFormat.TIME), MOMENTS + 1), (ColumnFormat(CellFormat.TIME, "%Y-%m-%d %H:%M:%S.%f"), MOMENTS - 1000),
    (ColumnFormat(CellFormat.DAYS), FAR), (ColumnFormat(CellFormat.DURATION), FAR),
]  # fmt: skip


def _with_missing(values: Any) -> Iterator[Any]:
    missing = np.array([MISSING_POINT])
    yield from (values, values[:0], values[:1], missing, np.repeat(missing, 3))
    yield from (np.concatenate([missing, values]), np.concatenate([values, missing, missing]))
    yield from (np.resize(np.concatenate([values[:1], missing]), (3, 2)), np.repeat(missing, 4).reshape(2, 2))
    yield values.reshape(1, -1)
    yield from (values[0].reshape(()), missing.reshape(()), values[:0].reshape(0, 2))


@pytest.mark.parametrize("format", [*FORMATS[:-1], "zarr.zip"])
@pytest.mark.parametrize(("reading", "every"), READINGS)
def test_what_counts_time_is_read_back(format: str, reading: ColumnFormat, every: Any, tmp_path: Path) -> None:
    if format in ARROW:
        pytest.importorskip("pyarrow")
    if (format == "zarr.zip" and reading.form.is_point) or (format == "npy" and reading.pattern):
        return
    path, back = str(tmp_path / f"x.{format}"), replace(reading, missing=None if format in ("npy", "zarr.zip") else MISSING_POINT)
    values = every if reading.form is not CellFormat.DAYS or format not in ARROW else every // 100_000
    for one in _with_missing(values):
        if (one.ndim or format not in RANKED) and (one.size or format != "jsonl"):
            write_together([prepare_values(path, one, Kind.I64, SPAN, name="day", reading=reading)])
            if format == "parquet" and one.ndim == 2:  # read by its columns
                found = np.stack([_read(f"{path}:column{at}", Kind.I64, 1, back) for at in range(one.shape[1])], axis=1)
            else:
                found = _read(path, Kind.I64, one.ndim, back)
            assert (found.shape, found.tolist()) == (one.shape, one.tolist())


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", *ARROW])
@pytest.mark.parametrize(("reading", "every"), READINGS)
def test_columns_that_count_time_are_read_back(format: str, reading: ColumnFormat, every: Any, tmp_path: Path) -> None:
    if format in ARROW:
        pytest.importorskip("pyarrow")
    path, missing = str(tmp_path / f"t.{format}"), np.array([MISSING_POINT])
    values = np.concatenate([every // (100_000 if reading.form is CellFormat.DAYS else 1), missing, missing])
    beside = ("n", np.arange(len(values)), Kind.I64, AS_WRITTEN)
    write_together([prepare_table(path, [("day", values, Kind.I64, reading), beside], SPAN)])
    assert _read(f"{path}:day", Kind.I64, 1, replace(reading, missing=MISSING_POINT)).tolist() == values.tolist()
    assert _read(f"{path}:day", Kind.BOOL, 1, ColumnFormat(CellFormat.PRESENT)).tolist() == [True] * len(every) + [False] * 2


@pytest.mark.parametrize(("data", "kind", "reading", "expected"), [
    ('["2024-02-29", null]', Kind.I64, ColumnFormat(CellFormat.DATE, missing=MISSING_POINT), [19782, MISSING_POINT]),
    ('["29.2.2024"]', Kind.I64, ColumnFormat(CellFormat.DATE, "%d.%m.%Y"), [19782]),
    ('{"elem": "char", "shape": [2, 10], "data": ["2024-02-29", "          "]}', Kind.I64,
     ColumnFormat(CellFormat.DATE, missing=MISSING_POINT), [19782, MISSING_POINT]),
    ('{"elem": "days", "shape": [2], "data": [1, null]}', Kind.I64,
     ColumnFormat(CellFormat.DURATION, missing=MISSING_POINT), [86_400 * 10**9, MISSING_POINT]),
    ("[1.5, null]", Kind.F64, ColumnFormat(missing=0.5), [1.5, 0.5]),
    ("[1, null]", Kind.BOOL, ColumnFormat(CellFormat.PRESENT), [1, 0]),
])  # fmt: skip
def test_arrays_of_json_are_read_by_clauses(data: str, kind: Kind, reading: ColumnFormat, expected: Any, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(data, encoding="utf-8")
    assert _read(str(tmp_path / "x.json"), kind, 1, reading).tolist() == expected
    if reading.missing is not None:
        with pytest.raises(RhoError, match="1 missing item, the first at 1"):
            _read(str(tmp_path / "x.json"), kind, 1, replace(reading, missing=None))
    if "days" in data:
        with pytest.raises(RhoError, match="holds days"):
            _read(str(tmp_path / "x.json"), Kind.I64, 1)


@pytest.mark.parametrize(("data", "kind", "refused"), [
    ("[1, 256]", Kind.U8, "holds 256 as item 1, which does not fit u8"), ("[2147483648]", Kind.I32, "does not fit i32"),
    ("[2]", Kind.BOOL, "does not fit bool"), ("[1.0]", Kind.I32, "holds f64, its declared type is i32"),
])  # fmt: skip
def test_numbers_of_json_fit_their_declared_kind(data: str, kind: Kind, refused: str, tmp_path: Path) -> None:
    lines = "".join(f'{{"x": {item}}}\n' for item in json.loads(data))
    for name, text in (("x.json", data), ("x.jsonl:x", lines)):
        (tmp_path / name.partition(":")[0]).write_text(text, encoding="utf-8")
        with pytest.raises(RhoError, match=refused):
            _read(str(tmp_path / name), kind, 1)


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize(("reading", "values"), READINGS)
def test_dates_beyond_the_years_are_refused(format: str, reading: ColumnFormat, values: Any, tmp_path: Path) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    path = str(tmp_path / f"t.{format}")
    for beyond in (2**63 - 1, -(10**17 * 9)) if reading.form is CellFormat.DATE else ():
        with pytest.raises(RhoError, match="which is not a date of the years 1 to 9999"):
            prepare_table(path, [("day", np.array([0, beyond]), Kind.I64, reading)], SPAN)
