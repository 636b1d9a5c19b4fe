"""Loop programs on a device: compiled once a text, launched nest by nest on the current stream.

Neighbours: `loops.cuda` (the text), `launching`, `rows`, `regions`, `scanning` and `keyed` (ask).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...kernels.kept import Kept
from ...kernels.nvrtc_leaf import OPTIONS
from ...loops.cuda import CudaText
from ...loops.cuda.text import THREADS, value
from ..cpu.kinds import DTYPES

MOST_BLOCKS: Final = 1 << 20


class Modules:
    """The compiled texts of one device."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self._modules: dict[str, Any] = {}
        self._functions: dict[tuple[str, str], Any] = {}
        self.launches: Kept[Any] = Kept(256)
        """Of library phases and of loops, by what they are for."""

    def function(self, source: str, name: str) -> Any:
        found = self._functions.get((source, name))
        if found is None:
            if source not in self._modules:
                self._modules[source] = self.xp.RawModule(code=source, options=OPTIONS)
            found = self._functions[source, name] = self._modules[source].get_function(name)
        return found

    def launch(self, source: str, name: str, blocks: int, args: Sequence[int]) -> None:
        """Every argument is a word of 64 bits: a size, a stride, an address."""
        words = tuple([np.int64(arg) for arg in args])
        self.function(source, name)((max(1, min(blocks, MOST_BLOCKS)),), (THREADS,), words)

    def run(self, text: CudaText, words: Sequence[int]) -> bool:
        """Enqueue a program whose parameters and views are such words; did a check fail?"""
        parameters = dict(zip(text.parameters, words, strict=False))
        shapes = [(tuple(value(length, parameters) for length in view.shape), view.kind) for view in text.scratch]
        rooms = [self.xp.empty(shape, DTYPES[kind]) for shape, kind in shapes]
        failed = self.xp.zeros((1,), np.int32) if text.is_checked else None
        rooms += [] if failed is None else [failed]
        every = (*words, *(int(room.data.ptr) for room in rooms))
        for grid in text.grids:
            self.launch(text.source, grid.name, grid.blocks(parameters), every)
        return failed is not None and bool(failed.item())
