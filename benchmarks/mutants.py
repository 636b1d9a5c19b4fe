"""Mutation testing: does some test fail for every small change to the code of some modules?

    python benchmarks/mutants.py backend/schedule/verify --tests tests/schedule/test_verifier.py tests/plans python
    benchmarks/mutants.py typechecker/rules typechecker/sizes/size.py --tests tests/typechecker --sample 100 --seed 7 -o it.md

The named folders and files are mutated at one position at a time: a comparison, operator, `and`/`or`, number or condition becomes
another one, or a statement is removed (`SWAPS`, `_edits`).  Only bodies of functions are mutated, without messages and
assertions.  A seeded sample of all mutants is tried, or all without `--sample`.

The tests are collected once, and run twice in a separate process that records the lines that each of them reaches.  For each
mutant the collecting process forks; in the child the code object of the mutant's function is replaced, and the tests that reach
its line run, in the order of `--tests` and fastest first, until one fails.  A test also fails if it takes more than ten times its
processor time plus ten seconds, ten times that in waiting, or 8 GB.  A mutant that no test reaches survives.  Processes started
by tests are not mutated, nor are values computed when a test module is imported.

RHO_SHARE is the share of random cases, a tenth by default, as in the gate.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import TypeAlias

import pytest

ROOT = Path(__file__).resolve().parent.parent
GIGABYTES = 8
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
UNTRIED = "not tried"
UNTOUCHED = ("annotation", "returns", "decorator_list", "args")
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """A mutant, by its number in the module.  `function` is the outermost enclosing function: its qualified name and first
    line."""

    path: Path
    number: int
    function: tuple[str, int]
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} `{self.before}` → `{self.after}`"


# ------------------------------------------------------------------------------------------------ mutants


def _edits(node: ast.AST) -> Iterator[ast.AST]:
    """The mutations of a node."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                if type(operator) in SWAPS:
                    changed = deepcopy(node)
                    changed.ops[place] = SWAPS[type(operator)]()  # type: ignore[call-overload]
                    yield changed
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in SWAPS:
            changed = deepcopy(node)
            changed.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
            yield changed
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)  # type: ignore[operator]
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield ast.Name(NAMES[name], ast.Load())
        case ast.If() | ast.While() | ast.IfExp():
            changed = deepcopy(node)
            changed.test = ast.UnaryOp(ast.Not(), node.test)
            yield changed
        case ast.comprehension() if node.ifs:
            for place, condition in enumerate(node.ifs):
                changed = deepcopy(node)
                changed.ifs[place] = ast.UnaryOp(ast.Not(), condition)
                yield changed
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and not value.value):
            yield ast.Return(None)
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield ast.Pass()


def _skipped(parent: ast.AST, name: str, child: object) -> bool:
    """Is a child not mutated: annotations, defaults, decorators, messages, assertions, and classes in `isinstance`?"""
    if isinstance(parent, ast.FunctionDef | ast.AnnAssign | ast.arg) and name in UNTOUCHED:
        return True
    if isinstance(child, ast.JoinedStr | ast.Assert | ast.Raise):
        return True
    called = parent.func.id if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) else ""
    return called == "isinstance" and child is parent.args[-1]  # type: ignore[attr-defined]


Place: TypeAlias = tuple[ast.AST, str, int | None, str, ast.AST]
"""(parent, field, index in the field's list, qualified name, function)."""


def _places(node: ast.AST, function: ast.AST | None, name: str, prefix: str) -> Iterator[Place]:
    """Every node inside functions, with its position."""
    for part, value in ast.iter_fields(node):
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _skipped(node, part, child):
                continue
            if isinstance(child, ast.FunctionDef) and function is None:
                yield from _places(child, child, prefix + child.name, "")
            elif isinstance(child, ast.ClassDef) and function is None:
                yield from _places(child, None, "", f"{prefix}{child.name}.")
            else:
                if function is not None:
                    yield node, part, place, name, function
                yield from _places(child, function, name, prefix)


