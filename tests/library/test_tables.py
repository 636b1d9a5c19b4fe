"""`table` and `group` beside pandas and the definitions: keys of numbers and of text, none, NaN, duplicates, ties."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from beside import disagreements
from share import SEED

import rho

pytestmark = pytest.mark.long

JOINS = """use table
use rolling
input a : KEY[n]
input b : KEY[m]
input t : f64[n]
input u : f64[m]
(left_i left_j) ← a table.left b
(outer_i outer_j) ← a table.outer b
(inner_i inner_j) ← a table.inner b
(left_k left_l) ← 5000 table.left_within (a ⋄ b)
(outer_k outer_l) ← 5000 table.outer_within (a ⋄ b)
(inner_k inner_l) ← 5000 table.inner_within (a ⋄ b)
(order begin end) ← (a ⋄ t) table.windows (b ⋄ u-2 ⋄ u+3)
"""


def keys() -> dict[str, dict[str, Any]]:
    draw = np.random.default_rng(SEED)
    pairs = {
        "none": ([], []),
        "no left": ([], [1, 2]),
        "no right": ([3, 3], []),
        "equal": ([1, 1, 1], [1, 1]),
        "apart": ([1, 2], [3, 4]),
        "unique": (draw.permutation(30), draw.permutation(40)),
        "duplicates": (draw.integers(0, 9, 40), draw.integers(3, 12, 50)),
        "NaN": ([np.nan, 1, np.nan], [1, np.nan, 1]),
    }
    return {
        name: {
            "a": np.asarray(a, float), "b": np.asarray(b, float),
            "t": draw.integers(0, 9, len(a)).astype(float), "u": draw.integers(0, 9, len(b)).astype(float),
        }
        for name, (a, b) in pairs.items()
    }  # fmt: skip


def equal(x: Any, y: Any) -> bool:
    return bool(np.all(x == y))


def pairs(kind: str, side: int) -> Callable[..., Any]:
    """One side of the pairs of a join by its definition."""

    def call(a: Any, b: Any, t: Any, u: Any) -> Any:
        rows = []
        for i in range(len(a)):
            some = [(i, j) for j in range(len(b)) if equal(a[i], b[j])]
            rows += some if some or kind == "inner" else [(i, len(b))]
        if kind == "outer":
            rows += [(len(a), j) for j in range(len(b)) if not any(equal(a[i], b[j]) for i in range(len(a)))]
        return np.array([row[side] for row in rows], int)

    return call


def asof(a: Any, b: Any, t: Any, u: Any) -> Any:
    """The last row on the left by time, and of equal times by its number."""
    result = []
    for j in range(len(b)):
        rows = [(t[i], i) for i in range(len(a)) if equal(a[i], b[j]) and t[i] <= u[j]]
        result.append(max(rows)[1] if rows else len(a))
    return np.array(result, int)


def windowed(a: Any, b: Any, t: Any, u: Any) -> Any:
    rows = range(len(a))
    return np.array([sum(t[i] for i in rows if equal(a[i], b[j]) and u[j] - 2 <= t[i] <= u[j] + 3) for j in range(len(b))])


CASES = {
    **{f"{kind}_{name}": pairs(kind, side) for kind in ("inner", "left", "outer") for side, name in enumerate("ij")},
    **{f"{kind}_{name}": pairs(kind, side) for kind in ("inner", "left", "outer") for side, name in enumerate("kl")},
    "(a ⋄ t) table.asof (b ⋄ u)": asof,
    "(begin ⋄ end) rolling.sum_of order⌷t": windowed,
    "a table.find b": lambda a, b, t, u: np.array([next((i for i in range(len(a)) if equal(a[i], y)), len(a)) for y in b], int),
}


def test_joins_by_numbers(tmp_path: Path) -> None:
    assert not disagreements(tmp_path, JOINS.replace("KEY", "f64"), CASES, keys())


def test_joins_by_text(tmp_path: Path) -> None:
    data = keys()
    del data["NaN"]
    for given in data.values():
        for side in "ab":
            letters = [f"k{int(key)}".ljust(4) for key in given[side]]
            given[side] = np.array([list(word) for word in letters], "U1").reshape(len(letters), 4)
    assert not disagreements(tmp_path, JOINS.replace("KEY[n]", "char[n w]").replace("KEY[m]", "char[m w]"), CASES, data)


def test_a_join_of_more_pairs_than_its_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text(
        "use table\ninput a : i64[n]\nparam most ← 3\n(left right) ← most table.inner_within (a ⋄ a)\noutput left\n",
        encoding="utf-8",
    )
    program = rho.load(tmp_path / "p.rho")
    assert list(program.run(a=np.array([1, 2, 3]))["left"]) == [0, 1, 2]
    with pytest.raises(rho.RunFailed, match="more pairs than memory is planned for") as caught:
        program.run(a=np.array([1, 1, 3]))
    assert "4 │ (left right) ← most table.inner_within (a ⋄ a)" in str(caught.value) and "<stdlib>" not in str(caught.value)


def test_joins_of_large_tables_plan_for_few_pairs_and_refuse_more(tmp_path: Path) -> None:
    for join in ("inner", "left", "outer"):
        path = tmp_path / f"{join}.rho"
        path.write_text(f"use table\ninput a : i64[n]\ninput b : i64[m]\n(i j) ← a table.{join} b\noutput i\n", encoding="utf-8")
        program = rho.load(path)
        assert program.bounds(n=10**6, m=10**6).memory < 300_000_000
        assert len(program.run(a=np.zeros(1000, int), b=np.zeros(1000, int))["i"]) == 10**6
        with pytest.raises(rho.RunFailed, match="inner_within`, `left_within`, `outer_within`"):
            program.run(a=np.zeros(1001, int), b=np.zeros(1000, int))


def test_joins_by_two_keys_as_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "p.rho"
    path.write_text(
        "use table\ninput a : i64[n]\ninput b : i64[n]\ninput c : i64[m]\ninput d : i64[m]\n"
        + "".join(f"({kind}_i {kind}_j) ← (⍉[a ⋄ b]) table.{kind} ⍉[c ⋄ d]\n" for kind in ("inner", "left", "outer"))
        + "".join(f"output {kind}_{side}\n" for kind in ("inner", "left", "outer") for side in "ij"),
        encoding="utf-8",
    )
    program, draw = rho.load(path), np.random.default_rng(SEED)
    for n, m in ((0, 0), (0, 3), (4, 0), (30, 50), (200, 100)):
        given = {name: draw.integers(0, 6, size) for name, size in (("a", n), ("b", n), ("c", m), ("d", m))}
        left = pandas.DataFrame({"x": given["a"], "y": given["b"], "i": np.arange(n)})
        right = pandas.DataFrame({"x": given["c"], "y": given["d"], "j": np.arange(m)})
        result = program.run(**given)
        for how in ("inner", "left", "outer"):
            merged = left.merge(right, on=["x", "y"], how=how)
            expected = sorted(zip(merged.i.fillna(n), merged.j.fillna(m), strict=True))
            assert sorted(zip(result[f"{how}_i"], result[f"{how}_j"], strict=True)) == expected, (n, m, how)


def test_a_pivot_of_a_million_rows_needs_memory_for_its_limit(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text(
        "use set\nuse group\ninput shop : char[n w]\ninput kind : i64[n]\ninput x : f64[n]\n"
        "(shops s) ← 50 set.classes_within shop\n(kinds k) ← 4 set.classes_within kind\noutput table ← (s ⋄ k) group.pivot x\n",
        encoding="utf-8",
    )
    program = rho.load(tmp_path / "p.rho")
    assert program.bounds(n=10**6, w=4).memory < 500_000_000
    words = np.array([["a"], ["b"], ["a"], ["c"]])
    given = {"shop": words, "x": np.arange(4.0)}
    assert np.array_equal(program.run(kind=np.array([7, 7, 7, 9]), **given)["table"], [[2, 0], [1, 0], [0, 3]])
    with pytest.raises(rho.RunFailed, match="more cells differ than the limit"):
        program.run(kind=np.arange(5), shop=np.array([["a"]] * 5), x=np.arange(5.0))


def test_joins_as_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    outputs = "".join(f"output {kind}_{side}\n" for kind in ("inner", "left", "outer") for side in "ij")
    path = tmp_path / "p.rho"
    path.write_text(f"{JOINS.replace('KEY', 'f64')}{outputs}output last ← (a ⋄ t) table.asof (b ⋄ u)\n", encoding="utf-8")
    program = rho.load(path)
    for name in ("no left", "no right", "unique", "duplicates"):
        given = keys()[name]
        result = program.run(**given)
        left, right = (pandas.DataFrame({"key": given[k], s: np.arange(len(given[k]))}) for k, s in zip("ab", "ij", strict=True))
        for how in ("inner", "left", "outer"):
            merged = left.merge(right, on="key", how=how)
            expected = sorted(zip(merged.i.fillna(len(left)), merged.j.fillna(len(right)), strict=True))
            assert sorted(zip(result[f"{how}_i"], result[f"{how}_j"], strict=True)) == expected, (name, how)
        left, right = left.assign(time=given["t"]), right.assign(time=given["u"])
        left, right = (frame.sort_values("time", kind="stable") for frame in (left, right))
        merged = pandas.merge_asof(right, left, on="time", by="key")
        np.testing.assert_array_equal(merged.sort_values("j").i.fillna(len(left)), result["last"], name)


GROUPS = """use set
use group
input key : i64[n]
input other : i64[n]
input x : f64[n]
(names code) ← set.classes key
(others second) ← set.classes other
(size mean deviation least greatest) ← code group.summary x
"""


def rows() -> dict[str, dict[str, Any]]:
    draw = np.random.default_rng(SEED)
    cases = {
        "none": ([], []),
        "one": ([4], [1]),
        "ties": (draw.integers(0, 6, 80), draw.integers(0, 4, 80)),
        "apart": (range(9), range(9)),
        "together": ([2] * 9, draw.random(9)),
        "random": (draw.integers(-5, 5, 200), draw.normal(size=200)),
        "holes": (draw.integers(0, 6, 60), np.where(draw.random(60) < 0.1, np.nan, draw.integers(0, 5, 60))),
    }
    return {
        name: {"key": np.asarray(k, int), "other": draw.integers(0, 3, len(k)), "x": np.asarray(x, float)}
        for name, (k, x) in cases.items()
    }


def test_groups_as_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")

    def of(method: str, *arguments: Any, **named: Any) -> Callable[..., Any]:
        def call(key: Any, other: Any, x: Any) -> Any:
            grouped = pandas.Series(x).groupby(key, sort=False)
            holes = pandas.Series(np.isnan(x)).groupby(key, sort=False)
            result = getattr(grouped, method)(*arguments, **named)
            return np.where(holes.any(), np.nan, result) if method in SKIPPING else result.to_numpy()

        return call

    def pivot(key: Any, other: Any, x: Any) -> Any:
        table = np.zeros((len(np.unique(key)), len(np.unique(other))))
        first, second = (list(dict.fromkeys(column)) for column in (key, other))
        for k, o, value in zip(key, other, x, strict=True):
            table[first.index(k), second.index(o)] += value
        return table

    def paired(part: int) -> Callable[..., Any]:
        def call(key: Any, other: Any, x: Any) -> Any:
            sums = pandas.Series(x).groupby([key, other], sort=False).sum(skipna=False)
            return sums.to_numpy() if part == 2 else np.array([pair[part] for pair in sums.index], int)

        return call

    def top(key: Any, other: Any, x: Any) -> Any:
        """The rows of `nlargest`, which leaves NaN out; in `group.top` NaN is the greatest."""
        if np.isnan(x).any():
            return None
        kept = pandas.Series(x).groupby(key).nlargest(2).index.get_level_values(1) if len(x) else []
        return np.isin(np.arange(len(x)), kept)

    cases: dict[str, Callable[..., Any]] = {
        "group.count code": of("size"),
        "code group.sum x": of("sum", skipna=False),
        "code group.mean x": of("mean", skipna=False),
        "code group.least x": of("min", skipna=False),
        "code group.greatest x": of("max", skipna=False),
        "code group.variance x": of("var", ddof=0),
        "code group.sample_deviation x": of("std"),
        "size": of("size"),
        "deviation": of("std"),
        "greatest": of("max", skipna=False),
        "code group.rank x": of("rank"),
        "group.number code": of("cumcount"),
        "(x,⎕nan)[group.previous code]": of("shift"),
        "0.5 group.quantile (code ⋄ x)": of("quantile", 0.5),
        "0.9 group.quantile (code ⋄ x)": of("quantile", 0.9),
        "(code ⋄ second) group.pivot x": pivot,
        **{
            f"{{(first last pair) ← group.pairs (code ⋄ second) ⋄ {text}}} 0": paired(part)
            for part, text in enumerate(("names[first]", "others[last]", "pair group.sum x"))
        },
        "2 group.top (code ⋄ x)": top,
        "key[(n-1)⌊group.first code]": lambda key, other, x: np.array(list(dict.fromkeys(key)), int),
        "group.last code": lambda key, other, x: np.array([np.flatnonzero(key == k)[-1] for k in dict.fromkeys(key)], int),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not disagreements(tmp_path, GROUPS, cases, rows(), 1e-9)


SKIPPING = "var", "std", "quantile"
"""Methods of groups that leave NaN out."""


def test_groups_without_rows() -> None:
    text = "use group\ninput code : idx<3>[n]\ninput x : f64[n]\n"
    for name, expected in (("count code", [0, 0, 0]), ("first code", [0, 0, 0]), ("last code", [0, 0, 0])):
        assert list(run(f"{text}output r ← group.{name}")) == expected
    names = ("mean", "least", "greatest", "variance", "sample_deviation")
    for name, expected in (("sum", 0), *((name, np.nan) for name in names)):
        np.testing.assert_array_equal(run(f"{text}output r ← code group.{name} x"), [expected] * 3)
    np.testing.assert_array_equal(run(f"{text}output r ← 0.5 group.quantile (code ⋄ x)"), [np.nan] * 3)


def run(text: str) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.rho"
        path.write_text(text + "\n", encoding="utf-8")
        return rho.load(path).run(code=np.zeros(0, int), x=np.zeros(0))["r"]


def test_every_pair_of_small_tables(tmp_path: Path) -> None:
    """All tables of up to two rows with two keys."""
    sides = [list(side) for size in range(3) for side in itertools.product((1.0, 2.0), repeat=size)]
    data = {
        f"{a} {b}": {"a": np.array(a), "b": np.array(b), "t": np.arange(float(len(a))), "u": np.ones(len(b))}
        for a, b in itertools.product(sides, sides)
    }
    assert not disagreements(tmp_path, JOINS.replace("KEY", "f64"), CASES, data)


def test_a_known_range_numbers_groups() -> None:
    assert rho.eval("use group ⋄ group.count 12|⍳30").tolist() == [3] * 6 + [2] * 6
    assert rho.eval("use group ⋄ group.count 0 1 1 3").tolist() == [1, 2, 0, 1]
    assert rho.eval("use group ⋄ (0⌈2⌊5 1 0 ¯7) group.sum 1 2 4 8").tolist() == [12, 2, 1]
    assert rho.eval("use group ⋄ (1 5 2>1) group.mean 1 2 4").tolist() == [1, 3]


def test_the_key_of_each_class_is_its_cell(tmp_path: Path) -> None:
    """A NaN equals nothing: it was numbered as the last key."""
    path, draw = tmp_path / "p.rho", np.random.default_rng(SEED)
    path.write_text(
        "use set\ninput x : f64[n m]\n(keys code) ← set.classes x\n(few within) ← 50 set.classes_within x\n"
        "output keys ← keys\noutput code ← code\noutput few ← few\noutput within ← within\n", "utf-8"
    )  # fmt: skip
    program = rho.load(path)
    for shape in ((0, 1), (1, 1), (9, 1), (40, 1), (30, 2)):
        x = draw.choice([1.0, -0.0, 0.0, np.nan, np.inf], shape)
        found = program.run(x=x)
        for key, code in ((found["keys"], found["code"]), (found["few"], found["within"])):
            np.testing.assert_array_equal(key[code], x)
            assert sorted(set(code.tolist())) == list(range(len(key)))
            assert all(np.sum(code == code[row]) == 1 for row in np.flatnonzero(np.isnan(x).any(1)))
