"""Programs from text.

Neighbours: `writing`, `literals`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from ....typechecker.elements import Kind
from ..ir import (
    Apply,
    Box,
    Call,
    Carried,
    Chosen,
    Constant,
    Fail,
    For,
    If,
    Index,
    Load,
    LoopKind,
    Number,
    Program,
    Role,
    Statement,
    Store,
    View,
    index,
)  # fmt: skip
from .literals import literal_bits

Item = TypeVar("Item")


class TextError(Exception):
    """What is wrong with a text, and where: `line` and `column` count from 1."""

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
"""Words that are no names."""


def parse(text: str) -> Program:
    """The program that a text is; `TextError` says what is wrong and where."""
    return _Reader(text).program()


def is_name(text: str) -> bool:
    """May a register, view or program be called so?"""
    matched = _TOKEN.fullmatch(text)
    return matched is not None and matched.lastgroup == "name" and text not in KEYWORDS


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.place, self.tokens = text, 0, list[tuple[str, str, int]]()
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
        _, token, position = self.tokens[self.place]
        return self._error(position, f"expected {what}, found {token}")

    # -- tokens

    def at(self, *words: str, ahead: int = 0) -> bool:
        group, token, _ = self.tokens[min(self.place + ahead, len(self.tokens) - 1)]
        return token in words and group != "end"

    def take(self, *words: str) -> bool:
        self.place += (there := self.at(*words))
        return there

    def need(self, word: str) -> None:
        if not self.take(word):
            raise self._expected(word)

    def name(self, what: str = "a name") -> str:
        group, token, _ = self.tokens[self.place]
        if group != "name" or token in KEYWORDS:
            raise self._expected(what)
        self.place += 1
        return token

    def whole(self) -> int:
        negative = self.take("-")
        group, token, _ = self.tokens[self.place]
        if group != "number" or not token.isdigit():
            raise self._expected("a whole number")
        self.place += 1
        return -int(token) if negative else int(token)

    def one_of(self, table: dict[str, Item], what: str) -> Item:
        word = self.tokens[self.place][1]
        if word not in table:
            raise self._expected(f"{what} ({', '.join(table)})")
        self.place += 1
        return table[word]

    def kind(self) -> Kind:
        return self.one_of(_KINDS, "a kind")

    def many(self, item: Callable[[], Item], opening: str = "(", closing: str = ")") -> tuple[Item, ...]:
        self.need(opening)
        items: list[Item] = []
        while not self.take(closing):
            if items:
                self.need(",")
            items.append(item())
        return tuple(items)

    # -- parts

    def form(self) -> Index:
        terms: list[tuple[str, int]] = []
        constant, sign = 0, -1 if self.take("-") else 1
        while True:
            if self.tokens[self.place][0] == "number":
                factor = sign * self.whole()
                if self.take("*"):
                    terms.append((self.name(), factor))
                else:
                    constant += factor
            else:
                terms.append((self.name("an index"), sign))
            if not self.at("+", "-"):
                return index(*terms, constant=constant)
            sign = 1 if self.take("+") else -1
            self.place += sign < 0

    def bounds(self, word: str) -> tuple[Index, ...]:
        if self.at(word) and self.at("(", ahead=1):
            self.place += 1
            return self.many(self.form)
        return (self.form(),)

    def program(self) -> Program:
        self.need("program")
        name, parameters = self.name(), self.many(self.name)
        facts: list[Index] = []
        if self.take("given"):
            facts.append(self.form())
            while self.take(","):
                facts.append(self.form())
        self.need("{")
        views: list[View] = []
        while self.at(*(role.value for role in Role)):
            views.append(self.view())
        body = self.body()
        if self.place != len(self.tokens) - 1:
            raise self._expected("the end")
        return Program(name, parameters, tuple(views), body, tuple(facts))

    def view(self) -> View:
        role = self.one_of({role.value: role for role in Role}, "a role")
        name = self.name()
        self.need(":")
        kind, shape = self.kind(), self.many(self.form, "[", "]")
        unit = not self.take("strided")
        return View(name, kind, shape, role, unit, self.take("private"), self.take("streamed"), self.take("local"))

    def body(self) -> tuple[Statement, ...]:
        """Statements up to the brace that closes the block."""
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
            check = self.whole()
            self.need("if")
            return Fail(check, self.name(), self.many(self.name) if self.at("(") else ())
        if self.take("call"):
            routine, reads = self.whole(), self.many(self.box)
            self.need("into")
            writes = self.many(self.box)
            return Call(routine, reads, writes, self.many(self.form) if self.take("given") else ())
        name = self.name("a statement")
        if self.at("["):
            indices = self.many(self.form, "[", "]")
            self.need("=")
            value, join = self.name(), self.name("a function") if self.take("by") else None
            return Store(name, indices, value, self.mask(), join)
        if self.take(":"):
            return self.typed(name, self.kind())
        self.need("=")
        if self.take("index"):
            return Number(name, self.form())
        return Load(name, self.name("a view"), self.many(self.form, "[", "]"), self.mask())

    def box(self) -> Box:
        name, starts, shape = self.name("a view"), list[Index](), list[Index | None]()

        def axis() -> None:
            starts.append(self.form())
            shape.append(self.form() if self.take(":") else None)

        self.many(axis, "[", "]")
        return Box(name, tuple(starts), tuple(shape))

    def mask(self) -> str | None:
        # An `if` that follows is a mask unless a block follows its condition.
        if self.at("if") and not self.at("{", ahead=2):
            self.place += 1
            return self.name()
        return None

    def typed(self, name: str, kind: Kind) -> Statement:
        self.need("=")
        if self.at("-", "bits", "true", "false", "nan", "inf") or self.tokens[self.place][0] == "number":
            return self.constant(name, kind)
        function = self.name("a function or a literal")
        compute = self.kind() if self.take(":") else kind
        parameter = self.whole() if self.take("/") else 0
        args = self.many(self.name)
        return Apply(name, kind, function, args, compute, parameter, self.whole() if self.take("check") else -1)

    def constant(self, name: str, kind: Kind) -> Constant:
        bits, sign = self.take("bits"), "-" if self.take("-") else ""
        token, position = self.tokens[self.place][1:]
        self.place += 1
        try:
            return Constant(name, kind, int(token, 16) if bits else literal_bits(kind, sign + token))
        except ValueError:
            raise self._error(position, f"expected a {kind.value}, found {token}") from None

    def loop(self) -> For:
        name = self.name()
        self.need("in")
        lower = self.bounds("max")
        self.need("..")
        upper = self.bounds("min")
        step = self.whole() if self.take("step") else 1
        kind = self.one_of(_LOOPS, "a kind of loop")
        carried = self.many(self.carried) if self.take("carried") else ()
        until = self.name() if self.take("until") else None
        self.need("{")
        return For(name, lower, upper, kind, self.body(), carried, until, step)

    def carried(self) -> Carried:
        inside = self.name()
        self.need(":")
        kind = self.kind()
        self.need("=")
        initial = self.name()
        self.need("->")
        yielded = self.name()
        self.need("=>")
        return Carried(inside, kind, initial, yielded, self.name(), self.name("a function") if self.take("by") else None)

    def branch(self) -> If:
        condition = self.name()
        self.need("{")
        then = self.body()
        otherwise: tuple[Statement, ...] = ()
        if self.take("else"):
            self.need("{")
            otherwise = self.body()
        return If(condition, then, otherwise, self.many(self.chosen) if self.take("chosen") else ())

    def chosen(self) -> Chosen:
        name = self.name()
        self.need(":")
        kind = self.kind()
        self.need("=")
        then = self.name()
        self.need("|")
        return Chosen(name, kind, then, self.name())
