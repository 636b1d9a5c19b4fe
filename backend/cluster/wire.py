"""Messages between processes: a kind, a few facts as JSON, and arrays that are received straight into their own memory.

A connection may be read by one thread and written by others.  Its socket never blocks: a thread waits for the socket outside the
lock, which is held only around single calls (an encrypted socket must not be read and written at once).  Every received byte is a
sign of life; a long silence raises `Lost`, as does the end of the connection.  How long depends on what is seen of the other
process (`doing`): one that runs, or wants to, is waited for longer, one that was stopped is not; where nothing is seen, on the
silences before (an adaptive failure detector).
"""

from __future__ import annotations

import json
import math
import select
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing, suppress
from enum import IntEnum
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import monotonic, perf_counter_ns
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ...lang.diagnostics.model import Code, Diagnostic, Label, RunFailed
from ...lang.support.files import read_bytes
from ...lang.support.processes import POLL_SECONDS
from ...lang.support.records import dataclass, require_invariant
from ...lang.syntax.source import Source, Span, module_name
from ...typechecker.check import check
from ...typechecker.core.operations import Core
from ...typechecker.sizes.polynomials import SizeVariable
from ..devices.profile import CostTable
from ..graph.bind_sizes import BoundGraph, bind
from ..graph.lowering.blocks import lower
from ..graph.passes.pipeline import optimise, optimise_with_sizes
from ..graph.phases import PhaseId
from ..schedule.plan.plan import ExecutionPlan, PlanFormatError, decode_plan, encode_plan
from ..schedule.streams.pass_partitioning import CannotStream, partition_passes
from ..schedule.streams.stream_planning import Streaming, StreamRewrite, StreamRewriteKind, rewritten
from ..schedule.streams.tile_demands import PassPartitioning
from ..schedule.verify.plan_checks import check_plan

# ---------------------------------------------------------------------------------------------------- messages

_HEAD: Final = struct.Struct("!BIQ")
LARGEST_FACTS: Final = 128 << 20
PATIENCE: Final = 8.0
"""Seconds of silence after which the other end counts as dead; home sends a message at least every `PULSE` seconds."""
PULSE: Final = 1.0
SILENCES: Final = 8
"""The other end may be silent for so many times as long as it once was before it answered."""
MOST_PATIENCE: Final = 60.0
_LOOKING_MS: Final = 200
"""Milliseconds between checks, during a wait, whether the connection was closed."""
Door: TypeAlias = tuple[str, int, str]
"""The host and port of a resident, and the token that it accepts."""
_ELEMENTS: Final = frozenset("?bBhHiIlLqQefdgFDGU")


class MessageKind(IntEnum):
    """The kind of a message; home sends the first one."""

    HELLO = 1  # asks for admission: the token, and the role
    PING = 2  # also measures the round trip
    PONG = 3
    LEASE = 4  # question: home leases this worker; which programs and values does it have?
    LOAD = 5  # question: a program with its plan
    MEASURE = 6  # question: how long do messages to another worker take?
    SEE = 7  # question: are these files the same for you, and how fast do you read them?
    REST = 8  # question: is everything at rest?
    ANSWER = 9  # the answer to a question, by its number
    RUN = 10
    DATA = 11  # arrays of a transfer
    FENCE = 12  # a queue has reached a fence
    DROP = 13  # drop the kept value of a transfer, which has changed
    FAILED = 14  # a failure of the program ended a queue
    LOST = 15  # another worker does not answer
    STOP = 16  # stop all queues
    DONE = 17  # the run has ended; with the times of steps if home observes it
    RELEASE = 18
    DESCRIBE = 19  # question: which cost tables does this worker have, and what is its current slowdown?
    TILES = 20  # run these tiles of a pass, with the whole values that they read


class Message(NamedTuple):
    kind: MessageKind
    facts: dict[str, Any]
    arrays: list[Any]


class Lost(Exception):
    """Raised when the other end is gone: `process` is its number, and `words` the reason."""

    def __init__(self, process: int, words: str) -> None:
        super().__init__(words)
        self.process, self.words = process, words


class Ended(Lost):
    """Raised when the other end has closed the connection."""


