"""The z3 process: the only module that imports z3, run as a script by `z3_process`.

It reads one query a line as JSON and writes one answer a line.  Every query has its own z3 context and a fixed limit of steps,
not of time, so that answers do not depend on earlier queries or on the load of the machine.  Memory is limited twice: z3 gives up
beyond `megabytes`, and the system refuses the process more than `address_megabytes`.  The limit on processor time only stops a
query in a phase that counts no steps; a process that ends has given no answer.

The script runs without Rho on its path, so it imports nothing of it.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def cap(address_megabytes: int) -> None:
    """Limit the address space of this process, where the system can."""
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
    """Raise this process's limit on processor time by so many seconds."""
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
    """The answer of z3 to a query: `sat` with the integers asked for in order, `unsat`, or `unknown`."""
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
    except (z3.Z3Exception, ValueError, MemoryError):  # out of memory, or too many digits
        pass
    return {"found": "unknown"}


def main(folder: str, megabytes: str, address_megabytes: str, seconds: str) -> None:
    """Answer queries until the input ends."""
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
