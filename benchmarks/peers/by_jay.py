"""The workloads in libjay's APL, as kernels bound to their arrays."""

from __future__ import annotations

import jay

from rho.benchmarks.peers.sides import Sides

TEXTS = {
    "W1 2×x+y": "2×{x}+{y}",
    "W2 polynomial": "(((({x}×3)+2)×{x})+1)×{x}",
    "W4 dot": "+/{x}×{y}",
    "W5 distance": "(+/({x}-{y})*2)*0.5",
    "W7 mean, variance": "(2,≢{A})⍴((+/{A})÷1000),(+/({A}-⍤1 0⊢(+/{A})÷1000)*2)÷1000",
    "W8 matrix product": "{A}+.×{B}",
    "W12 prefix sum": "+\\{x}",
    "W13 sort": "{x}[⍋{x}]",
    "W17 row sums, total": "+/+/{A}",
    "+/x": "+/{x}",
    "column sums": "+⌿{A}",
    "row sums": "+/{A}",
    "compress": "({x}>0.5)/{x}",
}


def sides(threads: int) -> Sides:
    """The workloads; libjay uses all processors, whatever `threads` is."""

    return {work: jay.apl.compile(text) for work, text in TEXTS.items()}
