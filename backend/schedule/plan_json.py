"""Plans as canonical JSON (`plan/1`), and back.

Canonical: keys sorted, no blanks, integers only, so that one plan has one sequence of bytes.  Decoding accepts exactly the
schema: every field present, of its type, nothing else; what does not fit is a `PlanFormatError`, never a plan.  Nothing
in a plan is code, and a decoded plan is still to be verified against the program it names.

Neighbours: `plan` (the data), `plan_fields` (one object being read).
"""

from __future__ import annotations

import json
from typing import Any, Final

from ...lang.json_text import decode
from ..graph.phases import PhaseId, ValueId
from .plan import (
    SCHEMA,
    Box,
    BranchStep,
    Buffer,
    CellsStep,
    CombineStep,
    Device,
    DeviceId,
    FenceId,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    PlannedLink,
    PlannedPhase,
    PlannedRead,
    Prediction,
    Queue,
    QueueKind,
    Role,
    RowsStep,
    RunStep,
    Spread,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
)
from .plan_fields import Fields, PlanFormatError, choice, natural
from .problem import Baseline, Proof, Status

__all__ = ["PlanFormatError", "decode_plan", "encode_plan", "plan_object"]

LARGEST_PLAN: Final = 64 << 20
"""Bytes of JSON that are read at most."""
DEEPEST: Final = 200
"""Sub-plans within sub-plans."""


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
        "devices": [
            {"id": d.id, "backend": d.backend, "threads": d.threads, "memory": d.memory, "kind": d.kind} for d in plan.devices
        ],
        "phases": [_phase_object(p) for p in plan.phases],
        "main": _sub_object(plan.main),
        "inputs": [[name, value] for name, value in plan.inputs],
        "outputs": [[name, value] for name, value in plan.outputs],
        "tick_ns": plan.tick_ns,
        "profile": plan.profile,
        "links": [{"id": one.id, "source": one.source, "target": one.target} for one in plan.links],
        "prediction": None if plan.prediction is None else _prediction_object(plan.prediction),
        "directives": list(plan.directives),
        "speculated": list(plan.speculated),
        "spread": [{"phase": one.phase, "axes": list(one.axes)} for one in plan.spread],
    }


