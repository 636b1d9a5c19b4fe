"""`rho.compile`: a Rho function as a Python function of arrays.

For each combination of element types and shapes the function is checked, planned and prepared once; further calls only run it.
Several threads may call one function: each call uses a prepared plan exclusively.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ...backend import bind_shapes, plan
from ...backend.cpu.views import NumArray
from ...backend.io.formats import FileTrouble
from ...backend.schedule.plan.plan import Device
from ...backend.schedule.single_device import HOME, Detail
from ...backend.vm.bytecode import NOT_APPLICABLE
from ...backend.vm.executor import NativeSignature, PreparedPlan, PreparedPlanPool, never_applicable
from ...backend.vm.values import NUMPY_NAMES
from ...lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Label, Rejected, RhoError, RunFailed
from ...lang.support import processes
from ...lang.support.records import replace
from ...lang.syntax.source import Source, Span
from ...typechecker.core.operations import Core
from ...typechecker.elements import Kind, Unit
from ..execution.stored_plans import cores
from ..pipeline import Session
from ..pipeline_types import Checked
from .evaluating import (
    E,
    as_array,
    copied_out,
    for_caller,
    for_numpy,
    require_element_types,
    require_kinds,
    require_writable,
    with_source_lines,
)

# ---------------------------------------------------------------------------------------------------- errors
#
# Diagnostics of a compiled function refer to the caller's text, without the lines that are generated around it.
#
# The generated program names the last statement of the text, `∆function ← …`, and applies it to inputs.  A diagnostic in
# generated lines moves to the last statement, and offsets in that statement are converted to offsets in the caller's text.

FUNCTION, LEFT, RIGHT, RESULT = "∆function", "∆left", "∆right", "∆result"
_CALLER_WORDS: Final = {FUNCTION: "the function", LEFT: "⍺", RIGHT: "⍵", RESULT: "the result"}


class CallerText(NamedTuple):
    """The statements that a caller wrote, for a program that names the last one and has generated lines after them."""

    source: Source
    last: int
    """The offset of the last statement."""
    names: tuple[str, ...]
    """The generated names of the last statement, and of the functions whose gradients are taken."""

    @classmethod
    def of(cls, name: str, statements: Sequence[str], function: str = FUNCTION) -> CallerText:
        text = "\n".join(statements) + "\n"
        return cls(Source(name, text), len(text) - len(statements[-1]) - 1, (function,))

    def with_this_text(self, sources: Mapping[str, Source]) -> dict[str, Source]:
        """The sources with this text in place of the generated program."""
        return {**sources, self.source.name: self.source}

    def relocate(self, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
        """The diagnostics with spans in this text."""
        return [self._relocated(one) for one in diagnostics]

    def _relocated(self, diagnostic: Diagnostic) -> Diagnostic:
        last_statement = Span(self.source.name, self.last, len(self.source.text) - 1)
        located = [(self._caller_span(label.span), label.message) for label in diagnostic.labels]
        labels = [Label(span, self._in_caller_words(message)) for span, message in located if span is not None]
        fixes = [fix for one in diagnostic.fixes if (fix := self._fix(one)) is not None]
        caller_span = self._caller_span(diagnostic.span)
        return replace(
            diagnostic, message=self._in_caller_words(diagnostic.message), span=caller_span or last_statement,
            label=diagnostic.label if caller_span else "",
            labels=tuple(labels),
            notes=tuple(map(self._in_caller_words, diagnostic.notes)), fixes=tuple(fixes),
        )  # fmt: skip

    def _fix(self, fix: Fix) -> Fix | None:
        edits = [Edit(span, edit.text) for edit in fix.edits if (span := self._caller_span(edit.span)) is not None]
        return Fix(fix.title, tuple(edits)) if len(edits) == len(fix.edits) else None

    def _caller_span(self, span: Span) -> Span | None:
        """The span in this text; None for generated lines."""
        if span.file != self.source.name or span.end <= self.last:
            return span
        definition = len(_definition(self.names[0]))
        start, end = span.start - definition, span.end - definition
        return Span(span.file, start, end) if self.last <= start and end < len(self.source.text) else None

    def _in_caller_words(self, text: str) -> str:
        for name, phrase in (*_CALLER_WORDS.items(), *((name, _CALLER_WORDS[FUNCTION]) for name in self.names[::-1])):
            text = text.replace(f"`{name}`", phrase).replace(name, phrase)
        return text


def _definition(name: str) -> str:
    """The text that names the last statement in the generated program."""
    return f"{name} ← "


# ---------------------------------------------------------------------------------------------------- functions

MOST_PREPARED: Final = 256
"""The most combinations of argument types for which one function keeps prepared plans; the oldest is dropped first."""
_LOCK: Final = processes.lock()
_NAME: Final = "<rho.compile>"
_DIFFERENTIATED: Final = "∆f"
_ENDING: Final = (
    "Python is ending and loads no more modules: a compiled function takes no arguments of new types or shapes now; "
    "call it before the end, or in a function given to atexit.register"
)
_ARGUMENT_NAMES: Final = ("the argument", "the left argument", "the right argument")

_DIFFERENTIABLE: Final = ("f32", "f64")
_AS_FLOATS: Final = "give floats, as by `numpy.asarray(x, float)`"
_PARTS: Final = "give a function of the real and the imaginary part `[x.real, x.imag]`, or of `x.real` alone"
_FLOATS: Final = {
    **dict.fromkeys(("bool", "u8", "i32", "i64"), _AS_FLOATS),
    **dict.fromkeys(("c64", "c128"), _PARTS),
}
"""By element type without a gradient, the advice how to get floats."""
_DIRECT_DTYPES: Final = frozenset(np.dtype(NUMPY_NAMES[kind]) for kind in Kind if kind is not Kind.CHAR)
"""The dtypes of arrays that are used without conversion; others are converted at each call, which may refuse their values."""
R = TypeVar("R", covariant=True)
_INPUT_NAMES: Final = ((), (RIGHT,), (LEFT, RIGHT))

ArgumentType: TypeAlias = tuple[str, tuple[int, ...]]
"""The name of an element type, and a shape."""
ArgumentKey: TypeAlias = tuple[tuple[Any, tuple[int, ...]], ...]
"""The dtype and shape of each argument."""


SHAPES_CHECKED_SINGLY: Final = 2
"""The number of shapes of one pattern that are checked one by one; then the function is checked once for all shapes of it."""
_SIZE: Final = "∆size"
_ShapePattern: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]


class _CheckedCall(NamedTuple):
    """A function applied to inputs: the core, its sources, and the names of its outputs."""

    core: Core
    sources: Mapping[str, Source]
    outputs: tuple[str, ...]
    is_tuple: bool


class _PreparedCall(PreparedPlanPool):
    """A pool of the prepared plans of a function for one combination of argument types."""

    def __init__(self, plan: Any, bound: Any, links: NativeSignature, units: Sequence[Unit | None], *, is_tuple: bool) -> None:
        super().__init__(plan, bound, links)
        self.units, self.is_tuple = units, is_tuple
        self.has_units = any(units)

    def run(self, prepared: PreparedPlan, given: Sequence[object], arrays: Sequence[NumArray]) -> Any:
        result = self.links.run(prepared, given, arrays)
        if result is NOT_APPLICABLE:
            outputs = prepared.run_steps(dict(zip(self.links.names, arrays, strict=True))).outputs
            values = [outputs[name].value for name in self.links.outputs]
            result = tuple(values) if self.is_tuple else values[0]
        if not self.has_units:
            return result
        if not self.is_tuple:
            return for_numpy(result, self.units[0])
        return tuple([for_numpy(value, unit) for value, unit in zip(result, self.units, strict=True)])


class Function(Generic[R]):
    """A compiled Rho function.  Call it with one argument (monadic) or two (left, right).  It can be pickled and copied.

    Type checkers know its result: `rho.compile(text, returns=numpy.float64)` is a `Function[rho.Array[numpy.float64]]`, and
    `returns=(numpy.float64, numpy.int64)` a function to a pair of arrays; without `returns` the elements have any type.

    `out`: an array of the result's element type and shape (for a tuple, a tuple of arrays), into which the result is copied at
    the end.

    Raises `rho.Rejected` if the types do not fit, `rho.RunFailed` if a run-time check fails; both carry `.diagnostics`.
    TypeError: an argument is not an array, or there are two for a function without `⍺`.
    """

    def __init__(
        self, text: str, session: Session, *, drops_left: bool = False, returns: object = None, is_gradient: bool = False,
        of_one: Function[R] | None = None, caller_text: CallerText | None = None,
    ) -> None:  # fmt: skip
        """`is_gradient`: the text is the gradient of a function by its last argument.  `of_one`: the function for calls with one
        argument. `caller_text`: the text that errors refer to, for a gradient that of the function."""
        self.text = text
        self._returns = returns
        self._is_gradient, self._of_one = is_gradient, of_one
        self._session = session
        self._drops_left = drops_left
        self._prepared_calls: dict[ArgumentKey, _PreparedCall] = {}
        self._patterns: dict[_ShapePattern, int | _CheckedCall | None] = {}
        """By pattern of shapes: the number of shapes checked one by one, or the check for all shapes; None if that failed."""
        self._latest: Callable[..., Any] = never_applicable
        self._sources: Mapping[str, Source] = {}
        self._caller_text = caller_text or CallerText.of(_NAME, _statements(text))

    def __repr__(self) -> str:
        return f"rho.compile({self.text!r})"

    def __reduce__(self) -> tuple[Callable[..., Function[Any]], tuple[object, ...]]:
        """A function is pickled and copied as its text and session, without its prepared plans."""
        of_one = None if self._of_one is None else self._of_one.text
        return compile_text, (self.text, self._session, self._returns, self._is_gradient, of_one, self._caller_text)

    def __call__(self, *arguments: object, out: object = None) -> R:
        try:
            if out is not None:
                written: R = self._written(arguments, out)
                return written
            result: R = self._latest(*arguments)
            if result is NOT_APPLICABLE:
                result = self._call(arguments)
            return result
        except RhoError as error:
            rejected = self._rejection(arguments) if isinstance(error, RunFailed) and any(self._patterns.values()) else None
            shown = rejected or _in_caller_text(error, self._caller_text, self._sources)
            raise shown.with_traceback(None) from None
        except (TypeError, ValueError) as error:
            raise for_caller(error) from error.__cause__
        except ImportError:
            if sys.meta_path is not None:
                raise
            raise RuntimeError(_ENDING) from None

    def _call(self, arguments: tuple[object, ...]) -> Any:
        """A call with other types or shapes than the previous one."""
        if not 1 <= len(arguments) <= 2:
            raise TypeError(f"a Rho function takes one argument or two, not {len(arguments)}")
        self._require_left(len(arguments))
        if self._of_one is not None and len(arguments) == 1:
            return self._of_one(*arguments)
        arrays, elements = _arrays_of(arguments)
        key = tuple([(element or array.dtype, array.shape) for array, element in zip(arrays, elements, strict=True)])
        ready = self._prepared_calls.get(key) or self._prepare_shared(key, arrays, elements)
        has_units = ready.has_units or any(elements)
        given = arrays if has_units else arguments
        result = ready.use(lambda prepared: ready.run(prepared, given, arrays))
        self._latest = never_applicable if has_units else ready.links.latest
        return result

    def _written(self, arguments: tuple[object, ...], out: object) -> Any:
        """The array of `out` with the result in it, or the tuple of arrays with the results."""
        require_writable({f"out[{n}]": one for n, one in enumerate(out)} if isinstance(out, tuple) else {"out": out})
        result = self._latest(*arguments)
        if result is NOT_APPLICABLE:
            result = self._call(arguments)
        if not isinstance(result, tuple):
            if isinstance(out, tuple):
                raise TypeError("out is a NumPy array for the result, not tuple")
            return copied_out({"": (result, "out", out)})[""]
        if not isinstance(out, tuple) or len(out) != len(result):
            raise TypeError(f"out is a tuple of {len(result)} arrays for the results")
        rows = enumerate(zip(result, out, strict=True))
        return tuple(copied_out({str(n): (item, f"out[{n}]", target) for n, (item, target) in rows}).values())

    def _rejection(self, arguments: tuple[object, ...]) -> Rejected | None:
        """The rejection of arguments of exactly these shapes, if the check for all shapes accepted the function and this one does
        not."""
        types = _types_of(*_arrays_of(arguments))
        try:
            self._checked(tuple([_type_text(element, shape) for element, shape in types]))
        except Rejected as rejected:
            return rejected
        return None

    def _require_left(self, given: int) -> None:
        if given == 2 and self._drops_left:
            raise TypeError("the function takes one argument, not 2: it has no `⍺`, which stands for the first of two")

    def result_type(self, *types: str) -> str:
        """The result's type for one or two arguments of types such as `"f64[10 2]"`, in which sizes may be names.

        TypeError: not one or two types.
        """
        if not 1 <= len(types) <= 2:
            raise TypeError(f"a Rho function takes one argument or two: give the type of each, not {len(types)} types")
        self._require_left(len(types))
        if self._of_one is not None and len(types) == 1:
            return self._of_one.result_type(*types)
        checked = _require_accepted(self._session, self._caller_text, self._program(types, None))
        return checked.types[RESULT]

    def _prepare_shared(self, key: ArgumentKey, arrays: list[NumArray], elements: list[str]) -> _PreparedCall:
        types = _types_of(arrays, elements)
        if self._is_gradient and types[-1][0] not in _DIFFERENTIABLE:
            called = _ARGUMENT_NAMES[2 if len(types) == 2 else 0]
            message = f"{called} has elements of type {types[-1][0]}, and only f32 and f64 have a gradient"
            notes = tuple([cure for element, cure in _FLOATS.items() if element == types[-1][0]])
            raise Rejected([Diagnostic(Code.E630, message, Span(_NAME, 0, len(self.text)), notes=notes)])
        ready = self._prepare(types)
        with _LOCK:
            shared = self._prepared_calls.setdefault(key, ready)
            while len(self._prepared_calls) > MOST_PREPARED:
                del self._prepared_calls[next(iter(self._prepared_calls))]
        return shared

    def _prepare(self, types: tuple[ArgumentType, ...]) -> _PreparedCall:
        checked = self._checked_for_all(types) or self._checked(tuple(_type_text(element, shape) for element, shape in types))
        self._sources = checked.sources
        shapes = dict(zip(_INPUT_NAMES[len(types)], [shape for _, shape in types], strict=True))
        if self._returns is not None:
            entries = {entry.name: checked.core.types[entry.value].element.kind for entry in checked.core.outputs}
            require_kinds([entries[name] for name in checked.outputs], self._returns, checked.is_tuple, "the function")
        bound = bind_shapes(checked.core, shapes, {})
        cpu_plan = plan(bound, Device(HOME, "cpu", cores()), detail=Detail.STEPS)
        self._session.require_memory(cpu_plan, checked.core, bound, checked.sources, self._caller_text.source)
        links = NativeSignature(_INPUT_NAMES[len(types)], checked.outputs)
        units = {entry.name: checked.core.types[entry.value].element.unit for entry in checked.core.outputs}
        return _PreparedCall(cpu_plan, bound, links, [units[name] for name in checked.outputs], is_tuple=checked.is_tuple)

    def _checked(self, types: tuple[str, ...]) -> _CheckedCall:
        """The function applied to inputs of these types.  Raises Rejected."""
        outputs: tuple[str, ...] = (RESULT,)
        items = 0
        checked = self._session.check(self._program(types, outputs))
        if checked.core is None:  # a tuple, or an error: check again without the generated output
            items = _tuple_items(_require_accepted(self._session, self._caller_text, self._program(types, None)))
            outputs = tuple(f"{RESULT}{position}" for position in range(items)) if items else outputs
            checked = _require_accepted(self._session, self._caller_text, self._program(types, outputs))
        assert checked.core is not None
        return _CheckedCall(checked.core, checked.sources, outputs, is_tuple=items > 0)

    def _checked_for_all(self, types: tuple[ArgumentType, ...]) -> _CheckedCall | None:
        """The function checked once for all shapes of a pattern.

        In a pattern, lengths from 2 on are names: equal lengths have one name.  None for the first shapes of a pattern, and if
        the function is not accepted for all shapes without guards.
        """
        names: dict[int, str] = {}
        patterns = [[names.setdefault(n, f"{_SIZE}{len(names)}") if n > 1 else str(n) for n in shape] for _, shape in types]
        pattern = tuple([(element, tuple(row)) for (element, _), row in zip(types, patterns, strict=True)])
        known = self._patterns.get(pattern, 0)
        if isinstance(known, _CheckedCall):
            return known
        if not names or known is None:
            return None
        if known < SHAPES_CHECKED_SINGLY:
            self._patterns[pattern] = known + 1
            return None
        facts = [[f"{name} ≥ 2" for name in dict.fromkeys(row) if name.startswith(_SIZE)] for row in patterns]
        texts = [f"{element}[{' '.join(row)}]" if row else element for element, row in pattern]
        stated = [f"{text} where {', '.join(each)}" if each else text for text, each in zip(texts, facts, strict=True)]
        try:
            checked = self._checked(tuple(stated))
        except RhoError:
            self._patterns[pattern] = None
            return None
        is_free = len(checked.core.guards) == sum(map(len, facts))
        self._patterns[pattern] = checked if is_free else None
        return checked if is_free else None

    def _program(self, types: tuple[str, ...], outputs: tuple[str, ...] | None) -> Source:
        """The generated program: the text's statements, the last one named, and its application to inputs of these types."""
        *before, last = _statements(self.text)
        names = _INPUT_NAMES[len(types)]
        applied = f"{FUNCTION} {RIGHT}" if len(types) == 1 else f"{LEFT} {FUNCTION} {RIGHT}"
        bound = outputs or (RESULT,)
        target = bound[0] if len(bound) == 1 else f"({' '.join(bound)})"
        lines = [
            *before,
            f"{_definition(FUNCTION)}{last}",
            *(f"input {name} : {type}" for name, type in zip(names, types, strict=True)),
            f"{target} ← {applied}",
            *(f"output {name}" for name in outputs or ()),
        ]
        return Source(_NAME, "\n".join(lines) + "\n")


