"""Queues for a mutated schedule."""

from __future__ import annotations

from dataclasses import replace

from rho.backend.schedule.problem import Schedule, ScheduledStep, Synchronisation


def followed(sync: Synchronisation, before: Schedule, after: Schedule) -> Synchronisation:
    """The queues of `before` with each step replaced by its counterpart in `after`, so that nothing but the mutation is wrong."""
    new: dict[ScheduledStep, ScheduledStep] = {}
    for old_steps, steps in (
        (before.shards, after.shards), (before.combines, after.combines), (before.transfers, after.transfers)
    ):  # fmt: skip
        new.update(zip(old_steps, steps, strict=False))  # type: ignore[call-overload]
    queues = tuple(replace(queue, steps=tuple(new.get(step, step) for step in queue.steps)) for queue in sync.queues)
    return replace(sync, queues=queues)
