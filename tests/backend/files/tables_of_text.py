"""Random tables of text, with declarations of their columns, and what reading them gives."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.lang.tree.program import CellFormat, ColumnFormat
from rho.typechecker.elements import Kind

ODD_NUMBERS = (
    "nan", "inf", "-inf", "1e5", "+3", ".5", "5.", "-0", "¯3", "−2", "1e400", "1_0", "0x1", "1e-400", "123456789012345678901",
    "Inf", "NAN", "infinity", "∞", "-nan", ".", "+", "1e", "12,5", "1,23", "1.234,5", "9223372036854775808",
    "-9223372036854775808", "4.9e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "9007199254740993",
)  # fmt: skip


def number(chance: random.Random) -> str:
    size = chance.randint(-300, 300)
    return chance.choice([
        str(chance.randint(-99, 99)), repr(chance.random()), repr(chance.uniform(-1, 1) * 10**size),
        f"{chance.random() * 1000:.2f}", f"{chance.randint(-10**9, 10**9):,}".replace(",", chance.choice(",.\u202f")),
        f"{chance.random() * 1e7:,.2f}", str(chance.randint(-(2**63), 2**63 - 1)), f"{chance.randint(0, 10**19)}e{size}",
        chance.choice(ODD_NUMBERS),
    ])  # fmt: skip


def date(chance: random.Random) -> str:
    year, month, day = chance.randint(1, 9999), chance.randint(1, 12), chance.randint(1, 28)
    return chance.choice([f"{year:04d}-{month:02d}-{day:02d}"] * 3 + [f"1900-02-{chance.randint(28, 31)}", f"{year}-W10-1"])


def time(chance: random.Random) -> str:
    clock = f"{chance.randint(0, 24):02d}:{chance.randint(0, 60):02d}"
    clock += chance.choice(["", ":59", ":05.5", ":05.123456", ":05.1234567"])
    return date(chance)[:10] + chance.choice("T tX") + clock + chance.choice(["", "Z", "+01:00", "-23:59", "+0100", " Z"])


def patterned(chance: random.Random) -> str:
    return f"{chance.randint(1, 31):02d}.{chance.randint(1, 12):02d}.{chance.randint(1, 9999):04d}"[chance.random() < 0.1 :]


def text(chance: random.Random) -> str:
    return "".join(chance.choice("ab éﬁ𝄞NA\u00a0\u2009x0'") for _ in range(chance.randint(0, 6)))


def truth(chance: random.Random) -> str:
    return chance.choice(["0", "1", "true", "False", "TRUE", "2"])


CELLS: dict[str, Callable[[random.Random], str]] = {
    "number": number, "date": date, "time": time, "patterned": patterned, "text": text, "truth": truth,
}  # fmt: skip


def cell(chance: random.Random, sort: str, quoted: bool, separator: str) -> str:
    body = CELLS[sort](chance) if chance.random() < 0.9 else chance.choice(["", " ", "NA", "NA ", "na", text(chance)])
    if quoted and chance.random() < 0.3:
        body += chance.choice(["", "", "", separator, '"', "\n", "\r\n"])
        return chance.choice(["", " "]) + '"' + body.replace('"', '""') + '"'
    return chance.choice(["", "", "", " ", "  "]) + body.replace(separator, "") + chance.choice(["", "", " "])


def declared(chance: random.Random, sort: str, member: str, separator: str) -> tuple[str, Kind, ColumnFormat]:
    sort = sort if chance.random() < 0.9 else chance.choice([*CELLS])
    kinds = {"number": (Kind.F64, Kind.F32, Kind.I64, Kind.I32, Kind.U8, Kind.C128), "text": (Kind.CHAR,), "truth": (Kind.BOOL,)}
    kind = chance.choice(kinds.get(sort, (Kind.I64,)))
    form = {"date": CellFormat.DATE, "time": CellFormat.TIME, "patterned": CellFormat.DATE}.get(sort, CellFormat.ITEM)
    pattern = chance.choice(["%d.%m.%Y", "%d.%m.%Y", "%d.%m.%y"]) if sort == "patterned" else ""
    if chance.random() < 0.1:
        return member, Kind.BOOL, ColumnFormat(CellFormat.PRESENT, separator=separator)
    missing = "?" if kind is Kind.CHAR else math.nan if kind in (Kind.F64, Kind.F32, Kind.C128) else 0
    decimal, group = chance.choice([(".", ""), (".", ""), (",", ""), (".", ","), (",", "."), (".", "\u202f")])
    return member, kind, ColumnFormat(form, pattern, missing if chance.random() < 0.6 else None, separator, decimal, group)


def random_table(seed: int) -> tuple[bytes, list[tuple[str, Kind, ColumnFormat]]]:
    """The bytes of a table, which one in ten times is damaged, and declarations of its columns."""
    chance = random.Random(seed)
    separator, end, quoted = chance.choice(",,,;\t|"), chance.choice(["\n", "\n", "\r\n"]), chance.random() < 0.6
    sorts = [chance.choice([*CELLS]) for _ in range(chance.randint(1, 4))]
    lines = [separator.join(f"c{at}" for at in range(len(sorts)))] * (chance.random() < 0.7)
    for _ in range(chance.choice([1, 3, 10, 40])):
        cells = [cell(chance, sort, quoted, separator) for sort in sorts]
        lines.append(separator.join(cells) + separator * (chance.random() < 0.005))
        lines += [chance.choice(["", " ", "\u00a0"])] * (chance.random() < 0.1)
    data = ("\ufeff" * (chance.random() < 0.2) + end.join(lines) + end * chance.randint(0, 2)).encode()
    damage = chance.choice([(b"a", b"\x80"), (b"0", b"\0"), (b"1", b"\r"), (b'"', b""), (b'"', b'"x')])
    data = data.replace(*damage, 1) if chance.random() < 0.1 else data
    columns = [declared(chance, sort, f":#{at + 1}", separator) for at, sort in enumerate(sorts)]
    return data, columns if chance.random() < 0.8 else [("", Kind.F64, ColumnFormat(separator=separator))]


def read(path: Path, columns: Sequence[tuple[str, Kind, ColumnFormat]]) -> list[Any]:
    """For each column its dtype, shape and bytes, or its diagnostics."""
    tables: dict[Any, Any] = {}
    results: list[Any] = []
    for member, kind, reading in columns:
        rank = 2 if kind is Kind.CHAR or not member else 1
        wanted = InputSpec(kind, rank, Span("p.rho", 0, 0), reading, "t.csv", None, tables)
        try:
            values = read_values(f"{path}{member}", wanted, read_shape(f"{path}{member}", wanted))
            results.append((str(values.dtype), values.shape, values.tobytes()))
        except RhoError as error:
            results.append([(one.code, one.message, *one.notes) for one in error.diagnostics])
    return results
