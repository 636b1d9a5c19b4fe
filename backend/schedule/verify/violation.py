"""What the judge reports.  The codes are those of scheduling.md, section 6.6."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Rule(Enum):
    V1 = "every phase is run once"
    V2 = "queues and waits give every order that is needed, without circles"
    V3 = "the shards of a phase tile its rows"
    V4 = "operands are there when a shard starts"
    V5 = "memory suffices"
    V6 = "transfers use links, carry what they say and do not collide"
    V7 = "every wait is needed"
    V8 = "directives and the order of effects are kept"
    V9 = "times are what the tables say"
    V10 = "the bound is one"


@dataclass(frozen=True, slots=True)
class Violation:
    code: Rule
    message: str

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"
