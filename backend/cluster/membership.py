"""Membership of a cluster, by Dask: the only module that imports `distributed`.

Dask launches and lists workers, and configures their encryption.  Each worker process gets a resident (`worker.Resident`), which
listens at its own port on the worker's address.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import count
from time import sleep
from types import MappingProxyType
from typing import Any, Final, Protocol

from ...lang.diagnostics.model import Code, Diagnostic, RunFailed
from ...lang.support.files import KERNEL_TEXT, read_text
from ...lang.support.processes import POLL_SECONDS, doing, wait_for
from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from .cluster_transport import Process, ProcessJournal
from .dask_settings import (
    CONFIGURED,
    BadSettings,
    check_configuration,
    configured_security,
    connection_context,
    listening_context,
    missing_settings,
)
from .wire import (
    PATIENCE as SILENCE,
    PULSE,
    Connection,
    Door,
    Ended,
    Lost,
    Message,
    MessageKind,
    answer,
    answers,
    connect,
    require_same,
)

# ---------------------------------------------------------------------------------------------------- membership

_LOCAL: Final = re.compile(r"local(?::([0-9]+))?")
_MOST_LOCAL: Final = 9999
_ADDRESS: Final = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+")
_MOST_BYTES: Final = 1 << 20
"""The most bytes of a file that names a scheduler."""
_GUARDED: Final = "a script that starts workers does so under `if __name__ == \"__main__\":`, since every worker imports it"
PATIENCE: Final = 10.0
"""Seconds for a scheduler to answer, and for the first worker to join."""
STARTING: Final = 60.0
"""Seconds for a worker that answers to import Rho."""
NANNY_SECONDS: Final = 2.0
_NO_ROUTES: Final[dict[str, list[str]]] = {f"distributed.{server}.http.routes": [] for server in ("scheduler", "worker")}
"""Disables Dask's HTTP routes, since HTTP is not encrypted and does not authenticate users."""


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A worker: its name in plans, the address of its resident, and its machine.  `is_here`: is that home's machine?"""

    name: str
    address: str
    host: str
    port: int
    token: str
    machine: str
    cores: int
    memory: int | None
    version: str
    is_here: bool = False
    cpus: tuple[int, ...] = ()
    """The processors that it may use, if the system reports them."""
    group: str = ""
    """The control group of processes that share a limit on processor time."""
    pid: int = 0
    """The number of its process on its machine; 0 if nobody can look at it."""

    @property
    def door(self) -> Door:
        return self.host, self.port, self.token

    @property
    def label(self) -> str:
        """The worker's name in messages."""
        return f"{self.name} ({self.address})"


class BadCluster(ValueError):
    """Raised where the argument names no cluster."""