def _arrays_of(arguments: tuple[object, ...]) -> tuple[list[NumArray], list[str]]:
    """The arguments as arrays, and the names of their units ("" for numbers and text)."""
    arrays: list[NumArray] = []
    elements: list[str] = []
    for position, argument in enumerate(arguments):
        if type(argument) is np.ndarray and argument.dtype in _DIRECT_DTYPES:
            array, element = argument, ""
        else:
            array, element = _array_of_argument(argument, _ARGUMENT_NAMES[len(arguments) - 1 + position])
        arrays.append(array)
        elements.append(element)
    return arrays, elements


def _types_of(arrays: Sequence[NumArray], elements: Sequence[str]) -> tuple[ArgumentType, ...]:
    return tuple([
        (element or as_array(array, "an argument")[1].value, array.shape) for array, element in zip(arrays, elements, strict=True)
    ])  # fmt: skip


def _array_of_argument(argument: object, called: str) -> tuple[NumArray, str]:
    try:
        array, _, unit = as_array(argument, called)
        return array, "" if unit is None else unit.value
    except FileTrouble as trouble:
        raise TypeError("\n".join([f"{called} {trouble.message}", *(f"  = {note}" for note in trouble.notes)])) from None


def compile_text(
    text: str, session: Session | None = None, returns: object = None, is_gradient: bool = False, of_one: str | None = None,
    caller_text: CallerText | None = None,
) -> Function[Any]:  # fmt: skip
    """A function from Rho text: an expression that is a function, with statements before it if needed (`use`, definitions).

    `of_one` is the text of the function for calls with one argument; `caller_text` replaces the text in errors.  Rejected: the
    text is not a function, or does not parse.
    """
    session = session or Session()
    *before, last = _statements(text)
    caller_text = caller_text or CallerText.of(_NAME, [*before, last])
    _require_unnamed(session, caller_text, before, last)
    source = Source(_NAME, "\n".join([*before, f"{_definition(FUNCTION)}{last}"]) + "\n")
    checked = _require_accepted(session, caller_text, source)
    if checked.types.get(FUNCTION) != "function":
        type_ = checked.types.get(FUNCTION, "nothing")
        hint = "put braces around it and use ⍵: {…⍵…}"
        span = Span(source.name, len(source.text) - len(last) - 1, len(source.text) - 1)
        error = Rejected([Diagnostic(Code.E134, f"a function is wanted; this is {type_}", span, notes=(hint,))])
        raise _in_caller_text(error, caller_text, checked.sources)
    if returns is not None:
        require_element_types(returns)
    drops_left = checked.result is not None and checked.result.drops_left(FUNCTION)
    monadic = None if of_one is None else compile_text(of_one, session, returns, is_gradient, caller_text=caller_text)
    return Function(
        text, session, drops_left=drops_left, returns=returns, is_gradient=is_gradient, of_one=monadic, caller_text=caller_text
    )  # fmt: skip


