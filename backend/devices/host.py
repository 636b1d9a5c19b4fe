"""This machine as a profile: one CPU device with the cores and memory it grants, and the tables that are known for it.

Whoever asks finds out the facts (`shell.execution.machine`); nothing here looks at the system but for the folder of
calibrations.  A calibration is kept in the user's cache folder under the fingerprint of the facts that change its figures:
the processor, the threads, NumPy's version and the kernels in use.  Without one the tables are those of `shipped/default.toml`,
or of `default-compiled` with compiled kernels.

Neighbours: `backend.run.calibration` (measures), `shell.verbs.devices` (shows).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from ...lang.diagnostics import Refused
from ...lang.replacing import replace_file
from ...lang.user_cache import cache_folder, read_private
from .profile import Backend, Calibration, DeviceProfile, Profile
from .reading import LARGEST_PROFILE, read_profile
from .shipped import load_profile
from .tables import Table
from .writing import canonical

DEFAULT: Final = "default"
COMPILED: Final = "default-compiled"
NAME: Final = "cpu0"
VERSION: Final = 4
"""Of what calibration measures: another version asks for another calibration."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the system grants: cores, bytes of memory (0: unknown), and the processor's name."""

    cores: int
    memory: int
    model: str

    def facts(self) -> dict[str, str | int]:
        return {"cpu": self.model, "threads": self.cores, "version": VERSION}


def host_profile(facts: HostFacts, tier: str, described: Mapping[str, str | int]) -> Profile:
    """A profile of one device without tables."""
    device = DeviceProfile(
        NAME, "cpu", Backend.CPU, threads=facts.cores, memory_bytes=facts.memory or None, home=True
    )  # fmt: skip
    return Profile((device,), (), False, Calibration(facts={**described, "kernels": tier}))


def machine_profile(facts: HostFacts, tier: str, numpy: str, folder: Path | None = None) -> Profile:
    """This machine as it is known: calibrated, or with the default tables."""
    bare = host_profile(facts, tier, {**facts.facts(), "numpy": numpy})
    kept = cache_file(bare, folder)
    data = None if kept is None else read_private(kept, LARGEST_PROFILE)
    if data is None:
        return with_default_tables(bare)
    try:
        found = read_profile(str(kept), data.decode("utf-8"))
    except (ValueError, RecursionError, Refused):
        return with_default_tables(bare)
    if dict(found.calibration.facts) != dict(bare.calibration.facts) or len(found.devices) != 1:
        return with_default_tables(bare)
    return replace(found, devices=(replace(found.devices[0], memory_bytes=facts.memory or None),))


def with_default_tables(bare: Profile) -> Profile:
    known = load_profile(COMPILED if str(bare.calibration.facts.get("kernels", "")).startswith("llvm") else DEFAULT)
    device = known.home
    own = replace(
        bare.home, ops=device.ops, launch_ns=device.launch_ns, host_dispatch_ns=device.host_dispatch_ns, sync_ns=device.sync_ns,
        alloc_ns=device.alloc_ns,
    )  # fmt: skip
    declared = replace(known.calibration, calibrated=None, facts=bare.calibration.facts)
    return replace(bare, devices=(own,), calibration=declared)


def merged(known: Profile, found: Profile) -> Profile:
    """Two calibrations of one machine: the mean where both measured a size, else what was found last."""
    device, before = found.home, known.home
    ops = {name: _mean(before.ops.get(name), table) for name, table in device.ops.items()}
    return replace(found, devices=(replace(device, ops=ops),))


def _mean(before: Table | None, table: Table) -> Table:
    old = {} if before is None else dict(zip(before.size, before.ns, strict=True))
    return Table(table.size, tuple((ns + old.get(size, ns)) // 2 for size, ns in zip(table.size, table.ns, strict=True)))


def keep_calibration(profile: Profile, folder: Path | None = None) -> Path:
    """Write a calibration where `machine_profile` finds it.  OSError."""
    path = cache_file(profile, folder)
    if path is None:
        raise FileNotFoundError("this user has no home folder")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = canonical(profile).encode("utf-8")
    replace_file(path, lambda file: file.write(text), mode=0o600)
    return path


def cache_file(profile: Profile, folder: Path | None = None) -> Path | None:
    """Where the calibration of a machine is kept: `rho/devices` in the user's cache folder; None for a user who has none."""
    facts = "\n".join(f"{name}={value}" for name, value in sorted(profile.calibration.facts.items()))
    place = folder or cache_folder("devices")
    return None if place is None else place / f"{sha256(facts.encode()).hexdigest()[:16]}.toml"