class Membership:
    """A Dask client with the cluster that it started, if any; closing this closes both."""

    def __init__(self, client: Any, owned: Sequence[Any] = ()) -> None:
        self.client, self.owned = client, owned
        self.silent: dict[str, str] = {}
        """The addresses of workers that do not answer, and why."""
        try:
            self.context: ssl.SSLContext | None = connection_context(client.security, "client")
        except BadSettings as error:
            raise failed(str(error)) from None
        """Of connections to workers, None if they are not encrypted."""

    def members(self) -> list[ClusterMember]:
        """The workers that answer, each with a resident; `silent` has the reasons of the others.

        Raises RunFailed E710: there is none, or one without Rho."""
        try:
            with suppress(TimeoutError):
                self.client.wait_for_workers(1, timeout=PATIENCE)
            listed = sorted(answer(self.client.nthreads, PATIENCE))
        except Exception as error:
            raise failed(f"the workers cannot be asked: {_words(error)}") from None
        replies = self._ask(os.getpid, listed, SILENCE)
        started = self._ask(start_resident, [one for one in listed if not isinstance(replies[one], Exception)], STARTING)
        self.silent = {}
        here = socket.gethostname()
        members = list[ClusterMember]()
        for at, (address, facts) in enumerate((replies | started).items()):
            if isinstance(facts, OSError):  # includes ended connections and timeouts
                self.silent[address] = _words(facts)
            elif isinstance(facts, BadSettings):
                raise failed(f"worker {address} cannot listen: {facts}")
            elif isinstance(facts, Exception):
                raise failed(f"worker {address} cannot run Rho: {_words(facts)}")
            else:
                members.append(ClusterMember(name=f"w{at}", address=address, is_here=facts["machine"] == here, **facts))
        if not members:
            lost = [f"{address}: {words}" for address, words in self.silent.items()]
            raise failed(f"no worker of the cluster answers: {lost[0]}" if lost else "the cluster has no workers", lost[1:4])
        return members

    def _ask(self, question: Callable[..., Any], listed: Sequence[str], seconds: float) -> dict[str, Any]:
        """The answer of each worker; for workers that do not answer, the exception."""

        def asking(address: str) -> Callable[[], Any]:
            return lambda: self.client.run(question, workers=[address], on_error="raise")[address]

        return answers({address: asking(address) for address in listed}, seconds)

    def doing(self, member: ClusterMember) -> str:
        """What the process of a worker is seen to do (`processes.doing`), from here or by Dask's nanny on its machine."""
        if not member.pid:
            return ""
        if member.is_here:
            return doing(member.pid)

        def ask_nanny() -> Any:
            return self.client.run(doing, member.pid, workers=[member.address], nanny=True)[member.address]

        try:
            return str(answer(ask_nanny, NANNY_SECONDS))
        except Exception:  # there is none, or it hangs too
            return ""

    def show(self, name: str, run: str, members: Sequence[ClusterMember]) -> Callable[[], None]:
        """Shows a run on the dashboard, as a task on each worker that ends with the run there.  Returns a function that cancels
        the tasks after a loss."""
        shown: list[Any] = []
        with suppress(Exception):  # a failure to show a run must not end it
            for member in members:
                only = {"workers": [member.address], "allow_other_workers": False, "pure": False, "retries": 0}
                shown.append(self.client.submit(report_run, name, run, key=f"{name}-{run}-{member.port}", **only))

        def cancel() -> None:
            with suppress(Exception):
                self.client.cancel(shown)

        return lambda: threading.Thread(target=cancel, name="rho forgets", daemon=True).start()

    @property
    def dashboard(self) -> str:
        """The address of the dashboard; empty if there is none."""
        return "" if self.owned else self.client.dashboard_link or ""

    def close(self) -> None:
        for one in (self.client, *self.owned):
            with suppress(Exception):  # the scheduler may be gone or hang
                answer(one.close, PATIENCE)


def attach(where: object) -> Membership:
    """A cluster: `local:2` (started here), the address of a scheduler, a `scheduler.json`, or a client.

    Raises BadCluster for anything else, or if `distributed` is not installed; RunFailed E710 if no scheduler answers."""
    try:
        import dask
        import distributed
        from dask.utils import parse_timedelta
    except ImportError:
        raise BadCluster("clusters need the package `distributed`: pip install 'rho-lang[cluster]'") from None
    except Exception as error:  # importing Dask reads its configuration
        raise failed(f"Dask cannot read its configuration: {_words(error)}", [CONFIGURED]) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if isinstance(where, distributed.Client):
        return Membership(where)
    for name in [*logging.root.manager.loggerDict]:  # Dask gives each logger its own level
        if name.startswith("distributed."):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    text = os.fspath(where) if isinstance(where, str | os.PathLike) else repr(where)
    local = _LOCAL.fullmatch(text)
    count = "1" if local is None else (local[1] or "1").lstrip("0")
    if not 0 < len(count) <= len(str(_MOST_LOCAL)):
        raise BadCluster(f"{text} is not possible: from 1 to {_MOST_LOCAL} workers can be started")
    try:
        check_configuration(dask.config, parse_timedelta)
        if local is not None:
            return _without_interrupts(lambda: _started(int(count)))
        address = _address_in(text) if text.endswith(".json") else text
        if _ADDRESS.fullmatch(address):
            security = configured_security(distributed.Security)
            if connection_context(security, "client") is None and address.startswith("tls"):
                missing = " and ".join(missing_settings(security, "client"))
                raise failed(f"the scheduler at {address} wants certificates: Dask's configuration does not set {missing}")
            make = partial(distributed.Client, address, security=security, timeout=PATIENCE, set_as_default=False)
            return Membership(answer(make, PATIENCE, lambda late: late.close()))
    except ImportError as error:
        raise BadCluster(f"{text} needs what is not installed: {_words(error)}") from None
    except BadSettings as error:
        raise failed(str(error)) from None
    except RunFailed:
        raise
    except Exception as error:  # Dask raises many types for wrong settings
        if local is not None:
            raise failed(f"the workers of {text} did not start: {_words(error)}; {_GUARDED}") from None
        raise failed(f"no scheduler answers at {text}: {_words(error)}") from None
    raise BadCluster(f"{text} names no cluster: write local:2, tcp://HOST:PORT, or the path of a scheduler.json")


