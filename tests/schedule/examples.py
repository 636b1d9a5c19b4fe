"""Problems that several tests use."""

from __future__ import annotations

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import DeviceGroup, Edge, PhaseIndex, PhaseTask, Problem

TOPCUOGLU_TICKS = (
    (14, 16, 9), (13, 19, 18), (11, 13, 19), (13, 8, 17), (12, 13, 10),
    (13, 16, 9), (7, 15, 11), (5, 11, 14), (18, 12, 20), (21, 7, 16),
)  # fmt: skip
TOPCUOGLU_EDGES = (
    (1, 2, 18), (1, 3, 12), (1, 4, 9), (1, 5, 11), (1, 6, 14), (2, 8, 19), (2, 9, 16), (3, 7, 23),
    (4, 8, 27), (4, 9, 23), (5, 9, 13), (6, 8, 15), (7, 10, 17), (8, 10, 11), (9, 10, 13),
)  # fmt: skip
PEFT_TICKS = (
    (22, 21, 36), (22, 18, 18), (32, 27, 43), (7, 10, 4), (29, 27, 35),
    (26, 17, 24), (14, 25, 30), (29, 23, 36), (15, 21, 8), (13, 16, 33),
)  # fmt: skip
PEFT_EDGES = (
    (1, 2, 17), (1, 3, 31), (1, 4, 29), (1, 5, 13), (1, 6, 7), (2, 8, 3), (2, 9, 30), (3, 7, 16),
    (4, 8, 11), (4, 9, 7), (5, 9, 57), (6, 8, 5), (7, 10, 9), (8, 10, 42), (9, 10, 7),
)  # fmt: skip


def from_matrix(ticks: tuple[tuple[int, ...], ...], edges: tuple[tuple[int, int, int], ...]) -> Problem:
    """Atomic tasks with a column of ticks per processor, and edges (from, to, ticks) counted from 1."""
    return Problem(
        tuple(DeviceGroup(f"p{k + 1}", f"p{k + 1}", home=k == 0) for k in range(len(ticks[0]))),
        (),
        tuple(
            PhaseTask(f"t{i + 1}", {f"p{k + 1}": Ticks(((1, count),)) for k, count in enumerate(row)})
            for i, row in enumerate(ticks)
        ),
        tuple(Edge(PhaseIndex(a - 1), PhaseIndex(b - 1), ticks=c) for a, b, c in edges),
    )


TOPCUOGLU = from_matrix(TOPCUOGLU_TICKS, TOPCUOGLU_EDGES)
PEFT = from_matrix(PEFT_TICKS, PEFT_EDGES)
