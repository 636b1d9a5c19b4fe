"""A `dataclass` decorator that compiles the methods of a class when they are first called.

The standard decorator compiles six methods for every frozen class, 0.4 ms each class: a third of a cold start went into
methods that a run never calls.  This one makes the same class (fields, slots, `__match_args__`, and by the fields of the
standard module also `replace`, `fields` and `is_dataclass`) with methods that, called for the first time, compile themselves
and take their own place.  From then on they are what the standard decorator makes.

To mypy it is the standard decorator.  Not supported, and refused: `order`, `kw_only`, `InitVar`; a frozen class of this module
cannot have a subclass made by the other.  Neighbours: every module that `rho eval` or `rho check` imports uses this one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

# ---------------------------------------------------------------------------------------------------- records

__all__ = ["cached_property", "certain", "compiled", "dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """As `dataclasses.dataclass`."""

        def decorate(cls: type) -> type:
            if cls.__doc__ is None:
                cls.__doc__ = cls.__name__  # the standard decorator would compile a signature for it
            defined = cls.__dict__
            record = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
            record.__init__ = _late(record, "__init__", _initialiser)
            if "__repr__" not in defined:
                record.__repr__ = _late(record, "__repr__", _representation)
            if eq:
                if "__eq__" not in defined:
                    record.__eq__ = _late(record, "__eq__", _equality)
                if "__hash__" not in defined:
                    record.__hash__ = _late(record, "__hash__", _hash) if frozen else None
            if frozen:
                record.__setattr__, record.__delattr__ = _refuse_assignment, _refuse_deletion
                if slots and "__getstate__" not in defined:
                    record.__getstate__, record.__setstate__ = _state, _restore
            return record

        return decorate if cls is None else decorate(cls)


def _late(cls: type, name: str, write: Callable[[type], Callable[..., Any]]) -> Callable[..., Any]:
    """A method that takes its own place when it is first called."""

    def method(*arguments: Any, **named: Any) -> Any:
        written = write(cls)
        written.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, written)
        return written(*arguments, **named)

    method.__name__ = name
    return method


def compiled(name: str, parameters: list[str], body: list[str], known: dict[str, Any]) -> Callable[..., Any]:
    """A method of these lines; `known` are the names in it."""
    lines = "\n".join(f" {line}" for line in body or ["pass"])
    exec(f"def {name}({', '.join(['self', *parameters])}):\n{lines}", known)
    method: Callable[..., Any] = known[name]
    return method


_MISSING = object()


def _initialiser(cls: type) -> Callable[..., Any]:
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    frozen = getattr(cls, "__setattr__", None) is _refuse_assignment
    parameters, body = [], []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            known[f"_made_{name}"] = field.default_factory
            value = f"_made_{name}() if {name} is _missing else {name}" if field.init else f"_made_{name}()"
        if field.init:
            default = ""
            if field.default is not dataclasses.MISSING:
                known[f"_default_{name}"] = field.default
                default = f"=_default_{name}"
            elif field.default_factory is not dataclasses.MISSING:
                default = "=_missing"
            parameters.append(name + default)
        elif field.default is not dataclasses.MISSING:
            known[f"_default_{name}"], value = field.default, f"_default_{name}"
        elif field.default_factory is dataclasses.MISSING:
            continue  # `__post_init__` sets it
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    return compiled("__init__", parameters, body, known)


def _compared(cls: type, owner: str) -> str:
    return "(" + "".join(f"{owner}.{field.name}, " for field in dataclasses.fields(cls) if field.compare) + ")"


def _equality(cls: type) -> Callable[..., Any]:
    same = f"return {_compared(cls, 'self')} == {_compared(cls, 'other')}"
    return compiled("__eq__", ["other"], ["if other.__class__ is self.__class__:", f" {same}", "return NotImplemented"], {})


def _hash(cls: type) -> Callable[..., Any]:
    hashed = [f"self.{f.name}, " for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash)]
    return compiled("__hash__", [], [f"return hash(({''.join(hashed)}))"], {})


def _representation(cls: type) -> Callable[..., Any]:
    shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in dataclasses.fields(cls) if field.repr)
    return compiled("__repr__", [], [f'return f"{{self.__class__.__qualname__}}({shown})"'], {})


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """What `pickle` and `copy` keep of a class without a dictionary."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


# ---------------------------------------------------------------------------------------------------- properties
#
# Properties that are computed once.
#
# Those of `functools` hold a lock of their class while one is computed (Python 3.11), which a child that is forked meanwhile
# would wait for; here two threads may both compute a value, of which one stays.

_T = TypeVar("_T")


class cached_property(Generic[_T]):
    """Of an instance with a `__dict__`, which keeps it; whoever deletes it there has it computed anew."""

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[_T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object, owner: type) -> cached_property[_T] | _T:
        if instance is None:
            return self
        value = self.compute(instance)
        instance.__dict__[self.name] = value
        return value


# ---------------------------------------------------------------------------------------------------- certain
#
# What has to hold before memory is touched: it is asked for under `python -O` too, where an `assert` says nothing.
#
# An `assert` of `backend.graph`, `kernels` and `run` only tells the type checker what is known (`isinstance`, `is not None`),
# which `tests/faults/test_optimised.py` holds.

def certain(holds: bool, what: str) -> None:
    """AssertionError, a bug in Rho, unless it holds.  `what` says what holds."""
    if not holds:
        raise AssertionError(f"this does not hold: {what}")