class Connection:
    """A connection to one process."""

    def __init__(
        self, sock: socket.socket, process: int = -1, patience: float = PATIENCE, until: float | None = None
    ) -> None:  # fmt: skip
        """`until`: a time after which no wait continues, whatever has arrived by then."""
        sock.setblocking(False)
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock, self.process, self.patience, self.until = sock, process, patience, until
        self.closed, self.longest_silence = False, 0.0
        self.doing: Callable[[], str] = lambda: ""
        """What the other process is seen to do (`processes.doing`)."""
        self._writing, self._socket = threading.Lock(), threading.Lock()
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(sock, select.POLLIN)
        self._writable.register(sock, select.POLLOUT)

    def send(self, kind: MessageKind, facts: Mapping[str, Any] | None = None, arrays: Sequence[Any] = ()) -> None:
        """Sends a message.  Raises Lost if the other end does not receive it."""
        contiguous = [np.ascontiguousarray(array).reshape(np.shape(array)) for array in arrays]
        said = dict(facts or {})
        if contiguous:
            said["arrays"] = [[array.dtype.str, array.shape] for array in contiguous]
        text = json.dumps(said, separators=(",", ":")).encode() if said else b""
        head = _HEAD.pack(kind, len(text), sum(array.nbytes for array in contiguous))
        with self._writing:
            for data in (memoryview(head + text), *map(bytes_of, contiguous)):
                self._move("send", self._writable, data)

    def receive(self, largest: int = LARGEST_FACTS, *, with_arrays: bool = True) -> Message:
        """Receives a message.  Raises Lost if none arrives, or one with more than `largest` bytes of facts or with unexpected
        arrays."""
        number, length, size = _HEAD.unpack(self._read(bytearray(_HEAD.size)))
        try:
            if length > largest or (size and not with_arrays):
                raise ValueError(length, size)
            facts = json.loads(self._read(bytearray(length))) if length else {}
            forms = [_form(*one) for one in facts.pop("arrays", ())]
            if sum(math.prod(shape) * kind.itemsize for kind, shape in forms) != size:
                raise ValueError(size)
            message = Message(MessageKind(number), facts, [np.empty(shape, kind) for kind, shape in forms])
        except MemoryError:
            raise Lost(self.process, f"it sent {length + size} bytes, for which there is no memory") from None
        except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
            raise Lost(self.process, "it sent something that is not a message") from None
        for array in message.arrays:
            self._move("recv_into", self._readable, bytes_of(array))
        return message

    def shake_hands(self) -> None:
        """Performs the TLS handshake of an encrypted connection.  Raises Lost if it fails."""
        if isinstance(self.sock, ssl.SSLSocket):
            self._retried("do_handshake", self._readable)

    def close(self) -> None:
        """Closes the connection; threads that wait for it get Lost."""
        self.closed = True
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        with self._socket:
            self.sock.close()

    # ------------------------------------------------------------------------------------------------

    def _read(self, room: bytearray) -> bytearray:
        self._move("recv_into", self._readable, memoryview(room))
        return room

    def _move(self, call: str, ready: Any, left: memoryview) -> None:
        """Sends all of these bytes, or fills all of them."""
        while left:
            count: int = self._retried(call, ready, left)
            if count == 0:
                raise Ended(self.process, "the connection ended")
            left = left[count:]

    def _retried(self, call: str, ready: Any, *arguments: memoryview) -> Any:
        """The result of a method of the socket, repeated until it need not wait."""
        while True:
            try:
                with self._socket:
                    return getattr(self.sock, call)(*arguments)
            except BlockingIOError:
                self._wait(ready)
            except ssl.SSLWantReadError:
                self._wait(self._readable)
            except ssl.SSLWantWriteError:
                self._wait(self._writable)
            except (OSError, ValueError) as error:
                raise Ended(self.process, getattr(error, "strerror", None) or "the connection ended") from None

    def _wait(self, ready: Any) -> None:
        start = monotonic()
        until = start + self.patience
        if self.until is not None:
            if start > self.until:
                raise Lost(self.process, "it took too long to say who it is")
            until = min(until, self.until)
        while not ready.poll(_LOOKING_MS):
            if self.closed:
                raise Lost(self.process, "the connection was closed")
            if monotonic() > until:
                doing = "" if self.until is not None else self.doing()
                longest = {"working": MOST_PATIENCE, "stopped": 0.0}.get(doing, SILENCES * self.longest_silence)
                until = min(monotonic() + self.patience, start + min(longest, MOST_PATIENCE))
                if self.until is not None or monotonic() > until:
                    seen = {"stopped": ": its process is stopped", "waiting": ": its process waits"}.get(doing, "")
                    raise Lost(self.process, f"it has said nothing for {monotonic() - start:.0f} seconds{seen}")
        self.longest_silence = max(self.longest_silence, monotonic() - start)


