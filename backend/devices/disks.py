"""What reading and writing files takes: as a device's tables say, else of a usual disk.

`disk.read`: bytes that are not in memory; `disk.write`: until the disk has them; `scratch.write` and `scratch.read`: a temporary
file, which the system keeps in memory as far as it can.

Neighbours: `backend.run.calibration.probes` (measures), `shell.display.passes` (asks).
"""

from __future__ import annotations

from typing import Final

from .profile import DeviceProfile
from .tables import GRAIN, Table

READ: Final = "disk.read.u8"
WRITE: Final = "disk.write.u8"
SCRATCH_WRITE: Final = "scratch.write.u8"
SCRATCH_READ: Final = "scratch.read.u8"
DECLARED: Final = {
    READ: Table.of_rate(1_500_000_000), WRITE: Table.of_rate(400_000_000), SCRATCH_WRITE: Table.of_rate(1_000_000_000),
    SCRATCH_READ: Table.of_rate(3_000_000_000),
}  # fmt: skip


def disk_ns(device: DeviceProfile, name: str, count: int) -> int:
    """What so many bytes take."""
    return device.ops.get(name, DECLARED[name]).at(count) // GRAIN
