"""Reads the options that several verbs share: a run's request, its permissions, its plan and its cluster.

Everything wrong here is a usage error with a suggestion.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ...lang.support.bounded_parsing import is_url, parse_natural, url_error
from ..console.standard_streams import Console, check_streams, stream_of
from ..console.usage_errors import UsageError, parse_seconds
from ..execution.params import Permissions, parse_size
from ..execution.run_request import Grouping, Limits, RunRequest
from ..execution.scheduling import PlanningEffort, PlanPurpose, Scheduling
from .arguments import Arguments

if TYPE_CHECKING:
    from ..execution.clusters import ClusterConnection

_MOST_RESTARTS: Final = 1000
PLANNER_OPTIONS: Final = (
    "--devices", "--objective", "--deadline", "--budget", "--prove", "--fast", "--without", "--require-optimal",
)  # fmt: skip
"""With any of these the scheduler of several devices makes the plan."""


def request_of(arguments: Arguments, console: Console) -> RunRequest:
    """The request that the options of `run`, `eval`, `plan` or `estimate` make.  UsageError: a value that is not valid."""
    params = arguments.pairs("--set", "PARAM=VALUE")
    inputs, given = arguments.pairs("--in", "NAME=PATH"), arguments.pairs("--out", "NAME=PATH")
    outputs = _output_paths(given)
    check_streams(inputs, given, terminal=console.out.isatty(), program="-" in arguments.positional[:1])
    limits = Limits(_parse_bytes(arguments.value("--max-memory")), parse_seconds("--max-time", arguments.value("--max-time")))
    grouping = Grouping.AS_WRITTEN if arguments.has("--exact") else Grouping.CHEAPEST
    sizes = {name: parse_size("--size", name, text) for name, text in arguments.pairs("--size", "NAME=N").items()}
    return RunRequest(inputs, params, outputs, limits, console.input, grouping, sizes)


def _output_paths(given: Mapping[str, str]) -> dict[str, str]:
    """The path of each output: `day,mean=report.csv` names one file for two."""
    paths: dict[str, str] = {}
    for names, path in given.items():
        for name in map(str.strip, names.split(",")):
            if name in paths:
                raise UsageError(f"--out names `{name}` twice (`{paths[name]}` and `{path}`)", "give each name once")
            paths[name] = path
    return paths


def permissions_of(arguments: Arguments, request: RunRequest, script: str, folder: str) -> Permissions:
    """Permissions for the script's folder, the files that options name, and `--allow-read` and `--allow-write`."""
    named = [script, *(_data_file(path) for path in request.inputs.values() if stream_of(path) is None)]
    writable = arguments.values("--allow-write")
    for option in ("--allow-read", "--allow-write"):
        for given in arguments.values(option):
            if option == "--allow-read" and is_url(given):
                if (trouble := url_error(given)) is not None:
                    raise UsageError(f"{option} {given} {trouble}")
            elif not os.path.isdir(given):
                raise UsageError(f"{option} {given}: there is no such folder")
    return Permissions.of([folder or ".", *arguments.values("--allow-read")], named, writable or None)


def _data_file(path: str) -> str:
    """The file of `path` or `archive.npz:member`."""
    from ...backend.io.reading import split_member  # imports NumPy

    return split_member(path)[0]


def _parse_bytes(text: str | None) -> int | None:
    if text is None:
        return None
    from ...lang.bind.directives import bytes_of

    if (count := bytes_of("".join(text.split()))) is None:
        raise UsageError(f"--max-memory {text}: write a number of bytes such as 500MB or 2GiB")
    return count


def scheduling_of(arguments: Arguments, purpose: PlanPurpose) -> Scheduling | None:
    """How the options ask to plan; None if none of them does.  UsageError: options that exclude each other."""
    if not any(arguments.has(name) for name in (*PLANNER_OPTIONS, "--plan", "--simulate", "--cluster", "--restarts")):
        return None
    effort_options = [option for option in ("--budget", "--prove", "--fast") if arguments.has(option)]
    if len(effort_options) > 1:
        first, second, *_ = effort_options
        raise UsageError(f"{first} and {second} say how long to search, each another way", "give one of them")
    effort = PlanningEffort.PROVE if arguments.has("--prove") else PlanningEffort.DEFAULT
    if arguments.has("--fast"):
        effort = PlanningEffort.FAST
    if arguments.value("--plan") is not None and any(arguments.has(name) for name in PLANNER_OPTIONS if name != "--devices"):
        raise UsageError("--plan runs a plan as it is stored", "options of the planner have no use beside it")
    budget = parse_seconds("--budget", arguments.value("--budget"), 86_400)
    return Scheduling(
        PlanPurpose.SIMULATE if arguments.has("--simulate") else purpose, arguments.value("--devices"),
        arguments.values("--objective"),
        effort, budget, arguments.value("--plan"), arguments.values("--without"),
        connection_of(arguments), _parse_deadline(arguments.value("--deadline")),
    )  # fmt: skip


def _parse_deadline(text: str | None) -> int | None:
    """A time such as `20ms` in nanoseconds.  UsageError: not a time."""
    if text is None:
        return None
    from ...lang.bind.directives import ticks_of

    nanoseconds = None if text[-1:].isdigit() else ticks_of(text, 1)
    if not nanoseconds:
        raise UsageError(f"--deadline {text}: write a time such as 20ms (ns, us, ms or s)")
    return nanoseconds


def connection_of(arguments: Arguments) -> ClusterConnection | None:
    """The cluster of `--cluster`, not connected yet; None without the option.  UsageError: options that exclude it."""
    where = arguments.value("--cluster")
    if where is None:
        if arguments.has("--restarts"):
            raise UsageError("--restarts is for --cluster")
        return None
    if unfit := [name for name in ("--devices", "--simulate", "--plan") if arguments.has(name)]:
        raise UsageError(f"--cluster has its own devices: it goes without {unfit[0]}")
    from ..execution.clusters import RESTARTS, ClusterConnection

    text = arguments.value("--restarts") or str(RESTARTS)
    if (restarts := parse_natural(text, _MOST_RESTARTS)) is None:
        raise UsageError(f"--restarts {text}: write a number from 0 to {_MOST_RESTARTS}")
    return ClusterConnection(where, restarts)
