"""Zip archives whose members have known places."""

from __future__ import annotations

import io
import os
import random
import zipfile
import zlib
from pathlib import Path

import pytest

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
