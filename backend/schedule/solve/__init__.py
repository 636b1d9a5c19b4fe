"""The planner: strategies from cheap to dear over one problem.  `recipe` has the list."""

from .recipe import plan_problem

__all__ = ["plan_problem"]
