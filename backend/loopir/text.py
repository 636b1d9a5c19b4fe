"""Loop programs as text, and back: `parse(show(program)) == program`.

    program scan(n) given n - 1 {
      input x: f64[n]
      output y: f64[n] strided
      scratch t: f64[n, 2*n + 1] private
      half: f64 = 0.5                          # ConstantStatement; `bits 0x…` where the value does not determine them
      zero: f64 = 0.0
      for i in 0..n serial carried (s: f64 = zero -> s1 => last) {
        j = index n - 1 - i                    # IndexStatement
        v = x[j] if keep                       # Load; the kind is the view's
        w: f64 = mul(s, half)                  # Apply; the compute kind after a colon where it is another: lt:f64(s, v)
        s1: f64 = add(w, v)                    # circular/1(v): its parameter; `check 2` after it: its check
        y[i] = s1 if keep                      # Store; `y[i] = s1 by add` joins
        fail 3 if bad (s, v)
        call 2 (x[j, 0:n]) into (y[0:n]) given (j)   # `start:count`, or one index
        if bad { … } else { … } chosen (r: f64 = a | b)
      }
    }

Bounds are `max(…)..min(…)` where there are several.  Carried values: name inside = initial -> yielded => result, `by add` for a
reduction; `step 4` stands after the range and `until ended` last.  A comment begins with `#`.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Final, TypeVar

from ...typechecker.elements import Kind
from .ir import (
    ONE,
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
    times,
)

# ---------------------------------------------------------------------------------------------------- literals
#
# Constants, which the IR has as bits, as text.

_FLOATS: Final = {Kind.F64: ("<d", "<Q"), Kind.F32: ("<f", "<I")}
_NAN: Final = {Kind.F64: 0x7FF8 << 48, Kind.F32: 0x7FC0 << 16}


def float_bits(kind: Kind, value: float) -> int:
    """The stored bits of a float of kind f32 or f64."""
    to, back = _FLOATS[kind]
    try:
        return int(struct.unpack(back, struct.pack(to, value))[0])
    except OverflowError:
        return float_bits(kind, math.copysign(math.inf, value))


def literal_value(kind: Kind, bits: int) -> bool | int | float | str:
    """The value of a constant's bits."""
    if kind in _FLOATS:
        to, back = _FLOATS[kind]
        return float(struct.unpack(to, struct.pack(back, bits))[0])
    return bool(bits) if kind is Kind.BOOL else chr(bits) if kind is Kind.CHAR else bits


def literal(kind: Kind, bits: int) -> str:
    if kind in _FLOATS:
        value = literal_value(kind, bits)
        shown = repr(value) if kind is Kind.F64 else f"{value:.9g}"
        return shown if literal_bits(kind, shown) == bits else f"bits 0x{bits:x}"
    if kind is Kind.BOOL and bits in (0, 1):
        return "true" if bits else "false"
    return str(bits)


def literal_bits(kind: Kind, shown: str) -> int:
    if shown in ("true", "false"):
        return int(shown == "true")
    if kind not in _FLOATS:
        return int(shown)
    return _NAN[kind] if shown == "nan" else float_bits(kind, float(shown))


# ---------------------------------------------------------------------------------------------------- reading
#
# A recursive-descent parser.

Item = TypeVar("Item")


class TextError(Exception):
    """A syntax error at `line` and `column`, which count from 1."""

    def __init__(self, line: int, column: int, message: str) -> None:
        super().__init__(f"{line}:{column}: {message}")
        self.line, self.column = line, column


_TOKEN: Final = re.compile(
    r"(?P<blank>[ \t\r\n]+|\#[^\n]*)|(?P<name>[A-Za-z_][\w']*(?:\.[\w']+)*)"
    r"|(?P<number>0x[0-9a-f]+|\d+(?:\.(?!\.)\d*)?(?:e[-+]?\d+)?)|(?P<sign>->|=>|\.\.|[][(){},:=|/*+-])"
)
_KINDS: Final = {kind.value: kind for kind in Kind}
_LOOPS: Final = {kind.value: kind for kind in LoopKind}
KEYWORDS: Final = frozenset({"for", "if", "fail", "else", "call", "input", "output", "scratch", "index", "bits"})
"""Reserved words."""


def parse(text: str) -> LoopProgram:
    """Parse a program; raises `TextError` at the first syntax error."""
    return _LoopParser(text).program()


