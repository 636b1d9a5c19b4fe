"""What a run draws follows from its seed alone, and a failing draw says how to run it again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent

LOOK = """
import share
print(share.SEED, share.share(range(1000)), share.seeds(40, 7), share.drawing("a").random(), share.half(range(50), "x"))
"""
FAILING = """
import pytest, share
from hypothesis import given, strategies

@pytest.mark.parametrize("seed", share.seeds(20))
def test_drawn(seed):
    assert seed % 2

@given(strategies.integers())
def test_sought(number):
    print("drew", number)
    assert number < 100
"""


def run(*words: str, cwd: Path = TESTS, codes: tuple[int, ...] = (0, 1), **environment: str) -> str:
    known = {name: text for name, text in os.environ.items() if not name.startswith(("RHO_SEED", "RHO_SHARE", "PYTEST_"))}
    known["PYTHONPATH"] = os.pathsep.join([str(TESTS / "harness"), str(TESTS), known.get("PYTHONPATH", "")])
    known |= environment
    ended = subprocess.run([sys.executable, *words], cwd=cwd, env=known, capture_output=True, text=True, check=False)
    assert ended.returncode in codes, ended.stderr
    return ended.stdout


def commit(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


def test_the_seed_is_the_number_of_the_commit(tmp_path: Path) -> None:
    harness = tmp_path / "tests" / "harness"
    harness.mkdir(parents=True)
    (harness / "share.py").write_text((TESTS / "harness" / "share.py").read_text())
    apart = {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent), "PYTHONPATH": str(harness)}
    assert run("-c", "import share; print(share.SEED)", **apart) == "0\n"
    commit(tmp_path, "init", "-q")
    for number in (1, 2):
        commit(tmp_path, "commit", "-q", "--allow-empty", "-m", "x")
        assert run("-c", "import share; print(share.SEED)", **apart) == f"{number}\n"
    assert run("-c", "import share; print(share.SEED)", RHO_SEED="12", **apart) == "12\n"


def test_draws_follow_from_the_seed() -> None:
    first, second = run("-c", LOOK, RHO_SEED="5"), run("-c", LOOK, RHO_SEED="6")
    assert first == run("-c", LOOK, RHO_SEED="5")
    assert all(a != b for a, b in zip(first.split("]"), second.split("]"), strict=True) if a.strip())
    assert "[7, 50000, 50001]" in first and "[7, 60000, 60001]" in second


@pytest.mark.long
def test_a_failing_draw_is_run_again_by_the_command_that_it_prints(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(FAILING)
    tests = ("-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-n0", "-s", "--rootdir", ".", "-c", os.devnull)
    first = run(*tests, "test_failing.py", cwd=tmp_path, RHO_SEED="8")
    assert "draws of RHO_SEED=8, RHO_SHARE=0.05" in first
    assert "RHO_SEED=8 RHO_SHARE=0.05 python -m pytest -n0 'test_failing.py::test_drawn[80000]'" in first
    once = run(*tests, "test_failing.py::test_drawn[80000]", cwd=tmp_path, RHO_SEED="8", RHO_SHARE="0.05")
    assert "1 failed" in once
    sought = [run(*tests, "test_failing.py::test_sought", cwd=tmp_path, RHO_SEED=number) for number in ("8", "8", "9")]
    drew = [[line for line in text.splitlines() if line.startswith("drew")] for text in sought]
    assert drew[0] == drew[1] != drew[2]


MANY = """
import pytest

@pytest.mark.parametrize("case", range(90))
def test_many(case):
    pass
"""


@pytest.mark.long
def test_a_quick_run_takes_others_each_time(tmp_path: Path) -> None:
    (tmp_path / "test_many.py").write_text(MANY)
    tests = ("-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-n0", "--rootdir", ".", "-c", os.devnull, "--co")
    quick = [run(*tests, "-q", "--quick", "test_many.py", cwd=tmp_path, RHO_SEED=seed).count("::") for seed in ("1", "2")]
    assert all(5 <= count <= 30 for count in quick)
    assert run(*tests, "-q", "test_many.py", cwd=tmp_path).count("::") == 90
    assert run(*tests, "-q", "--quick", "test_many.py", cwd=tmp_path, RHO_SHARE="1").count("::") == 90


def test_tables_and_long_tests_are_drawn_with_at_least_one_of_each(tmp_path: Path) -> None:
    for room in ("kernels", "backend", "faults"):
        folder = tmp_path / "tests" / room
        folder.mkdir(parents=True)
        marked = MANY.replace("import pytest\n", "import pytest\npytestmark = pytest.mark.long\n") if room == "faults" else MANY
        (folder / f"test_{room}.py").write_text(marked.replace("range(90)", "'+/ -/ ×/'.split()"))
    tests = ("-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-n0", "--rootdir", ".", "-c", os.devnull, "--co", "-q")
    drawn = [run(*tests, "tests", cwd=tmp_path, RHO_SEED=seed) for seed in ("1", "2", "3", "4")]
    assert all(text.count(f"test_{room}.py::") in (1, 2) for text in drawn for room in ("kernels", "backend", "faults"))
    assert len({text.partition("::")[2] for text in drawn}) > 1
    assert run(*tests, "tests", cwd=tmp_path, RHO_SHARE="1").count("::") == 9


LEAVING = """
import os, tempfile

def test_leaving():
    os.close(tempfile.mkstemp(prefix="left-")[0])
    tempfile.mkdtemp()
    if os.environ.get("KILLED"):
        os.kill(os.getpid(), 9)
"""


@pytest.mark.long
def test_a_session_leaves_nothing_temporary(tmp_path: Path) -> None:
    """Nor does one that is killed, once another has begun."""
    (tmp_path / "test_leaving.py").write_text(LEAVING)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    tests = ("-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", "-n0", "--rootdir", ".", "-c", os.devnull)
    words = (*tests, "test_leaving.py")
    run(*words, cwd=tmp_path, TMPDIR=str(temporary), KILLED="1", codes=(-signal.SIGKILL,))
    assert len(list(temporary.glob("rho-tests-*/left-*"))) == 1
    for _ in range(2):
        assert "1 passed" in run(*words, cwd=tmp_path, TMPDIR=str(temporary))
        assert list(temporary.iterdir()) == []
