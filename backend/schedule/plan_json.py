"""Plans as canonical JSON (`plan/1`), and back.

Canonical: keys sorted, no blanks, integers only, so that one plan has one sequence of bytes.  Decoding accepts exactly the
schema: every field present, of its type, nothing else; what does not fit is a `PlanFormatError`, never a plan.  Nothing
in a plan is code, and a decoded plan is still to be verified against the program it names.

Neighbours: `plan` (the data).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..graph.phases import PhaseId, ValueId
from .plan import (
    SCHEMA,
    BranchStep,
    Buffer,
    CellsStep,
    Device,
    DeviceId,
    FenceId,
    FenceStep,
    FreeStep,
    LoopStep,
    Plan,
    PlannedPhase,
    PlannedRead,
    Queue,
    QueueKind,
    Role,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
)

LARGEST_PLAN: Final = 64 << 20
"""Bytes of JSON that are read at most."""
DEEPEST: Final = 200
"""Sub-plans within sub-plans."""

Item = TypeVar("Item")


class PlanFormatError(ValueError):
    """The text is not a `plan/1`; the message says where."""


def encode_plan(plan: Plan) -> str:
    """The canonical text of a plan."""
    return json.dumps(plan_object(plan), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plan_object(plan: Plan) -> dict[str, Any]:
    """The plan as dicts, lists, strings and integers."""
    return {
        "schema": plan.schema,
        "program": plan.program,
        "sizes": dict(plan.sizes),
        "home": plan.home,
        "devices": [{"id": d.id, "backend": d.backend, "threads": d.threads, "memory": d.memory} for d in plan.devices],
        "phases": [_phase_object(p) for p in plan.phases],
        "main": _sub_object(plan.main),
        "inputs": [[name, value] for name, value in plan.inputs],
        "outputs": [[name, value] for name, value in plan.outputs],
    }


def _phase_object(phase: PlannedPhase) -> dict[str, Any]:
    file, start, end = phase.span
    return {
        "id": phase.id,
        "op": phase.op,
        "label": phase.label,
        "span": {"file": file, "start": start, "end": end},
        "axes": [{"size": size, "kind": kind} for size, kind in phase.axes],
        "reads": [{"value": r.value, "projection": r.projection, "bytes": r.bytes} for r in phase.reads],
        "results": list(phase.results),
        "bytes": {"read": phase.bytes_read, "written": phase.bytes_written, "scratch": phase.scratch},
        "operations": dict(phase.operations),
        "device": phase.device,
    }


def _sub_object(plan: SubPlan) -> dict[str, Any]:
    return {
        "queues": [{"device": q.device, "kind": q.kind.value, "steps": [_step_object(s) for s in q.steps]} for q in plan.queues],
        "buffers": [
            {
                "value": b.value,
                "device": b.device,
                "role": b.role.value,
                "bytes": b.bytes,
                "offset": b.offset,
                "first": b.first,
                "last": b.last,
                "alias_of": b.alias_of,
                "reuses": b.reuses,
            }
            for b in plan.buffers
        ],
        "peak": dict(plan.peak),
    }


def _step_object(step: Step) -> dict[str, Any]:
    match step:
        case RunStep():
            return {"step": "run", "phase": step.phase, "overwrite": step.overwrite}
        case FreeStep():
            return {"step": "free", "values": list(step.values)}
        case TransferStep():
            return {"step": "transfer", "value": step.value, "source": step.source, "target": step.target, "bytes": step.bytes}
        case FenceStep():
            return {"step": "fence", "fence": step.fence}
        case WaitStep():
            return {"step": "wait", "fence": step.fence}
        case LoopStep():
            until = None if step.until is None else _sub_object(step.until)
            return {"step": "loop", "phase": step.phase, "body": _sub_object(step.body), "until": until}
        case BranchStep():
            return {
                "step": "branch",
                "phase": step.phase,
                "then": _sub_object(step.then),
                "otherwise": _sub_object(step.otherwise),
            }
        case CellsStep():
            return {"step": "cells", "phase": step.phase, "body": _sub_object(step.body)}


# ------------------------------------------------------------------------------------------ decoding


def decode_plan(text: str) -> Plan:
    """The plan that a text says.  PlanFormatError: too large, not JSON, or not exactly the schema."""
    if len(text) > LARGEST_PLAN:
        raise PlanFormatError(f"a plan has at most {LARGEST_PLAN} characters")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanFormatError(f"not JSON: {error}") from None
    top = _Fields(data, "plan")
    if top.text("schema") != SCHEMA:
        raise PlanFormatError(f"the schema is not {SCHEMA}")
    plan = Plan(
        top.text("program"),
        tuple(sorted(top.counts("sizes"))),
        tuple(_device(d) for d in top.rows("devices")),
        DeviceId(top.text("home")),
        tuple(_phase(p) for p in top.rows("phases")),
        _sub(top.row("main"), 0),
        tuple(top.named_values("inputs")),
        tuple(top.named_values("outputs")),
    )
    top.done()
    return plan


class _Fields:
    """One JSON object being read: each field once, by type."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, dict):
            raise PlanFormatError(f"{where} is not an object")
        self.data: dict[str, Any] = dict(data)
        self.where = where

    def take(self, name: str) -> Any:
        if name not in self.data:
            raise PlanFormatError(f"{self.where} has no {name}")
        return self.data.pop(name)

    def done(self) -> None:
        if self.data:
            raise PlanFormatError(f"{self.where} has unknown fields: {', '.join(sorted(self.data))}")

    def text(self, name: str) -> str:
        value = self.take(name)
        if not isinstance(value, str):
            raise PlanFormatError(f"{self.where}.{name} is not text")
        return value

    def count(self, name: str) -> int:
        return _natural(self.take(name), f"{self.where}.{name}")

    def count_or_none(self, name: str) -> int | None:
        value = self.take(name)
        return None if value is None else _natural(value, f"{self.where}.{name}")

    def counts(self, name: str) -> list[tuple[str, int]]:
        value = self.take(name)
        if not isinstance(value, dict):
            raise PlanFormatError(f"{self.where}.{name} is not an object")
        return [(key, _natural(number, f"{self.where}.{name}.{key}")) for key, number in value.items()]

    def items(self, name: str) -> list[Any]:
        value = self.take(name)
        if not isinstance(value, list):
            raise PlanFormatError(f"{self.where}.{name} is not a list")
        return value

    def values(self, name: str) -> tuple[ValueId, ...]:
        return tuple(ValueId(_natural(v, f"{self.where}.{name}")) for v in self.items(name))

    def rows(self, name: str) -> list[_Fields]:
        return [_Fields(v, f"{self.where}.{name}[{i}]") for i, v in enumerate(self.items(name))]

    def row(self, name: str) -> _Fields:
        return _Fields(self.take(name), f"{self.where}.{name}")

    def row_or_none(self, name: str) -> _Fields | None:
        value = self.take(name)
        return None if value is None else _Fields(value, f"{self.where}.{name}")

    def named_values(self, name: str) -> list[tuple[str, ValueId]]:
        found = []
        for item in self.items(name):
            if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)):
                raise PlanFormatError(f"{self.where}.{name} has an item that is not a name and a value")
            found.append((item[0], ValueId(_natural(item[1], f"{self.where}.{name}"))))
        return found


