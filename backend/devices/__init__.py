"""Devices as data and what phases cost on them.

    profile = load_profile("workstation")                          # shipped, or a file
    ticks = phase_ticks(phase, bound, profile, "gpu0")            # Ticks, or None: it cannot run there
"""