def _mutated(path: Path, wanted: int | None = None) -> Iterator[tuple[Mutant, ast.Module]]:
    """Every mutant of a module, or the one with number `wanted`, with the mutated tree, which is valid until the next one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    number = 0
    for parent, part, place, name, function in list(_places(tree, None, "", "")):
        held = getattr(parent, part)
        node = held if place is None else held[place]
        for edited in _edits(node):
            number += 1
            if wanted not in (None, number):
                continue
            line = getattr(node, "lineno", None) or node.ifs[0].lineno  # a comprehension node has no line
            ast.copy_location(edited, node if hasattr(node, "lineno") else node.ifs[0])
            first = min([function.lineno, *(one.lineno for one in function.decorator_list)])  # type: ignore[attr-defined]
            _put(parent, part, place, edited)
            yield Mutant(path, number, (name, first), line, _short(node), _short(edited)), tree
            _put(parent, part, place, node)


def compiled(mutant: Mutant) -> CodeType:
    """The code of the mutant's whole module."""
    _, tree = next(_mutated(mutant.path, mutant.number))
    return compile(ast.fix_missing_locations(tree), str(mutant.path), "exec")


def _put(parent: ast.AST, part: str, place: int | None, value: ast.AST) -> None:
    if place is None:
        setattr(parent, part, value)
    else:
        getattr(parent, part)[place] = value


def _short(node: ast.AST) -> str:
    text = ast.unparse(node).strip().splitlines()[0]
    return text if len(text) <= 90 else text[:87] + "…"


def exchange(mutant: Mutant) -> None:
    """Replace the code of the mutant's function in all functions that have it."""
    name = mutant.path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    importlib.import_module(f"rho.{name}")  # some modules are imported lazily
    code = _inner(compiled(mutant), mutant.function)
    functions = [f for f in gc.get_objects() if isinstance(f, FunctionType) and _same(f.__code__, mutant)]
    for function in functions:
        function.__code__ = code
    if not functions:
        raise LookupError(f"no function for {mutant}")


def _same(code: CodeType, mutant: Mutant) -> bool:
    same = (code.co_qualname, code.co_firstlineno) == mutant.function
    return same and os.path.realpath(code.co_filename) == str(mutant.path)


def _inner(code: CodeType, function: tuple[str, int]) -> CodeType:
    pending = [code]
    while pending:
        one = pending.pop()
        if (one.co_qualname, one.co_firstlineno) == function:
            return one
        pending += [inner for inner in one.co_consts if isinstance(inner, CodeType)]
    raise LookupError(function)


# -------------------------------------------------------------------------------------------------- tests


@dataclass
class Reached:
    """The seconds of each test, and the tests that reach each (file, line)."""

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[tuple[str, int], list[str]] = field(default_factory=dict)

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that reach a mutant's line, or the nearest recorded line before it."""
        lines = range(mutant.line, mutant.function[1], -1)
        return next((self.lines[str(mutant.path), line] for line in lines if (str(mutant.path), line) in self.lines), [])


