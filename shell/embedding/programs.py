"""`rho.load`: a script as a Python object that is planned and run on arrays; `rho.Plan` and `rho.Cluster`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

import numpy as np

from ...backend import bind_shapes, execute, plan
from ...backend.cpu.backend import CpuBackend
from ...backend.io.reading import check_declared, is_any_value, located
from ...backend.schedule.plan.plan import Device, ExecutionPlan as StoredPlan
from ...backend.schedule.single_device import HOME, Detail
from ...backend.vm.run_state import TAKEN, MovedArray, OutputValue, ResidentValue, pooled_empty
from ...backend.vm.values import kind_of_dtype
from ...lang.bind.directives import OBJECTIVES
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError, RunFailed
from ...lang.support import processes
from ...lang.support.records import cached_property, dataclass, replace
from ...lang.syntax.source import Span
from ...lang.tree.program import AS_WRITTEN, ColumnFormat
from ...typechecker.core.operations import CoreInput
from ...typechecker.diagnostics import show_type
from ...typechecker.elements import Kind, Unit, plain, show_element
from ...typechecker.sizes.polynomials import SizeVariable
from ..console.process_exit import UsageError
from ..console.standard_streams import read_source, write_atomically
from ..execution.clusters import RESTARTS, ClusterConnection
from ..execution.loading import InputFile, common_widths, find_inputs, pad_text_rows, read_inputs
from ..execution.modules import MissingSizes, bind_known_sizes, header_reader, sizes_of, with_only_inputs
from ..execution.params import param_values_of
from ..execution.run_request import RunRequest, outcome_of
from ..execution.scheduling import PlanningEffort, PlanPurpose, Scheduling
from ..execution.stored_plans import cores, read_plan
from ..pipeline import Session
from ..pipeline_types import Checked, LoadedProgram
from .evaluating import (
    as_array,
    copied_out,
    dtype_of,
    for_caller,
    for_numpy,
    locating_errors,
    require_accepted,
    require_writable,
    with_source_lines,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...backend.vm.executor import NativeSignature

# ---------------------------------------------------------------------------------------------------- clusters
#
# `rho.Cluster`: workers for `Program.run(cluster=…)`, connected once and used for many runs.

_PACKAGE: Final = __name__.removesuffix(".shell.embedding.programs")
_ROOMS: Final = tuple(f"{_PACKAGE}.{room}." for room in ("shell", "backend", "typechecker", "lang"))


def _warn(words: str) -> None:
    """Issue a warning at the caller's line that called Rho."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(_ROOMS):
        frame, level = frame.f_back, level + 1
    warnings.warn(words, RuntimeWarning, stacklevel=level)


class Cluster:
    """Workers: `local:2`, the address of a Dask scheduler, the path of a `scheduler.json`, or a `distributed.Client`.

    Programs run on it one after the other; if a worker is lost, the run is planned again for the others, with a RuntimeWarning,
    at most `restarts` times a run.  Close it, or use it in a `with`.

    `devices`: a shipped profile, or the path of one, that describes home and the workers (Refused: E704, E705: there is none, or
    it is not of these workers); without it every worker reports its speed.

    ValueError: an address of another form, `distributed` is not installed, or the cluster was closed.  RunFailed (E710): it does
    not answer, or has no workers.
    """

    def __init__(
        self, where: str | os.PathLike[str] | object, *, restarts: int = RESTARTS, devices: str | None = None
    ) -> None:  # fmt: skip
        if isinstance(restarts, bool) or not isinstance(restarts, int) or restarts < 0:
            raise ValueError(f"restarts is a natural number, not {restarts!r}")
        self.connection = ClusterConnection(where, restarts, devices)
        self.connection.report = _warn
        try:
            with locating_errors({}):
                self.connection.cluster  # noqa: B018  connect now
        except UsageError as error:
            raise ValueError(error.message.removeprefix("--cluster: ")) from None

    @property
    def workers(self) -> tuple[str, ...]:
        """The addresses of the workers that are still connected."""
        return tuple(member.address for member in self.connection.cluster.members)

    @property
    def dashboard(self) -> str:
        """The address of Dask's dashboard, empty if there is none."""
        return self.connection.cluster.membership.dashboard

    def close(self) -> None:
        """Disconnect from the workers; those of `local:N` end."""
        self.connection.close()

    def __enter__(self) -> Cluster:
        self.connection.cluster  # noqa: B018  it is open
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<rho cluster: closed>" if self.connection.is_closed else f"<rho cluster: {len(self.workers)} workers>"


# ---------------------------------------------------------------------------------------------------- plans
#
# `rho.Plan`: a plan as a Python object, made by `Program.plan`, stored, loaded and run.