def _address_in(path: str) -> str:
    """The address that a scheduler wrote to a file.  Raises OSError and ValueError."""
    address_file = json.loads(read_text(path, _MOST_BYTES))
    return str(address_file["address"]) if isinstance(address_file, dict) and "address" in address_file else ""


def _without_interrupts(make: Callable[[], Membership]) -> Membership:
    """The result of `make`, run in a thread that blocks SIGINT.  The processes that it starts block it too: a terminal sends them
    the signal as well, but home ends them."""
    result: Future[Membership] = Future()

    def work() -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            result.set_result(make())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=work, name="rho workers", daemon=True).start()
    try:
        return wait_for(result).result()
    except KeyboardInterrupt:
        result.add_done_callback(lambda late: None if late.exception() else late.result().close())
        raise


def _started(count: int) -> Membership:
    """Starts workers on this machine, which end with this process."""
    import dask
    import distributed
    from distributed import LocalCluster
    from distributed.security import Security

    security = Security.temporary()
    silent = {"logging": {"distributed": "critical"}}  # workers' messages at the end of a cluster are noise
    with dask.config.set(silent | _NO_ROUTES):
        cluster = LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None, security=security,
            silence_logs=logging.CRITICAL, scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        )  # fmt: skip
    client = distributed.Client(cluster, security=security, set_as_default=False)
    return Membership(client, (cluster,))


def start_resident(dask_worker: Any) -> dict[str, Any]:
    """In a worker: the facts about its machine, and the port of its resident, which is started if needed."""
    from dask.system import CPU_COUNT

    from .wire import version
    from .worker import Resident

    resident = getattr(dask_worker, "_rho_resident", None)
    host = dask_worker.address.partition("://")[2].rpartition(":")[0].strip("[]")
    if resident is None:
        arguments = [
            listening_context(dask_worker.security, "worker"),
            connection_context(dask_worker.security, "worker"),
        ]
        resident = dask_worker._rho_resident = Resident(host, *arguments)
    memory = dask_worker.memory_manager.memory_limit
    return {
        "host": resident.host, "port": resident.port, "token": resident.token, "machine": socket.gethostname(),
        "cores": CPU_COUNT, "memory": int(memory) if memory else None, "version": version(), "pid": os.getpid(),
        **share_of_processors(),
    }  # fmt: skip


def share_of_processors() -> dict[str, Any]:
    """The processors that this process may use, and the control group with which it shares a limit on processor time."""
    group = ""
    with suppress(OSError, ValueError):
        group = read_text("/proc/self/cgroup", KERNEL_TEXT).strip()
    return {"cpus": tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else (), "group": group}


def report_run(name: str, run: str) -> None:
    """In a worker, as a task: reports a run under the topic `rho` until it ends in this process."""
    from distributed import get_worker

    worker = get_worker()
    for facts in worker._rho_resident.progress(run):
        worker.log_event("rho", {"program": name, "run": run, "worker": worker.address, **facts})


def failed(message: str, notes: Sequence[str] = ()) -> RunFailed:
    return RunFailed([Diagnostic(Code.E710, message, Span("", 0, 0), notes=tuple(notes))])


