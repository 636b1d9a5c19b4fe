"""Measures this machine's tables through Rho's own CPU back end, so that they say what the executor will do.

    profile = calibrate(facts, clock)      # at most about 30 s

`probes` (what is timed, and tables from times), `calm` (waits while other guests of the machine slow it), `samples` (phases made
for measuring), `programs` (programs that are run again and again), `computing`, `moving`, `teams`, `turning`, `library` (what is
measured at which sizes), `measure` (in which order), `checking` (how well it holds), `tier` (which kernels are in use).
"""

from __future__ import annotations

from .measure import REFINED, Effort, calibrate, settle_memory
from .probes import WallClock
from .tier import tier_name

__all__ = ["REFINED", "Effort", "WallClock", "calibrate", "settle_memory", "tier_name"]
