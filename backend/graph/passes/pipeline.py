"""The passes over the phase graph, in order: one list that reads as a recipe.

A pass is a pure function from graph to graph that never changes what a graph computes; each can be switched off by
its name, and the graph can be verified after each, so that a failure names the pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

from ....lang.support.records import dataclass
from ..bind_sizes import BoundGraph
from ..phases import Graph
from .algebraic_rules import (
    are_digits,
    is_of_few_digits,
    is_part_of_order,
    is_place,
    is_place_of_extreme,
    is_sort,
    is_sum_of_products,
    takes_part_of_order,
)
from .contractions import regroup
from .folding import fold_constants, fold_views, gathers_to_views
from .fusion import fuse, join_siblings
from .masked_reductions import reduce_by_masks
from .redundancy import drop_dead, drop_unread, hoist_invariants, hoist_rest, share_common
from .rewrite_rules import (
    ItemPattern,
    Keeps,
    OpPattern,
    ReducedPattern,
    ReplacementPattern,
    RewriteRule,
    apply_rules,
    are_places_of_a_mask,
    is_one_of_few,
    is_solution,
    reshape_as_view,
)
from .sink_into_maps import recompute, sink
from .unroll_short_axes import write_out_reductions, write_out_sides

# ---------------------------------------------------------------------------------------------------- table
#
# The rules, in order.  Each row is a pattern, a condition with its replacement, what it preserves, and examples.

_EXTREMES: Final = frozenset({"max", "min", "or", "and"})
_SORTED: Final = RewriteRule(
    "sorted", "items in the order of their grade are sorted", Keeps.BITS,
    OpPattern("gather", (ItemPattern("x"), OpPattern("grade", (ItemPattern("x"),), framed=True)), {"axis": 0, "fills": None},
    framed=True),
    is_sort, "items in the order of their grade: a sort, and no grade is made",
    ("{⍵[⍋⍵]}", "{⍵[⍒⍵]}", "{⌽⍵[⍋⍵]}", "{{⍵[⍋⍵]}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}"),
)  # fmt: skip
_TAKEN: Final = RewriteRule(
    "taken", "items at a part of their grade are that part of the sort", Keeps.BITS,
    OpPattern("gather", (ItemPattern("x"), ItemPattern("places")), {"axis": 0, "fills": None, "sorts": None}),
    takes_part_of_order, "items at a part of their grade: that part of a sort, and no grade is made",
    ("{⍵[2↑⍒⍵]}", "{⍵[1↓3↑⍋⍵]}", "{⍵[(⍋⍵)[1]]}"),
)  # fmt: skip
_PARTS: Final = tuple(
    RewriteRule("selected", "of an order of which a part is wanted that part is selected", Keeps.BITS, pattern, is_part_of_order,
         "a part of an order: selected, the rest is not ordered", examples)
    for pattern, examples in (
        (OpPattern("gather", (ItemPattern("x"), ItemPattern("order")), framed=True),
         ("{2↑⍵[⍒⍵]}", "{1↑⍵[⍋⍵]}", "{⊃⍵[⍋⍵]}", "{⊃⍵[⍒⍵]}", "{(⍵[⍋⍵])[2]}", "{1↓2↑⍵[⍒⍵]}", "{¯2↑⍵[⍋⍵]}",
          "{{⊃⍵[⍋⍵]}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}")),
        (OpPattern("grade", (ItemPattern("x"),), framed=True), ("{2↑⍒⍵}", "{⊃⍋⍵}", "{⊃⍒⍵}", "{(⍋⍵)[1]}", "{1↓2↑⍋⍵}")),
    )
)  # fmt: skip
RULES: Final = (
    RewriteRule("members", "items are compared with a few that are written", Keeps.BITS,
         OpPattern("member_of", (ItemPattern("x"), ReplacementPattern("table"))), is_one_of_few, examples=("{⍵∊0 1}",
         "{⍵∊0.5 1 1}")),
    RewriteRule("compressed", "items at the places of a mask are compressed", Keeps.BITS, OpPattern("where",
    (ItemPattern("mask"),)),
         are_places_of_a_mask, "items at the places of a mask: compressed, and no places are made", ("{⍵[⍸⍵>0]}",)),
)  # fmt: skip
"""Those that make phases which fuse."""
TOLERANT: Final = (
    RewriteRule("solved", "an inverse times something is a solution", Keeps.TOLERANCE,
         OpPattern("contract", (OpPattern("inverse", (ItemPattern("A"),)), ItemPattern("b"))), is_solution,
         "an inverse times something: solved, and no inverse is made"),
)  # fmt: skip
"""Those that keep no bits, where there was a tolerance."""
ORDERS: Final = (_SORTED, _TAKEN, *_PARTS)
"""Those that look at how results are read: after what reads them is fused."""
SETTLED: Final = (
    RewriteRule("reshaped", "a reshape of at most as many items is a view", Keeps.BITS, OpPattern("reshape_cycle",
    (ItemPattern("x"),), framed=True),
         reshape_as_view, "a reshape into no more items than there are: a view", ("{1 2⍴⍵}", "{3⍴⍵}")),
    RewriteRule("extreme", "the place of the greatest or least item is a reduction", Keeps.BITS_UNLESS_NAN,
         OpPattern("index_of", (ItemPattern("x"), ReducedPattern(_EXTREMES, ItemPattern("x"))), framed=True), is_place_of_extreme,
         "the place of the greatest or least item: found in the pass that finds the item",
         ("{⍵⍳⌈/⍵}", "{⍵⍳⌊/⍵}", "{{⍵⍳⌈/⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}")),
    RewriteRule("summed", "a product with a vector is a sum of products", Keeps.BITS, OpPattern("contract", (ItemPattern("left"),
    ItemPattern("right"))),
         is_sum_of_products, examples=("{(2↕⍵)+.×1 0.5}", "{(⍵∘.×1 2)+.×2 ¯3}", "{⍵+.×2×⍵}")),
    RewriteRule("digits", "a number of a few digits is a sum of them", Keeps.BITS, OpPattern("decode", (ItemPattern("radix"),
    ItemPattern("arg"))),
         is_of_few_digits, examples=("{0.5⊥⍉2↕⍵}", "{(⍵[⍳2]⊥⍉2↕⍵)}", "{2⊥1+⍵∘.×1 2}")),
    RewriteRule("encoded", "digits in known radices are arithmetic", Keeps.BITS, OpPattern("encode", (ItemPattern("radix"),
    ItemPattern("arg"))), are_digits,
         examples=("{2 3 4⊤17+i64 ⍵>0}", "{0 10⊤(i64 ⍵>0)-43}", "{(9⍴2)⊤(i64 ⍵>0)-300}")),
    *ORDERS,
    RewriteRule("places", "the first place of the grade of a row is a reduction", Keeps.BITS, OpPattern("grade",
    (ItemPattern("x"),), framed=True),
         is_place, "the first place of the grade of each row: a reduction",
         ("{{⊃⍋⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}", "{{⊃⍒⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}")),
)  # fmt: skip
"""Those that need sizes that are numbers."""


# ---------------------------------------------------------------------------------------------------- passes

@dataclass(frozen=True, slots=True)
class Pass:
    """`function` returns an equivalent graph (the same object when it finds nothing to do)."""

    name: str
    doc: str
    function: Callable[[Graph], Graph]


def _applying(rules: tuple[RewriteRule, ...]) -> Callable[[Graph], Graph]:
    return partial(apply_rules, rules)


def _settled(graph: Graph) -> Graph:
    """What rules make of views is read through at once: short axes look at it."""
    changed = apply_rules(SETTLED, graph)
    return graph if changed is graph else fold_views(changed)


PASSES: tuple[Pass, ...] = (
    Pass("dead", "what nothing reads is dropped", drop_unread),
    Pass("views", "phases that only move elements are read through", fold_views),
    Pass("constants", "what is known already is computed once", fold_constants),
    Pass("gathers", "gathers by evenly stepping indices become views", gathers_to_views),
    Pass("views", "the views that the last step made are read through", fold_views),
    Pass("invariants", "what each iteration repeats is computed before the loop", hoist_invariants),
    Pass("sharing", "equal phases are computed once", share_common),
    Pass("dead", "what nothing needs is dropped", drop_dead),
    Pass("rules", "what is known to be quicker in other words is put so", _applying(RULES)),
    Pass("products", "an inverse times something is a solution", _applying(TOLERANT)),
    Pass("fusion", "element-wise producers become part of their readers", fuse),
    Pass("invariants", "what fusion left of what each iteration repeats is computed before the loop", hoist_rest),
    Pass("siblings", "phases over one space that read the same become one", join_siblings),
    Pass("masked", "exact reductions of what a mask selects are of everything", reduce_by_masks),
    Pass("constants", "what fusion brought together is folded", fold_constants),
    Pass("dead", "what fusion left over is dropped", drop_dead),
    Pass("rules", "sorts and parts of orders are marked as such", _applying(ORDERS)),
)
SETTLED_PASSES: tuple[Pass, ...] = (
    Pass("dead", "what nothing reads is dropped", drop_unread),
    Pass("gathers", "gathers by evenly stepping indices become views", gathers_to_views),
    Pass("products", "contractions with what is multiplied and added around them are regrouped", regroup),
    Pass("rules", "what is quicker in other words for these sizes is put so", _settled),
    Pass("cells", "maps make the rows that only they read", sink),
    Pass("short axes", "reductions of a few steps are written out", write_out_reductions),
    Pass("short axes", "parallel axes of a few steps are written out where that fuses", write_out_sides),
    Pass("again", "a little arithmetic on one large array is made again in each of its readers", recompute),
)
"""What needs sizes that are numbers; `_AFTER` follows if they found something."""
_AFTER: tuple[Pass, ...] = (
    Pass("views", "phases that only move elements are read through", fold_views),
    Pass("dead", "what is read through is no reader", drop_dead),
    Pass("fusion", "element-wise producers become part of their readers", fuse),
    Pass("constants", "what fusion brought together is folded", fold_constants),
    Pass("dead", "what fusion left over is dropped", drop_dead),
)
PASS_NAMES: tuple[str, ...] = tuple(dict.fromkeys(step.name for step in (*PASSES, *SETTLED_PASSES)))


def _verify(graph: Graph, name: str) -> None:
    from ..verify import verify

    verify(graph, name)


def optimise(graph: Graph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> Graph:
    """Run the passes in order, leaving out those named in `without`; `verify_each` checks the graph after every pass."""

    for step in PASSES:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                _verify(graph, step.name)
    return graph


def settle(bound: BoundGraph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> BoundGraph:
    """The passes over a bound graph, as `optimise`."""

    graph = bound.graph
    for step in SETTLED_PASSES:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                _verify(graph, step.name)
    if graph is bound.graph:
        return bound
    if graph.phases is bound.graph.phases:  # nothing but words
        return replace(bound, graph=graph)
    for step in _AFTER:
        if step.name not in without:
            graph = step.function(graph)
            if verify_each:
                _verify(graph, step.name)
    return replace(bound, graph=graph)
