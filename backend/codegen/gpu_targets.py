"""The GPU targets: the dialects in which loop programs are printed (CUDA C++ and OpenCL C, one table each), and the phases that
run on each; the host runs all other phases, between two transfers.

The printed text is the same in both dialects: the prelude of OpenCL C defines CUDA's names of number types and functions.

Nothing here needs a GPU, so that planning for one works anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import ArrayType, Kind
from ..graph import traverse
from ..graph.phases import (
    ARGUMENT_REDUCTIONS,
    ApplyNode,
    LibraryPhase,
    Phase,
    PhaseResult,
    ReadNode,
    Structured,
    ValueId,
    frame_of,
    kind_of,
)
from ..lower.body import KINDS, legalize
from ..lower.loop_order import LANES
from ..scalar.function_table import REDUCTIONS

# ---------------------------------------------------------------------------------------------- dialects

THREADS: Final = LANES
"""Threads per block in every launch."""


LEAST_ROW: Final = 256
"""Bytes of a row from which drivers copy rows that are not contiguous as they lie; shorter ones are packed."""


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """`kernel`, `function` and `constant` begin the definition of a kernel, a function and a table; `memory` and `shared` are the
    address spaces of the device and of a block; `group`, `groups` and `item` number blocks, and threads in a block; `joins` are
    atomic statements by function, with the words `unsigned` and `type`, the `space` and the `prefix` of their width."""

    name: str
    prelude: str
    kernel: str
    function: str
    constant: str
    memory: str
    shared: str
    group: str
    groups: str
    item: str
    barrier: str
    joins: Mapping[str, str]
    options: tuple[str, ...]


_TRUTHS: Final = {"or": "if ({item}) {to} = 1;", "and": "if (!{item}) {to} = 0;"}

CUDA: Final = Dialect(
    "CUDA C++",
    """typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
""",
    f'extern "C" __global__ void __launch_bounds__({THREADS})', "__device__ static", "__device__ static const",
    "", "__shared__ ", "blockIdx.x", "gridDim.x", "threadIdx.x", "__syncthreads();",
    {
        "add": "atomicAdd(({unsigned} *)&{to}, ({unsigned}){item});", "min": "atomicMin(&{to}, {item});",
        "max": "atomicMax(&{to}, {item});", **_TRUTHS,
    },
    ("--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"),
)  # fmt: skip
"""Its options: no contraction to fma, denormals are kept, quotients and roots are correctly rounded."""

_ATOMIC: Final = "{prefix}_%s((volatile {space}{%s} *)&{to}, ({%s}){item});"

OPENCL: Final = Dialect(
    "OpenCL C",
    """#pragma OPENCL FP_CONTRACT OFF
