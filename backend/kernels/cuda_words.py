"""What every text for cards begins with, and how its functions are launched.

Neighbours: `loops.cuda` (prints loop programs), `cuda_bins` (is written by hand).
"""

from __future__ import annotations

from typing import Final

from .ir import LANES

THREADS: Final = LANES
"""Threads of a block, of every launch."""
SHARED: Final = 40 << 10
"""Bytes of a block's own memory that are used, of the 48 KiB that it may have on any card."""
PRELUDE: Final = """typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
"""
