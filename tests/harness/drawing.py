"""Generates random programs with their values: the text of each expression and its value in NumPy are drawn together.

Values are small whole numbers of any kind, so that sums and products are exact in every order and results are compared for
equality. An axis is a name (`n`) or a number; sizes 0 and 1 are drawn too.  `weights` are the relative frequencies of
productions; that of "" is the default.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

Dims = tuple[str, ...]
Made = tuple[str, Any, float]
DTYPES: Mapping[str, Any] = {"i64": np.int64, "f64": np.float64, "f32": np.float32, "c128": np.complex128, "bool": np.bool_}
LIMITS = {"i64": float("inf"), "f64": 2.0**50, "f32": 2.0**22, "c128": 2.0**48}
"""Magnitudes up to which sums are exact; integers wrap, to the same value in any order."""

SIZES = [(2, 3, 4), (3, 2, 5), (4, 4, 4), (1, 3, 2), (3, 1, 1), (0, 2, 3), (2, 0, 4), (5, 7, 3), (1, 1, 1)]


@dataclass(frozen=True)
class Term:
    """An operand: a name or an expression in parentheses, its value and axes, and a bound of the magnitude of its items."""

    text: str
    value: Any
    dims: Dims
    bound: float


@dataclass
class Drawing:
    """A program under construction: inputs are declared when needed, `define` names a value that later terms may share."""

    chance: random.Random
    kind: str = "i64"
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sizes = dict(zip("nmp", self.chance.choice(SIZES), strict=True))
        self.random = np.random.default_rng(self.chance.randrange(1 << 30))
        self.inputs: dict[str, Any] = {}
        self.declared: list[str] = []
        self.leaves: dict[tuple[str, Dims], Term] = {}
        self.lines: list[str] = []
        self.shared: list[Term] = []
        self.outputs: dict[str, Any] = {}
        self.productions = self.all_productions()
        for name, size in (("y", "n"), ("x", "m"), ("z", "p")):
            self.input("i64", (size,), name)
            self.lines.append(f"{size} ← ≢{name}")

    # ------------------------------------------------------------------------------------------ programs

    @property
    def text(self) -> str:
        return "\n".join((*self.declared, *self.lines)) + "\n"

    def define(self, term: Term, name: str = "") -> Term:
        name = name or f"d{len(self.lines)}"
        self.lines.append(f"{name} ← {term.text}")
        named = Term(name, term.value, term.dims, term.bound)
        self.shared.append(named)
        return named

    def define_text(self, text: str) -> str:
        """A name for an expression whose axes no other term can use, such as the cells that a mask selects."""
        name = f"d{len(self.lines)}"
        self.lines.append(f"{name} ← {text}")
        return name

    def given(self, kind: str, dims: Dims, value: Any) -> Term:
        """An input with these items."""
        made = self.input(kind, dims)
        self.inputs[made.text] = value
        del self.leaves[kind, dims]
        return Term(made.text, value, dims, float(np.abs(value).max(initial=1)))

    def output(self, term: Term) -> None:
        name = f"r{len(self.outputs)}"
        self.lines.append(f"output {name} ← {term.text}")
        self.outputs[name] = term.value

    # -------------------------------------------------------------------------------------------- leaves

    def extent(self, dim: str) -> int:
        return int(dim) if dim.isdigit() else self.sizes[dim]

    def shape(self, dims: Dims) -> tuple[int, ...]:
        return tuple(map(self.extent, dims))

    def dim(self) -> str:
        return self.chance.choice(["n", "m", "p", "n", "m", "2", "3", "1"])

    def dims(self, rank: int) -> Dims:
        return tuple(self.dim() for _ in range(rank))

    def input(self, kind: str, dims: Dims, name: str = "", below: int | None = None) -> Term:
        """A new input with random items; with `below`, positions on an axis of that length."""
        name = name or f"v{len(self.inputs)}"
        low, high = (-3, 4) if below is None else (0, max(1, below))
        value = self.random.integers(low, high, self.shape(dims)).astype(DTYPES[kind])
        if kind == "c128":
            value = value + 1j * self.random.integers(low, high, self.shape(dims))
        self.inputs[name] = value
        self.declared.append(f"input {name} : {kind}[{' '.join(dims)}]")
        made = Term(name, value, dims, 5.0)
        if below is None:
            self.leaves[kind, dims] = made
        return made

    def leaf(self, dims: Dims, kind: str = "") -> Term:
        kind = kind or self.kind
        known = self.leaves.get((kind, dims))
        if known is not None and self.chance.random() < 0.6:
            return known
        if self.chance.random() < 0.1 and kind == "i64" and len(dims) == 1:
            return Term(f"(⍳{dims[0]})", np.arange(self.extent(dims[0])), dims, 10.0)
        if self.chance.random() < 0.15 or not dims:
            return self.literal(kind, dims)
        return self.input(kind, dims)

    def literal(self, kind: str, dims: Dims) -> Term:
        number = self.chance.choice([2, 3, 1, -1, -2, 0, 5])
        shown = str(number).replace("-", "¯") + (".0" if kind in ("f64", "f32") else "")
        if kind in ("f32", "c128"):
            shown = f"({kind} {shown})"
        value = np.full(self.shape(dims), number, DTYPES[kind])
        return Term(f"({self.shape_text(dims)}⍴{shown})" if dims else shown, value, dims, 5.0)

    @staticmethod
    def shape_text(dims: Dims) -> str:
        return f"({' '.join(dims)})" if len(dims) > 1 else dims[0]

    def places(self, dims: Dims, of: str) -> Term:
        """Random indices of an axis, with repetitions."""
        return self.input("i64", dims, below=self.extent(of))

    # ------------------------------------------------------------------------------------------- numbers

    def number(self, dims: Dims, depth: int, kind: str = "") -> Term:
        """A random numeric expression with these axes."""
        kind = kind or self.kind
        shared = [term for term in self.shared if term.dims == dims and term.value.dtype == DTYPES[kind]]
        if shared and self.chance.random() < 0.25:
            return self.chance.choice(shared)
        if depth <= 0:
            return self.leaf(dims, kind)
        names = [name for name, (fits, _) in self.productions.items() if fits(dims, kind)]
        weights = [self.weights.get(name, self.weights.get("", 1.0)) for name in names]
        name = self.chance.choices(names, weights)[0]
        with np.errstate(all="ignore"):
            made = self.productions[name][1](dims, depth - 1, kind)
        if made is None:
            return self.leaf(dims, kind)
        return self.term(made, dims, kind)

    def term(self, made: Made, dims: Dims, kind: str = "") -> Term:
        text, value, bound = made
        kind = kind or self.kind
        if bound > LIMITS[kind]:
            return self.leaf(dims, kind)
        value = np.asarray(value)
        assert value.shape == self.shape(dims), (text, value.shape, dims)
        return Term(f"({text})", value.astype(DTYPES[kind]), dims, bound)

    def mask(self, dims: Dims, depth: int) -> Term:
        """A random expression of truth values."""
        draw = self.chance.randrange(6)
        if draw == 0 and depth > 0:
            a, b = self.mask(dims, depth - 1), self.mask(dims, depth - 1)
            glyph, function = self.chance.choice([("∧", np.logical_and), ("∨", np.logical_or), ("≠", np.not_equal)])
            return Term(f"({a.text}{glyph}{b.text})", function(a.value, b.value), dims, 1.0)
        if draw == 1 and depth > 0:
            a = self.mask(dims, depth - 1)
            return Term(f"(~{a.text})", ~a.value, dims, 1.0)
        if draw == 2:
            return self.leaf_mask(dims)
        a, b = self.number(dims, depth - 1, "i64"), self.number(dims if draw < 4 else (), depth - 1, "i64")
        glyph, function = self.chance.choice([("<", np.less), ("=", np.equal), ("≥", np.greater_equal), ("≠", np.not_equal)])
        return Term(f"({a.text}{glyph}{b.text})", np.asarray(function(a.value, b.value)), dims, 1.0)

    def named_mask(self, dims: Dims, depth: int) -> Term:
        """A named mask, to be used more than once."""
        made = self.mask(dims, depth)
        return Term(self.define_text(made.text), made.value, dims, 1.0)

    def leaf_mask(self, dims: Dims) -> Term:
        name = f"b{len(self.inputs)}"
        value = self.random.random(self.shape(dims)) < self.chance.choice([0.5, 0.5, 0.2, 0.9, 0.0, 1.0])
        self.inputs[name] = np.asarray(value)
        self.declared.append(f"input {name} : bool[{' '.join(dims)}]")
        return Term(name, np.asarray(value), dims, 1.0)

    def all_productions(self) -> dict[str, tuple[Callable[[Dims, str], bool], Callable[[Dims, int, str], Made | None]]]:
        from more_productions import PRODUCTIONS

        def bound(make: Callable[[Drawing, Dims, int, str], Made | None]) -> Callable[[Dims, int, str], Made | None]:
            return lambda dims, depth, kind: make(self, dims, depth, kind)

        return {name: (fits, bound(make)) for name, (fits, make) in PRODUCTIONS.items()}

    def count(self, dims: Sequence[str]) -> float:
        return float(max(1, prod(map(self.extent, dims))))
