"""Profiles by name: the shipped ones, and that of this machine with its calibration, kept in the user's cache by the fingerprint
of the processor.

A profile without disk tables gets those of a typical disk: `disk.read` reads bytes that are not cached in memory, `disk.write`
ends when the disk has them, `scratch.write` and `scratch.read` use a temporary file, which the system caches in memory if it can.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from errno import ENOENT
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Final

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.primitives.table import nearest
from ...lang.support.caches import cache_folder, read_private
from ...lang.support.files import NotRegular, Pipes, TooLarge, read_text, replace_file
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from .profile import CPU, GRAIN, Calibration, CostTable, DeviceProfile, Profile
from .profile_toml import LARGEST_PROFILE, canonical, read_profile

# ---------------------------------------------------------------------------------------------------- disks

READ: Final = "disk.read.u8"
WRITE: Final = "disk.write.u8"
SCRATCH_WRITE: Final = "scratch.write.u8"
SCRATCH_READ: Final = "scratch.read.u8"
DECLARED: Final = {
    READ: CostTable.of_rate(1_500_000_000), WRITE: CostTable.of_rate(400_000_000),
    SCRATCH_WRITE: CostTable.of_rate(1_000_000_000),
    SCRATCH_READ: CostTable.of_rate(3_000_000_000),
}  # fmt: skip


def disk_ns(device: DeviceProfile, name: str, count: int) -> int:
    """The nanoseconds that a disk operation takes for `count` bytes."""
    return device.ops.get(name, DECLARED[name]).at(count) // GRAIN


# ---------------------------------------------------------------------------------------------------- shipped profiles
#
# Profiles that ship with Rho, and profiles in files; `--devices` names either.

FOLDER: Final = Path(__file__).parent / "shipped"


def shipped_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_profile(name: str) -> Profile:
    """A shipped profile by its name, or the profile in a file.  Raises Refused: E704 if there is none, E705 if it is no
    profile."""
    return read_profile(*profile_text(name))


def profile_text(name: str) -> tuple[str, str]:
    """The name for messages, and the text, of a profile.  Raises Refused E704."""
    names = shipped_names()
    path = FOLDER / f"{name}.toml" if name in names else Path(name)
    try:
        return (f"<profile {name}>" if name in names else name), read_text(path, LARGEST_PROFILE, Pipes.READ)
    except (OSError, ValueError) as error:
        guess = nearest(name, names)
        meant = f"; did you mean `{guess}`?" if guess else ""
        reason = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "cannot be read as a file"
        if isinstance(error, NotRegular | TooLarge):
            reason = f"cannot be read: {error.strerror}"
        what = f"`{name}` is not a shipped profile and {reason}{meant}"
        raise Refused([Diagnostic(Code.E704, what, Span(name, 0, 0), notes=(f"shipped: {', '.join(names)}",))]) from None


# -------------------------------------------------------------------------------------------------- calibration of this machine
#
# This machine as a profile: one CPU device with the cores and memory that the system grants, and the tables known for it.
#
# The caller determines the facts (`shell.execution.stored_plans`); this module only reads the folder of calibrations.  A
# calibration is stored in the user's cache folder under the fingerprint of all that its figures depend on: the processor, the
# threads, NumPy's version and the kernels in use.  A process with some of the machine's cores, for which there is no calibration,
# uses that of all cores, scaled to the speed-up of its threads.  Without either, the tables are those of `shipped/default.toml`,
# or of `default-compiled` with compiled kernels.

DEFAULT: Final = "default"
COMPILED: Final = "default-compiled"
NAME: Final = "cpu0"
VERSION: Final = 5
"""The version of what calibration measures and how it is stored; a calibration of another version is not used."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What the system grants: cores, bytes of memory (0: unknown), and the processor's name; `present`: the number of the
    machine's cores."""

    cores: int
    memory: int
    model: str
    present: int = 0

    def facts(self) -> dict[str, str | int]:
        return {"cpu": self.model, "threads": self.cores, "version": VERSION}


def host_profile(facts: HostFacts, tier: str, described: Mapping[str, str | int]) -> Profile:
    """A profile of one device, without tables."""
    device = DeviceProfile(
        NAME, "cpu", CPU, threads=facts.cores, memory_bytes=facts.memory or None, home=True
    )  # fmt: skip
    return Profile((device,), (), False, Calibration(facts={**described, "kernels": tier}))