def is_name(text: str) -> bool:
    """Is it a valid name of a register, view or program?"""
    matched = _TOKEN.fullmatch(text)
    return matched is not None and matched.lastgroup == "name" and text not in KEYWORDS


class _LoopParser:
    def __init__(self, text: str) -> None:
        self.text, self.position, self.tokens = text, 0, list[tuple[str, str, int]]()
        position = 0
        while position < len(text):
            matched = _TOKEN.match(text, position)
            if matched is None:
                raise self._error(position, f"no token begins with {text[position]!r}")
            if matched.lastgroup != "blank":
                self.tokens.append((str(matched.lastgroup), matched.group(), position))
            position = matched.end()
        self.tokens.append(("end", "the end", len(text)))

    def _error(self, position: int, message: str) -> TextError:
        line = self.text.count("\n", 0, position) + 1
        return TextError(line, position - self.text.rfind("\n", 0, position), message)

    def _expected(self, what: str) -> TextError:
        _, token, position = self.tokens[self.position]
        return self._error(position, f"expected {what}, found {token}")

    # -- tokens

    def at(self, *words: str, ahead: int = 0) -> bool:
        group, token, _ = self.tokens[min(self.position + ahead, len(self.tokens) - 1)]
        return token in words and group != "end"

    def take(self, *words: str) -> bool:
        self.position += (there := self.at(*words))
        return there

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self._expected(word)

    def name(self, what: str = "a name") -> str:
        group, token, _ = self.tokens[self.position]
        if group != "name" or token in KEYWORDS:
            raise self._expected(what)
        self.position += 1
        return token

    def whole_number(self) -> int:
        negative = self.take("-")
        group, token, _ = self.tokens[self.position]
        if group != "number" or not token.isdigit():
            raise self._expected("a whole number")
        self.position += 1
        return -int(token) if negative else int(token)

    def one_of(self, table: dict[str, Item], what: str) -> Item:
        word = self.tokens[self.position][1]
        if word not in table:
            raise self._expected(f"{what} ({', '.join(table)})")
        self.position += 1
        return table[word]

    def kind(self) -> Kind:
        return self.one_of(_KINDS, "a kind")

    def many(self, item: Callable[[], Item], opening: str = "(", closing: str = ")") -> tuple[Item, ...]:
        self.expect(opening)
        items: list[Item] = []
        while not self.take(closing):
            if items:
                self.expect(",")
            items.append(item())
        return tuple(items)

    # -- parts

    def form(self) -> Index:
        total, sign = ZERO, -1 if self.take("-") else 1
        while True:
            factor, is_number = sign, self.tokens[self.position][0] == "number"
            if is_number:
                factor *= self.whole_number()
            if is_number and not self.take("*"):
                term = ONE
            elif self.take("("):
                term = self.form()
                self.expect(")")
            else:
                term = index(self.name("an index"))
            total = plus(total, times(term, factor))
            if not self.at("+", "-"):
                return total
            sign = 1 if self.take("+") else -1
            self.position += sign < 0

    def bounds(self, word: str) -> tuple[Index, ...]:
        if self.at(word) and self.at("(", ahead=1):
            self.position += 1
            return self.many(self.form)
        return (self.form(),)

    def program(self) -> LoopProgram:
        self.expect("program")
        name, parameters = self.name(), self.many(self.name)
        facts: list[Index] = []
        if self.take("given"):
            facts.append(self.form())
            while self.take(","):
                facts.append(self.form())
        self.expect("{")
        views: list[View] = []
        while self.at(*(role.value for role in ViewRole)):
            views.append(self.view())
        body = self.body()
        if self.position != len(self.tokens) - 1:
            raise self._expected("the end")
        return LoopProgram(name, parameters, tuple(views), body, tuple(facts))

    def view(self) -> View:
        role = self.one_of({role.value: role for role in ViewRole}, "a role")
        name = self.name()
        self.expect(":")
        kind, shape = self.kind(), self.many(self.form, "[", "]")
        unit = not self.take("strided")
        return View(name, kind, shape, role, unit, self.take("private"), self.take("streamed"), self.take("local"))

    def body(self) -> tuple[Statement, ...]:
        """Parses statements up to the brace that closes the block."""
        statements: list[Statement] = []
        while not self.take("}"):
            statements.append(self.statement())
        return tuple(statements)

    def statement(self) -> Statement:
        if self.take("for"):
            return self.loop()
        if self.take("if"):
            return self.branch()
        if self.take("fail"):
            check = self.whole_number()
            self.expect("if")
            return Fail(check, self.name(), self.many(self.name) if self.at("(") else ())
        if self.take("call"):
            routine, reads = self.whole_number(), self.many(self.box)
            self.expect("into")
            writes = self.many(self.box)
            return Call(routine, reads, writes, self.many(self.form) if self.take("given") else ())
        name = self.name("a statement")
        if self.at("["):
            indices = self.many(self.form, "[", "]")
            self.expect("=")
            value, join = self.name(), self.name("a function") if self.take("by") else None
            return Store(name, indices, value, self.mask(), join)
        if self.take(":"):
            return self.typed(name, self.kind())
        self.expect("=")
        if self.take("index"):
            return IndexStatement(name, self.form())
        return Load(name, self.name("a view"), self.many(self.form, "[", "]"), self.mask())

    def box(self) -> Box:
        name, starts, shape = self.name("a view"), list[Index](), list[Index | None]()

        def axis() -> None:
            starts.append(self.form())
            shape.append(self.form() if self.take(":") else None)

        self.many(axis, "[", "]")
        return Box(name, tuple(starts), tuple(shape))

    def mask(self) -> str | None:
        # A mask unless a block follows the condition.
        if self.at("if") and not self.at("{", ahead=2):
            self.position += 1
            return self.name()
        return None

    def typed(self, name: str, kind: Kind) -> Statement:
        self.expect("=")
        if self.at("-", "bits", "true", "false", "nan", "inf") or self.tokens[self.position][0] == "number":
            return self.constant(name, kind)
        function = self.name("a function or a literal")
        compute = self.kind() if self.take(":") else kind
        parameter = self.whole_number() if self.take("/") else 0
        args = self.many(self.name)
        return Apply(name, kind, function, args, compute, parameter, self.whole_number() if self.take("check") else -1)

    def constant(self, name: str, kind: Kind) -> ConstantStatement:
        bits, sign = self.take("bits"), "-" if self.take("-") else ""
        token, position = self.tokens[self.position][1:]
        self.position += 1
        try:
            return ConstantStatement(name, kind, int(token, 16) if bits else literal_bits(kind, sign + token))
        except ValueError:
            raise self._error(position, f"expected a {kind.value}, found {token}") from None

    def loop(self) -> For:
        name = self.name()
        self.expect("in")
        lower = self.bounds("max")
        self.expect("..")
        upper = self.bounds("min")
        step = self.whole_number() if self.take("step") else 1
        kind = self.one_of(_LOOPS, "a kind of loop")
        carried = self.many(self.carried) if self.take("carried") else ()
        until = self.name() if self.take("until") else None
        self.expect("{")
        return For(name, lower, upper, kind, self.body(), carried, until, step)

    def carried(self) -> Carried:
        inside = self.name()
        self.expect(":")
        kind = self.kind()
        self.expect("=")
        initial = self.name()
        self.expect("->")
        yielded = self.name()
        self.expect("=>")
        return Carried(inside, kind, initial, yielded, self.name(), self.name("a function") if self.take("by") else None)

    def branch(self) -> If:
        condition = self.name()
        self.expect("{")
        then = self.body()
        otherwise: tuple[Statement, ...] = ()
        if self.take("else"):
            self.expect("{")
            otherwise = self.body()
        return If(condition, then, otherwise, self.many(self.chosen) if self.take("chosen") else ())

    def chosen(self) -> BranchResult:
        name = self.name()
        self.expect(":")
        kind = self.kind()
        self.expect("=")
        then = self.name()
        self.expect("|")
        return BranchResult(name, kind, then, self.name())


