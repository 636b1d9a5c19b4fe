"""Look-up of a device's cost tables by operation and element type, with fallbacks; and profiles written in Python."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from math import ceil, isfinite
from typing import Any, Final

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.support.files import Pipes, read_text
from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from ...typechecker.core.operations import CoreGuard
from ...typechecker.elements import Kind
from ..graph.bind_sizes import NO_KNOWN_VALUES, KnownValues
from ..graph.phases import PhaseId, ValueId
from .profile import BY_WORK, SCHEMA, CostTable, DeviceProfile, Grains, Profile, kinds_near
from .profile_toml import LARGEST, Places, Problems, profile_of, shown

# ---------------------------------------------------------------------------------------------------- tables of a device

OPERANDS: Final = 3
"""Items that an operation touches, for tables by bytes: two operands and a result."""


@dataclass(frozen=True, slots=True)
class Around:
    """The context of a phase in its program.

    `total`: bytes touched between two runs of the phase; `since[v]`: bytes touched since value v was last used.  `unknown`: does
    the phase have run-time sizes?  `alike`: are all operands views of one value?  `handed`: did a single thread of a library
    phase produce an operand?  `before`: bytes of the phase that ran just before (0 for a program's first phase), which evict the
    executor's data from the caches.  `apart`: bytes of all other phases, which evict the phase's own code and data.  `binary`:
    are the bases that it encodes by powers of two?"""

    total: int = 0
    since: Mapping[ValueId, int] = field(default_factory=dict)
    unknown: bool = False
    alike: bool = False
    handed: bool = False
    before: int = 0
    apart: int = 0
    binary: bool = False


class NoTable(Exception):
    """Raised where the device has no table for `operation`, so that it cannot run the phase."""

    def __init__(self, operation: str) -> None:
        super().__init__(operation)
        self.operation = operation


class Rates:
    """The tables of one device.  `reuses`: results overwrite operands, so that no fresh memory is touched."""

    def __init__(
        self, device: DeviceProfile, *, reuses: bool = False, around: Mapping[PhaseId, Around] | None = None,
        guards: Sequence[CoreGuard] = (), known: KnownValues = NO_KNOWN_VALUES,
    ) -> None:  # fmt: skip
        self.device = device
        self.guards, self.known = guards, known
        self.reuses = reuses
        self.around = around or {}
        self.measured = "step.f64" in device.ops
        self.kernels = "row.add.f64" in device.ops
        self._found: dict[tuple[tuple[str, ...], Kind], CostTable | None] = {}

    def reusing(self) -> Rates:
        return self if self.reuses else self._with(self.around, reuses=True)

    def _with(self, around: Mapping[PhaseId, Around], *, reuses: bool) -> Rates:
        return Rates(self.device, reuses=reuses, around=around, guards=self.guards, known=self.known)

    def gathering(self, one: PhaseId, members: Sequence[PhaseId]) -> Rates:
        """The tables in a context where `one` represents all these phases together."""
        known = [self.around[member] for member in members if member in self.around]
        since = {value: size for around in reversed(known) for value, size in around.since.items()}
        unknown = any(each.unknown for each in known)
        handed = any(each.handed for each in known)
        before = known[0].before if known else 0
        apart = min((each.apart for each in known), default=0)
        around = Around(max((each.total for each in known), default=0), since, unknown, handed=handed, before=before, apart=apart)
        return self._with({**self.around, one: around}, reuses=self.reuses)

    def table(self, stems: Iterable[str], kind: Kind) -> CostTable | None:
        """The first existing table: first the exact name by exact, then by similar kinds, then more general names; None if there
        is none."""
        key = (tuple(stems), kind)
        if key not in self._found:
            names = (f"{stem}.{near.value}" for stem in key[0] for near in kinds_near(kind))
            self._found[key] = next((self.device.ops[name] for name in names if name in self.device.ops), None)
        return self._found[key]

    def phase_table(self, stems: Iterable[str], kind: Kind) -> CostTable | None:
        """The table of a library phase; for a declared device without one, from its roofline."""
        wanted = tuple(stems)
        table, roof = self.table(wanted, kind), self.device.roofline
        if table is not None or roof is None or self.measured:
            return table
        if wanted[0].partition(".")[0] in BY_WORK:
            return CostTable.of_rate(roof.flops)
        return CostTable.of_rate(min(roof.bandwidth, roof.flops * OPERANDS * kind.bytes))

    def require(self, stems: Iterable[str], kind: Kind) -> CostTable:
        wanted = tuple(stems)
        table = self.phase_table(wanted, kind)
        if table is None:
            raise NoTable(f"{wanted[0]}.{kind.value}")
        return table

    def grains(self, stems: Iterable[str], kind: Kind, size: int) -> Grains:
        """The grains for `size`.  Raises NoTable."""
        return self.require(stems, kind).at(size)


# ---------------------------------------------------------------------------------------------------- profiles as Python code
#
# Profiles written by a Python function, which runs once; from then on a profile is data.
#
# The file has a function `profile()` that returns the contents of a `device-profile/1` file as dicts and lists.  In place of a
# table it may have a function from a size to nanoseconds, which is sampled at powers of four, or at the sizes of `{"size": […],
# "ns": function}`.  The result is read like any profile, so no code runs later.

LARGEST_CODE: Final = 1 << 20
"""The most characters of the file."""
SIZES: Final = tuple(1 << power for power in range(6, 37, 2))
"""The sizes at which a function without its own sizes is sampled: 64 bytes to 64 GiB."""
DEEPEST: Final = 20


def profile_from(path: str) -> Profile:
    """The profile that a file's `profile()` returns.  Raises Refused: E704 for an unreadable file, E705 if the function fails or
    returns no profile."""
    try:
        text = read_text(path, LARGEST_CODE, Pipes.REFUSED)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Refused([Diagnostic(Code.E704, f"`{path}` cannot be read: {reason}", Span(path, 0, 0))]) from None
    names: dict[str, Any] = {"__name__": "costs", "__file__": path}

    def give() -> object:
        exec(compile(text, path, "exec"), names)
        function = names.get("profile")
        if not callable(function):
            raise TypeError("there is no function `profile()`, whose result is the profile")
        return function()

    values = _run(give, path, text)
    if not isinstance(values, Mapping):
        raise _refused(path, text, 0, f"`profile()` gives {type(values).__name__}, not a dict")
    plain = _plain(values, path, text, "", 0)
    return profile_of({"schema": SCHEMA, **plain}, Problems(Places(path, text, {})))


def _run(code: Callable[[], object], path: str, text: str) -> object:
    try:
        return code()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # user code, which may also exit
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
        frames = traceback.extract_tb(error.__traceback__)
        line = line or next((frame.lineno for frame in reversed(frames) if frame.filename == path), None)
        raise _refused(path, text, line or 0, f"{type(error).__name__}: {error}") from None


def _refused(path: str, text: str, line: int, message: str) -> Refused:
    """The error E705 at a line, counted from 1 (0: at the beginning)."""
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1])) if line else 0
    length = len(lines[line - 1].rstrip()) if 0 < line <= len(lines) else 0
    return Refused([Diagnostic(Code.E705, message, Span(path, start, start + length))])


def _plain(value: object, path: str, text: str, path_within: str, depth: int) -> Any:
    """The values as a profile file has them: dicts, lists, texts, integers, decimals; functions become tables."""
    if depth > DEEPEST:
        raise _refused(path, text, 0, f"{path_within}: nested too deeply")
    match value:
        case bool() | str():
            return value
        case Mapping():
            if callable(function := value.get("ns")) and set(value) <= {"size", "ns"}:
                sizes = _plain(value.get("size", SIZES), path, text, f"{path_within}.size", depth + 1)
                return _table(function, sizes, path, text, path_within)
            return {str(name): _plain(one, path, text, f"{path_within}.{name}".lstrip("."), depth + 1) for name,
                one in value.items()}
        case Sequence():
            return [_plain(one, path, text, f"{path_within}[{i}]", depth + 1) for i, one in enumerate(value)]
        case float():
            return Decimal(repr(value))
        case _ if hasattr(value, "__index__"):
            return int(value)
        case _ if callable(value):
            return _table(value, list(SIZES), path, text, path_within)
        case _ if hasattr(value, "isoformat"):
            return value
    raise _refused(path, text, 0, f"{path_within}: {type(value).__name__} has no place in a profile")


def _table(function: Callable[[int], object], sizes: object, path: str, text: str, path_within: str) -> dict[str, Any]:
    """The table of a function's values at some sizes, rounded up."""
    if not isinstance(sizes, list) or not all(isinstance(size, int) for size in sizes):
        raise _refused(path, text, 0, f"{path_within}.size: must be whole numbers, not {shown(sizes)}")
    times: list[int] = []
    for size in sizes:
        ns = _run(lambda size=size: function(size), path, text)  # type: ignore[misc]
        number = float(ns) if isinstance(ns, int | float) or hasattr(ns, "__float__") else float("nan")
        if not (isfinite(number) and 0 <= number <= LARGEST):
            raise _refused(path, text, 0, f"{path_within}: at size {size} it says {shown(ns)}, not a number of nanoseconds")
        times.append(ceil(number))
    return {"size": sizes, "ns": times}
