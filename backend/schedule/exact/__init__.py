"""The exact search: the problem as SMT formulas for z3, bisection over the makespan, and minimal conflicts."""