def _require_unnamed(session: Session, caller_text: CallerText, before: Sequence[str], last: str) -> None:
    """Raise Rejected E134 if the last statement gives a function a name."""
    name, gets, _ = last.partition("←")
    if not gets or not name.strip().replace("∆", "").isalnum():
        return
    named = Source(_NAME, "\n".join([*before, last, f"{_definition(FUNCTION)}{name}"]) + "\n")
    if session.check(named).types.get(FUNCTION) == "function":
        message = f"the last statement is the function and has no name: leave out `{name.strip()} ←`"
        span = Span(_NAME, caller_text.last, caller_text.last + len(name) + len(gets))
        raise with_source_lines(Rejected([Diagnostic(Code.E134, message, span)]), caller_text.with_this_text({}))


def gradient_of(function: Function[Any] | str, session: Session | None, *, with_value: bool) -> Function[Any]:
    """The gradient of a function by its right argument; with `with_value`, a function to the pair (value, gradient)."""
    if not isinstance(function, Function):
        if not isinstance(function, str):
            raise TypeError(f"a gradient is of a compiled function or of its text, not {type(function).__name__}")
        function = compile_text(function, session)
    *before, last = _statements(function.text)
    name = _DIFFERENTIATED
    while name in function.text:
        name += _DIFFERENTIATED[-1]

    def gradient(left: str, call: str) -> str:
        result = f"({call} ⍵ ⋄ {call}∂ ⍵)" if with_value else f"{call}∂ ⍵"
        return "\n".join([*before, f"{name} ← {last}", f"{{{left}{result}}}"])

    of_one, session = gradient("", name), session or function._session
    inner = function._caller_text
    shown = inner._replace(names=(*inner.names, name)) if function._is_gradient else CallerText.of(_NAME, [*before, last], name)
    if function._drops_left:
        return compile_text(of_one, session, is_gradient=True, caller_text=shown)
    of_both = gradient("∆left ← ⍺ ⋄ ", f"{{∆left {name} ⍵}}")
    return compile_text(of_both, session, is_gradient=True, of_one=of_one, caller_text=shown)