typedef long i64;
typedef ulong u64;
typedef uint u32;
typedef uchar u8;
#define __double_as_longlong(x) as_long((double)(x))
#define __longlong_as_double(x) as_double((i64)(x))
#define __float_as_int(x) as_int((float)(x))
#define __int_as_float(x) as_float((int)(x))
#define sqrtf sqrt
#define fabsf fabs
#define floorf floor
#define ceilf ceil
#define fmodf fmod
#define copysignf copysign
#define fmaf fma
""",
    f"__kernel __attribute__((reqd_work_group_size({THREADS}, 1, 1))) void", "static", "__constant",
    "__global ", "__local ", "(i64)get_group_id(0)", "(i64)get_num_groups(0)", "(i64)get_local_id(0)",
    "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    {
        "add": _ATOMIC % ("add", "unsigned", "unsigned"), "min": _ATOMIC % ("min", "type", "type"),
        "max": _ATOMIC % ("max", "type", "type"), **_TRUTHS,
    },
    ("-cl-std=CL1.2", "-w"),
)  # fmt: skip
"""Where a device rounds differently from the processor, that is a property of the device (`gpu.opencl`), not an option."""

DIALECTS: Final = {"cuda": CUDA, "opencl": OPENCL}
"""By back end."""


@dataclass(frozen=True, slots=True)
class Vendors:
    """The back ends that installed packages add: by name their `gpu.driver.CardKind`s, and the reason why one cannot be used."""

    kinds: Mapping[str, Any]
    broken: Mapping[str, str]


ENTRY_POINTS: Final = "rho.cards"
"""The group of entry points that load `CardKind`s; an entry point's name is its back end's."""


@cache
def vendors() -> Vendors:
    from importlib.metadata import entry_points

    kinds, broken = dict[str, Any](), dict[str, str]()
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            kinds[entry.name] = entry.load()
        except Exception as error:  # code of other packages
            broken[entry.name] = f"`{entry.value}` cannot be loaded: {error}"
    return Vendors(kinds, broken)


def dialect_of(backend: str) -> Dialect | None:
    """The dialect of a back end; None if the back end is no GPU."""
    if backend in DIALECTS or backend in ("cpu", "store"):
        return DIALECTS.get(backend)
    return getattr(vendors().kinds.get(backend), "dialect", None)

Types: TypeAlias = Mapping[ValueId, ArrayType]

# ---------------------------------------------------------------------------------------------- extensions

DOUBLE: Final = "cl_khr_fp64"
ATOMICS: Final = ("cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics")
EXTENSIONS: Final = (DOUBLE, *ATOMICS)
"""The OpenCL extensions that kernels may need and not all devices have.  No kernel needs shared virtual memory: arrays are
buffers."""


def needed_extensions(phase: Phase, types: Types) -> frozenset[str]:
    """Returns the extensions that the kernels of a phase and of its inner phases need."""
    needed = set[str]()
    for one in (phase, *(inner for body in traverse.subgraphs(phase) for inner in traverse.all_phases(body))):
        kinds = {types[value].element.kind for value in (*traverse.uses(one), *traverse.results(one)) if value in types}
        if isinstance(one, Structured):
            kinds |= {kind_of(node) for node in one.body}
        if kinds & {Kind.F64, Kind.C128}:
            needed.add(DOUBLE)
        if isinstance(one, LibraryPhase) and one.op == "key_reduce" and types[one.args[1]].element.kind is Kind.I64:
            needed.update(ATOMICS)
    return frozenset(needed)


# ---------------------------------------------------------------------------------------------- coverage

Condition: TypeAlias = Callable[[LibraryPhase, Types], bool]


def missing(phase: Phase, types: Types, dialect: Dialect, lacks: Collection[str] = ()) -> str | None:
    """Returns the part of a phase that a GPU does not run, in words, or the needed extension that the GPU `lacks`; None if it
    runs all of it.  Of inner phases only the extensions are checked."""
    if lacks and (absent := needed_extensions(phase, types).intersection(lacks)):
        return min(absent, key=EXTENSIONS.index)
    match phase:
        case Structured():
            has_body = (body := legalize(phase, complexes=True)) is not None and not body.is_right_fold
            return None if _is_renaming(phase) or has_body else _missing_function(phase)
        case LibraryPhase():
            row = LIBRARY.get(phase.op)
            if row is not None and (row.condition if dialect is CUDA else row.opencl)(phase, types):
                return None
            kinds = [types[value].element.kind.value for value in phase.args]
            return ".".join((phase.op, *kinds[-1:]))
        case _:
            return None


def _is_renaming(phase: Structured) -> bool:
    return all(r.reduction is None and isinstance(phase.body[r.node], ReadNode) for r in phase.results)


def _missing_function(phase: Structured) -> str:
    """Returns the first application in a phase's body that kernels lack; None if they have all."""
    for result in phase.results:
        kind = kind_of(phase.body[result.node])
        if result.reduction is not None and not _is_reduced(result.reduction, kind):
            return f"reduce.{result.reduction}.{kind.value}"
    for node in (node for node in phase.body if isinstance(node, ApplyNode)):
        if legalize(_alone(phase, node), complexes=True) is None:
            return f"{node.function}.{kind_of(phase.body[node.args[-1]]).value}"
    return "body"


def _is_reduced(function: str, kind: Kind) -> bool:
    if kind.is_complex:
        return function == "add"
    return (function in REDUCTIONS or function in ARGUMENT_REDUCTIONS) and kind is not Kind.CHAR


def _alone(phase: Structured, node: ApplyNode) -> Structured:
    """Returns the phase reduced to one node as its only result."""
    position = next(i for i, other in enumerate(phase.body) if other is node)
    return replace(phase, body=phase.body[: position + 1], results=(PhaseResult(phase.results[0].value, position, None),))


# ------------------------------------------------------------------------------------------ library


def _always(phase: LibraryPhase, types: Types) -> bool:
    return True


def _plain(phase: LibraryPhase, types: Types) -> bool:
    return not frame_of(phase)


def _never(phase: LibraryPhase, types: Types) -> bool:
    return False


def _kind(phase: LibraryPhase, types: Types, operand: int = 0) -> Kind:
    return types[phase.args[operand]].element.kind


def _scan(phase: LibraryPhase, types: Types) -> bool:
    """Runs scans by every function that kernels reduce with."""
    kind = _kind(phase, types)
    return kind in KINDS and kind is not Kind.CHAR and phase.attributes.get("function") in REDUCTIONS


def _contract(phase: LibraryPhase, types: Types) -> bool:
    return not frame_of(phase) and _kind(phase, types) not in (Kind.BOOL, Kind.CHAR)


