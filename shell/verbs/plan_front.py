"""`rho plan FILE --pareto time,energy`: plans that trade latency against another objective, none worse than another in both.

Without a choice the front is shown (text, JSON, SVG, HTML); `--point N` or `--weights …` takes one of its plans, which is then
shown and stored as any plan is.

Neighbours: `backend.schedule.program.fronts` (the search), `verbs.plan` (asks).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ...lang.numerals import natural
from ..cli.arguments import Arguments, UsageError
from ..cli.results import to_json, wants_json
from ..execution.scheduling import budget_of, profile_of
from ..stages import Loaded

if TYPE_CHECKING:
    from ...backend.schedule.pictures.front import Drawn
    from ...backend.schedule.problem import Objective
    from ...backend.schedule.program.fronts import Front, Point
    from ..execution.scheduling import Scheduling

MOST_POINTS: Final = 50
UNITS: Final = {"energy": "mJ", "throughput": "ticks a run", "machines": "machines", "syncs": "syncs"}
SHOWN: Final = (None, "text", "json", "svg", "html")


def against(text: str) -> Objective:
    """The objective beside latency: `time,energy`.  UsageError."""
    from ...backend.schedule.problem import Objective

    names = ["latency" if name.strip() == "time" else name.strip() for name in text.split(",")]
    other = [name for name in names if name != "latency"]
    if len(names) != 2 or len(other) != 1 or other[0] not in UNITS:
        raise UsageError(f"--pareto {text}: write two objectives, one of them time", f"such as time,energy; the other is one of "
                         f"{', '.join(UNITS)}")  # fmt: skip
    return Objective(other[0])


def front(arguments: Arguments, loaded: Loaded, scheduling: Scheduling) -> Front:
    """Raises as `plan_program`."""
    from ...backend.schedule.program.fronts import front_of

    count = _count(arguments.value("--points"))
    objective = against(arguments.value("--pareto") or "")
    return front_of(
        loaded.core, loaded.bound, profile_of(scheduling), objective, count=count, budget=budget_of(scheduling)
    )  # fmt: skip


def require_options(arguments: Arguments) -> None:
    """What can be said of the options before there is a front.  UsageError."""
    objective = against(arguments.value("--pareto") or "")
    number, weights, form = arguments.value("--point"), arguments.value("--weights"), arguments.value("--format")
    if number is not None and weights is not None:
        raise UsageError("--point and --weights both choose a plan of the front", "give one of them")
    if weights is not None:
        weights_of(weights, objective)
    if number is None and weights is None and form not in SHOWN:
        raise UsageError(f"a front is shown as text, json, svg or html, not {form}", "--point N takes one plan of it")


def chosen(arguments: Arguments, found: Front) -> Point | None:
    """The point that `--point` or `--weights` takes.  UsageError."""
    number, weights = arguments.value("--point"), arguments.value("--weights")
    if weights is not None:
        return found.chosen(weights_of(weights, found.objective))
    if number is None:
        return None
    place = natural(number, len(found.points))
    if not place:
        raise UsageError(f"--point {number}: the front has the points 1 to {len(found.points)}")
    return found.points[place - 1]


def weights_of(text: str, other: Objective) -> dict[Objective, float]:
    """`time=1,energy=0.2`: of a second, and of a joule, machine, sync or tick.  UsageError."""
    from ...backend.schedule.problem import Objective

    weights: dict[Objective, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        name = "latency" if name.strip() == "time" else name.strip()
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if name not in ("latency", other.value) or not 0 <= weight < float("inf"):
            raise UsageError(f"--weights {text}: write weights such as time=1,{other.value}=0.2")
        weights[Objective(name)] = weight
    return weights


def _count(text: str | None) -> int:
    count = natural(text or "8", MOST_POINTS)
    if count is None or count < 2:
        raise UsageError(f"--points {text}: write a number of plans from 2 to {MOST_POINTS}")
    return count


def text(arguments: Arguments, found: Front, name: str) -> str:
    """The front in the format asked for."""
    asked = arguments.value("--format")
    if wants_json(arguments):
        return to_json(described(found))
    if asked == "svg":
        from ...backend.schedule.pictures.front import fronts_svg

        return fronts_svg([drawn(found, name)])
    if asked == "html":
        from ...backend.schedule.pictures.of_plan import chart_of_plan
        from ...backend.schedule.pictures.page import front_page

        charts = [chart_of_plan(point.planned.plan, f"{place}") for place, point in enumerate(found.points, 1)]
        return front_page(drawn(found, name), charts)
    return "\n".join(lines(found))


def described(found: Front) -> dict[str, Any]:
    from ...backend.schedule.plan.space_text import space_lines

    return {
        "version": 1, "objectives": ["latency", found.objective.value], "least_ns": found.least_ns,
        "points": [
            {"ns": point.ns, found.objective.value: point.value, "devices": list(_used(point))} for point in found.points
        ],
        "floors": [{"ns": ns, found.objective.value: value} for ns, value in found.floors],
        "bound_over": space_lines(found.narrowest),
    }  # fmt: skip


def drawn(found: Front, name: str) -> Drawn:
    from ...backend.schedule.pictures.front import Drawn
    from ...backend.schedule.plan.space_text import plans_text, space_lines

    unit = UNITS[found.objective.value]
    points = tuple((one.ns, one.value, _said(one, unit)) for one in found.points)
    title = f"{name}: time against {found.objective.value}"
    return Drawn(title, unit, points, found.floors, plans_text(found.narrowest), tuple(space_lines(found.narrowest)))


def lines(found: Front) -> Iterator[str]:
    """A line a plan, then what is proved."""
    unit = UNITS[found.objective.value]
    from ...backend.schedule.plan.explain_queues import time_text
    from ...backend.schedule.plan.space_text import plans_text, space_lines

    yield f"time against {found.objective.value}: {len(found.points)} plans, each verified"
    for place, point in enumerate(found.points, 1):
        yield f"{place:>3}  {_said(point, unit)}"
    plans = plans_text(found.narrowest)
    yield f"no {plans} takes less than {time_text(found.least_ns)}"
    for ns, value in found.floors:
        yield f"no {plans} and at most {time_text(ns)} is below {value} {unit}"
    yield from space_lines(found.narrowest)


def _said(point: Point, unit: str) -> str:
    from ...backend.schedule.plan.explain_queues import time_text

    used = _used(point)
    shown = ", ".join(used[:6]) + (f" and {len(used) - 6} more" if len(used) > 6 else "")
    return f"{time_text(point.ns):>8}  {point.value:>8} {unit}  on {shown}"


def _used(point: Point) -> tuple[str, ...]:
    from ...backend.schedule.plan.explain_queues import busy_of

    return tuple(str(device) for device in busy_of(point.planned.plan))
