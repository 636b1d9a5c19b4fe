"""The rewrite rules and the passes over the phase graph, in order.

A pass is a pure function from graph to graph that never changes what a graph computes; each can be switched off by
its name, and the graph can be verified after each, so that a failure names the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

from ....lang.support.records import dataclass, replace
from ....typechecker.core.operations import Core, CoreFunction
from ..bind_sizes import BoundGraph, bind
from ..phases import Graph
from ..registry import GraphFunction
from .algebraic_rules import (
    decode_to_horner,
    encode_to_arithmetic,
    extreme_search_to_argmin,
    grade_head_to_argmin,
    graded_gather_to_sort,
    limit_order_to_needed,
    partly_graded_gather_to_sort,
    product_to_sum,
)
from .contractions import regroup
from .folding import fold_constants, fold_views, gathers_to_views
from .fusion import fuse, join_siblings
from .masked_reductions import reduce_by_masks
from .redundancy import drop_dead, drop_unread, hoist_invariants, hoist_unfused_invariants, share_common, take_known_arms
from .rewriting import (
    AnyPattern,
    ConstantPattern,
    OpPattern,
    Preserves,
    ReducedPattern,
    RewriteRule,
    apply_rules,
    inverse_product_to_solve,
    mask_gather_to_compress,
    membership_to_comparisons,
    phase_may_fail,
    reshape_to_view,
)
from .sink_into_maps import recompute, sink
from .unroll_short_axes import unroll_parallel_axes, unroll_reductions

# ---------------------------------------------------------------------------------------------------- rules
#
# Each rule has a name, a sentence, what it preserves, a pattern, a rewrite function, a message for the plan, and examples.

_X: Final = AnyPattern("x")
_EXTREMES: Final = frozenset({"max", "min", "or", "and"})
_SORTED: Final = RewriteRule(
    "sorted", "items in the order of their grade are sorted", Preserves.BITS,
    OpPattern("gather", (_X, OpPattern("grade", (_X,), framed=True)), {"axis": 0, "fills": None}, framed=True),
    graded_gather_to_sort, "items in the order of their grade: a sort, and no grade is made",
    ("{⍵[⍋⍵]}", "{⍵[⍒⍵]}", "{⌽⍵[⍋⍵]}", "{{⍵[⍋⍵]}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}"),
)  # fmt: skip
_TAKEN: Final = RewriteRule(
    "taken", "items at a part of their grade are that part of the sort", Preserves.BITS,
    OpPattern("gather", (_X, AnyPattern("places")), {"axis": 0, "fills": None}),
    partly_graded_gather_to_sort, "items at a part of their grade: that part of a sort, and no grade is made",
    ("{⍵[2↑⍒⍵]}", "{⍵[1↓3↑⍋⍵]}", "{⍵[(⍋⍵)[1]]}"),
)  # fmt: skip
_PARTS: Final = tuple(
    RewriteRule(
        "selected", "of an order of which a part is wanted that part is selected", Preserves.BITS,
        pattern, limit_order_to_needed, "a part of an order: selected, the rest is not ordered", examples,
    )
    for pattern, examples in (
        (OpPattern("sort", (_X,), framed=True),
         ("{2↑⍵[⍒⍵]}", "{1↑⍵[⍋⍵]}", "{⊃⍵[⍋⍵]}", "{⊃⍵[⍒⍵]}", "{(⍵[⍋⍵])[2]}", "{1↓2↑⍵[⍒⍵]}", "{¯2↑⍵[⍋⍵]}",
          "{{⊃⍵[⍋⍵]}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}")),
        (OpPattern("grade", (_X,), framed=True), ("{2↑⍒⍵}", "{⊃⍋⍵}", "{⊃⍒⍵}", "{(⍋⍵)[1]}", "{1↓2↑⍋⍵}")),
    )
)  # fmt: skip
RULES: Final = (
    RewriteRule(
        "members", "items are compared with a few that are written", Preserves.BITS,
        OpPattern("member_of", (_X, ConstantPattern("table"))), membership_to_comparisons,
        examples=("{⍵∊0 1}", "{⍵∊0.5 1 1}"),
    ),
    RewriteRule(
        "compressed", "items at the places of a mask are compressed", Preserves.BITS,
        OpPattern("where", (AnyPattern("mask"),)), mask_gather_to_compress,
        "items at the places of a mask: compressed, and no places are made", ("{⍵[⍸⍵>0]}",),
    ),
)  # fmt: skip
"""Rules that run before fusion, because they yield phases that fuse."""
TOLERANT_RULES: Final = (
    RewriteRule(
        "solved", "an inverse times something is a solution", Preserves.TOLERANCE,
        OpPattern("contract", (OpPattern("inverse", (AnyPattern("A"),)), AnyPattern("b"))), inverse_product_to_solve,
        "an inverse times something: solved, and no inverse is made",
    ),
)  # fmt: skip
"""Rules that preserve the value within the tolerance of the phases they replace, not its bits."""
ORDER_RULES: Final = (_SORTED, _TAKEN, *_PARTS)
"""Rules about the readers of results; they run after those have been fused."""
SIZED_RULES: Final = (
    RewriteRule(
        "reshaped", "a reshape of at most as many items is a view", Preserves.BITS,
        OpPattern("reshape_cycle", (_X,), framed=True), reshape_to_view,
        "a reshape into no more items than there are: a view", ("{1 2⍴⍵}", "{3⍴⍵}"),
    ),
    RewriteRule(
        "extreme", "the place of the greatest or least item is a reduction", Preserves.BITS_UNLESS_NAN,
        OpPattern("index_of", (_X, ReducedPattern(_EXTREMES, _X)), framed=True), extreme_search_to_argmin,
        "the place of the greatest or least item: found in the pass that finds the item",
        ("{⍵⍳⌈/⍵}", "{⍵⍳⌊/⍵}", "{{⍵⍳⌈/⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}"),
    ),
    RewriteRule(
        "summed", "a product with a vector is a sum of products", Preserves.BITS,
        OpPattern("contract", (AnyPattern("left"), AnyPattern("right"))), product_to_sum,
        examples=("{(2↕⍵)+.×1 0.5}", "{(⍵∘.×1 2)+.×2 ¯3}", "{⍵+.×2×⍵}"),
    ),
    RewriteRule(
        "digits", "a number of a few digits is a sum of them", Preserves.BITS,
        OpPattern("decode", (AnyPattern("radix"), AnyPattern("arg"))), decode_to_horner,
        examples=("{0.5⊥⍉2↕⍵}", "{(⍵[⍳2]⊥⍉2↕⍵)}", "{2⊥1+⍵∘.×1 2}"),
    ),
    RewriteRule(
        "encoded", "digits in known radices are arithmetic", Preserves.BITS,
        OpPattern("encode", (AnyPattern("radix"), AnyPattern("arg"))), encode_to_arithmetic,
        examples=("{2 3 4⊤17+i64 ⍵>0}", "{0 10⊤(i64 ⍵>0)-43}", "{(9⍴2)⊤(i64 ⍵>0)-300}"),
    ),
    *ORDER_RULES,
    RewriteRule(
        "places", "the first place of the grade of a row is a reduction", Preserves.BITS,
        OpPattern("grade", (_X,), framed=True), grade_head_to_argmin,
        "the first place of the grade of each row: a reduction",
        ("{{⊃⍋⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}", "{{⊃⍒⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}"),
    ),
)  # fmt: skip
"""Rules that need sizes that are numbers."""


# ---------------------------------------------------------------------------------------------------- passes

@dataclass(frozen=True, slots=True)
class Pass:
    """`function` returns an equivalent graph, the same object if it changes nothing."""

    name: str
    doc: str
    function: Callable[[Graph], Graph]


def _applying(rules: tuple[RewriteRule, ...]) -> Callable[[Graph], Graph]:
    return partial(apply_rules, rules)


def _apply_sized_rules(graph: Graph) -> Graph:
    """Apply the rules and fold the views that they yield, which the unrolling of short axes looks through."""
    changed = apply_rules(SIZED_RULES, graph)
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
    Pass("products", "an inverse times something is a solution", _applying(TOLERANT_RULES)),
    Pass("fusion", "element-wise producers become part of their readers", fuse),
    Pass("invariants", "what fusion left of what each iteration repeats is computed before the loop", hoist_unfused_invariants),
    Pass("siblings", "phases over one space that read the same become one", join_siblings),
    Pass("masked", "exact reductions of what a mask selects are of everything", reduce_by_masks),
    Pass("constants", "what fusion brought together is folded", fold_constants),
    Pass("dead", "what fusion left over is dropped", drop_dead),
    Pass("rules", "gathers by a grade become sorts; only positions that are read are ordered", _applying(ORDER_RULES)),
)
SIZED_PASSES: tuple[Pass, ...] = (
    Pass("arms", "a branch that sizes decide becomes the arm that is taken", take_known_arms),
    Pass("dead", "what nothing reads is dropped", drop_unread),
    Pass("gathers", "gathers by evenly stepping indices become views", gathers_to_views),
    Pass("products", "contractions with what is multiplied and added around them are regrouped", regroup),
    Pass("rules", "what is quicker in other words for these sizes is put so", _apply_sized_rules),
    Pass("cells", "maps make the rows that only they read", sink),
    Pass("short axes", "reductions of a few steps are written out", unroll_reductions),
    Pass("short axes", "parallel axes of a few steps are written out where that fuses", unroll_parallel_axes),
    Pass("again", "a little arithmetic on one large array is made again in each of its readers", recompute),
    Pass("views", "phases that only move elements are read through", fold_views),
    Pass("dead", "what is read through is no reader", drop_dead),
    Pass("fusion", "element-wise producers become part of their readers", fuse),
    Pass("constants", "what fusion brought together is folded", fold_constants),
    Pass("dead", "what fusion left over is dropped", drop_dead),
)
"""Passes that need sizes that are numbers."""
PASS_NAMES: tuple[str, ...] = tuple(dict.fromkeys(step.name for step in (*PASSES, *SIZED_PASSES)))


def _verify(graph: Graph, name: str) -> None:
    from ..verify import verify

    verify(graph, name)


def optimise(graph: Graph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> Graph:
    """Run the passes in order, leaving out those named in `without`; `verify_each` checks the graph after every pass."""
    return _applied(PASSES, graph, without, verify_each=verify_each)


def optimise_with_sizes(bound: BoundGraph, without: frozenset[str] = frozenset(), verify_each: bool = False) -> BoundGraph:
    """Run the passes that need sizes that are numbers, as `optimise` runs the others."""
    return replace(bound, graph=_applied(SIZED_PASSES, bound.graph, without, verify_each=verify_each))


def _applied(passes: Sequence[Pass], graph: Graph, without: frozenset[str], *, verify_each: bool) -> Graph:
    live: Graph | None = None
    for step in passes:
        if step.name in without or (step.function is drop_dead and graph is live):
            continue
        changed = step.function(graph)
        graph = graph if changed == graph else changed
        if step.function in (drop_dead, drop_unread):
            live = graph
        if verify_each:
            _verify(graph, step.name)
    return graph


# ---------------------------------------------------------------------------------------------------- shared functions

_functions: WeakKeyDictionary[CoreFunction, GraphFunction] = WeakKeyDictionary()


def lowered(function: CoreFunction, lower: Callable[[Core], Graph]) -> GraphFunction:
    """The graph of a function, which is lowered when it is first called."""
    known = _functions.get(function)
    if known is None:
        graph = optimise(lower(function.core))
        known = _functions[function] = GraphFunction(function, graph, any(map(phase_may_fail, graph.phases)))
    return known


def bound_function(function: GraphFunction, sizes: tuple[int, ...]) -> BoundGraph:
    """The graph of a function for these sizes, after all passes."""
    numbers = dict(zip(function.sizes, sizes, strict=True))
    return function.cached(("bound", sizes), lambda: optimise_with_sizes(bind(function.graph, numbers)))