def _words(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


# ---------------------------------------------------------------------------------------------------- workers
#
# The workers to which home is connected, and their messages.

class WorkerFault(Exception):
    """Raised for a worker's report of a bug in Rho; a note has the worker's traceback, for bug reports."""

    def __init__(self, address: str, facts: Mapping[str, Any]) -> None:
        super().__init__(f"worker {address} failed: {facts['fault']}")
        if "trace" in facts:
            self.add_note(f"on {address}:\n{facts['trace']}")


@dataclass(slots=True, eq=False)
class Worker:
    """A connection to the resident of a member, with its messages."""

    member: ClusterMember
    process: Process
    every: Workers
    connection: Connection
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The answers received, by the number of their question."""
    done: dict[str, Any] | None = None
    lost: Lost | None = None
    seen: ProcessJournal = field(default_factory=ProcessJournal)
    has_answered: bool = False

    def begin(self) -> None:
        for work in (self.listen, self.pulse):
            threading.Thread(target=work, name=f"rho {self.member.address}", daemon=True).start()

    def listen(self) -> None:
        try:
            while True:
                message = self.connection.receive()
                self.has_answered = True
                self.every.handle(self, message)
        except Lost as lost:
            self.every.miss(self, self.explained(lost))
        except Exception as error:
            self.every.miss(self, Lost(self.process, f"it says what nobody understands ({error!r})"))

    def explained(self, lost: Lost) -> Lost:
        """A loss with its likely cause, since a peer cannot distinguish a dead worker from one that rejects it."""
        if self.has_answered or not isinstance(lost, Ended):
            return lost
        why = "before its first answer (a worker that was restarted has another token: attach again)"
        return Lost(lost.process, f"{lost.words} {why}")

    def pulse(self) -> None:
        """Runs in a thread: signals that home is alive as long as the connection lasts, and shows runs that outlast a pulse."""
        with suppress(Lost):
            while not self.connection.closed:
                self.connection.send(MessageKind.PING)
                run = self.every.running
                if run is not None and self in run.workers[:1]:
                    run.show()
                sleep(PULSE)


class ClusterRun(Protocol):
    """A run in which workers take part, and which receives their messages."""

    name: str
    workers: list[Worker]

    def handle(self, worker: Worker, message: Message) -> None: ...

    def handle_loss(self, lost: Lost) -> None: ...

    def show(self) -> None: ...


class Workers:
    """All workers to which home is connected, by address.  The condition `change` guards what they have reported."""

    def __init__(self, context: ssl.SSLContext | None, doing: Callable[[ClusterMember], str] = lambda member: "") -> None:
        """`context`: the TLS context, if connections are encrypted; `doing`: what the process of a worker is seen to do."""
        self.context, self.doing = context, doing
        self.who = {"as": "home", "pid": os.getpid(), "machine": socket.gethostname()}
        self.change = threading.Condition()
        self.connected: dict[str, Worker] = {}
        self.running: ClusterRun | None = None
        self.questions = count()

    def connect(self, member: ClusterMember, process: Process) -> Worker:
        """The worker of a member, connected.  Raises Lost."""
        connected = self.connected.get(member.address)
        if connected is not None and connected.lost is None and not connected.connection.closed:
            connected.process = connected.connection.process = process
            return connected
        require_same(member.address, member.version)
        worker = Worker(member, process, self, connect(member.door, process, self.who, self.context))
        self.connected[member.address] = worker
        worker.connection.doing = partial(self.doing, member)
        worker.begin()
        return worker

    def drop(self, address: str) -> None:
        worker = self.connected.pop(address, None)
        if worker is not None:
            worker.connection.close()

    def close(self) -> None:
        for address in [*self.connected]:
            self.drop(address)

    def lost(self) -> dict[str, str]:
        """The addresses of workers that do not answer, with the reasons."""
        return {address: worker.lost.words for address, worker in self.connected.items() if worker.lost is not None}

    def ask(
        self, workers: Sequence[Worker], question: MessageKind, facts: Mapping[str, Any] = MappingProxyType({})
    ) -> list[dict[str, Any]]:  # fmt: skip
        """The answer of each worker.  Raises Lost if one of them is lost."""
        return self.ask_each(workers, question, [facts] * len(workers))

    def ask_each(
        self, workers: Sequence[Worker], question: MessageKind, facts: Iterable[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:  # fmt: skip
        """The answer of each worker to its own facts.  Raises Lost if one of them is lost."""
        asked = next(self.questions)
        for worker, of_worker in zip(workers, facts, strict=True):
            try:
                worker.connection.send(question, {**of_worker, "asked": asked})
            except Lost as lost:
                raise worker.explained(lost) from None
        self.wait(workers, lambda one: asked in one.answers)
        said = [worker.answers.pop(asked) for worker in workers]
        for worker, reply in zip(workers, said, strict=True):
            if "fault" in reply:
                raise WorkerFault(worker.member.address, reply)
        return said

    def handle(self, worker: Worker, message: Message) -> None:
        run = self.running
        if message.kind is MessageKind.ANSWER:
            with self.change:
                worker.answers[message.facts["asked"]] = message.facts
                self.change.notify_all()
        elif run is not None and message.facts.get("run") == run.name:
            run.handle(worker, message)

    def miss(self, worker: Worker, lost: Lost) -> None:
        """Records that a worker does not answer."""
        with self.change:
            worker.lost = worker.lost or Lost(worker.process, lost.words)
            self.change.notify_all()
        worker.connection.close()
        run = self.running
        if run is not None and worker in run.workers:
            run.handle_loss(worker.lost)

    def wait(self, workers: Sequence[Worker], ready: Callable[[Worker], bool]) -> None:
        """Waits until all workers are ready.  Raises Lost if one of them is lost."""
        with self.change:
            while not all(map(ready, workers)):
                for worker in workers:
                    if worker.lost is not None:
                        raise worker.lost
                self.change.wait(POLL_SECONDS)