def bytes_of(array: Any) -> memoryview:
    return memoryview(array.reshape(-1).view(np.uint8))


def _form(dtype: str, shape: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
    kind = np.dtype(dtype)
    if kind.char not in _ELEMENTS or kind.hasobject or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(dtype, shape)
    return kind, tuple(shape)


def connect(
    to: Door, process: int, hello: Mapping[str, Any], context: ssl.SSLContext | None, timeout: float = 10.0
) -> Connection:  # fmt: skip
    """A connection to a resident.  Raises Lost if there is none."""
    host, port, token = to
    try:
        sock = socket.create_connection((host, port), timeout)
        if context is not None:
            sock = context.wrap_socket(sock, server_hostname=host if context.check_hostname else None)
    except OSError as error:
        raise Lost(process, f"{host}:{port} does not answer ({error.strerror or error})") from None
    connection = Connection(sock, process)
    connection.send(MessageKind.HELLO, {"token": token, **hello})
    return connection


# ---------------------------------------------------------------------------------------------------- serialization
#
# Serialization of a program with its plan as text: home sends it and a worker reads it.
#
# A worker checks, lowers and binds the program again, as the loader of a stored plan does, and verifies the plan before it runs.
# Both ends must have exactly the same source of Rho.

_PACKAGE: Final = Path(__file__).parents[2]
_MOST_BYTES: Final = 16 << 20
"""The most bytes of a source file of Rho."""
_SHIPPED: Final[deque[tuple[ExecutionPlan, dict[str, Any]]]] = deque(maxlen=16)
"""The facts of recent plans, since writing them takes as long as a small run."""
_ROOMS: Final = ("lang", "typechecker", "backend", "stdlib")


@cache
def version() -> str:
    """The digest of Rho's source, by which both ends check that they are the same."""
    digest = sha256()
    for room in _ROOMS:
        for path in sorted((_PACKAGE / room).rglob("*")):
            if path.suffix in (".py", ".ll", ".rho") and path.is_file():
                digest.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + read_bytes(path, _MOST_BYTES))
    return digest.hexdigest()[:16]


def require_same(address: str, other: str) -> None:
    """Raises RunFailed E710 unless a worker has this version of Rho."""
    if other != version():
        raise RunFailed([Diagnostic(
            Code.E710, f"worker {address} has another version of Rho", Span("", 0, 0),
            notes=("install on every worker what is installed here",),
        )])  # fmt: skip


def shipment(plan: ExecutionPlan, without: Collection[str]) -> dict[str, Any]:
    """The facts of a program with its plan; `without`: passes that are switched off."""
    require_invariant(bool(plan.program), "a plan that is shipped has its program with it")
    left = sorted(without)
    known = next((facts for one, facts in [*_SHIPPED] if one is plan and facts["without"] == left), None)
    if known is None:
        facts = {"plan": encode_plan(plan), "without": left}
        known = {"digest": sha256(repr(facts).encode()).hexdigest(), **facts}
        _SHIPPED.append((plan, known))
    return known


def unpack(facts: Mapping[str, Any]) -> tuple[ExecutionPlan, BoundGraph]:
    """The program and plan of `shipment`.  Raises PlanFormatError if they are no valid pair."""
    plan = decode_plan(facts["plan"])
    _, bound = _bound([(file.name, file.text) for file in plan.program], dict(plan.sizes), facts["without"])
    faults = check_plan(plan, bound)
    if faults:
        raise PlanFormatError(f"the plan is not one of the program: {faults[0].message}")
    return plan, bound


