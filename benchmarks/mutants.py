"""Mutation testing: how many small errors put into a folder of the package are noticed by its tests.

`mutmut` and `cosmic-ray` write changed copies of a source tree and start the tests anew for each; here the repository's
root is itself the package `rho`, and one start takes longer than most tests.  So this script collects the tests once, and each
mutant is a forked child in which only the code objects of one changed module are exchanged.  A child runs the tests that reach
the changed line, the quickest first, until one fails.  What runs when a module is imported (constants, defaults,
decorators) cannot be exchanged so: those mutants import the changed module in a process of their own.

    python benchmarks/mutants.py backend/schedule/verifier --tests tests/schedule/test_verifier.py tests/plans
    python benchmarks/mutants.py typechecker/rules typechecker/sizes.py --tests tests/typechecker --share 0.1 --jobs 2

A mutant is killed if a test fails or runs out of time.  The operators: comparisons are turned round and moved by one, `and` and
`or`, `not`, signs and arithmetic exchanged, numbers are one more, truth values and words (strings without blanks) others,
`min`/`max` and `any`/`all` exchanged, `break`/`continue`, statements that are calls or yields left out, `+=` becomes `-=` and
`=`, what is assigned or returned becomes None.  Texts of messages, annotations, asserts and docstrings are left alone.

`--share` tries a seeded part of the mutants; `-o FILE` writes the table and the survivors; `--list` only counts them.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODE = Path((find_spec("rho") or sys.exit("install the package first: pip install -e .")).origin or "").parent
"""The same folder as the package's modules name it."""
MEMORY = 6 << 30  # bytes of addresses that a child may have
PATIENCE = 10.0  # times the tests' own time, and so many seconds more, until a child is stopped
NO_TEST, IMPORTED, ERROR = 3, 4, 1  # exit codes of children beside 0: survived

# ------------------------------------------------------------------------------------------------ mutants


@dataclass(frozen=True)
class Mutant:
    """The `number`-th mutation of a file, what it does, and whether its code runs at import."""

    file: str
    number: int
    line: int
    last: int
    what: str
    at_import: bool


@dataclass
class Change:
    """One node to be put in the place of another."""

    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST
    line: int
    last: int
    what: str
    at_import: bool

    def set(self, node: ast.AST) -> ast.AST:
        if self.index is None:
            old = getattr(self.parent, self.field)
            setattr(self.parent, self.field, node)
        else:
            items = getattr(self.parent, self.field)
            old = items[self.index]
            items[self.index] = node
        return old  # type: ignore[no-any-return]


COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in a node's place, but for what is said of statements."""
    match node:
        case ast.Compare(left, ops, comparators):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield ast.Compare(left, [*ops[:place], other(), *ops[place + 1 :]], comparators)
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
            yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(str() as value) if value and not any(map(str.isspace, value)):
            yield ast.Constant(f"X{value}X")
        case ast.Call(ast.Name(name), args, keywords) if name in CALLS:
            yield ast.Call(ast.Name(CALLS[name], ast.Load()), args, [k for k in keywords if name in ("min", "max")])
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Expr(ast.Call() | ast.Yield() | ast.YieldFrom()):
            yield ast.Pass()
        case ast.AugAssign(target, op, value):
            yield ast.Assign([target], value)
            if type(op) in ARITHMETIC:
                yield ast.AugAssign(target, ARITHMETIC[type(op)](), value)
        case ast.Assign(targets, value) if not isinstance(value, ast.Constant):
            yield ast.Assign(targets, ast.Constant(None))
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))
        case _:
            return


def changes(tree: ast.Module) -> list[Change]:
    """Every mutation of a module, in a fixed order."""
    found: list[Change] = []

    def visit(node: ast.AST, at_import: bool) -> None:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "type_comment"):
                continue
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            running = at_import and not (is_function and field == "body")
            for place, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(item, ast.AST) or skipped(node, field, place, item):
                    continue
                for new in replacements(item):
                    ast.fix_missing_locations(ast.copy_location(new, item))
                    line = getattr(item, "lineno", getattr(node, "lineno", 1))
                    last = getattr(item, "end_lineno", line)
                    what = f"`{brief(item)}` → `{brief(new)}`"
                    found.append(Change(node, field, place, new, line, last, what, running))
                visit(item, running)

    visit(tree, True)
    return found


def skipped(parent: ast.AST, field: str, place: int | None, item: ast.AST) -> bool:
    """Texts for people, what only tells the type checker something, and imports."""
    if isinstance(item, ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(item, ast.Assign) and isinstance(item.value, ast.JoinedStr):
        return True
    if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant):
        return True
    if isinstance(item, ast.If) and isinstance(item.test, ast.Name) and item.test.id == "TYPE_CHECKING":
        return True
    if isinstance(item, ast.Assign) and any(isinstance(t, ast.Name) and t.id in ("__all__", "__slots__") for t in item.targets):
        return True
    if isinstance(item, ast.AnnAssign) and "TypeAlias" in ast.unparse(item.annotation):
        return True
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ("NewType", "cast", "TypeVar")


