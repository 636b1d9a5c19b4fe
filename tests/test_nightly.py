"""`.ci/nightly` runs every file of tests in one of its parts, the same one each time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py"))


def listed(*words: str) -> list[tuple[str, float, list[str]]]:
    """Parts: their name, minutes and files."""
    command = [sys.executable, str(ROOT / ".ci" / "nightly"), "--list", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    parts = re.split(r"(?m)^part ", ended.stdout)[1:]
    return [
        (part.split(":")[0], float(re.findall(r"(\d+) minutes", part)[0]), re.findall(r"(?m)^ +[\d.]+  (\S+)$", part))
        for part in parts
    ]


@pytest.mark.parametrize("count", [1, 3, 8])
def test_every_file_is_in_one_part(count: int) -> None:
    parts = [listed("--part", f"{place}/{count}")[0] for place in range(1, count + 1)]
    assert sorted(name for _, _, names in parts for name in names) == FILES
    assert [name for name, _, _ in parts] == [f"{place}/{count}" for place in range(1, count + 1)]


def test_no_part_takes_an_hour_of_two_processors() -> None:
    parts = listed()
    assert parts == listed()
    assert all(minutes <= 110 for _, minutes, _ in parts)


@pytest.mark.parametrize("part", ["0/3", "4/3", "x", "2"])
def test_a_part_that_is_not_there(part: str) -> None:
    command = [sys.executable, str(ROOT / ".ci" / "nightly"), "--list", "--part", part]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and "part" in ended.stderr