def _bound(
    program: Iterable[tuple[str, str]], sizes: Mapping[str, int], without: Iterable[str], recomputed: int | None = None
) -> tuple[Core, BoundGraph]:  # fmt: skip
    """The core and the graph of a program for these sizes; `recomputed`: the number of loops that keep few states for their
    gradients.

    Raises PlanFormatError if the program is rejected."""
    main, *others = [Source(name, text) for name, text in program]
    texts = {source.name: source for source in others}

    def load(module: str, importer: str | None) -> Source | None:
        return texts.get(module_name(module, importer or "<eval>"))

    core = check(main, load_module=load).core
    if core is not None and recomputed is not None and len(core.recomputed) != recomputed:
        core = check(main, load_module=load, checkpoints=True).core
    if core is None:
        raise PlanFormatError("the program is rejected here")
    passes = frozenset(without)
    graph = optimise(lower(core), passes)
    wanted = {variable for type in graph.types.values() for size in type.shape for variable in size.variables()}
    wanted |= {param.variable for param in core.params}
    known = {v: sizes[v.name] for v in wanted if not v.is_runtime and v.name in sizes}
    return core, optimise_with_sizes(bind(graph, known), passes)


def stream_shipment(
    core: Core, request: Streaming, sizes: Mapping[SizeVariable, int], without: Collection[str]
) -> dict[str, Any]:  # fmt: skip
    """The facts of a program that streams and whose tiles workers run; `sizes`: those known before the run."""
    facts = {
        "program": [[source.name, source.text] for source in core.sources], "without": sorted(without),
        "recomputed": len(core.recomputed), "sizes": {v.name: n for v, n in sizes.items() if not v.is_runtime},
        "rewrites": [[one.kind.name, one.phase, one.count] for one in request.rewrites],
        "read": [*request.sources], "written": [*request.sinks],
    }  # fmt: skip
    return {"digest": sha256(repr(facts).encode()).hexdigest(), **facts}


def unpack_stream(facts: Mapping[str, Any]) -> TiledProgram:
    """The program of `stream_shipment`.  Raises PlanFormatError if it does not stream in that way."""
    core, bound = _bound(facts["program"], facts["sizes"], facts["without"], facts["recomputed"])
    rewrites = [StreamRewrite(StreamRewriteKind[kind], PhaseId(phase), count) for kind, phase, count in facts["rewrites"]]
    try:
        bound = rewritten(bound, rewrites)
        return TiledProgram(core, bound, partition_passes(bound.graph, facts["read"], facts["written"], lambda count: True))
    except (ValueError, CannotStream) as error:
        raise PlanFormatError(f"the program does not stream so: {error}") from None


@dataclass(frozen=True, slots=True)
class TiledProgram:
    """A program that streams, on a worker."""

    core: Core
    bound: BoundGraph
    flow: PassPartitioning


def lost_workers_failure(lost: Sequence[Lost], bound: BoundGraph) -> RunFailed:
    """The error E710 for the workers that a run lost."""
    count = f"{len(lost)} workers were" if len(lost) > 1 else "a worker was"
    first = bound.graph.phases[0].span if bound.graph.phases else Span("", 0, 0)
    message = f"{count} lost while the program ran, the last one {lost[-1].words}"
    return RunFailed([Diagnostic(Code.E710, message, Span(first.file, 0, 0), notes=tuple(one.words for one in lost[:-1][-3:]))])


def failure_facts(failure: RunFailed) -> list[dict[str, Any]]:
    """The diagnostics of a failure, as JSON."""
    return [
        {
            "code": one.code, "message": one.message, "span": _span(one.span), "label": one.label, "notes": one.notes,
            "labels": [[_span(label.span), label.message] for label in one.labels], "goal": one.goal,
            "counterexample": None if one.counterexample is None else dict(one.counterexample),
        } for one in failure.diagnostics
    ]  # fmt: skip


_OF_FILES: Final = frozenset({Code.E704, Code.E705, Code.E708})
"""Errors that depend on the machine's files."""


def failure_of(facts: Collection[Mapping[str, Any]], worker: str) -> RunFailed:
    """The failure on a worker, as an exception; for errors of files a note names the worker."""
    return RunFailed([
        Diagnostic(
            one["code"], one["message"], Span(*one["span"]), label=one["label"],
            notes=(*one["notes"], *([f"on worker {worker}"] if one["code"] in _OF_FILES else [])),
            labels=tuple(Label(Span(*span), message) for span, message in one["labels"]), goal=one["goal"],
            counterexample=one["counterexample"],
        ) for one in facts
    ])  # fmt: skip


