"""Points of a loop's own state: they are read where the state lies."""

from __future__ import annotations

from rho import backend
from rho.backend.lower.region import Region
from rho.backend.lower.scope import ScratchView
from rho.backend.schedule.program_facts.partitioning import lowered_loops
from rho.tests.harness.tiers import checked

TEXT = """input s : i64[n n] where n ≥ 10
output r ← {x ← ⍵ ⋄ k ← (≢x)|x[0;⍳10] ⋄ v ← k{x[⍺;⍵]}¨⌽k ⋄ x[0;⍳10] ← 1+v+k ⋄ x}⍣9 ⊢ s
"""


def test_few_points_copy_no_state() -> None:
    core = checked(TEXT)
    assert core is not None
    ((_, region),) = lowered_loops(backend.bind_shapes(core, {"s": (1000, 1000)}, {}).graph)
    assert isinstance(region, Region)
    scratch = [source for source in region.sources.values() if isinstance(source, ScratchView)]
    assert all(len(source.shape) == 1 and (source.shape[0].constant or 0) < 1_000_000 for source in scratch), scratch