PICTURES = ("svg", "html", "dot", "trace", "gantt")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of a program for known sizes on known devices, which was verified when it was made.

    `simulate`: run it on this machine even if its devices are others, each within its memory; values never depend on the plan.
    """

    stored: StoredPlan
    simulate: bool = False

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Plan:
        """Load a plan that `save` or `rho plan -o` stored.  Refused: E704, it cannot be read; E705, it is not a plan."""
        with locating_errors({}):
            return Plan(read_plan(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store the plan in canonical form (`plan/2`); the file is replaced atomically."""
        from ...backend.schedule.plan.plan import encode_plan

        write_atomically(Path(os.fspath(path)), encode_plan(self.stored).rstrip("\n") + "\n")

    def simulated(self) -> Plan:
        """The same plan, to be run on this machine in place of its devices."""
        return replace(self, simulate=True)

    @property
    def seconds(self) -> float:
        """The predicted time of a run, in seconds."""
        return self._prediction[0] * self.stored.tick_ns / 1e9

    @property
    def at_least(self) -> float:
        """A proved lower bound, in seconds, for all plans of its `space`; for an objective other than latency, in its unit."""
        prediction = self.stored.prediction
        by_time = prediction is None or not prediction.objectives or prediction.objectives[0][0] == "latency"
        return self._prediction[1] * self.stored.tick_ns / 1e9 if by_time else float(self._prediction[1])

    @property
    def status(self) -> str:
        """`optimal` (among the plans of its `space`) or `gap`."""
        prediction = self.stored.prediction
        return "" if prediction is None else prediction.status.value

    @property
    def space(self) -> tuple[str, ...]:
        """The plan space of `at_least` and `optimal`, in words: whole shards or chunks, the axes of cuts, and the phases that are
        not cut."""
        from ...backend.schedule.plan.plan_text import space_lines

        return tuple(space_lines(self.stored))

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that the plan is for, by name."""
        return dict(self.stored.sizes)

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of its devices."""
        return tuple(str(device.id) for device in self.stored.devices)

    @property
    def memory(self) -> dict[str, int]:
        """The peak memory in bytes, by device."""
        return {str(device): count for device, count in self.stored.main.peak}

    @property
    def objectives(self) -> dict[str, int]:
        """The value of each objective, the most important first."""
        prediction = self.stored.prediction
        return {} if prediction is None else dict(prediction.objectives)

    def __str__(self) -> str:
        from ...backend.schedule.plan.plan_text import queues_text

        return queues_text(self.stored)

    def __repr__(self) -> str:
        from ...backend.schedule.plan.plan_text import has_other_axes
        from ..display.costs import duration

        status = self.status + (" along these axes" if self.status and has_other_axes(self.stored) else "")
        return f"<rho plan: {duration(self.seconds * 1e9)} on {len(self.devices)} devices, {status}>"

    def picture(self, format: str = "svg") -> str:
        """The text of a picture in the format svg, html, dot, trace (for Perfetto) or gantt.  ValueError: another format."""
        from ...backend.schedule.rendering.gantt_model import chart_of_plan
        from ..display.plan_output import picture

        if format not in PICTURES:
            raise ValueError(f"a picture of a plan is one of {', '.join(PICTURES)}, not {format!r}")
        return picture(chart_of_plan(self.stored, os.path.basename(self.stored.program[0].name)), format)

    def _repr_html_(self) -> str:
        return self.picture("svg")

    @property
    def _prediction(self) -> tuple[int, int]:
        prediction = self.stored.prediction
        return (0, 0) if prediction is None else (prediction.makespan, prediction.lower_bound)


def scheduling_for(
    devices: str | os.PathLike[str] | None, objective: str | Sequence[str], budget: float | str | None
) -> Scheduling:  # fmt: skip
    """The scheduling for the arguments of `Program.plan`.  ValueError: an unknown objective or budget."""
    objectives = (objective,) if isinstance(objective, str) else tuple(objective)
    for name in objectives:
        if name not in OBJECTIVES:
            raise ValueError(f"an objective is one of {', '.join(OBJECTIVES)}, not {name!r}")
    efforts = {None: PlanningEffort.DEFAULT, "fast": PlanningEffort.FAST, "prove": PlanningEffort.PROVE}
    seconds: float | None = None
    if budget in efforts:
        effort = efforts[budget]
    elif isinstance(budget, int | float) and not isinstance(budget, bool) and 0 < budget <= 86_400:
        effort, seconds = PlanningEffort.DEFAULT, float(budget)
    else:
        raise ValueError(f"a budget is a number of seconds, 'fast' or 'prove', not {budget!r}")
    return Scheduling(PlanPurpose.LOOK, None if devices is None else os.fspath(devices), objectives, effort, seconds)


# ---------------------------------------------------------------------------------------------------- programs