def _span(span: Span) -> tuple[str, int, int]:
    return span.file, span.start, span.end


# ---------------------------------------------------------------------------------------------------- calls with a time limit
#
# Calls that may never return run on threads of their own, which are abandoned when the time is over.

_T = TypeVar("_T")
_Name = TypeVar("_Name")


def answers(questions: Mapping[_Name, Callable[[], _T]], seconds: float) -> dict[_Name, _T | Exception]:
    """By name, the result or exception of each question within `seconds`; a TimeoutError for questions that have neither."""
    asked = {name: _begun(question) for name, question in questions.items()}
    until = monotonic() + seconds
    replies: dict[_Name, _T | Exception] = {}
    for name, one in asked.items():
        try:
            replies[name] = _ended(one, max(0.0, until - monotonic()))
        except TimeoutError as error:
            replies[name] = error if one.done() else TimeoutError(f"it has said nothing for {seconds:.0f} seconds")
        except Exception as error:
            replies[name] = error
    return replies


def answer(question: Callable[[], _T], seconds: float, undo: Callable[[_T], object] = lambda late: None) -> _T:
    """The result of a question within `seconds`; `undo` is called with a late result.

    Raises whatever the question raises, or TimeoutError if it neither returned nor raised in time."""
    asked = _begun(question)
    try:
        return _ended(asked, seconds)
    except BaseException:
        asked.add_done_callback(lambda late: late.exception() or undo(late.result()))
        raise


def _ended(asked: Future[_T], seconds: float) -> _T:
    until = monotonic() + seconds
    while not wait([asked], POLL_SECONDS).done:
        if monotonic() > until:
            raise TimeoutError(f"it has said nothing for {seconds:.0f} seconds")
    return asked.result()


def _begun(question: Callable[[], _T]) -> Future[_T]:
    result: Future[_T] = Future()

    def work() -> None:
        try:
            result.set_result(question())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=work, name="rho asks", daemon=True).start()
    return result


# ---------------------------------------------------------------------------------------------------- rates of connections
#
# The times of messages of several sizes to a resident, on a connection like those of a run, with the same code and encryption.
#
# A probe is an array; the other end answers with a few bytes when it has received all of it.  All times are by the sender's
# clock.

SIZES: Final = (4096, 1 << 17, 2 << 20)
"""Bytes of the probes; above the last one, time is in proportion to size."""
_TRIES: Final = (20, 5, 4)
_DIGITS: Final = 2
"""Significant digits of a figure, whose accuracy is no better."""


def link_table(
    to: Door, context: ssl.SSLContext | None, process: int = -1, clock: Callable[[], int] = perf_counter_ns
) -> CostTable:  # fmt: skip
    """The times of messages to a resident, by size; to one of this process, by its processor time, what both ends of a message
    take.  Raises Lost if it does not answer."""
    connection = connect(to, process, {"as": "home"}, context)
    with closing(connection):

        def round_trip(size: int, tries: int) -> int:
            payload = [np.ones(size, np.uint8)] if size else []
            times = []
            for _ in range(tries + 1):
                start = clock()
                connection.send(MessageKind.PING, None, payload)
                while connection.receive().kind is not MessageKind.PONG:
                    pass
                times.append(clock() - start)
            return min(times[1:])

        back = round_trip(0, _TRIES[0]) // 2
        times = [rounded(max(1, round_trip(size, tries) - back)) for size, tries in zip(SIZES, _TRIES, strict=True)]
    return rising(times)


def rising(times: Sequence[int]) -> CostTable:
    """A cost table of the times, made monotone: a larger size never costs less."""
    return CostTable(SIZES, tuple(max(times[: at + 1]) for at in range(len(times))))


def rounded(ns: int) -> int:
    """The figure rounded to two digits, so that small fluctuations of the machine do not change the plan."""
    unit: int = 10 ** max(0, len(str(ns)) - _DIGITS)
    return round(ns / unit) * unit
