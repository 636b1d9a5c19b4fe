"""Computes Pareto fronts of time and energy of three programs on the shipped workstation: benchmarks/results/pareto.svg and .md.

    python benchmarks/pareto.py [--points 8] [--fast]

Every point is a plan that both verifiers accept.  Costs and powers are those declared in the profile, not measured.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import rho
from rho.backend.devices.this_machine import load_profile
from rho.backend.schedule.problem import Objective
from rho.backend.schedule.program.plan_program import pareto_front_of
from rho.backend.schedule.rendering.gantt import fronts_svg
from rho.backend.schedule.search.strategy import DEFAULT, FAST
from rho.shell.execution.modules import bind_known_sizes
from rho.shell.verbs.plan import front_drawing, front_lines

HERE = Path(__file__).resolve().parent
PROGRAMS = {
    "products": ("input x : f64[n n]\ny ← x+.×⍉x\nz ← +/*y÷1000000\noutput w ← ⌈/0,√1+x×x\noutput z\n", {"n": 2000}),
    "moments": ("input x : f64[n]\noutput a ← (+/x)÷1⌈≢x\noutput b ← +/(*x÷10)×√1+x×x\noutput c ← ⌈/0,x\n", {"n": 20_000_000}),
    "kmeans": ((HERE.parent / "examples" / "kmeans.rho").read_text(encoding="utf-8"), {"n": 200_000, "k": 16}),
}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--points", type=int, default=8)
    options.add_argument("--fast", action="store_true")
    asked = options.parse_args()
    profile = load_profile("workstation")
    drawings = []
    text = ["# Time against energy", "", "`python benchmarks/pareto.py` on `workstation` (declared costs and powers)."]
    for name, (program, sizes) in PROGRAMS.items():
        checked = rho.check(program)
        assert checked.core is not None, checked.diagnostics
        bound = bind_known_sizes(checked.core, sizes, {}, lambda _: {})
        front = pareto_front_of(
            checked.core, bound, profile, Objective.ENERGY, count=asked.points, budget=FAST if asked.fast else DEFAULT
        )
        shown = f"{name} ({', '.join(f'{size}={number}' for size, number in sizes.items())})"
        drawings.append(front_drawing(front, shown))
        text += ["", f"## {shown}", "", "```", *front_lines(front), "```"]
        print(text[-3:], flush=True)
    (HERE / "results" / "pareto.svg").write_text(fronts_svg(drawings), encoding="utf-8")
    (HERE / "results" / "pareto.md").write_text("\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