P = ParamSpec("P")
T = TypeVar("T")
_IN_TILES: Final = (
    "from Python a program that reads all of its inputs from files runs in tiles with `cluster=rho.Cluster(\"local:1\")` alone; "
    "`rho run` needs no cluster"
)
MOST_PLANS: Final = 64
"""The most combinations of shapes and params for which a program keeps plans."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper bounds of a program's costs, as numbers; reading one raises TypeError if a size is unknown.

    `formulas` has the costs of the program as written as text, in the names of the sizes."""

    formulas: Mapping[str, str]
    numbers: Mapping[str, int]
    unknown: tuple[str, ...] = ()

    def _number(self, name: str) -> int:
        if self.unknown:
            sizes = ", ".join(f"{size}=…" for size in self.unknown)
            raise TypeError(f"{name} depends on {', '.join(self.unknown)}: give bounds({sizes}), or read formulas[{name!r}]")
        return self.numbers[name]

    @property
    def work(self) -> int:
        """The number of operations."""
        return self._number("work")

    @property
    def span(self) -> int:
        """The number of dependent steps: operations on the longest path."""
        return self._number("span")

    @property
    def bytes_read(self) -> int:
        """The bytes read."""
        return self._number("bytes_read")

    @property
    def bytes_written(self) -> int:
        """The bytes written."""
        return self._number("bytes_written")

    @property
    def memory(self) -> int:
        """The most bytes live at once."""
        return self._number("memory")


class ResidentArray:
    """An array that stays in memory between runs: an output of a run with `keep`, or a copy of any array.

    As an input of a run it is neither copied nor sent to a device that has it; data that a run sends to a device stay there for
    the next run.  `numpy.asarray(resident)` is a copy.  It may be an input of any number of runs, unless it was moved.
    """

    __slots__ = ("_is_moved", "_unit", "_value")

    def __init__(self, array: object) -> None:
        self._unit: Unit | None = None
        if isinstance(array, ResidentValue):
            self._value: ResidentValue | None = array
        else:
            given, kind, self._unit = as_array(array, "what is to be resident")
            copy = pooled_empty(given.shape, given.dtype)
            copy[...] = given
            self._value = ResidentValue(kind, given.shape, [(CpuBackend(), None, copy)])
        self._is_moved = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return self._present.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return dtype_of(self._present.kind, self._unit)

    def move(self) -> ResidentArray:
        """The same array, whose memory the next run may overwrite with its results; neither object can be used after that.

        ValueError: it was moved before.
        """
        moved = ResidentArray(self._taken())
        moved._is_moved, moved._unit = True, self._unit
        return moved

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a resident array is copied: later runs may write over it")
        return np.array(for_numpy(self._present.on_host(), self._unit), dtype)

    def __reduce__(self) -> tuple[Callable[..., ResidentArray], tuple[NDArray[Any]]]:
        """Pickle or copy a resident array as its elements.  ValueError: it was moved before."""
        return ResidentArray, (np.asarray(self),)

    def __repr__(self) -> str:
        if self._value is None:
            return "<rho resident: moved>"
        axes = " ".join(map(str, self.shape))
        element = self._value.kind.value if self._unit is None else self._unit.value
        return f"<rho resident: {element}{f'[{axes}]' if axes else ''}>"

    @property
    def _present(self) -> ResidentValue:
        if self._value is None:
            raise ValueError(TAKEN)
        return self._value

    def _taken(self) -> ResidentValue:
        with _MOVING:
            value, self._value = self._present, None
        return value

    def _leaves(self, array: Any) -> bool:
        """Release the memory of a moved array; was it `array`, which the caller then owns alone?"""
        value = self._taken()
        is_same = value.pieces[0][2] is array
        value.pieces.clear()
        return is_same

    @staticmethod
    def _of(shown: OutputValue, unit: Unit | None) -> ResidentArray:
        value = shown.value
        if not isinstance(value, ResidentValue):
            value = ResidentValue(shown.kind, value.shape, [(_HOST, None, value)])
        resident = ResidentArray(value)
        resident._unit = unit
        return resident


_NO_NAMES: Final[Mapping[str, str]] = MappingProxyType({})
_NO_TARGETS: Final[Mapping[str, object]] = MappingProxyType({})
_HOST: Final = CpuBackend()
_MOVING: Final = processes.lock()