def machine_profile(facts: HostFacts, tier: str, numpy: str, folder: Path | None = None) -> Profile:
    """The profile of this machine: calibrated, or with default tables and the reason why a stored calibration is not used."""
    bare = host_profile(facts, tier, {**facts.facts(), "numpy": numpy})
    machine = replace(facts, cores=max(facts.cores, facts.present))
    for measured in (bare, host_profile(machine, tier, {**machine.facts(), "numpy": numpy})):
        path = cache_file(measured, folder)
        try:
            stored = None if path is None else stored_calibration(path, measured)
        except UnusableCalibration as error:
            default = with_default_tables(bare)
            return replace(default, calibration=replace(default.calibration, unusable=f"`{path}` {error}"))
        if stored is not None:
            timed = _with_times_of(bare.home, with_threads(measured.home.threads, stored.home, facts.cores))
            return replace(bare, devices=(timed,), calibration=replace(stored.calibration, facts=bare.calibration.facts))
    return with_default_tables(bare)


def with_threads(measured: int, device: DeviceProfile, threads: int) -> DeviceProfile:
    """The tables of a device that was measured with more threads: speed-ups are interpolated by the number of threads."""
    if threads >= measured:
        return device
    part = Fraction(threads - 1, measured - 1)

    def shared(table: CostTable) -> CostTable:
        gains = (max(Fraction(0), Fraction(alone, ns) - 1) for alone, ns in zip(table.size, table.ns, strict=True))
        times = (alone / (1 + part * gain) for alone, gain in zip(table.size, gains, strict=True))
        return CostTable(table.size, tuple(map(math.ceil, times)))

    return replace(device, ops={name: shared(one) if name.startswith("team.") else one for name, one in device.ops.items()})


class UnusableCalibration(Exception):
    """Raised for a stored calibration that is not used; the text completes a sentence that begins with its path."""


def stored_calibration(path: Path, bare: Profile) -> Profile | None:
    """The stored calibration of a machine; None if there is none.  Raises UnusableCalibration.

    The first line of the file is the digest of the other lines, so a damaged or edited calibration is never used."""
    data = read_private(path, LARGEST_PROFILE)
    if data is None:
        if os.path.lexists(path):
            raise UnusableCalibration("or its folder is no regular one that only this user can write")
        return None
    head, _, text = data.partition(b"\n")
    if head != _digest_line(text):
        raise UnusableCalibration("was changed after it was measured")
    try:
        profile = read_profile(str(path), text.decode("utf-8"))
    except (ValueError, RecursionError, Refused):
        raise UnusableCalibration("is not a profile") from None
    if dict(profile.calibration.facts) != dict(bare.calibration.facts) or len(profile.devices) != 1:
        raise UnusableCalibration("was measured on another machine, or by another version")
    return profile


def _digest_line(text: bytes) -> bytes:
    return b"# sha256 " + sha256(text).hexdigest().encode()


def _with_times_of(device: DeviceProfile, known: DeviceProfile) -> DeviceProfile:
    return replace(
        device, ops=known.ops, launch_ns=known.launch_ns, host_dispatch_ns=known.host_dispatch_ns, sync_ns=known.sync_ns,
        alloc_ns=known.alloc_ns,
    )  # fmt: skip


def with_default_tables(bare: Profile) -> Profile:
    known = load_profile(COMPILED if str(bare.calibration.facts.get("kernels", "")).startswith("llvm") else DEFAULT)
    declared = replace(known.calibration, calibrated=None, facts=bare.calibration.facts)
    return replace(bare, devices=(_with_times_of(bare.home, known.home),), calibration=declared)


def merged(known: Profile, measured: Profile) -> Profile:
    """The union of two calibrations of one machine: the mean where both measured a size, otherwise the newer figures."""
    device, before = measured.home, known.home
    ops = {name: _mean(before.ops.get(name), table) for name, table in device.ops.items()}
    return replace(measured, devices=(replace(device, ops=ops),))


def _mean(before: CostTable | None, table: CostTable) -> CostTable:
    old = {} if before is None else dict(zip(before.size, before.ns, strict=True))
    return CostTable(table.size, tuple((ns + old.get(size, ns)) // 2 for size, ns in zip(table.size, table.ns, strict=True)))


def keep_calibration(profile: Profile, folder: Path | None = None) -> Path:
    """Stores a calibration where `machine_profile` looks for it.  Raises OSError, or UnusableCalibration if it would not be used
    there."""
    path = cache_file(profile, folder)
    if path is None:
        raise FileNotFoundError(ENOENT, "this user has no home folder")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = canonical(profile).encode("utf-8")
    replace_file(path, lambda file: (file.write(_digest_line(text) + b"\n"), file.write(text)), mode=0o600)
    stored_calibration(path, profile)
    return path


def cache_file(profile: Profile, folder: Path | None = None) -> Path | None:
    """The file of a machine's calibration, `rho/devices/…` in the user's cache folder; None for a user without one."""
    facts = "\n".join(f"{name}={value}" for name, value in sorted(profile.calibration.facts.items()))
    parent = folder or cache_folder("devices")
    return None if parent is None else parent / f"{sha256(facts.encode()).hexdigest()[:16]}.toml"