def _statements(text: str) -> list[str]:
    """The statements of a text in canonical glyphs."""
    from ...lang.syntax.glyph_input import to_glyphs
    from ...lang.syntax.reader import split_statements

    statements = [piece.text for piece in split_statements(to_glyphs(Source(_NAME, text)))]
    if not statements:
        raise Rejected([Diagnostic(Code.E002, "there is no text to compile", Span(_NAME, 0, 0))])
    return statements


def _require_accepted(session: Session, caller_text: CallerText, source: Source) -> Checked:
    checked = session.check(source)
    errors = [d for d in checked.diagnostics if d.is_error]
    if errors or checked.core is None:
        raise _in_caller_text(Rejected(errors or list(checked.diagnostics)), caller_text, checked.sources)
    return checked


def _in_caller_text(error: E, caller_text: CallerText, sources: Mapping[str, Source]) -> E:
    """The error with spans in the caller's text."""
    if error.text:
        return error
    return with_source_lines(type(error)(caller_text.relocate(error.diagnostics)), caller_text.with_this_text(sources))


def _type_text(element: str, shape: tuple[int, ...]) -> str:
    return f"{element}[{' '.join(map(str, shape))}]" if shape else element


def _tuple_items(checked: Checked) -> int:
    """The number of items of a tuple result; 0 if it is an array.  Rejected: tuples in tuples."""
    text = checked.types[RESULT]
    if not text.startswith("("):
        return 0
    if "(" in text[1:]:
        message = f"the result is {text}; only tuples of arrays are given to Python"
        raise Rejected([Diagnostic(Code.E134, message, Span(_NAME, 0, 0))])
    return text.count("⋄") + 1