def brief(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else text[:67] + "…"


def mutants_of(file: str) -> list[Mutant]:
    tree = ast.parse((ROOT / file).read_text())
    return [Mutant(file, number, c.line, c.last, c.what, c.at_import) for number, c in enumerate(changes(tree))]


def code_of(mutant: Mutant) -> CodeType:
    path = CODE / mutant.file
    tree = ast.parse(path.read_text())
    change = changes(tree)[mutant.number]
    change.set(change.new)
    return compile(tree, str(path), "exec", dont_inherit=True)


# ------------------------------------------------------------------------------------------------ children


def functions_of(files: Sequence[str]) -> dict[tuple[str, str, int], list[FunctionType]]:
    """The functions that exist of some files, methods, wrapped ones and closures among them."""
    paths = {str(CODE / file) for file in files}
    found: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
    gc.collect()
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in paths:
            code = one.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
    return found


def exchange(code: CodeType, functions: dict[tuple[str, str, int], list[FunctionType]]) -> bool:
    """Give the functions of a module their new code; False: one has other free variables now."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            for one in functions.get((constant.co_filename, constant.co_qualname, constant.co_firstlineno), ()):
                if len(one.__code__.co_freevars) != len(constant.co_freevars):
                    return False
                one.__code__ = constant
            if not exchange(constant, functions):
                return False
    return True


class Runner:
    """The plugin: takes over when the tests are collected, and forks."""

    def __init__(self, arguments: argparse.Namespace, mutants: Sequence[Mutant]) -> None:
        self.arguments, self.mutants = arguments, mutants
        self.files = sorted({mutant.file for mutant in mutants})
        self.failed = False
        self.results: list[tuple[Mutant, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        functions = functions_of(self.files)
        covered, seconds = self.baseline(items)
        running: dict[int, tuple[Mutant, float]] = {}
        pending = list(self.mutants)
        started = time.monotonic()
        while pending or running:
            while pending and len(running) < self.arguments.jobs:
                mutant = pending.pop(0)
                tests = sorted(
                    {test for line in range(mutant.line, mutant.last + 1) for test in covered.get((mutant.file, line), ())},
                    key=lambda test: seconds[test],
                )
                if mutant.at_import:
                    tests = sorted({test for (file, _), some in covered.items() if file == mutant.file for test in some},
                                   key=lambda test: seconds[test])  # fmt: skip
                if not tests:
                    self.note(mutant, "no test", started)
                    continue
                most = PATIENCE * (1 + sum(seconds[test] for test in tests))
                running[self.start(mutant, [items[test] for test in tests], functions)] = mutant, time.monotonic() + most
            time.sleep(0.005)
            for child in list(running):
                mutant, until = running[child]
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    del running[child]
                    code = os.waitstatus_to_exitcode(status)
                    self.note(mutant, {0: "survived", NO_TEST: "no test"}.get(code, "killed"), started)
                elif time.monotonic() > until:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    del running[child]
                    self.note(mutant, "killed by time", started)
        return True

    def note(self, mutant: Mutant, verdict: str, started: float) -> None:
        self.results.append((mutant, verdict))
        if not verdict.startswith("killed"):
            print(f"\n{verdict}: {mutant.file}:{mutant.line} {mutant.what}", flush=True)
        if len(self.results) % 50 == 0:
            dead = sum(one.startswith("killed") for _, one in self.results)
            took = time.monotonic() - started
            print(f"\n{len(self.results)} of {len(self.mutants)}: {dead} killed, {took:.0f} s", file=sys.stderr, flush=True)

    def baseline(self, items: dict[str, pytest.Item]) -> tuple[dict[tuple[str, int], set[str]], dict[str, float]]:
        """By line, the tests that run it, and each test's seconds: of the unchanged code, in a child."""
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            measured = []
            for item in items.values():
                began = time.perf_counter()
                lines = self.traced(item)
                measured.append((item.nodeid, time.perf_counter() - began, lines, self.failed))
                self.failed = False
            with os.fdopen(writer, "wb") as out:
                pickle.dump(measured, out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as data:
            measured = pickle.load(data)
        os.waitpid(child, 0)
        wrong = [test for test, _, _, failed in measured if failed]
        if wrong:
            raise SystemExit(f"these tests fail without a mutation: {', '.join(wrong[:5])}")
        covered: dict[tuple[str, int], set[str]] = defaultdict(set)
        for test, _, lines, _ in measured:
            for line in lines:
                covered[line].add(test)
        return covered, {test: took for test, took, _, _ in measured}

    def traced(self, item: pytest.Item) -> set[tuple[str, int]]:
        lines: set[tuple[str, int]] = set()
        names = {str(CODE / file): file for file in self.files}

        def local(frame: FrameType, event: str, _: Any) -> Any:
            lines.add((names[frame.f_code.co_filename], frame.f_lineno))
            return local

        def called(frame: FrameType, event: str, _: Any) -> Any:
            return local(frame, event, _) if frame.f_code.co_filename in names else None

        sys.settrace(called)
        try:
            run(item)
        finally:
            sys.settrace(None)
        return lines

    def start(self, mutant: Mutant, tests: Sequence[pytest.Item], functions: Any) -> int:
        child = os.fork()
        if child:
            return child
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            if mutant.at_import or not exchange(code_of(mutant), functions):
                os._exit(afresh(mutant, [test.nodeid for test in tests]))
            for test in tests:
                run(test)
                if self.failed:
                    os._exit(ERROR)
        except BaseException:
            os._exit(ERROR)
        os._exit(0)


def run(item: pytest.Item) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


# ---------------------------------------------------------------------------------------- mutants of imports


def afresh(mutant: Mutant, tests: Sequence[str]) -> int:
    """The exit code of a new process that imports the changed module."""
    asked = json.dumps({"file": mutant.file, "number": mutant.number, "tests": list(tests)})
    done = subprocess.run([sys.executable, __file__, "--one", "-"], input=asked, text=True, cwd=ROOT, check=False)
    return done.returncode


class Changed:
    """Finds one module of the package, with its changed code; a loader for it alone."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        parts = Path(mutant.file).with_suffix("").parts
        self.name = ".".join(("rho", *(parts[:-1] if parts[-1] == "__init__" else parts)))

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        inside = [str((CODE / self.mutant.file).parent)] if self.mutant.file.endswith("__init__.py") else None
        return spec_from_file_location(name, CODE / self.mutant.file, loader=self, submodule_search_locations=inside)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        exec(code_of(self.mutant), module.__dict__)


def one(asked: dict[str, Any]) -> int:
    mutant = Mutant(asked["file"], asked["number"], 0, 0, "", True)
    sys.meta_path.insert(0, Changed(mutant))  # type: ignore[arg-type]
    code = pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", *asked["tests"]], plugins=[Quiet()])
    return 0 if code == 0 else ERROR


class Quiet:
    """Tests draw the same examples each time, look for no smaller ones, and keep nothing."""

    def pytest_sessionstart(self) -> None:
        from hypothesis import Phase, settings

        settings.register_profile("mutants", derandomize=True, database=None, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("mutants")


# -------------------------------------------------------------------------------------------------- report


def report(results: Sequence[tuple[Mutant, str]], arguments: argparse.Namespace, every: int, took: float) -> str:
    by_file: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant, verdict in results:
        by_file[mutant.file]["killed" if verdict.startswith("killed") else verdict] += 1
    dead = sum(count["killed"] for count in by_file.values())
    asked = " ".join([*arguments.targets, "--tests", *arguments.tests])
    if arguments.share < 1:
        asked += f" --share {arguments.share} --seed {arguments.seed}"
    share = 100 * dead / max(1, len(results))
    lines = [
        f"# Mutants of {', '.join(arguments.targets)}",
        "",
        f"Made by `python benchmarks/mutants.py {asked}`: {len(results)} of {every} mutants tried, **{dead} killed "
        f"({share:.1f} %)**.  {took / 60:.0f} minutes, {arguments.jobs} at a time.",
        "",
        "| file | tried | killed | share |",
        "|---|---:|---:|---:|",
    ]
    for file, count in sorted(by_file.items()):
        tried = sum(count.values())
        lines.append(f"| {file} | {tried} | {count['killed']} | {100 * count['killed'] / tried:.0f} % |")
    lines += ["", "## Survivors", ""]
    for mutant, verdict in sorted(results, key=lambda r: (r[0].file, r[0].line, r[0].number)):
        if not verdict.startswith("killed"):
            lines.append(f"- {mutant.file}:{mutant.line}{' (no test reaches it)' if verdict == 'no test' else ''} {mutant.what}")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", help="folders or files of the package, from the repository's root")
    parser.add_argument("--tests", nargs="+", default=[], help="what pytest is to collect")
    parser.add_argument("--share", type=float, default=1.0, help="the part of the mutants that is tried")
    parser.add_argument("--seed", type=int, default=0, help="which part")
    parser.add_argument("--jobs", type=int, default=1, help="children at a time")
    parser.add_argument("--list", action="store_true", help="only say which mutants there are")
    parser.add_argument("-o", dest="output", help="where the result is written")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return one(json.load(sys.stdin))
    os.chdir(ROOT)
    files: list[str] = []
    for target in arguments.targets:
        path = Path(target)
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        files += [file.as_posix() for file in found]
    every = [mutant for file in files for mutant in mutants_of(file)]
    if arguments.list:
        print("\n".join(f"{m.file}:{m.line} {'(import) ' if m.at_import else ''}{m.what}" for m in every))
        print(len(every), "mutants")
        return 0
    chosen = every
    if arguments.share < 1:
        chosen = random.Random(arguments.seed).sample(every, max(1, round(len(every) * arguments.share)))
        chosen.sort(key=lambda m: (m.file, m.number))
    runner, began = Runner(arguments, chosen), time.monotonic()
    code = pytest.main(["-q", "-s", "--no-header", "-p", "no:cacheprovider", *arguments.tests], plugins=[runner, Quiet()])
    if not runner.results:
        return int(code) or 1
    text = report(runner.results, arguments, len(every), time.monotonic() - began)
    if arguments.output:
        Path(arguments.output).write_text(text)
    print(text.partition("## Survivors")[0])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
