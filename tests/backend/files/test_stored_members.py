"""Zip archives whose members have known places, and checksums of what comes in parts."""

from __future__ import annotations

import io
import os
import random
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

from rho.backend.run.files.checksums import Parts
from rho.backend.run.files.stored_members import directory, members_of


@pytest.mark.parametrize("count", [1, 5, 70_000])
def test_archives_are_those_of_zipfile(count: int) -> None:
    chance, theirs = random.Random(count), io.BytesIO()
    contents = [(f"c/{number}", chance.randbytes(chance.randrange(40))) for number in range(count)]
    with zipfile.ZipFile(theirs, "w") as archive:
        for name, content in contents:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    members = [*members_of((name, len(content)) for name, content in contents)]
    checksums = [zlib.crc32(content) for _, content in contents]
    written = [one.header(sum) + content for one, sum, (_, content) in zip(members, checksums, contents, strict=True)]
    assert b"".join(written) + directory(members, checksums) == theirs.getvalue()


def test_large_archives(tmp_path: Path) -> None:
    members, path = [*members_of([("a", 3 << 30), ("c", 3 << 30), ("b", 3)])], tmp_path / "large.zip"
    with open(path, "wb") as file:
        for member in members:
            os.pwrite(file.fileno(), member.header(zlib.crc32(b"xyz")), member.at)
        os.pwrite(file.fileno(), b"xyz", members[2].start)
        os.pwrite(file.fileno(), directory(members, [zlib.crc32(b"xyz")] * 3), members[2].end)
    with zipfile.ZipFile(path) as archive:
        assert archive.read("b") == b"xyz"


@pytest.mark.parametrize("seed", range(20))
def test_checksums_of_parts_in_any_order_and_of_several_writers(seed: int) -> None:
    chance = random.Random(seed)
    size = chance.choice([1, 100, 70_000])
    content = bytearray(chance.randbytes(size))
    cuts = sorted({0, size, *(chance.randrange(size + 1) for _ in range(chance.randrange(30)))})
    parts = [*pairwise(cuts)]
    chance.shuffle(parts)
    left = parts.pop() if len(parts) > 2 else None
    writers = [Parts([7, size]) for _ in range(3)]
    for start, stop in parts:
        chance.choice(writers).add(1, start, bytes(content[start:stop]))
    if left is not None:
        content[slice(*left)] = bytes(left[1] - left[0])
    for one in writers:
        one.settle()
    for one in writers[1:]:
        writers[0].join(one.sums)
    assert writers[0].of(1) == zlib.crc32(content) and writers[0].of(0) == zlib.crc32(bytes(7))
