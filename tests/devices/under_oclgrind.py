"""Runs a share of the test programs on Oclgrind, which writes races and accesses outside of memory to a file.

The argument is a mistake that each kernel gets: `barrier`, the first one of a text is left out; `bounds`, items are stored far
behind the last; `nothing`.  Prints how many programs ran, and how many texts had a place for the mistake.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "harness"))

from share import share

from rho.backend.codegen.gpu_targets import OPENCL
from rho.backend.gpu import opencl
from rho.tests.devices.opencl_devices import cases, loadable, on_device

SIMULATOR = "Oclgrind"


def planted(mistake: str, text: str) -> str:
    match mistake:
        case "barrier":
            return text.replace(OPENCL.barrier, "", 1)
        case "bounds":
            return re.sub(r"(\*\(__global \w+ \*\)\(y0[^;=]*)\) = ", r"\1 + (1 << 20)) = ", text, count=1)
        case _:
            return text


def main(mistake: str) -> None:
    number = next(gpu.number for gpu in opencl.gpus() if gpu.version.startswith(SIMULATOR) and not gpu.lacks)
    built, changed = opencl._built, 0

    def with_mistake(context: Any, text: str, options: list[str]) -> Any:
        nonlocal changed
        wrong = planted(mistake, text)
        changed += wrong != text
        return built(context, wrong, options)

    opencl._built = with_mistake
    chosen = [case for case in share(cases(), 7) if mistake != "barrier" or "+/" in case[0]]
    ran = 0
    for text, given in chosen[::2] if mistake == "nothing" else chosen[:12]:
        core = loadable(text, given)
        if core is not None:
            ran += 1
            try:
                on_device(core, given, number)
            except AssertionError:  # a check that fails because of the mistake alone
                assert mistake != "nothing"
    print(ran, changed)


if __name__ == "__main__":
    main(sys.argv[1])
