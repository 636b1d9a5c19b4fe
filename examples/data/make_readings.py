"""Make readings.npy, of four sensors: `python examples/data/make_readings.py [ROWS [FILE]]` (for so many rows always the same).

A row is a moment, a column a sensor with a level, a spread and a daily course of its own; one reading in some thousands is off.
500 rows are beside this script; 20,000,000 are 640 MB, which are made and written a part at a time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROWS, SENSORS, TOGETHER = 500, 4, 1 << 16
LEVELS, SPREADS = np.array([18.5, 55.0, 1013.2, 3.4]), np.array([2.5, 9.0, 6.5, 1.2])


def part(first: int, stop: int) -> np.ndarray:
    """Rows [first, stop) of a part that begins at a multiple of `TOGETHER`."""
    draw = np.random.default_rng([17, first])
    rows = draw.standard_normal((stop - first, SENSORS)) * 0.6
    rows += 0.8 * np.sin((np.arange(first, stop)[:, None] + 3 * np.arange(SENSORS)) * (2 * np.pi / 144))
    rows[draw.random((stop - first, SENSORS)) < 2e-4] += 9.0
    return rows * SPREADS + LEVELS


def main(rows: int, path: Path) -> None:
    array = np.lib.format.open_memmap(path, "w+", np.float64, (rows, SENSORS))
    for first in range(0, rows, TOGETHER):
        stop = min(first + TOGETHER, rows)
        array[first:stop] = part(first, stop)
    array.flush()


if __name__ == "__main__":
    given = sys.argv[1:]
    main(int(given[0]) if given else ROWS, Path(given[1]) if len(given) > 1 else Path(__file__).with_name("readings.npy"))