def _natural(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise PlanFormatError(f"{where} is not a natural number")
    return value


def _choice(kinds: Callable[[str], Item], value: str, where: str) -> Item:
    try:
        return kinds(value)
    except ValueError:
        raise PlanFormatError(f"{where} cannot be {value!r}") from None


def _device(row: _Fields) -> Device:
    made = Device(DeviceId(row.text("id")), row.text("backend"), row.count("threads"), row.count_or_none("memory"))
    row.done()
    return made


def _phase(row: _Fields) -> PlannedPhase:
    span, size = row.row("span"), row.row("bytes")
    axes = tuple((axis.count("size"), axis.text("kind")) for axis in row.rows("axes"))
    reads = tuple(PlannedRead(ValueId(r.count("value")), r.text("projection"), r.count("bytes")) for r in row.rows("reads"))
    made = PlannedPhase(
        PhaseId(row.count("id")),
        row.text("op"),
        row.text("label"),
        (span.text("file"), span.count("start"), span.count("end")),
        axes,
        reads,
        row.values("results"),
        size.count("read"),
        size.count("written"),
        size.count("scratch"),
        tuple(sorted(row.counts("operations"))),
        DeviceId(row.text("device")),
    )
    for part in (span, size, row):
        part.done()
    return made


def _sub(row: _Fields, depth: int) -> SubPlan:
    if depth > DEEPEST:
        raise PlanFormatError(f"sub-plans are nested more than {DEEPEST} deep")
    queues = []
    for queue in row.rows("queues"):
        kind = _choice(QueueKind, queue.text("kind"), queue.where)
        queues.append(Queue(DeviceId(queue.text("device")), kind, tuple(_step(s, depth) for s in queue.rows("steps"))))
        queue.done()
    buffers = tuple(_buffer(b) for b in row.rows("buffers"))
    peak = tuple((DeviceId(name), size) for name, size in row.counts("peak"))
    row.done()
    return SubPlan(tuple(queues), buffers, peak)


def _buffer(row: _Fields) -> Buffer:
    alias, reuses = row.count_or_none("alias_of"), row.count_or_none("reuses")
    made = Buffer(
        ValueId(row.count("value")),
        DeviceId(row.text("device")),
        _choice(Role, row.text("role"), row.where),
        row.count("bytes"),
        row.count("offset"),
        row.count("first"),
        row.count("last"),
        None if alias is None else ValueId(alias),
        None if reuses is None else ValueId(reuses),
    )
    row.done()
    return made


def _step(row: _Fields, depth: int) -> Step:
    made = _step_of(row.text("step"), row, depth)
    row.done()
    return made


def _step_of(name: str, row: _Fields, depth: int) -> Step:
    match name:
        case "run":
            overwrite = row.count_or_none("overwrite")
            return RunStep(PhaseId(row.count("phase")), None if overwrite is None else ValueId(overwrite))
        case "free":
            return FreeStep(row.values("values"))
        case "transfer":
            value, source, target = ValueId(row.count("value")), DeviceId(row.text("source")), DeviceId(row.text("target"))
            return TransferStep(value, source, target, row.count("bytes"))
        case "fence":
            return FenceStep(FenceId(row.count("fence")))
        case "wait":
            return WaitStep(FenceId(row.count("fence")))
        case "loop":
            body, until = _sub(row.row("body"), depth + 1), row.row_or_none("until")
            return LoopStep(PhaseId(row.count("phase")), body, None if until is None else _sub(until, depth + 1))
        case "branch":
            then, otherwise = _sub(row.row("then"), depth + 1), _sub(row.row("otherwise"), depth + 1)
            return BranchStep(PhaseId(row.count("phase")), then, otherwise)
        case "cells":
            return CellsStep(PhaseId(row.count("phase")), _sub(row.row("body"), depth + 1))
        case _:
            raise PlanFormatError(f"{row.where} has an unknown step {name!r}")