class Runner:
    """The pytest plugin that runs the collected tests for each mutant."""

    def __init__(self, mutants: Sequence[Mutant], tests: Sequence[str]) -> None:
        self.mutants = mutants
        self.tests = tests
        self.failed = False
        self.results: list[tuple[Mutant, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        reached = self._reach(session)
        items = {item.nodeid: item for item in session.items}
        for number, mutant in enumerate(self.mutants):
            names = reached.of(mutant)
            chosen = sorted(names, key=lambda name: (self._turn(name), reached.seconds[name], name))
            killer = self._killer(session, mutant, [(items[name], reached.seconds[name]) for name in chosen])
            self.results.append((mutant, killer))
            print(f"{number + 1}/{len(self.mutants)} {killer or 'SURVIVES'} ({len(chosen)} tests): {mutant}", flush=True)
        return True

    def _turn(self, name: str) -> int:
        """The index of the argument of `--tests` that contains a test."""
        return next((turn for turn, test in enumerate(self.tests) if name.startswith(test)), len(self.tests))

    def _run(self, item: pytest.Item) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)

    def _reach(self, session: pytest.Session) -> Reached:
        """The lines that the tests reach, recorded in another process so that this one caches no values of unmutated code."""
        with tempfile.TemporaryDirectory() as folder:
            notes = Path(folder, "reached")
            if os.fork() == 0:
                _quiet()
                notes.write_bytes(pickle.dumps(self._noted(session)))
                os._exit(0)
            os.wait()
            found: Reached = pickle.loads(notes.read_bytes())
        print(f"{len(found.seconds)} tests in {sum(found.seconds.values()):.0f} s, watched", flush=True)
        return found

    def _noted(self, session: pytest.Session) -> Reached:
        from coverage import Coverage

        files = sorted({str(mutant.path) for mutant in self.mutants})
        watch = Coverage(data_file=None, include=files, config_file=False)
        reached, lines = Reached(), defaultdict(list)
        for item in session.items:
            watch.start()  # restarted for each test, which may stop it
            watch.switch_context(item.nodeid)
            self.failed, began = False, time.monotonic()
            self._run(item)
            if not self.failed:  # some tests fail when they are traced
                reached.seconds[item.nodeid] = time.monotonic() - began
            watch.stop()
        for item in session.items:  # tests that fail when run again do not count
            self.failed = False
            self._run(item)
            if self.failed:
                reached.seconds.pop(item.nodeid, None)
        data = watch.get_data()
        for name in data.measured_files():
            for line, tests in data.contexts_by_lineno(name).items():
                lines[os.path.realpath(name), line] = [test for test in tests if test in reached.seconds]
        reached.lines = dict(lines)
        return reached

    def _killer(self, session: pytest.Session, mutant: Mutant, tests: Sequence[tuple[pytest.Item, float]]) -> str:
        """The test that kills the mutant, `time`, or how the process ended; empty if the mutant survives."""
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                killer = self._child(mutant, tests)
            except BaseException as error:  # also an exit or interrupt raised by a test
                killer = repr(error)
            os.write(writer, killer.encode())
            os._exit(0)
        os.close(writer)
        _, status = os.waitpid(process, 0)
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)  # and the processes that its tests started
        os.set_blocking(reader, False)
        with open(reader, "rb") as pipe:
            said = (pipe.read() or b"").decode()
        if status == 0:
            return said
        late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF)
        return "time" if late else f"status {status}"

    def _child(self, mutant: Mutant, tests: Sequence[tuple[pytest.Item, float]]) -> str:
        os.setpgid(0, 0)
        _quiet()
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        try:
            exchange(mutant)
        except (LookupError, ValueError) as error:
            return f"{UNTRIED}: {error!r}"
        for item, seconds in tests:
            signal.setitimer(signal.ITIMER_PROF, 10 + 10 * seconds)  # processor time; the limit on waiting is ten times that
            signal.setitimer(signal.ITIMER_REAL, 100 + 100 * seconds)
            self.failed = False
            self._run(item)
            if self.failed:
                return item.nodeid
        return ""


def _quiet() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


# ------------------------------------------------------------------------------------------------- report


def report(command: str, total: int, results: Sequence[tuple[Mutant, str]]) -> str:
    results = [(mutant, killer) for mutant, killer in results if not killer.startswith(UNTRIED)]
    dead = sum(bool(killer) for _, killer in results)
    late = sum(killer == "time" for _, killer in results)
    lines = [
        f"`{command}`, {time.strftime('%Y-%m-%d', time.gmtime())}, CPython {sys.version.split()[0]}.", "",
        f"Of {total:,} mutants {len(results)} were drawn: {dead} die ({dead / max(1, len(results)):.0%}), {late} of them by time;"
        f" {len(results) - dead} survive.", "",
        "| survivor | why |", "| --- | --- |",
    ]  # fmt: skip
    lines += [f"| {str(mutant).replace('|', chr(92) + '|')} | |" for mutant, killer in sorted(results, key=_where) if not killer]
    return "\n".join(lines) + "\n"


def _where(result: tuple[Mutant, str]) -> tuple[str, int]:
    return str(result[0].path), result[0].line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", help="files and folders to mutate")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="files, folders and ids of tests")
    parser.add_argument("--without", nargs="*", default=[], help="files that are not mutated")
    parser.add_argument("--sample", type=int, help="how many mutants, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="only mutants of which the description has this text")
    parser.add_argument("-o", "--output", type=Path, help="a file for the report")
    options = parser.parse_args()
    roots = [ROOT / name for name in options.modules]
    paths = sorted({path for root in roots for path in (root.rglob("*.py") if root.is_dir() else [root])})
    left_out = {ROOT / name for name in options.without}
    mutants = [mutant for path in paths if path not in left_out for mutant, _ in _mutated(path)]
    if options.only:
        mutants = [mutant for mutant in mutants if options.only in str(mutant)]
    total = len(mutants)
    if options.sample is not None:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, total))
    runner = Runner(mutants, options.tests)
    os.chdir(ROOT)
    pytest.main(["-p", "no:cacheprovider", "-s", *options.tests], plugins=[runner])
    text = report(" ".join(["python", *sys.argv]), total, runner.results)
    print(text)
    if options.output is not None:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