# ---------------------------------------------------------------------------------------------------- writing
#
# The printer.

def show(program: LoopProgram) -> str:
    """The program as text."""
    given = f" given {', '.join(map(show_index, program.facts))}" if program.facts else ""
    lines = [f"program {program.name}({', '.join(program.parameters)}){given} {{"]
    for view in program.views:
        layout = ("" if view.unit else " strided") + (" private" if view.private else "") + (" streamed" if view.streamed else "")
        layout += " local" if view.local else ""
        lines.append(f"  {view.role.value} {view.name}: {view.kind.value}[{', '.join(map(show_index, view.shape))}]{layout}")
    for statement in program.body:
        lines += ["  " + line for line in show_statement(statement)]
    return "\n".join([*lines, "}"]) + "\n"


def show_index(form: Index) -> str:
    """An affine form as text, positive terms first."""
    shown = ""
    for name, coefficient in sorted(form.terms, key=lambda term: term[1] < 0):
        size = name if abs(coefficient) == 1 else f"{abs(coefficient)}*{name}"
        shown += (" - " if coefficient < 0 else " + ") + size if shown else ("-" if coefficient < 0 else "") + size
    if not shown:
        return str(form.constant)
    return shown + (f" {'-' if form.constant < 0 else '+'} {abs(form.constant)}" if form.constant else "")


