"""The only module that imports z3, and it runs in a process of its own (`z3_process` starts it as a script).

One JSON line in is one question, one line out its answer.  Every question gets a context of its own and a fixed number of
steps, never a time limit, so that an answer does not depend on what was asked before or on how busy the machine is.
Memory is capped twice: z3 gives up beyond `megabytes`, and the system refuses the process more than `address_megabytes`.
The limit on processor seconds only stops a question whose steps are not being counted; a process that ends is no answer.

This file imports nothing of Rho, for it is run without it.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def cap(address_megabytes: int) -> None:
    """Refuse this process more address space, where the system can."""
    try:
        import resource
    except ImportError:
        return
    most = address_megabytes << 20
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError):
        return


def allow(seconds: int) -> None:
    """So many more seconds of processor time."""
    try:
        import resource
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (int(usage.ru_utime + usage.ru_stime) + seconds, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        return


def answer(z3: Any, question: dict[str, Any]) -> dict[str, Any]:
    """What z3 says: `sat` with the whole numbers asked for in order, `unsat`, or `unknown`."""
    try:
        solver = z3.SolverFor(question["logic"], ctx=z3.Context())
        solver.set("rlimit", question["steps"])
        solver.from_string(question["text"])
        status = solver.check()
        if status == z3.unsat:
            return {"found": "unsat"}
        if status == z3.sat:
            model = solver.model()
            values = {declared.name(): model[declared] for declared in model.decls()}
            return {"found": "sat", "model": [int(values[n].as_long()) if n in values else 0 for n in question["wanted"]]}
        if "interrupt" in solver.reason_unknown():
            return {"found": "interrupted"}
    except (z3.Z3Exception, ValueError, MemoryError):  # out of memory among them; a number of too many digits
        pass
    return {"found": "unknown"}


def main(folder: str, megabytes: str, address_megabytes: str, seconds: str) -> None:
    """Answer until there are no more questions."""
    cap(int(address_megabytes))
    sys.path.insert(0, folder)
    try:
        import z3
    except (ImportError, OSError, MemoryError):
        sys.stdout.write(json.dumps({"found": "absent"}) + "\n")
        return
    z3.set_param("memory_max_size", int(megabytes))
    for line in sys.stdin:
        allow(int(seconds))
        sys.stdout.write(json.dumps(answer(z3, json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
