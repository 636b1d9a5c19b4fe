"""Zip archives whose members have known places."""

from __future__ import annotations

import io
import os
import random
import zipfile
from pathlib import Path

import pytest

from rho.backend.io.zarr import complete, members_of


@pytest.mark.parametrize("count", [1, 5, 70_000])
def test_archives_are_those_of_zipfile(count: int, tmp_path: Path) -> None:
    chance, theirs = random.Random(count), io.BytesIO()
    contents = [(f"c/{number}", chance.randbytes(chance.randrange(40))) for number in range(count)]
    with zipfile.ZipFile(theirs, "w") as archive:
        for name, content in contents:
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    members = [*members_of((name, len(content)) for name, content in contents)]
    with open(tmp_path / "x.zip", "w+b") as file:
        for member, (_, content) in zip(members, contents, strict=True):
            os.pwrite(file.fileno(), content, member.start)
        complete(file.fileno(), members)
    assert (tmp_path / "x.zip").read_bytes() == theirs.getvalue()


def test_members_beyond_four_gigabytes(tmp_path: Path) -> None:
    """Of a file with holes: the first member is not there, and its place is beyond what 32 bits say of the last."""
    path, (*_, last) = tmp_path / "large.zip", [*members_of([("a", 3 << 30), ("c", 3 << 30), ("b", 3)])]
    with open(path, "w+b") as file:
        os.pwrite(file.fileno(), b"xyz", last.start)
        complete(file.fileno(), [last])
    with zipfile.ZipFile(path) as archive:
        assert archive.read("b") == b"xyz"