def show_statement(statement: Statement) -> list[str]:
    """A statement's lines."""
    match statement:
        case ConstantStatement(name, kind, bits):
            return [f"{name}: {kind.value} = {literal(kind, bits)}"]
        case IndexStatement(name, form):
            return [f"{name} = index {show_index(form)}"]
        case Apply():
            compute = "" if statement.compute is statement.kind else f":{statement.compute.value}"
            parameter = f"/{statement.parameter}" if statement.parameter else ""
            check = f" check {statement.check}" if statement.check != -1 else ""
            called = f"{statement.function}{compute}{parameter}({', '.join(statement.args)})"
            return [f"{statement.name}: {statement.kind.value} = {called}{check}"]
        case Load():
            return [f"{statement.name} = {_place(statement)}" + _masked(statement.mask)]
        case Store():
            join = f" by {statement.join}" if statement.join is not None else ""
            return [f"{_place(statement)} = {statement.value}{join}" + _masked(statement.mask)]
        case Fail(check, condition, values):
            return [f"fail {check} if {condition}" + (f" ({', '.join(values)})" if values else "")]
        case Call():
            given = f" given ({', '.join(map(show_index, statement.numbers))})" if statement.numbers else ""
            reads, writes = (", ".join(map(_box, boxes)) for boxes in (statement.reads, statement.writes))
            return [f"call {statement.routine} ({reads}) into ({writes}){given}"]
        case For():
            return _loop(statement)
        case If(condition, then, otherwise, results):
            lines = [f"if {condition} {{", *_block(then)]
            lines += ["} else {", *_block(otherwise)] if otherwise else []
            chosen = ", ".join(f"{c.name}: {c.kind.value} = {c.then} | {c.otherwise}" for c in results)
            return [*lines, "}" + (f" chosen ({chosen})" if results else "")]


def _block(body: tuple[Statement, ...]) -> list[str]:
    return ["  " + line for statement in body for line in show_statement(statement)]


def _masked(mask: str | None) -> str:
    return f" if {mask}" if mask is not None else ""


def _place(access: Load | Store) -> str:
    return f"{access.view}[{', '.join(map(show_index, access.indices))}]"


def _box(box: Box) -> str:
    axes = zip(box.start, box.shape, strict=True)
    shown = (show_index(first) + ("" if size is None else f":{show_index(size)}") for first, size in axes)
    return f"{box.view}[{', '.join(shown)}]"


def _bound(word: str, bounds: tuple[Index, ...]) -> str:
    return show_index(bounds[0]) if len(bounds) == 1 else f"{word}({', '.join(map(show_index, bounds))})"


def _loop(loop: For) -> list[str]:
    step = f" step {loop.step}" if loop.step != 1 else ""
    head = f"for {loop.index} in {_bound('max', loop.lower)}..{_bound('min', loop.upper)}{step} {loop.kind.value}"
    if loop.carried:
        values = (f"{c.inside}: {c.kind.value} = {c.initial} -> {c.yielded} => {c.result}"
                  + (f" by {c.reduction}" if c.reduction is not None else "") for c in loop.carried)  # fmt: skip
        head += f" carried ({', '.join(values)})"
    head += f" until {loop.until}" if loop.until is not None else ""
    return [head + " {", *_block(loop.body), "}"]


# ---------------------------------------------------------------------------------------------------- text

__all__ = ["TextError", "float_bits", "is_name", "literal_value", "parse", "show", "show_index", "show_statement"]
