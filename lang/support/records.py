"""A `dataclass` decorator that compiles the methods of a class when they are first called; cached properties; invariants.

The standard decorator compiles six methods for every frozen class, which takes 0.4 ms a class and was a third of a cold start.
This one makes the same class (fields, slots, `__match_args__`; `replace`, `fields` and `is_dataclass` work), but each method is a
stub that on its first call compiles the method of the standard decorator and replaces itself.

To mypy it is the standard decorator.  It refuses `order`, `kw_only` and `InitVar`; the standard decorator cannot make a subclass
of a frozen class of this module.  Modules on the import path of `rho check` and `rho run` use this one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

# ---------------------------------------------------------------------------------------------------- dataclasses

__all__ = ["cached_property", "compile_method", "dataclass", "require_invariant"]

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """Like `dataclasses.dataclass`."""

        def decorate(cls: type) -> type:
            if cls.__doc__ is None:
                cls.__doc__ = cls.__name__  # the standard decorator would compile a signature for it
            defined = cls.__dict__
            record = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
            record.__init__ = _compiled_on_first_call(record, "__init__", _initialiser)
            if "__repr__" not in defined:
                record.__repr__ = _compiled_on_first_call(record, "__repr__", _representation)
            if eq:
                if "__eq__" not in defined:
                    record.__eq__ = _compiled_on_first_call(record, "__eq__", _equality)
                if "__hash__" not in defined:
                    record.__hash__ = _compiled_on_first_call(record, "__hash__", _hash) if frozen else None
            if frozen:
                record.__setattr__, record.__delattr__ = _refuse_assignment, _refuse_deletion
                if slots and "__getstate__" not in defined:
                    record.__getstate__, record.__setstate__ = _state, _restore
            return record

        return decorate if cls is None else decorate(cls)


def _compiled_on_first_call(cls: type, name: str, write: Callable[[type], Callable[..., Any]]) -> Callable[..., Any]:
    """A stub that on its first call replaces itself by the method that `write` compiles."""

    def method(*arguments: Any, **named: Any) -> Any:
        written = write(cls)
        written.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, written)
        return written(*arguments, **named)

    method.__name__ = name
    return method


def compile_method(name: str, parameters: list[str], body: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """Compile a method from the lines of its body; `names` are its globals."""
    lines = "\n".join(f" {line}" for line in body or ["pass"])
    exec(f"def {name}({', '.join(['self', *parameters])}):\n{lines}", names)
    method: Callable[..., Any] = names[name]
    return method


_MISSING = object()


def _initialiser(cls: type) -> Callable[..., Any]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    frozen = getattr(cls, "__setattr__", None) is _refuse_assignment
    parameters, body = [], []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_made_{name}"] = field.default_factory
            value = f"_made_{name}() if {name} is _missing else {name}" if field.init else f"_made_{name}()"
        if field.init:
            default = ""
            if field.default is not dataclasses.MISSING:
                names[f"_default_{name}"] = field.default
                default = f"=_default_{name}"
            elif field.default_factory is not dataclasses.MISSING:
                default = "=_missing"
            parameters.append(name + default)
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"], value = field.default, f"_default_{name}"
        elif field.default_factory is dataclasses.MISSING:
            continue  # `__post_init__` sets it
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    return compile_method("__init__", parameters, body, names)


def _compared(cls: type, owner: str) -> str:
    return "(" + "".join(f"{owner}.{field.name}, " for field in dataclasses.fields(cls) if field.compare) + ")"


def _equality(cls: type) -> Callable[..., Any]:
    same = f"return {_compared(cls, 'self')} == {_compared(cls, 'other')}"
    return compile_method("__eq__", ["other"], ["if other.__class__ is self.__class__:", f" {same}", "return NotImplemented"], {})


def _hash(cls: type) -> Callable[..., Any]:
    hashed = [f"self.{f.name}, " for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash)]
    return compile_method("__hash__", [], [f"return hash(({''.join(hashed)}))"], {})


def _representation(cls: type) -> Callable[..., Any]:
    shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in dataclasses.fields(cls) if field.repr)
    return compile_method("__repr__", [], [f'return f"{{self.__class__.__qualname__}}({shown})"'], {})


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """The state that `pickle` and `copy` save of an instance with slots."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


# ---------------------------------------------------------------------------------------------------- properties
#
# Properties that are computed once.  `functools.cached_property` of Python 3.11 holds a lock of the class meanwhile, on which a
# child forked in that moment would block.  Without a lock two threads may both compute the value, one of which is kept.

_T = TypeVar("_T")


class cached_property(Generic[_T]):
    """A property stored in the instance's `__dict__` when first read; deleting it there has it computed again."""

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


# ---------------------------------------------------------------------------------------------------- invariants
#
# `require_invariant` checks what memory safety depends on, also under `python -O`, which drops `assert` statements.  In the back
# end an `assert` only informs the type checker (`isinstance`, `is not None`); `tests/faults/test_optimised.py` ensures that.

def require_invariant(condition: bool, message: str) -> None:
    """Raise AssertionError, a bug in Rho, unless `condition` holds; `message` states the condition."""
    if not condition:
        raise AssertionError(f"this does not hold: {message}")