class Result(Mapping[str, "NDArray[Any]"]):
    """The outputs of a run by name, as arrays.

    `printed` has the printed texts in order, `resident` the outputs that the run was asked to `keep`.  `json.dumps(result,
    default=rho.plain)` writes it as JSON.  Readers of Arrow's C interface take it as a data frame with a column for each output:
    `pandas.DataFrame.from_arrow(result)`, `pyarrow.table(result)`.
    """

    def __init__(
        self, outputs: Mapping[str, NDArray[Any]], printed: tuple[str, ...], forms: Mapping[str, ColumnFormat] | None = None,
        resident: Mapping[str, ResidentArray] | None = None,
    ) -> None:  # fmt: skip
        self._outputs, self.printed, self._forms, self.resident = dict(outputs), printed, forms or {}, dict(resident or {})

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._outputs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)

    def __repr__(self) -> str:
        return f"rho.Result({', '.join([*self._outputs, *self.resident])}; {len(self.printed)} printed)"

    def select(self, *names: str) -> Result:
        """The result with only these outputs, in this order.  KeyError: there is no such output."""
        return Result({name: self._outputs[name] for name in names}, self.printed, self._forms, self.resident)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The outputs as columns of an Arrow stream, by pyarrow (the extra `parquet`); dates become Arrow's dates.

        ValueError: the outputs are not columns of one length (`select` takes those that are).  ImportError: pyarrow is not
        installed.
        """
        from ...backend.io.formats import FileTrouble
        from ...backend.io.writing import arrow_table_of

        outputs = []
        for name, array in self._outputs.items():
            numbers = array.view(np.int64) if array.dtype.kind in "mM" else array
            kind = kind_of_dtype(numbers.dtype)
            assert kind is not None, "an output has a kind"
            outputs.append((name, numbers, kind, self._forms.get(name, AS_WRITTEN)))
        try:
            return arrow_table_of(outputs).__arrow_c_stream__(requested_schema)
        except FileTrouble as trouble:
            raise ValueError(f"a data frame of this result {trouble.message}: take some outputs by `select`") from None


def _for_callers(method: Callable[P, T]) -> Callable[P, T]:
    """A method whose errors show callers their own line instead of the frames inside Rho."""

    @wraps(method)
    def called(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return method(*arguments, **named)
        except Exception as error:
            raise for_caller(error) from error.__cause__

    return called


class Program:
    """An accepted script, which `rho.load` returns.  Several threads may use it."""

    def __init__(self, checked: Checked, session: Session) -> None:
        assert checked.core is not None
        self._checked, self._session, self._core = checked, session, checked.core
        self._plans: dict[Any, tuple[Any, Any]] = {}
        self._patterns = frozenset([entry.name for entry in checked.core.settings if entry.pattern is not None])
        self._others: dict[tuple[tuple[str, str], ...], Program] = {}
        """The program with other regular expressions, by their texts."""
        self._last_fit: tuple[Any, Any, Any] | None = None  # the stored plan checked last, and its program
        self._latest: NativeSignature | None = None
        """The native signature of the plan that ran last, if its inputs were arrays that a run checks for dtypes and shapes
        only."""

    def __repr__(self) -> str:
        return f"<rho program {self._checked.source.name}: {self.type}>"

    @property
    def type(self) -> str:
        """The type as text, inputs and params before outputs: `points : f64[n 2] ⋄ k → labels : idx<k>[n]`."""
        core = self._core
        taken = [f"{entry.name} : {show_type(core.types[entry.value])}" for entry in core.inputs]
        taken += [param.name for param in core.params]
        results = [f"{entry.name} : {show_type(core.types[entry.value])}" for entry in core.outputs]
        return f"{' ⋄ '.join(taken)} → {' ⋄ '.join(results)}".strip()

    @property
    def types(self) -> Mapping[str, str]:
        """The type of every name of the script, as text."""
        return self._checked.types

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The warnings with which it was accepted."""
        return self._checked.diagnostics

    @_for_callers
    def bounds(self, **sizes: int) -> Bounds:
        """Upper bounds of the costs for sizes and params by name; params that are not named have their defaults.

        TypeError: a name that is not a size of the program, or no natural number.  RhoError: sizes that a guard refuses.
        """
        report, known = self._costs, self._default_sizes
        variables = {variable.name: variable for variable in self._variables}
        for name, value in sizes.items():
            if name not in variables:
                raise TypeError(f"the program has no size {name}; its sizes are {', '.join(sorted(variables)) or 'all known'}")
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise TypeError(f"the size {name} is a natural number, not {value!r}")
            known[variables[name]] = value
        unknown = tuple(sorted({variable.name for variable in self._variables if variable not in known}))
        numbers = {} if unknown else report.numbers(known)
        return Bounds({name: str(formula) for name, formula in report.formulas().items()}, numbers, unknown)

    @_for_callers
    def plan(
        self, devices: str | os.PathLike[str] | None = None, /, *, objective: str | Sequence[str] = (),
        budget: float | str | None = None, **values: object,
    ) -> Plan:  # fmt: skip
        """A plan for devices: a shipped profile's name or the path of one (None: this machine).

        `values` are arrays by input name and numbers by the name of a size or param; sizes without a value come from the headers
        of the program's files, so no data is needed.  `objective`: latency, throughput, energy, machines or syncs, or several,
        the most important first.  `budget`: seconds to search, "fast" or "prove".

        TypeError: a size without a value, an unknown name.  Refused, Rejected: as for a run, or no plan obeys the program's
        schedule blocks.
        """
        from ..execution.scheduling import plan_on, profile_of

        if not self._patterns.isdisjoint(values) and (other := self._with_patterns(values)) is not self:
            return other.plan(devices, objective=objective, budget=budget, **values)
        scheduling = scheduling_for(devices, objective, budget)
        with locating_errors(self._checked.sources):
            bound = self._bind_sizes(values)
            return Plan(plan_on(self._core, bound, profile_of(scheduling), scheduling).plan)

    def _bind_sizes(self, values: Mapping[str, object]) -> Any:
        names = {variable.name for variable in self._variables} - {entry.name for entry in self._core.inputs}
        arrays = self._arrays(values)
        numbers = self._numbers({name: value for name, value in values.items() if name not in arrays}, names, "size or param")
        folder = self._session.folder_of(self._checked.source)
        try:
            shapes = {name: array.shape for name, array in arrays.items()}
            bound = bind_known_sizes(self._core, numbers, shapes, header_reader(folder, self._session.permissions))
        except MissingSizes as lacking:
            raise TypeError(f"nothing says how large these sizes are: {lacking.names}") from None
        known = {variable.name: number for variable, number in bound.sizes.items()}
        for name, number in numbers.items():
            if known.get(name, number) != number:
                raise TypeError(f"{name} is {known[name]} by the arrays that are given, and {number} as it is given")
        return bound

    def run(
        self, *, plan: object = None, cluster: object = None, keep: object = None, out: object = None, **values: object
    ) -> Result:  # fmt: skip
        """Run on arrays by input name and numbers by param name; other inputs are read from their files.

        `plan`: a `rho.Plan` for these sizes, to run in place of a plan for this machine's processors (Refused: SCH301, it is for
        other sizes or another program; SCH104, its devices are not here, and it is not `plan.simulated()`).
        `cluster`: a `rho.Cluster` on whose workers the program runs, by a plan for them (RunFailed, E710: they were lost).
        `keep`: outputs that stay in memory for later runs, as `rho.ResidentArray` in the result's `resident`; `{"w2": "w"}`
        renames w2 to w there.
        `out`: arrays by output name, into which results are copied once the run has succeeded.

        Inputs are not written to; results share no memory with them.  TypeError: an unknown name, or a value that is not an
        array.  ValueError: an array of `out` does not fit, or a resident array was moved.  Refused: sizes or element types that
        do not fit, guards, bounds.  RunFailed: a run-time check.
        """
        try:
            if not self._patterns.isdisjoint(values) and (other := self._with_patterns(values)) is not self:
                return other.run(plan=plan, cluster=cluster, keep=keep, out=out, **values)
            if plan is not None and not isinstance(plan, Plan):
                self._require_entry_named("plan", plan, "a rho.Plan (`program.plan(…)`, `rho.Plan.load(FILE)`)")
                plan, values = None, {**values, "plan": plan}
            if cluster is not None and not isinstance(cluster, Cluster):
                self._require_entry_named("cluster", cluster, "a rho.Cluster (`rho.Cluster(WHERE)`)")
                cluster, values = None, {**values, "cluster": cluster}
            if plan is not None and cluster is not None:
                raise TypeError("a cluster has plans of its own: give a plan or a cluster")
            if keep is not None or out is not None:
                names, targets = self._names_to_keep(keep, values), self._targets(out, values)
                if both := names.keys() & targets.keys():
                    raise TypeError(f"{min(both)} is in keep, and its result is not written to out: leave it out of one of them")
                if names or targets:
                    with locating_errors(self._checked.sources):
                        return self._run(values, plan, cluster, names, targets)
            if self._latest is not None and plan is None and cluster is None and self._is_typed(values):
                try:
                    outputs = self._latest.run_named(values)
                except RhoError as error:
                    raise with_source_lines(error, self._checked.sources) from None
                if outputs is not None:
                    return Result(self._typed(outputs), (), self._forms)
            with locating_errors(self._checked.sources):
                return self._run(values, plan, cluster)
        except Exception as error:
            raise for_caller(error) from error.__cause__

    def _with_patterns(self, values: Mapping[str, object]) -> Program:
        """The program whose regular expressions are those of these values."""
        with locating_errors(self._checked.sources):
            arrays = self._arrays({name: values[name] for name in self._patterns if name in values})
        hosts = {name: array.on_host() if isinstance(array, ResidentValue) else array for name, array in arrays.items()}
        texts = {name: "".join(map(str, host.ravel().tolist())) for name, host in hosts.items()}
        key = tuple(sorted(texts.items()))
        if key not in self._others:
            checked = self._session.with_patterns(self._checked, texts)
            require_accepted(checked)
            self._others[key] = self if checked is self._checked else Program(checked, self._session)
            while len(self._others) > MOST_PLANS:
                self._others.pop(next(iter(self._others)), None)
        return self._others[key]

    def _require_entry_named(self, option: str, value: object, wanted: str) -> None:
        """Raise TypeError unless the program has an input or param with the name of this option."""
        names = {entry.name for entry in self._core.inputs} | {param.name for param in self._core.params}
        if option not in names:
            raise TypeError(f"{option} is {wanted}, not {type(value).__name__}")

    def _is_entry(self, name: str) -> bool:
        return name in {entry.name for entry in self._core.inputs} | {param.name for param in self._core.params}

    def _names_to_keep(self, keep: object, values: dict[str, object]) -> Mapping[str, str]:
        """The name of the resident array for each output to keep.  TypeError: `keep` names no outputs."""
        if keep is None or self._is_entry("keep"):  # it is the value of an input
            values.update({} if keep is None else {"keep": keep})
            return {}
        names: Any = keep.split() if isinstance(keep, str) else keep
        outputs = [entry.name for entry in self._core.outputs]
        if not isinstance(names, (Mapping, Sequence, set, frozenset)) or not all(
            name in outputs for name in names
        ) or (isinstance(names, Mapping) and not all(isinstance(name, str) for name in names.values())):
            raise TypeError(f"keep is names of outputs, of {', '.join(outputs) or 'which there are none'}, not {keep!r}")
        if not isinstance(names, Mapping):
            return {name: name for name in names}
        first: dict[str, str] = {}
        for output, name in names.items():
            if (other := first.setdefault(name, output)) != output:
                raise TypeError(f"keep names both {other} and {output} {name}: give each a name of its own")
        return dict(names)

    def _targets(self, out: object, values: dict[str, object]) -> Mapping[str, object]:
        """The array for each output to be written to.  TypeError: `out` names no outputs.  TypeError, ValueError: as for
        `require_writable`."""
        if out is None or self._is_entry("out"):
            values.update({} if out is None else {"out": out})
            return {}
        outputs = [entry.name for entry in self._core.outputs]
        if not isinstance(out, Mapping) or not all(name in outputs for name in out):
            raise TypeError(f"out is arrays by the names of outputs, of {', '.join(outputs) or 'which there are none'}")
        require_writable({f"out[{name!r}]": target for name, target in out.items()})
        return out

    def _run(
        self, values: Mapping[str, object], given: Plan | None, cluster: Cluster | None, keep: Mapping[str, str] = _NO_NAMES,
        out: Mapping[str, object] = _NO_TARGETS,
    ) -> Result:  # fmt: skip
        core = self._core
        params, arrays = self._params(values), dict(self._defaults) | self._arrays(values)
        absent = [entry for entry in core.data if entry.name not in arrays]
        pathless = [entry.name for entry in absent if entry.path is None]
        if pathless:
            raise TypeError(f"no value for {', '.join(pathless)}, which the program names no file for")
        files: Mapping[str, InputFile] = {}
        if absent:
            folder = self._session.folder_of(self._checked.source)
            files = find_inputs(with_only_inputs(core, absent), {}, folder, self._session.permissions)
        shapes = {name: array.shape for name, array in arrays.items()} | {name: file.shape for name, file in files.items()}
        shapes = common_widths(core, shapes)
        files = {name: replace(file, shape=shapes[name]) for name, file in files.items()}
        resident = {name: value for name, value in values.items() if isinstance(value, ResidentArray)}
        is_local = given is None and cluster is None
        moved = frozenset([name for name, one in resident.items() if one._is_moved and self._may_write(name, one) and is_local])
        from_files = cluster is not None and bool(absent) and not arrays and not keep
        bound, cpu_plan = self._cached_plan(shapes, params, moved, may_stream=from_files)
        if given is not None:
            cpu_plan = self._checked_plan(given, bound)
        has_cards = given is not None and not given.simulate and any(one.backend != "cpu" for one in cpu_plan.devices)
        if absent and cluster is None:
            arrays |= read_inputs(with_only_inputs(core, absent), files, bound.sizes)
        for entry in core.inputs:
            if isinstance(one := arrays.get(entry.name), ResidentValue):
                stays = has_cards and is_any_value(core.types[entry.value]) and one.shape == shapes[entry.name]
                if not stays or one.kind is not core.types[entry.value].element.kind:
                    arrays[entry.name] = one.on_host()
            if entry.name in arrays and not isinstance(arrays[entry.name], ResidentValue):
                arrays[entry.name] = pad_text_rows(arrays[entry.name], shapes[entry.name])
                self._check_values(entry, arrays[entry.name], bound.sizes)
        left_alone = [name for name, one in resident.items() if one._is_moved and one._leaves(arrays[name])]
        arrays |= {name: MovedArray([arrays.pop(name)]) for name in left_alone if name in moved}
        if cluster is not None and from_files and self._is_too_large(cluster.connection, cpu_plan):
            results = self._run_in_tiles(cluster.connection, params)
        elif cluster is not None:
            results = self._run_on_cluster(cluster.connection, bound, arrays, files)
        else:
            simulated = given is not None and given.simulate
            results = execute(cpu_plan, bound, arrays, simulated=simulated, keep=frozenset(keep) if has_cards else frozenset())
        outputs = self._typed({name: shown.value for name, shown in results.outputs.items() if name not in keep})
        residents = [(name, shown) for name, shown in results.outputs.items() if name in keep]
        left = {keep[name]: ResidentArray._of(shown, self._units.get(name)) for name, shown in residents}
        outputs |= copied_out({name: (outputs[name], f"out[{name!r}]", target) for name, target in out.items()})
        if not results.printed:
            if is_local and not left and self._is_typed(values):
                from ...backend.vm.executor import signature_of

                self._latest = signature_of(cpu_plan)
            return Result(outputs, (), self._forms, left)
        every = {name: shown.value for name, shown in results.outputs.items() if name not in keep}
        outcome = outcome_of(core, [shown.value for shown in results.printed], every)
        return Result(outputs, tuple(shown.text() for shown in outcome.printed), self._forms, left)

    def _may_write(self, name: str, moved: ResidentArray) -> bool:
        """May a run overwrite a moved array that is this input?"""
        declared = next(self._core.types[entry.value] for entry in self._core.inputs if entry.name == name)
        return bool(declared.shape) and declared.element.kind is moved._present.kind is not Kind.CHAR

    def _typed(self, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs with NumPy's dtypes for dates, times and differences."""
        units = self._units
        return {name: for_numpy(array, units.get(name)) for name, array in outputs.items()} if units else dict(outputs)

    @cached_property
    def _units(self) -> Mapping[str, Unit]:
        """The units of the outputs that have one."""
        units = {entry.name: self._core.types[entry.value].element.unit for entry in self._core.outputs}
        return {name: unit for name, unit in units.items() if unit is not None}

    @cached_property
    def _forms(self) -> Mapping[str, ColumnFormat]:
        """The column formats of outputs that have one, by name."""
        return {entry.name: entry.reading for entry in self._core.outputs if entry.reading != AS_WRITTEN}

    # ------------------------------------------------------------------------------------------------

    def _cached_plan(
        self, shapes: Mapping[str, tuple[int, ...]], params: Mapping[str, int], moved: frozenset[str], *, may_stream: bool = False
    ) -> tuple[Any, Any]:  # fmt: skip
        """The program with its sizes bound and guards checked, and its plan; cached, since `execute` prepares each once.

        `may_stream`: a program that needs too much memory is not refused, since it runs in tiles.
        """
        key = tuple(sorted(shapes.items())), tuple(sorted(params.items())), (moved, may_stream)
        planned = self._plans.get(key)
        if planned is None:
            bound = bind_shapes(self._core, shapes, params)
            planned = bound, plan(bound, Device(HOME, "cpu", cores()), detail=Detail.STEPS, moved=moved)
            if not may_stream:
                reads_files = any(entry.path is not None for entry in self._core.data)
                checked, advice = self._checked, (_IN_TILES,) if reads_files else ()
                self._session.require_memory(planned[1], self._core, bound, checked.sources, checked.source, advice=advice)
            while len(self._plans) >= MOST_PLANS:
                self._plans.pop(next(iter(self._plans)), None)
            self._plans[key] = planned
        return planned

    def _is_too_large(self, connection: ClusterConnection, cpu_plan: Any) -> bool:
        """Does a program need more memory than the session allows, or than all devices of the cluster have together?"""
        from ..execution.admission_control import exceeded_memory
        from ..execution.clusters import fleet_memory

        limit = self._session.memory_limit or fleet_memory(connection)
        return limit is not None and exceeded_memory(cpu_plan, limit) is not None

    def _run_in_tiles(self, connection: ClusterConnection, params: Mapping[str, int]) -> Any:
        """Run from files, in tiles on home and the workers.  Refused: it does not fit in tiles, or its outputs are too large."""
        request = RunRequest(params={name: str(number) for name, number in params.items()})
        loaded = self._session.load(self._checked, request, scheduling=Scheduling(PlanPurpose.RUN, cluster=connection))
        return loaded.run.results(loaded, None)

    def _run_on_cluster(
        self, connection: ClusterConnection, bound: Any, arrays: Mapping[str, Any], files: Mapping[str, InputFile]
    ) -> Any:  # fmt: skip
        """Run on the workers of a cluster; the plan is cached for the current workers and the files that they can read."""
        from ..execution.clusters import OnCluster
        from ..execution.scheduling import place_stored_files, plan_on, remote_runner

        core, scheduling = self._core, Scheduling(PlanPurpose.RUN, cluster=connection)
        profile, stored, there = place_stored_files(core, bound, files, scheduling)
        key = id(bound), tuple(connection.cluster.members), tuple(there.stores), connection.cluster.learned
        planned = self._plans.get(key)
        if planned is None:
            planned = self._plans[key] = bound, plan_on(core, there, profile, scheduling).plan
        run = OnCluster(remote_runner(connection, core, there, scheduling), stored)
        return run.results(LoadedProgram(self._checked, RunRequest(arrays=arrays), files, there, planned[1], run), None)

    def _checked_plan(self, given: Plan, bound: Any) -> Any:
        """The stored plan, checked against the program.  Refused: it is invalid, or cannot run here."""
        from ..execution.scheduling import profile_of_plan, require_fitting, require_local_devices

        if self._last_fit is None or self._last_fit[0] is not given.stored or self._last_fit[1] is not bound:
            profile = profile_of_plan(given.stored)
            require_fitting(given.stored, self._core, bound, profile, "the plan")
            self._last_fit = given.stored, bound, profile
        if not given.simulate:
            require_local_devices(given.stored, bound, self._checked.source.name, self._last_fit[2])
        return given.stored

    @cached_property
    def _costs(self) -> Any:
        from ..display.costs import cost_of_program

        return cost_of_program(self._core)

    @property
    def _default_sizes(self) -> dict[SizeVariable, int]:
        """The default sizes of params: the numbers of those that are sizes, and the lengths of texts."""
        sizes = {param.variable: param.default for param in self._core.params}
        for entry in self._core.settings:
            for size, length in zip(self._core.types[entry.value].shape, self._defaults[entry.name].shape, strict=True):
                sizes |= dict.fromkeys(size.variables(), length)
        return sizes

    @cached_property
    def _typed_inputs(self) -> frozenset[str] | None:
        """The names of all inputs, if their types restrict no values, so that dtypes and shapes suffice; else None."""
        types = [self._core.types[entry.value] for entry in self._core.inputs]
        return frozenset([entry.name for entry in self._core.inputs]) if all(map(is_any_value, types)) else None

    def _is_typed(self, values: Mapping[str, object]) -> bool:
        """Are the values exactly the inputs of a program whose types restrict no values?"""
        return self._typed_inputs is not None and values.keys() == self._typed_inputs

    @cached_property
    def _defaults(self) -> Mapping[str, Any]:
        return param_values_of(self._core, {}).arrays

    @cached_property
    def _variables(self) -> tuple[SizeVariable, ...]:
        return sizes_of(self._core)

    def _params(self, values: Mapping[str, object]) -> dict[str, int]:
        inputs, params = {e.name for e in self._core.inputs}, {p.name for p in self._core.params}
        return self._numbers({name: value for name, value in values.items() if name not in inputs}, params, "param")

    def _numbers(self, values: Mapping[str, object], known: set[str], what: str) -> dict[str, int]:
        """The values as numbers by name.  TypeError: an unknown name, or not a natural number."""
        numbers: dict[str, int] = {}
        for name, value in values.items():
            if name not in known:
                every = sorted(known | {entry.name for entry in self._core.inputs})
                raise TypeError(f"the program has no input or {what} {name}; it has {', '.join(every) or 'none'}")
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise TypeError(f"the {what} {name} is a natural number, not {value!r}")
            numbers[name] = int(value)
        return numbers

    def _arrays(self, values: Mapping[str, object]) -> dict[str, Any]:
        arrays: dict[str, Any] = {}
        for entry in self._core.inputs:
            if entry.name in values:
                if isinstance(given := values[entry.name], ResidentArray):
                    arrays[entry.name], kind, unit = given._present, given._present.kind, given._unit
                else:
                    with located(f"the input {entry.name}", entry.span):
                        arrays[entry.name], kind, unit = as_array(given, f"the input {entry.name}", entry.reading)
                declared = self._core.types[entry.value].element
                if unit is not declared.unit or not _accepts(kind, declared.kind):
                    shown = kind.value if unit is None else unit.value
                    message = f"the input {entry.name} has elements of type {shown}, not {show_element(plain(declared))}"
                    raise Refused([Diagnostic(Code.E706, message, entry.span)])
        return arrays

    def _check_values(self, entry: CoreInput, array: Any, sizes: Mapping[SizeVariable, int]) -> None:
        """Check the items of an input declared with a range or as a permutation.  Raises RunFailed."""
        check_declared(array, self._core.types[entry.value], sizes, f"the input {entry.name}", entry.span)


def load_program(path: str | os.PathLike[str], session: Session | None = None) -> Program:
    """The program of a script in a file.  Rejected: it has errors.  RunFailed (E704): it cannot be read."""
    session = session or Session()
    try:
        source = read_source(os.fspath(path))
    except UsageError as error:
        raise RunFailed([Diagnostic(Code.E704, error.message, Span(os.fspath(path), 0, 0))]) from None
    checked = session.check(source)
    require_accepted(checked)
    return Program(checked, session)


_WIDER: Mapping[Kind, tuple[Kind, ...]] = {
    Kind.U8: (Kind.BOOL,),
    Kind.I32: (Kind.BOOL, Kind.U8),
    Kind.I64: (Kind.BOOL, Kind.U8, Kind.I32),
    Kind.F32: (Kind.BOOL, Kind.U8),
    Kind.F64: (Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32),
    Kind.C64: (Kind.F32,),
    Kind.C128: (Kind.F32, Kind.F64, Kind.C64),
}


def _accepts(kind: Kind, wanted: Kind) -> bool:
    """Is a value of one kind accepted for an input of another kind?  The rule is that of files."""
    return kind is wanted or kind in _WIDER.get(wanted, ())