def _prediction_object(found: Prediction) -> dict[str, Any]:
    return {
        "makespan": found.makespan,
        "lower_bound": found.lower_bound,
        "status": found.status.value,
        "objectives": [[name, value] for name, value in found.objectives],
        "proof": {"method": found.proof.method, "lower_bound": found.proof.lower_bound, "detail": dict(found.proof.detail)},
        "baselines": [{"name": one.name, "ticks": one.ticks} for one in found.baselines],
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
            return {"step": "run", "phase": step.phase, "overwrite": step.overwrite, "box": _box_object(step.box), **_ticks(step)}
        case RowsStep():
            return {"step": "rows", "phases": list(step.phases), "results": list(step.results), "overwrite": step.overwrite}
        case CombineStep():
            return {"step": "combine", "phase": step.phase, **_ticks(step)}
        case FreeStep():
            return {"step": "free", "values": list(step.values), "box": _box_object(step.box), "device": step.device}
        case TransferStep():
            return {
                "step": "transfer",
                "value": step.value,
                "source": step.source,
                "target": step.target,
                "bytes": step.bytes,
                "box": _box_object(step.box),
                "partial": step.partial,
                "link": step.link,
                "start": step.start,
                "busy": step.busy,
                "arrive": step.arrive,
                "units": list(step.units),
            }
        case FenceStep():
            return {"step": "fence", "fence": step.fence}
        case WaitStep():
            return {"step": "wait", "fence": step.fence}
        case LoopStep():
            until = None if step.until is None else _sub_object(step.until)
            together = {"rows": _interval(step.rows), "making": step.making}
            together["leave"] = None if step.leave is None else _sub_object(step.leave)
            body = {"body": _sub_object(step.body), "until": until}
            return {"step": "loop", "phase": step.phase, **body, **together, **_ticks(step)}
        case JoinStep():
            return {"step": "join", "phase": step.phase, "rows": _interval(step.rows), **_ticks(step)}
        case BranchStep():
            return {
                "step": "branch",
                "phase": step.phase,
                "then": _sub_object(step.then),
                "otherwise": _sub_object(step.otherwise),
                **_ticks(step),
            }
        case CellsStep():
            return {"step": "cells", "phase": step.phase, "body": _sub_object(step.body), **_ticks(step)}


def _interval(rows: tuple[int, int] | None) -> Any:
    return None if rows is None else list(rows)


def _ticks(step: RunStep | CombineStep | LoopStep | JoinStep | BranchStep | CellsStep) -> dict[str, int]:
    return {"start": step.start, "end": step.end}


def _box_object(box: Box | None) -> list[list[int]] | None:
    return None if box is None else [list(interval) for interval in box]


# ------------------------------------------------------------------------------------------ decoding


def decode_plan(text: str) -> Plan:
    """The plan that a text says.  PlanFormatError: too large, not JSON, or not exactly the schema."""
    if len(text) > LARGEST_PLAN:
        raise PlanFormatError(f"a plan has at most {LARGEST_PLAN} characters")
    try:
        data = decode(text)
    except (ValueError, RecursionError) as error:
        raise PlanFormatError(f"not JSON: {error}") from None
    top = Fields(data, "plan")
    if top.text("schema") != SCHEMA:
        raise PlanFormatError(f"the schema is not {SCHEMA}")
    plan = Plan(
        top.text("program"),
        tuple(sorted(top.counts("sizes"))),
        tuple(_device(d) for d in top.rows("devices")),
        DeviceId(top.device("home")),
        tuple(_phase(p) for p in top.rows("phases")),
        _sub(top.row("main"), 0),
        tuple(top.named_values("inputs")),
        tuple(top.named_values("outputs")),
        SCHEMA,
        top.count("tick_ns"),
        top.text("profile"),
        tuple(_link(one) for one in top.rows("links")),
        _prediction(top.row_or_none("prediction")),
        top.texts("directives"),
        tuple(PhaseId(natural(p, "plan.speculated")) for p in top.items("speculated")),
        tuple(_spread(row) for row in top.rows("spread")),
    )
    top.done()
    return plan


def _spread(row: Fields) -> Spread:
    axes = tuple(None if axis is None else natural(axis, f"{row.where}.axes") for axis in row.items("axes"))
    made = Spread(PhaseId(row.count("phase")), axes)
    row.done()
    return made


def _device(row: Fields) -> Device:
    id, backend, threads = DeviceId(row.device("id")), row.text("backend"), row.count("threads")
    made = Device(id, backend, threads, row.count_or_none("memory"), row.text("kind"))
    row.done()
    return made


def _link(row: Fields) -> PlannedLink:
    made = PlannedLink(row.text("id"), row.text("source"), row.text("target"))
    row.done()
    return made


def _prediction(row: Fields | None) -> Prediction | None:
    if row is None:
        return None
    proof = row.row("proof")
    made = Prediction(
        row.count("makespan"),
        row.count("lower_bound"),
        choice(Status, row.text("status"), row.where),
        row.named_counts("objectives"),
        Proof(proof.text("method"), proof.count("lower_bound"), dict(proof.counts("detail"))),
        tuple(_baseline(one) for one in row.rows("baselines")),
    )
    proof.done()
    row.done()
    return made


def _baseline(row: Fields) -> Baseline:
    made = Baseline(row.text("name"), row.count_or_none("ticks"))
    row.done()
    return made


def _phase(row: Fields) -> PlannedPhase:
    span, size = row.row("span"), row.row("bytes")
    axes = tuple(_axis(axis) for axis in row.rows("axes"))
    reads = tuple(_read(one) for one in row.rows("reads"))
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


def _axis(row: Fields) -> tuple[int, str]:
    made = row.count("size"), row.text("kind")
    row.done()
    return made


def _read(row: Fields) -> PlannedRead:
    made = PlannedRead(ValueId(row.count("value")), row.text("projection"), row.count("bytes"))
    row.done()
    return made


def _sub(row: Fields, depth: int) -> SubPlan:
    if depth > DEEPEST:
        raise PlanFormatError(f"sub-plans are nested more than {DEEPEST} deep")
    queues = []
    for queue in row.rows("queues"):
        kind = choice(QueueKind, queue.text("kind"), queue.where)
        queues.append(Queue(DeviceId(queue.text("device")), kind, tuple(_step(s, depth) for s in queue.rows("steps"))))
        queue.done()
    buffers = tuple(_buffer(b) for b in row.rows("buffers"))
    peak = tuple((DeviceId(name), size) for name, size in row.counts("peak"))
    row.done()
    return SubPlan(tuple(queues), buffers, peak)


def _buffer(row: Fields) -> Buffer:
    alias, reuses = row.count_or_none("alias_of"), row.count_or_none("reuses")
    made = Buffer(
        ValueId(row.count("value")),
        DeviceId(row.device("device")),
        choice(Role, row.text("role"), row.where),
        row.count("bytes"),
        row.count("offset"),
        row.count("first"),
        row.count("last"),
        None if alias is None else ValueId(alias),
        None if reuses is None else ValueId(reuses),
    )
    row.done()
    return made


def _step(row: Fields, depth: int) -> Step:
    made = _step_of(row.text("step"), row, depth)
    row.done()
    return made


def _step_of(name: str, row: Fields, depth: int) -> Step:
    match name:
        case "run":
            overwrite = row.count_or_none("overwrite")
            over = None if overwrite is None else ValueId(overwrite)
            return RunStep(PhaseId(row.count("phase")), over, row.box("box"), row.count("start"), row.count("end"))
        case "rows":
            overwrite = row.count_or_none("overwrite")
            members = tuple(PhaseId(natural(p, row.where)) for p in row.items("phases"))
            return RowsStep(members, row.values("results"), None if overwrite is None else ValueId(overwrite))
        case "combine":
            return CombineStep(PhaseId(row.count("phase")), row.count("start"), row.count("end"))
        case "free":
            device = row.text_or_none("device")
            return FreeStep(row.values("values"), row.box("box"), None if device is None else DeviceId(device))
        case "transfer":
            value, source, target = ValueId(row.count("value")), DeviceId(row.text("source")), DeviceId(row.text("target"))
            return TransferStep(
                value, source, target, row.count("bytes"), row.box("box"), row.flag("partial"), row.text("link"),
                row.count("start"), row.count("busy"), row.count("arrive"), row.interval("units"),
            )  # fmt: skip
        case "fence":
            return FenceStep(FenceId(row.count("fence")))
        case "wait":
            return WaitStep(FenceId(row.count("fence")))
        case "loop":
            phase, body, until = PhaseId(row.count("phase")), _sub(row.row("body"), depth + 1), row.row_or_none("until")
            again = None if until is None else _sub(until, depth + 1)
            ticks, rows, leave = (row.count("start"), row.count("end")), row.interval_or_none("rows"), row.row_or_none("leave")
            last = None if leave is None else _sub(leave, depth + 1)
            return LoopStep(phase, body, again, *ticks, rows, last, row.count("making"))
        case "join":
            return JoinStep(PhaseId(row.count("phase")), row.interval_or_none("rows"), row.count("start"), row.count("end"))
        case "branch":
            phase = PhaseId(row.count("phase"))
            then, otherwise = _sub(row.row("then"), depth + 1), _sub(row.row("otherwise"), depth + 1)
            return BranchStep(phase, then, otherwise, row.count("start"), row.count("end"))
        case "cells":
            phase = PhaseId(row.count("phase"))
            return CellsStep(phase, _sub(row.row("body"), depth + 1), row.count("start"), row.count("end"))
        case _:
            raise PlanFormatError(f"{row.where} has an unknown step {name!r}")
