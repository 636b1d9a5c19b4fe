"""Quantities of a checked program as text and as JSON, for `rho type` and `rho check --json`.

Neighbours: `typechecker.check` (works them out when asked), `shell.verbs.type`, `shell.verbs.check`.
"""

from __future__ import annotations

from typing import Any

from ...lang.render import range_json
from ...typechecker.check import GENERIC
from ...typechecker.quantities.written import written
from ..stages import Checked

GENERIC_COST = "generic: costs at each use"


def value_lines(checked: Checked) -> list[str]:
    """`x : 2 f64[n]` for every named value."""
    return [] if checked.result is None else [quantity.line() for quantity in checked.result.quantities()]


def lines(checked: Checked) -> list[str]:
    """Every named value, then what every function takes and gives."""
    if checked.result is None:
        return []
    found = value_lines(checked)
    for name, signatures in checked.result.signatures().items():
        found += signatures or (f"{name} : {GENERIC}",)
    return found


def names_json(checked: Checked) -> list[dict[str, Any]]:
    """Named values with how often their elements are read, and where."""
    if checked.result is None:
        return []
    sources = dict(checked.sources)
    return [
        {
            "name": quantity.name,
            "file": quantity.span.file,
            "range": range_json(quantity.span, sources),
            "type": quantity.type,
            "reads": written(quantity.grade),
            "uses": [
                {"file": use.span.file, "range": range_json(use.span, sources), "reads": written(use.grade), "why": use.why}
                for use in quantity.uses
            ],
        }
        for quantity in checked.result.quantities()
    ]


def signatures_json(checked: Checked) -> list[dict[str, Any]]:
    """Each function with its file and its signatures, those of functions without an annotation worked out (with `where`)."""
    file = checked.source.name
    return [{"name": name, "file": file, "signatures": lines} for name, lines in functions_json(checked).items()]


def functions_json(checked: Checked) -> dict[str, list[str]]:
    """Each function's signatures; an empty list if it is generic."""
    if checked.result is None:
        return {}
    return {name: list(signatures) for name, signatures in checked.result.signatures().items()}
