"""Plans as canonical JSON (`plan/2`), and back.

Canonical: keys sorted, no blanks, integers only, so that one plan has one sequence of bytes.  Decoding accepts exactly the
schema: every field present, of its type, nothing else; what does not fit is a `PlanFormatError`, never a plan.  Nothing
in a plan is run but the program that it holds, and a decoded plan is still to be verified against that program.
"""

from __future__ import annotations

import json
from typing import Any, Final

from ....lang.json_text import decode
from .codec import PlanFormatError, decoded, encoded
from .model import SCHEMA, Plan

__all__ = ["PlanFormatError", "decode_plan", "encode_plan", "plan_object"]

LARGEST_PLAN: Final = 64 << 20
"""Bytes of JSON that are read at most."""


def encode_plan(plan: Plan) -> str:
    """The canonical text of a plan."""
    return json.dumps(plan_object(plan), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plan_object(plan: Plan) -> dict[str, Any]:
    """The plan as dicts, lists, strings and integers."""
    made: dict[str, Any] = encoded(plan)
    return made


def decode_plan(text: str) -> Plan:
    """The plan that a text says.  PlanFormatError: too large, not JSON, of another version, or not exactly the schema."""
    if len(text) > LARGEST_PLAN:
        raise PlanFormatError(f"a plan has at most {LARGEST_PLAN} characters")
    try:
        data = decode(text)
        if not isinstance(data, dict):
            raise PlanFormatError("plan is not an object")
        if data.get("schema") != SCHEMA:
            raise PlanFormatError(f"its schema is {str(data.get('schema'))[:40]!r}, and this version reads {SCHEMA}: plan again")
        plan: Plan = decoded(Plan, data, "plan")
    except PlanFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise PlanFormatError(f"not JSON, or nested too deep: {error}") from None
    return plan
