"""Plans without proof: the baselines that every answer is compared with, and what improves on them.

`baselines`: best single device, even split, HEFT, PEFT.  `uniform`: the same devices for every phase.  `annealing`, `ordering`,
`shifting`: searches that start from the best of them.  All are re-timed by `timing` under the problem's own constraints, so a
baseline may turn out infeasible.
"""

from .aligned import uniform
from .annealing import anneal
from .baseline import at_home, baselines
from .candidates import Candidate, retime
from .listing import heft, peft
from .ordering import anneal_order
from .shifting import shifts

__all__ = ["Candidate", "anneal", "anneal_order", "at_home", "baselines", "heft", "peft", "retime", "shifts", "uniform"]
