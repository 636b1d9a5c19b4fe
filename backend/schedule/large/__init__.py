"""Graphs of more phases, or on more devices, than the search can look at one by one.

`contract`: chains become one phase for the search, and are expanded again.  `cutting`: list scheduling in which phases may be
cut over as many devices of a class as pays.  `improve` runs both, then anneals the best a little; bounds are those of the
whole problem.  Neighbours: `planner` calls `improve` with more than 24 phases or 64 devices.
"""

from .widening import improve

__all__ = ["improve"]