def _grade(phase: LibraryPhase, types: Types) -> bool:
    """Runs grades of rows below a frame, and of the major cells of one array."""
    rank, frame = len(types[phase.args[0]].shape), frame_of(phase)
    return not _kind(phase, types).is_complex and (rank == frame + 1 or (not frame and rank > 1))


def _key_reduce(phase: LibraryPhase, types: Types) -> bool:
    """Runs reductions by key without a frame; a sum of complex numbers is two sums."""
    kind, function = _kind(phase, types, 1), phase.attributes.get("function")
    if len(types[phase.args[1]].shape) < len(types[phase.args[0]].shape):
        return False
    if kind.is_complex:
        return not frame_of(phase) and function == "add"
    return not frame_of(phase) and kind in KINDS and kind is not Kind.CHAR and function in REDUCTIONS


def _search(phase: LibraryPhase, types: Types) -> bool:
    """Runs searches with operands of one kind, in a table whose major cells are items."""
    return _member(phase, types) and len(types[phase.args[0]].shape) == 1


def _member(phase: LibraryPhase, types: Types) -> bool:
    kinds = {types[value].element.kind for value in phase.args}
    return not frame_of(phase) and len(kinds) == 1 and not kinds.pop().is_complex


def _equations(phase: LibraryPhase, types: Types) -> bool:
    """Runs one square system; rank deficiency is detected as on the CPU."""
    shape = types[phase.args[-1]].shape
    return not frame_of(phase) and len(shape) == 2 and shape[0] == shape[1]


@dataclass(frozen=True, slots=True)
class CardExecution:
    """When and by what a library operation runs on a CUDA GPU, which part of it still runs on the host, and when it runs on an
    OpenCL device; `implementation`: as the documentation names it.

    Only `gather`, `scan`, `sort`, `grade` and transforms may have a frame on a GPU.  A kernel may use a sort by CuPy or by the
    host.
    """

    condition: Condition
    otherwise: str = ""
    implementation: str = "CuPy"
    opencl: Condition = _never


_TWO_KINDS: Final = "two kinds, complex"
_CELLS: Final = "cells, two kinds, complex"
_NOT_SQUARE: Final = "matrices that are not square"
def _kernel(condition: Condition, otherwise: str = "", opencl: Condition | None = None) -> CardExecution:
    return CardExecution(condition, otherwise, "generated kernels", opencl or condition)


def _copies(condition: Condition) -> CardExecution:
    return CardExecution(condition, "", "copies", condition)


LIBRARY: Final[dict[str, CardExecution]] = {
    "size_vector": _copies(_always), "runtime_size": _copies(_plain), "join": _copies(_plain), "stack": _copies(_plain),
    "broadcast": _copies(_plain),
    **{op: CardExecution(_plain) for op in ("mask_update", "compress", "expand", "where", "random", "update")},
    **{op: CardExecution(_always) for op in ("fft", "ifft", "rfft", "irfft")},
    "rotate": _kernel(_plain), "reshape_cycle": _kernel(_plain),
    "gather": _kernel(_always),
    "scan": _kernel(_scan, "complex numbers, functions that are not associative"), "scan_totals": _kernel(_scan),
    "key_reduce": _kernel(_key_reduce, "frames, functions that are not `+ × ⌊ ⌈ ∧ ∨`, complex but for `+`"),
    "contract": CardExecution(
        _contract, "frames, truth values",
        opencl=lambda phase, types: _contract(phase, types) and not _kind(phase, types).is_complex,
    ),
    "sort": CardExecution(_grade, "complex numbers"),
    "grade": CardExecution(_grade, "complex numbers, matrices in a frame"),
    "index_of": CardExecution(_search, _CELLS), "interval_index": CardExecution(_search, _CELLS),
    "member_of": CardExecution(_member, _TWO_KINDS),
    "match": CardExecution(_member, "operands of two kinds"), "first_occurrence": CardExecution(_search, "cells, complex"),
    "inverse": CardExecution(_equations, _NOT_SQUARE), "solve": CardExecution(_equations, _NOT_SQUARE),
    "cholesky": CardExecution(_equations, "frames"), "det": CardExecution(_equations, "frames"),
}  # fmt: skip
"""The library operations that run on GPUs; all others always run on the host."""


_OPENCL: Final = {"contract": "a loop, but of complex numbers", "key_reduce": "generated kernels, sorted on the host"}


def table() -> list[str]:
    """Returns the table of where each library operation runs, as lines of docs/devices-gpu.md."""
    lines = ["| library phase | on CUDA | on OpenCL | on the host |", "|---|---|---|---|"]
    for op, row in sorted(LIBRARY.items()):
        opencl = "" if row.opencl is _never else _OPENCL.get(op, row.implementation)
        lines.append(f"| `{op}` | {row.implementation} | {opencl} | {row.otherwise} |")
    return [*lines, "| all others | | | always |"]
