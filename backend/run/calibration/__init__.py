"""Measures this machine's tables through Rho's own CPU back end, so that they say what the executor will do.

    profile = calibrate(facts)      # at most about 30 s

Rows say what is run, and which table of the profile its time is a point of: those of `probes` (phases, bytes, teams, loops, the
disk, library operations) and of `scalars` (made from the table of scalar functions).  `ways` are what rows run, `timing` is the
loop that measures all rows, `calm` waits while others slow the machine, `tier` says which kernels are in use, `measure` puts the
profile together and tries it on other programs.
"""

from __future__ import annotations

from .measure import REFINED, Effort, calibrate, settle_memory
from .tier import tier_name

__all__ = ["REFINED", "Effort", "calibrate", "settle_memory", "tier_name"]
