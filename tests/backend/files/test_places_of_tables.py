"""Tables that are text, read from places inside them: the items that the whole has, and its errors."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from share import seeds

from rho.backend.io import csv, records
from rho.backend.io.external_arrays import StoredInput, from_facts, stored_input
from rho.backend.io.formats import FileTrouble
from rho.backend.io.reading import InputSpec, read_shape, read_values, row_source
from rho.backend.io.sources_and_sinks import Content
from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Span
from rho.lang.tree.program import ColumnFormat
from rho.typechecker.elements import Kind

NOWHERE = Span("p.rho", 0, 0)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few lines, so that small tables have many places."""
    monkeypatch.setattr(records, "TOGETHER", 64)


def table(chance: random.Random) -> tuple[str, int]:
    """A table and its columns: with quotes that hold anything, blank lines, either end of lines, with a last one or none."""
    columns, end = chance.randint(1, 4), chance.choice(["\n", "\r\n"])
    texts = [lambda: str(chance.randint(-99, 99)), lambda: f'"{chance.random():.3f}"', lambda: f' "{chance.randint(0, 9)}"']
    quoted = chance.random() < 0.5
    lines = [",".join(f"c{at}" if chance.random() < 0.7 else f'"c,{end}""{at}"' for at in range(columns))]
    lines *= chance.random() < 0.5
    for _ in range(chance.randint(1, 80)):
        lines.append(",".join(chance.choice(texts)() if quoted else texts[0]() for _ in range(columns)))
        lines += [""] * (chance.random() < 0.1)
    return ("\ufeff" * (chance.random() < 0.3)) + end.join(lines) + end * chance.randint(0, 2), columns


@pytest.mark.parametrize("seed", seeds(60))
def test_every_row_from_its_place(narrow: None, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    text, columns = table(chance)
    path = str(tmp_path / "t.csv")
    Path(path).write_text(text, encoding="utf-8", newline="")
    member, rank = (f":#{chance.randint(1, columns)}", 1) if chance.random() < 0.5 else ("", 2)
    wanted = InputSpec(Kind.F64, rank, NOWHERE)
    shape = read_shape(path + member, wanted)
    whole = read_values(path + member, wanted, shape)
    source = row_source(path + member, wanted, shape)
    assert source is not None
    for first in chance.sample(range(shape[0]), shape[0]):
        handle, into = source.open(), np.empty((min(3, shape[0] - first), *shape[1:]))
        source.read(handle, first, into, first)
        assert into.tobytes() == whole[first : first + len(into)].tobytes()
        source.close(handle)


@pytest.mark.parametrize("seed", seeds(20))
def test_a_place_is_the_start_of_a_record(narrow: None, tmp_path: Path, seed: int) -> None:
    text, _ = table(random.Random(seed))
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    content = Content(str(path))
    found = csv.measured(content, ",")

    def rows(place: records.RecordOffset) -> list[list[str]]:
        texts = [block.cells.text(at) for block in records.blocks(content, ",", place) for at in range(block.cells.count)]
        return [texts[at : at + found.columns] for at in range(0, len(texts), found.columns)]

    every = rows(records.START)
    assert len(every) == found.records
    for place in found.places:
        assert rows(place) == every[place[0] :]
    again = csv.measured(content, ",", found.places)
    assert (again.places, again.columns, again.names) == (found.places, found.columns, found.names)


def test_places_become_no_more_with_the_file(narrow: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(csv, "_MOST_PLACES", 10)
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{at},1\n" for at in range(10_000)))
    places = csv.measured(Content(str(path)), ",").places
    assert 5 <= len(places) <= 11
    steps = np.diff([byte for _, byte, _ in places[:-1]])
    assert steps.max() <= 4 * steps.min()


def stored(path: str, rank: int, reading: ColumnFormat = ColumnFormat()) -> StoredInput:  # noqa: B008 - it is frozen
    wanted = InputSpec(Kind.F64, rank, NOWHERE, reading)
    made = stored_input(path, wanted, read_shape(path, wanted))
    assert made is not None
    return made


def test_who_is_told_the_places_reads_only_its_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path.resolve() / "t.csv")
    lines = "".join(f'"{at}";{at},5;\r\n' for at in range(1_000_000))
    Path(path).write_text(f"a;b;c\r\n{lines}", newline="")
    told = from_facts(stored(f"{path}:b", 1, ColumnFormat(separator=";", decimal=",")).facts())
    assert isinstance(told, StoredInput)
    read = 0
    opened = Content.open

    def counted(self: Content) -> Any:
        file = opened(self)
        take = file.read

        class Counted:
            def __getattr__(self, name: str) -> Any:
                return getattr(file, name)

            def __enter__(self) -> Any:
                return self

            def __exit__(self, *given: object) -> None:
                file.close()

            def read(self, count: int) -> bytes:
                nonlocal read
                found: bytes = take(count)
                read += len(found)
                return found

        return Counted()

    monkeypatch.setattr(Content, "open", counted)
    found = told.window(((700_000, 710_000),)).read()
    assert found.tobytes() == (np.arange(700_000, 710_000) + 0.5).tobytes()
    assert read < Path(path).stat().st_size / 10


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n \r\n", b"\xef\xbb\xbf"])
def test_what_is_empty_has_no_places(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(FileTrouble, match="is empty"):
        csv.measured(Content(str(path)), ",")


def test_a_wrong_cell_has_the_same_line_from_a_place(narrow: None, tmp_path: Path) -> None:
    path = str(tmp_path.resolve() / "t.csv")
    Path(path).write_text("a,b\n" + "".join(f'{at},"{"x" if at == 700 else at}\n"\n' for at in range(1_000)))
    wanted = InputSpec(Kind.F64, 1, NOWHERE)
    with pytest.raises(RhoError) as whole:
        read_values(f"{path}:b", wanted, read_shape(f"{path}:b", wanted))
    with pytest.raises(RhoError) as part:
        stored(f"{path}:b", 1).window(((690, 710),)).read()
    assert part.value.diagnostics[0].message == whole.value.diagnostics[0].message
    assert "line 1402, column 2 (b)" in part.value.diagnostics[0].message
