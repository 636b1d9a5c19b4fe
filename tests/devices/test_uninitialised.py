"""No kernel reads what nothing has written: results do not depend on what is in new memory.

(Oclgrind's own check reports reads that are right.)  Buffers of the device are full of a poison before they are used, and so is
the memory that the threads of a block share, by a loop that each kernel begins with.  Results with two poisons are those of the
processor.  Where a store is left out, a result differs: every mistake of this kind that is planted is arrays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from share import drawing, share

from rho.backend.codegen.gpu_targets import OPENCL, THREADS
from rho.backend.gpu import opencl
from rho.backend.gpu.device import card_backend
from rho.tests.devices.opencl_devices import DEVICES, cases, loadable, needs_opencl, on_device, on_processor
from rho.tests.harness.tiers import checked
from rho.typechecker.core.operations import Core

pytestmark = [needs_opencl, pytest.mark.long]
POISONS = (0x00, 0xFF)
"""Zeros, and what is ¯1 and NaN."""
_SHARED = re.compile(r"^  __local (\w+) (\w+)\[(\d+)\];$", re.MULTILINE)
_STORE = {
    "item": re.compile(r"^( *)(?:if \([^;{]*\) )?\*\(__global \w+ \*\)\(y\d[^;=]*\) = [^;]*;$", re.MULTILINE),
    "partial": re.compile(r"^( *)\(\(__global \w+ \*\)partials\w*\)\[[^;=]*\] = [^;]*;$", re.MULTILINE),
    "shared": re.compile(r"^( *)(?:lanes\w*|tile|sums|shared)\[[^=]*\] = [^;]*;$", re.MULTILINE),
}
_UNSET = re.compile(r"^ *(?:const )?(?:double|float|bool|int|i64|u64|u32|u8) \w+;$", re.MULTILINE)


def poisoned(text: str, poison: int) -> str:
    """The text with the memory that threads share full of a poison when each kernel begins."""
    kernels = re.split(rf"^(?={re.escape(OPENCL.kernel.split('(')[0])})", text, flags=re.MULTILINE)
    return "".join(_filled(kernel, poison) for kernel in kernels)


def _filled(kernel: str, poison: int) -> str:
    arrays = [*_SHARED.finditer(kernel)]
    if not arrays:
        return kernel
    fills = [
        f"  for (i64 p_ = (i64)get_local_id(0); p_ < (i64)sizeof({name}); p_ += {THREADS}) ((__local u8 *){name})[p_] = {poison};"
        for name in (one[2] for one in arrays)
    ]
    end = arrays[-1].end()
    return kernel[:end] + "\n" + "\n".join([*fills, f"  {OPENCL.barrier}"]) + kernel[end:]


class Poisoner:
    """Device 0 with new memory full of a poison, and texts without a store, if one is left out."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.poison, self.left_out, self.which, self.texts, self.changed = 0, "", 0, list[str](), 0
        driver: Any = card_backend("opencl", DEVICES[0].number, None).card.driver
        self.driver, allocate, built = driver, driver.allocate, opencl._built
        patch.setattr(driver, "_kernels", {})

        def allocated(size: int) -> Any:
            memory = allocate(size)
            if size:
                driver.cl.enqueue_fill_buffer(driver.compute, memory.buffer, np.uint8(self.poison), 0, size).wait()
            return memory

        def build(context: Any, text: str, options: list[str]) -> Any:
            self.texts.append(text)
            stores = [*_STORE[self.left_out].finditer(text)] if self.left_out else []
            if stores and not self.changed:
                one = stores[self.which % len(stores)]
                text, self.changed = f"{text[: one.start()]}{one[1]};{text[one.end() :]}", 1
            return built(context, poisoned(text, self.poison), options)

        patch.setattr(driver, "allocate", allocated)
        patch.setattr(opencl, "_built", build)

    def outcomes(self, core: Core, given: Mapping[str, Any], left_out: str = "", which: int = 0) -> Iterator[Any]:
        """The results with each poison."""
        self.left_out, self.which = left_out, which
        for self.poison in POISONS:
            self.changed = 0
            self.driver._kernels.clear()
            yield on_device(core, given, DEVICES[0].number)


def test_results_do_not_depend_on_what_is_in_new_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    poisoner, ran = Poisoner(monkeypatch), 0
    for text, given in share(cases(), 23)[::4]:
        core = loadable(text, given)
        if core is not None:
            ran += 1
            wanted = on_processor(core, given)
            assert all(got == wanted for got in poisoner.outcomes(core, given)), text
    assert ran and poisoner.texts
    assert not [text for text in poisoner.texts if _UNSET.search(text)], "every register is set where it is declared"


PLANTED = {
    "item": ("output r ← x+1", "output r ← +/M", "output r ← 3 5⍴i", "output r ← ⌽x"),
    "partial": ("output r ← +/L", "output r ← ×/1+L÷1e9"),
    "shared": ("output r ← +/L", "output r ← +\\L", "output r ← 4+⌸(k ⋄ i)", "output r ← ⌈/M"),
}
DECLARED = "input x : f64[n]\ninput M : f64[r c]\ninput L : f64[m]\ninput i : i64[n]\ninput k : idx<4>[n]\n"


@pytest.mark.parametrize("left_out", PLANTED)
def test_a_store_that_is_left_out_is_seen(left_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, poisoner, planted = drawing(left_out), Poisoner(monkeypatch), 0
    given = {
        "x": np.arange(1.0, 9), "M": np.arange(1.0, 601).reshape(2, 300), "L": np.arange(1.0, 9002), "i": np.arange(1, 9),
        "k": np.arange(8) % 4,
    }  # fmt: skip
    for text in PLANTED[left_out]:
        core = checked(f"{DECLARED}{text}\n")
        assert core is not None, text
        wanted, which = on_processor(core, given), draw.randrange(8) if left_out == "item" else 0
        got = [*poisoner.outcomes(core, given, left_out, which)]
        if poisoner.changed:
            planted += 1
            assert any(one != wanted for one in got), (text, which)
    assert planted, left_out
