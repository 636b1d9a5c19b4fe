"""Random loop programs that the verifier has nothing to say about."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from rho.backend.loopir.ir import (
    ZERO,
    Apply,
    Box,
    BranchResult,
    Call,
    Carried,
    ConstantStatement,
    Fail,
    For,
    If,
    Index,
    IndexStatement,
    Load,
    LoopKind,
    LoopProgram,
    Statement,
    Store,
    View,
    ViewRole,
    index,
    plus,
    walk,
)
from rho.backend.loopir.text import float_bits
from rho.backend.loopir.verifier import problems
from rho.typechecker.elements import Kind

N, M = index("n"), index("m")
VIEWS = (
    View("a", Kind.F64, (N, M), ViewRole.INPUT),
    View("x", Kind.F64, (N,), ViewRole.INPUT),
    View("k", Kind.I64, (N,), ViewRole.INPUT),
    View("y", Kind.F64, (N,), ViewRole.OUTPUT),
    View("z", Kind.F64, (N, M), ViewRole.OUTPUT),
    View("c", Kind.I64, (plus(N, Index((), 1)),), ViewRole.OUTPUT),
    View("t", Kind.F64, (N,), ViewRole.SCRATCH),
    View("u", Kind.F64, (N, M), ViewRole.SCRATCH),
)
BY_NAME = {view.name: view for view in VIEWS}
SIZES = ({"n": 0, "m": 2}, {"n": 1, "m": 0}, {"n": 2, "m": 1}, {"n": 4, "m": 3})


class Drawing:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0
        self.registers: dict[Kind, list[str]] = {Kind.F64: [], Kind.I64: ["n", "m"], Kind.BOOL: []}
        self.loops: list[tuple[str, Index]] = []
        """Indices of the loops around, and their upper bounds."""
        self.out: list[Statement] = []

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def define(self, statement: ConstantStatement | IndexStatement | Apply | Load, kind: Kind) -> str:
        self.out.append(statement)
        self.registers[kind].append(statement.name)
        return statement.name

    def some(self, kind: Kind) -> str:
        """A register, most often a recent one."""
        known = self.registers[kind]
        if not known or self.random.random() < 0.1:
            return self.constant(kind)
        return self.random.choice(known[-6:])

    def constant(self, kind: Kind) -> str:
        value = self.random.choice([0, 1, 2, -1])
        bits = float_bits(kind, value / 2) if kind is Kind.F64 else value % 2 if kind is Kind.BOOL else value
        return self.define(ConstantStatement(self.fresh("k"), kind, bits), kind)

    def apply(self, kind: Kind, function: str, *args: str, compute: Kind | None = None, check: int = -1) -> str:
        return self.define(Apply(self.fresh("v"), kind, function, args, compute or kind, 0, check), kind)

    def form(self) -> Index:
        """An affine form of what is around."""
        terms = [name for name, _ in self.loops] + ["n", "m"]
        drawn = self.random.choices(terms, k=self.random.choice([1, 1, 1, 2]))
        return index(*((name, self.random.choice([1, 1, 1, -1])) for name in drawn), constant=self.random.choice([0, 0, -1, 1]))

    def indices(self, view: View) -> tuple[tuple[Index, ...], str | None]:
        """Indices of an item, and a mask that is true where it is in the view, if that is not plain."""
        forms: list[Index] = []
        mask: str | None = None
        for length in view.shape:
            plain = [name for name, upper in self.loops if upper == length]
            if plain and self.random.random() < 0.7:
                forms.append(index(self.random.choice(plain)))
                continue
            form = self.form()
            place, end, zero = (self.define(IndexStatement(self.fresh("i"), f), Kind.I64) for f in (form, length, ZERO))
            for test in (self.apply(Kind.BOOL, "le", zero, place, compute=Kind.I64),
                         self.apply(Kind.BOOL, "lt", place, end, compute=Kind.I64)):  # fmt: skip
                mask = test if mask is None else self.apply(Kind.BOOL, "and", mask, test)
            forms.append(index(place) if self.random.random() < 0.5 else form)
        return tuple(forms), mask

    # -- statements

    def block(self, depth: int, count: int) -> None:
        for _ in range(count):
            self.random.choice([self.load, self.load, self.arithmetic, self.arithmetic, self.store, self.store, self.truth,
                                lambda: self.branch(depth), lambda: self.loop(depth), self.check, self.call])()  # fmt: skip

    def inside(self, depth: int, count: int) -> tuple[tuple[Statement, ...], dict[Kind, list[str]]]:
        """A block, and the registers that are seen at its end."""
        outer, seen = self.out, self.registers
        self.out, self.registers = [], {kind: list(names) for kind, names in seen.items()}
        self.block(depth, count)
        body, inner = tuple(self.out), self.registers
        self.out, self.registers = outer, seen
        return body, inner

    def load(self) -> None:
        view = self.random.choice(VIEWS)
        indices, mask = self.indices(view)
        self.define(Load(self.fresh("l"), view.name, indices, mask), view.kind)

    def store(self) -> None:
        view = self.random.choice(VIEWS[3:])
        indices, mask = self.indices(view)
        self.out.append(Store(view.name, indices, self.some(view.kind), mask))

    def box(self, view: View) -> Box:
        """Part of a view: each axis whole, or at the index of a loop over it."""
        start: list[Index] = []
        shape: list[Index | None] = []
        for length in view.shape:
            plain = [name for name, upper in self.loops if upper == length]
            fixed = bool(plain) and self.random.random() < 0.5
            start.append(index(self.random.choice(plain)) if fixed else ZERO)
            shape.append(None if fixed else length)
        return Box(view.name, tuple(start), tuple(shape))

    def call(self) -> None:
        if self.random.random() < 0.4:
            reads = tuple(map(self.box, self.random.choices(VIEWS, k=self.random.randint(0, 2))))
            written = self.box(self.random.choice([view for view in VIEWS[3:] if view.kind is Kind.F64]))
            self.out.append(Call(self.fresh_number(), reads, (written,), (self.form(),)))

    def arithmetic(self) -> None:
        kind = self.random.choice([Kind.F64, Kind.F64, Kind.I64])
        if self.random.random() < 0.25:
            self.apply(kind, "select", self.some(Kind.BOOL), self.some(kind), self.some(kind))
        elif kind is Kind.I64 and self.random.random() < 0.3:
            three = self.define(ConstantStatement(self.fresh("k"), Kind.I64, 3), Kind.I64)
            self.apply(kind, "residue", three, self.some(kind))
        elif kind is Kind.I64 and self.random.random() < 0.3:
            self.define(IndexStatement(self.fresh("i"), self.form()), kind)
        else:
            self.apply(kind, self.random.choice(["add", "sub", "min", "max"]), self.some(kind), self.some(kind))

    def truth(self) -> None:
        if self.random.random() < 0.3:
            self.apply(Kind.BOOL, self.random.choice(["and", "or", "nand", "nor"]), self.some(Kind.BOOL), self.some(Kind.BOOL))
        else:
            kind = self.random.choice([Kind.I64, Kind.I64, Kind.F64])
            function = self.random.choice(["lt", "le", "eq", "ge", "gt", "ne"])
            self.apply(Kind.BOOL, function, self.some(kind), self.some(kind), compute=kind)

    def check(self) -> None:
        match self.random.randrange(6):
            case 0:
                self.out.append(Fail(self.fresh_number(), self.some(Kind.BOOL), (self.some(Kind.I64),)))
            case 1:
                self.apply(Kind.I64, "floor", self.some(Kind.F64), compute=Kind.F64, check=self.fresh_number())

    def fresh_number(self) -> int:
        self.names += 1
        return self.names

    def branch(self, depth: int) -> None:
        condition = self.some(Kind.BOOL)
        arms = self.inside(depth + 1, 2), self.inside(depth + 1, 1)
        kind = self.random.choice([Kind.F64, Kind.I64])
        values = [self.random.choice(seen[kind][-3:]) if seen[kind] else None for _, seen in arms]
        results: tuple[BranchResult, ...] = ()
        if values[0] is not None and values[1] is not None:
            results = (BranchResult(self.fresh("r"), kind, values[0], values[1]),)
        self.out.append(If(condition, arms[0][0], arms[1][0], results))
        self.registers[kind] += [result.name for result in results]

    def loop(self, depth: int) -> None:
        if depth > 2:
            return
        carried: list[tuple[str, Kind, str]] = []
        if self.random.random() < 0.4:
            kind = self.random.choice([Kind.F64, Kind.I64])
            carried.append((self.fresh("s"), kind, self.some(kind)))
        upper = self.random.choice([N, N, M, M, Index((), 2), *(index(name) for name, _ in self.loops)])
        name = self.fresh("j")
        self.loops.append((name, upper))
        known = {kind: list(names) for kind, names in self.registers.items()}
        self.registers[Kind.I64].append(name)
        for inside, kind, _ in carried:
            self.registers[kind].append(inside)
        body, seen = self.inside(depth + 1, self.random.randint(1, 4))
        self.registers = known
        self.loops.pop()
        until = None
        if seen[Kind.BOOL] and self.random.random() < 0.15:
            until = self.random.choice(seen[Kind.BOOL])
        values = []
        for inside, kind, initial in carried:
            values.append(Carried(inside, kind, initial, self.random.choice(seen[kind][-2:]), self.fresh("r")))
            self.registers[kind].append(values[-1].result)
        step = self.random.choice([1, 1, 1, 2])
        self.out.append(For(name, (ZERO,), (upper,), LoopKind.SERIAL, body, tuple(values), until, step))


def _filled(drawing: Drawing) -> None:
    """Loops that write all scratch."""
    value = drawing.constant(Kind.F64)
    j, o, i = (drawing.fresh("j") for _ in range(3))
    drawing.out.append(For(j, (ZERO,), (N,), LoopKind.SERIAL, (Store("t", (index(j),), value),)))
    rows = For(i, (ZERO,), (M,), LoopKind.SERIAL, (Store("u", (index(o), index(i)), value),))
    drawing.out.append(For(o, (ZERO,), (N,), LoopKind.SERIAL, (rows,)))


def program(random: Random) -> LoopProgram:
    """A random program; loops are PARALLEL or VECTOR where that can be proved to be right."""
    drawing = Drawing(random)
    _filled(drawing)
    drawing.block(0, 3)
    drawing.loop(0)
    drawing.loop(0)
    drawing.block(0, 2)
    drawn = LoopProgram("drawn", ("n", "m"), VIEWS, tuple(drawing.out))
    for name in [s.index for s in walk(drawn.body) if isinstance(s, For)]:
        other = replace(drawn, body=_of_kind(drawn.body, name, random.choice([LoopKind.VECTOR, LoopKind.PARALLEL])))
        if random.random() < 0.8 and not problems(other):
            drawn = other
    return drawn


def _of_kind(body: tuple[Statement, ...], name: str, kind: LoopKind) -> tuple[Statement, ...]:
    done: list[Statement] = []
    for statement in body:
        if isinstance(statement, For):
            own = kind if statement.index == name else statement.kind
            statement = replace(statement, kind=own, body=_of_kind(statement.body, name, kind))
        elif isinstance(statement, If):
            arms = (_of_kind(arm, name, kind) for arm in (statement.then, statement.otherwise))
            statement = replace(statement, then=next(arms), otherwise=next(arms))
        done.append(statement)
    return tuple(done)


# ------------------------------------------------------------------------------------------ phases in a row

K = index("k")
ROWS = ("s1", "s2", "s3")
STAGED = (
    View("x", Kind.F64, (N,), ViewRole.INPUT),
    View("d", Kind.F64, (Index((), 2), N), ViewRole.OUTPUT),
    View("y", Kind.F64, (N,), ViewRole.OUTPUT),
    *(View(name, Kind.F64, (N,), ViewRole.SCRATCH) for name in ROWS),
)
STAGED_SIZES = ({"n": 0, "k": 0}, {"n": 1, "k": 0}, {"n": 3, "k": 3}, {"n": 5, "k": 2})


def staged(random: Random) -> LoopProgram:
    """What lowering makes of phases: loops over vectors that fill scratch, in one part or two, and others that read it."""
    drawing = Drawing(random)
    body: list[Statement] = [IndexStatement("turn", ZERO)]
    ready = ["x", "y", "d"]

    def load(view: str, i: str) -> str:
        """An item of a view at the index or beside it, 0 where there is none."""
        first = (index("turn"),) if view == "d" else ()
        if random.random() < 0.5:
            return drawing.define(Load(drawing.fresh("l"), view, (*first, index(i))), Kind.F64)
        form = random.choice([index(i, constant=1), index(i, constant=-1), index("n", (i, -1), constant=-1), index(i, "k")])
        place, zero = (drawing.define(IndexStatement(drawing.fresh("i"), f), Kind.I64) for f in (form, ZERO))
        low = drawing.apply(Kind.BOOL, "le", zero, place, compute=Kind.I64)
        mask = drawing.apply(Kind.BOOL, "and", low, drawing.apply(Kind.BOOL, "lt", place, "n", compute=Kind.I64))
        return drawing.define(Load(drawing.fresh("l"), view, (*first, form), mask), Kind.F64)

    def loop(lower: Index, upper: Index, view: str, offset: Index) -> For:
        """Items of a view from others."""
        drawing.out, i = [], drawing.fresh("j")
        value = load(random.choice(ready[-4:]), i)
        if random.random() < 0.5:
            value = drawing.apply(Kind.F64, random.choice(["add", "mul", "min"]), value, load(random.choice(ready), i))
        indices = (index("turn", constant=1),) if view == "d" else ()
        place = plus(index(i), offset)
        drawing.out.append(Store(view, (*indices, place), value))
        return For(i, (lower,), (upper,), random.choice([LoopKind.SERIAL, LoopKind.VECTOR]), tuple(drawing.out))

    for view in (*ROWS, random.choice(["y", "d"]), "y"):
        if view != "d" and random.random() < 0.15:
            reads = [Box(name, (ZERO,), (N,)) for name in random.choices(ready, k=2) if name != "d"]
            body.append(Call(len(body), tuple(reads), (Box(view, (ZERO,), (N,)),), (K,)))
        elif random.random() < 0.5:
            body.append(loop(ZERO, N, view, ZERO))
        elif random.random() < 0.5:
            body += [loop(ZERO, K, view, ZERO), loop(K, N, view, ZERO)]
        else:
            body += [loop(ZERO, plus(N, index(("k", -1))), view, K), loop(ZERO, K, view, ZERO)]
        if view in ROWS:
            ready.append(view)
    drawn = LoopProgram("staged", ("n", "k"), STAGED, tuple(body), (K, plus(N, index(("k", -1)))))
    for name in [s.index for s in walk(drawn.body) if isinstance(s, For)]:
        if problems(drawn):
            drawn = replace(drawn, body=_of_kind(drawn.body, name, LoopKind.SERIAL))
    return drawn


SWEPT = (
    View("y", Kind.F64, (N, M), ViewRole.OUTPUT),
    View("z", Kind.F64, (N, M), ViewRole.OUTPUT),
    View("t", Kind.F64, (N, M), ViewRole.SCRATCH),
    View("u", Kind.F64, (N, M), ViewRole.SCRATCH),
)
SWEPT_SIZES = ({"n": 0, "m": 3}, {"n": 1, "m": 3}, {"n": 2, "m": 2}, {"n": 5, "m": 4})


def sweeps(random: Random) -> LoopProgram:
    """Sweeps over rows, in rounds: some fill scratch, all or but for its edges, some write what others read."""
    drawing, edge = Drawing(random), {view.name: 0 for view in SWEPT}
    ready = ["y", "z"]

    def sweep(view: str, margin: int) -> For:
        drawing.out, i, j = [], drawing.fresh("i"), drawing.fresh("j")
        values = []
        for source in [random.choice(ready[-3:]) for _ in range(random.randint(1, 3))]:
            most = margin - edge[source]
            form = tuple(index(name, constant=random.randint(-most, most)) for name in (i, j))
            values.append(drawing.define(Load(drawing.fresh("l"), source, form), Kind.F64))
        while len(values) > 1:
            values.append(drawing.apply(Kind.F64, random.choice(["add", "mul", "min"]), values.pop(), values.pop()))
        lower = Index((), margin)
        columns = (*drawing.out, Store(view, (index(i), index(j)), values[0]))
        inner = For(j, (lower,), (index("m", constant=-margin),), LoopKind.VECTOR, columns)
        return For(i, (lower,), (index("n", constant=-margin),), LoopKind.SERIAL, (inner,))

    body: list[Statement] = []
    for view in random.choice(["ty", "tyz", "tuy", "tyuz", "yz", "tuzy"]):
        least = max(edge[name] for name in ready[-3:])
        edge[view] = random.choice([least, least, least + 1]) if view in ("t", "u") else 0
        body.append(sweep(view, edge[view] if view in ("t", "u") else random.choice([least, least + 1])))
        if view in ("t", "u"):
            ready.append(view)
    rounds = For("q", (ZERO,), (Index((), 2),), LoopKind.SERIAL, tuple(body))
    drawn = LoopProgram("sweeps", ("n", "m"), SWEPT, (rounds,))
    for name in [s.index for s in walk(drawn.body) if isinstance(s, For)]:
        if problems(drawn):
            drawn = replace(drawn, body=_of_kind(drawn.body, name, LoopKind.SERIAL))
    return drawn
