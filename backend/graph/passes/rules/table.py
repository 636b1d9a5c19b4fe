"""The rules, in order.  Each row is a pattern, a condition with its replacement, what it preserves, and examples.

Neighbours: `rule` (how they are applied), `..passes` (when).
"""

from __future__ import annotations

from typing import Final

from .inverses import is_solution
from .masks import are_places_of_a_mask
from .members import is_one_of_few
from .orders import is_part_of_order, is_place, is_place_of_extreme, is_sort, takes_part_of_order
from .patterns import Item, Op, Reduced, Written
from .reshapes import is_view
from .rule import Keeps, Rule
from .sums import are_digits, is_of_few_digits, is_sum_of_products

_EXTREMES: Final = frozenset({"max", "min", "or", "and"})
_SORTED: Final = Rule(
    "sorted", "items in the order of their grade are sorted", Keeps.BITS,
    Op("gather", (Item("x"), Op("grade", (Item("x"),), framed=True)), {"axis": 0, "fills": None}, framed=True),
    is_sort, "items in the order of their grade: a sort, and no grade is made",
    ("{⍵[⍋⍵]}", "{⍵[⍒⍵]}", "{⌽⍵[⍋⍵]}", "{{⍵[⍋⍵]}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}"),
)  # fmt: skip
_TAKEN: Final = Rule(
    "taken", "items at a part of their grade are that part of the sort", Keeps.BITS,
    Op("gather", (Item("x"), Item("places")), {"axis": 0, "fills": None, "sorts": None}),
    takes_part_of_order, "items at a part of their grade: that part of a sort, and no grade is made",
    ("{⍵[2↑⍒⍵]}", "{⍵[1↓3↑⍋⍵]}", "{⍵[(⍋⍵)[1]]}"),
)  # fmt: skip
_PARTS: Final = tuple(
    Rule("selected", "of an order of which a part is wanted that part is selected", Keeps.BITS, pattern, is_part_of_order,
         "a part of an order: selected, the rest is not ordered", examples)
    for pattern, examples in (
        (Op("gather", (Item("x"), Item("order")), framed=True),
         ("{2↑⍵[⍒⍵]}", "{1↑⍵[⍋⍵]}", "{⊃⍵[⍋⍵]}", "{⊃⍵[⍒⍵]}", "{(⍵[⍋⍵])[2]}", "{1↓2↑⍵[⍒⍵]}", "{¯2↑⍵[⍋⍵]}",
          "{{⊃⍵[⍋⍵]}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}")),
        (Op("grade", (Item("x"),), framed=True), ("{2↑⍒⍵}", "{⊃⍋⍵}", "{⊃⍒⍵}", "{(⍋⍵)[1]}", "{1↓2↑⍋⍵}")),
    )
)  # fmt: skip
RULES: Final = (
    Rule("members", "items are compared with a few that are written", Keeps.BITS,
         Op("member_of", (Item("x"), Written("table"))), is_one_of_few, examples=("{⍵∊0 1}", "{⍵∊0.5 1 1}")),
    Rule("compressed", "items at the places of a mask are compressed", Keeps.BITS, Op("where", (Item("mask"),)),
         are_places_of_a_mask, "items at the places of a mask: compressed, and no places are made", ("{⍵[⍸⍵>0]}",)),
)  # fmt: skip
"""Those that make phases which fuse."""
TOLERANT: Final = (
    Rule("solved", "an inverse times something is a solution", Keeps.TOLERANCE,
         Op("contract", (Op("inverse", (Item("A"),)), Item("b"))), is_solution,
         "an inverse times something: solved, and no inverse is made"),
)  # fmt: skip
"""Those that keep no bits, where there was a tolerance."""
ORDERS: Final = (_SORTED, _TAKEN, *_PARTS)
"""Those that look at how results are read: after what reads them is fused."""
SETTLED: Final = (
    Rule("reshaped", "a reshape of at most as many items is a view", Keeps.BITS, Op("reshape_cycle", (Item("x"),), framed=True),
         is_view, "a reshape into no more items than there are: a view", ("{1 2⍴⍵}", "{3⍴⍵}")),
    Rule("extreme", "the place of the greatest or least item is a reduction", Keeps.BITS_UNLESS_NAN,
         Op("index_of", (Item("x"), Reduced(_EXTREMES, Item("x"))), framed=True), is_place_of_extreme,
         "the place of the greatest or least item: found in the pass that finds the item",
         ("{⍵⍳⌈/⍵}", "{⍵⍳⌊/⍵}", "{{⍵⍳⌈/⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}")),
    Rule("summed", "a product with a vector is a sum of products", Keeps.BITS, Op("contract", (Item("left"), Item("right"))),
         is_sum_of_products, examples=("{(2↕⍵)+.×1 0.5}", "{(⍵∘.×1 2)+.×2 ¯3}", "{⍵+.×2×⍵}")),
    Rule("digits", "a number of a few digits is a sum of them", Keeps.BITS, Op("decode", (Item("radix"), Item("arg"))),
         is_of_few_digits, examples=("{0.5⊥⍉2↕⍵}", "{(⍵[⍳2]⊥⍉2↕⍵)}", "{2⊥1+⍵∘.×1 2}")),
    Rule("encoded", "digits in known radices are arithmetic", Keeps.BITS, Op("encode", (Item("radix"), Item("arg"))), are_digits,
         examples=("{2 3 4⊤17+i64 ⍵>0}", "{0 10⊤(i64 ⍵>0)-43}", "{(9⍴2)⊤(i64 ⍵>0)-300}")),
    *ORDERS,
    Rule("places", "the first place of the grade of a row is a reduction", Keeps.BITS, Op("grade", (Item("x"),), framed=True),
         is_place, "the first place of the grade of each row: a reduction",
         ("{{⊃⍋⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}", "{{⊃⍒⍵}⍤1 ⊢ 2⌿1 (≢⍵)⍴⍵}")),
)  # fmt: skip
"""Those that need sizes that are numbers."""
