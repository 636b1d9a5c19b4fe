"""A `dataclass` decorator that compiles the methods of a class when they are first called; cached properties; invariants.

The standard decorator inspects every annotation and compiles six methods for every frozen class, which takes 0.4 ms a class and
was a third of a cold start.  This one makes the same class (fields, slots, `__match_args__`; `replace`, `fields` and
`is_dataclass` work), but each method is a stub that on its first call is replaced by the method of the standard decorator, and
the standard description of the fields is computed when it is first read.

To mypy it is the standard decorator.  It refuses `order`, `kw_only` and `InitVar`; the standard decorator cannot make a subclass
of a frozen class of this module.  Modules on the import path of `rho check` and `rho run` use this one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

# ---------------------------------------------------------------------------------------------------- dataclasses

__all__ = ["cached_property", "dataclass", "field", "field_names", "replace", "require_invariant"]

_FIELDS = "__record_fields__"
"""The attribute of a record with its fields: by name the default value, a `dataclasses.Field`, or `_MISSING`."""
_STANDARD_FIELDS = "__dataclass_fields__"
_MISSING: Any = dataclasses.MISSING
_PLAIN: Any = field()

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass, replace as replace
else:

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """Like `dataclasses.dataclass`."""

        def decorate(cls: type) -> type:
            defined = cls.__dict__
            fields_here = _fields_defined_in(defined)
            fields = {**_inherited_fields(cls), **fields_here}
            record = _with_slots(cls, fields) if slots else _with_defaults(cls, fields_here)
            setattr(record, _FIELDS, fields)
            setattr(record, _STANDARD_FIELDS, _StandardFields(record))
            if record.__doc__ is None:
                record.__doc__ = record.__name__  # the standard decorator would compile a signature for it
            if "__match_args__" not in defined:
                record.__match_args__ = tuple([name for name, default in fields.items() if _field(default).init])
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

    def replace(record: Any, /, **changes: Any) -> Any:
        """Like `dataclasses.replace`, of a record."""
        for name, entry in _fields(record.__class__).items():
            if not _field(entry).init:
                if name in changes:
                    raise ValueError(f"{name} is no parameter of {record.__class__.__name__}")
            elif name not in changes:
                changes[name] = getattr(record, name)
        return record.__class__(**changes)


def field_names(record: type[object]) -> Iterable[str]:
    """The names of a record's fields; none of another class."""
    fields: dict[str, Any] = getattr(record, _FIELDS, {})
    return fields


def _fields(record: type) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, _FIELDS)
    return fields


def _fields_defined_in(defined: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a class defines itself.  ValueError: instances would share a default value that can be changed."""
    fields = {}
    for name, annotation in _annotations(defined).items():
        if not annotation.startswith("ClassVar"):
            fields[name] = default = defined.get(name, _MISSING)
            if default.__class__.__hash__ is None:
                raise ValueError(f"{name}: a default value that can be changed needs a `default_factory`")
    return fields


def _annotations(defined: Mapping[str, Any]) -> dict[str, str]:
    annotations: dict[str, str] = defined.get("__annotations__", {})
    return annotations


def _inherited_fields(cls: type) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for base in cls.__mro__[-2:0:-1]:
        fields |= base.__dict__.get(_FIELDS, {})
    return fields


def _with_slots(cls: type, fields: Mapping[str, Any]) -> type:
    """A copy of the class with a slot for each field that no base has a slot for."""
    inherited = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    namespace = {name: value for name, value in cls.__dict__.items() if name not in fields}
    namespace |= {"__slots__": tuple([name for name in fields if name not in inherited]), "__qualname__": cls.__qualname__}
    for name in ("__dict__", "__weakref__"):
        namespace.pop(name, None)
    return type(cls)(cls.__name__, cls.__bases__, namespace)


def _with_defaults(cls: type, fields: Mapping[str, Any]) -> type:
    """The class with the default values of its fields as attributes, in place of `dataclasses.field` descriptions."""
    for name, default in fields.items():
        if default is not _MISSING and _field(default) is default:
            if default.default is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default.default)
    return cls


class _StandardFields:
    """The attribute `__dataclass_fields__` of a record, which the standard decorator computes when it is first read."""

    def __init__(self, record: type) -> None:
        self._record = record

    def __get__(self, instance: object, owner: type) -> object:
        record, annotations = self._record, dict[str, str]()
        for base in reversed(record.__mro__):
            annotations |= _annotations(base.__dict__)
        fields = _fields(record)
        namespace = {name: default for name, default in fields.items() if default is not _MISSING}
        namespace |= {"__doc__": "", "__annotations__": {name: annotations[name] for name in fields}}
        standard: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(type(record.__name__, (), namespace))
        for name in ("__dataclass_params__", _STANDARD_FIELDS):
            setattr(record, name, getattr(standard, name))
        return getattr(standard, _STANDARD_FIELDS)


def _field(default: Any) -> Any:
    """The description of a field whose entry is `default`, which says what `dataclasses.field` was called with."""
    return default if default.__class__ is dataclasses.Field else _PLAIN


def _compiled_on_first_call(cls: type, name: str, write: Callable[[type], Callable[..., Any]]) -> Callable[..., Any]:
    """A stub that on its first call replaces itself by the method that `write` compiles."""

    def method(*arguments: Any, **named: Any) -> Any:
        written = write(cls)
        written.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, written)
        return written(*arguments, **named)

    method.__name__ = name
    return method


def _method(name: str, parameters: list[str], body: list[str], fields: Sequence[str], values: dict[str, Any]) -> FunctionType:
    """A method of a record whose fields its lines call `_0`, `_1`, …; `values` are its globals.

    Records whose methods have the same lines share the code but for the names of the fields."""
    code = _code(name, ", ".join(["self", *parameters]), "\n".join([f" {line}" for line in body or ["pass"]]))
    names = {f"_{index}": field for index, field in enumerate(fields)}
    code = code.replace(
        co_varnames=tuple([names.get(name, name) for name in code.co_varnames]),
        co_names=tuple([names.get(name, name) for name in code.co_names]),
        co_consts=tuple([names.get(value, value) if value.__class__ is str else value for value in code.co_consts]),
    )
    return FunctionType(code, values)


@cache
def _code(name: str, parameters: str, body: str) -> CodeType:
    names: dict[str, Any] = {}
    exec(f"def {name}({parameters}):\n{body}", names)
    code: CodeType = names[name].__code__
    return code


def _initialiser(cls: type) -> Callable[..., Any]:
    values: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    frozen = getattr(cls, "__setattr__", None) is _refuse_assignment
    parameters: list[str] = []
    defaults: list[Any] = []
    body: list[str] = []
    fields = _fields(cls)
    for index, entry in enumerate(fields.values()):
        described, value = _field(entry), f"_{index}"
        default = entry if described is _PLAIN else described.default
        new = described.default_factory
        if described.init:
            parameters.append(value)
            if default is not _MISSING or new is not _MISSING:
                defaults.append(default)
        elif default is _MISSING and new is _MISSING:
            continue  # `__post_init__` sets it
        if new is not _MISSING:
            values[f"_new{index}"] = new
            value = f"_new{index}() if _{index} is _missing else _{index}" if described.init else f"_new{index}()"
        elif not described.init:
            values[f"_default{index}"] = default
            value = f"_default{index}"
        body.append(f"_set(self, '_{index}', {value})" if frozen else f"self._{index} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    method = _method("__init__", parameters, body, [*fields], values)
    method.__defaults__ = tuple(defaults)
    return method


def _compared(owner: str, fields: Mapping[str, Any]) -> str:
    return "(" + "".join([f"{owner}._{index}, " for index, entry in enumerate(fields.values()) if _field(entry).compare]) + ")"


def _equality(cls: type) -> Callable[..., Any]:
    fields = _fields(cls)
    same = f"return {_compared('self', fields)} == {_compared('other', fields)}"
    body = ["if other.__class__ is self.__class__:", f" {same}", "return NotImplemented"]
    return _method("__eq__", ["other"], body, [*fields], {})


def _hash(cls: type) -> Callable[..., Any]:
    fields = _fields(cls)
    hashed = [
        f"self._{index}, " for index, entry in enumerate(fields.values())
        if (_field(entry).compare if _field(entry).hash is None else _field(entry).hash)
    ]  # fmt: skip
    return _method("__hash__", [], [f"return hash(({''.join(hashed)}))"], [*fields], {})


def _representation(cls: type) -> Callable[..., Any]:
    def representation(self: Any) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name, entry in _fields(cls).items() if _field(entry).repr]
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    return representation


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    """The state that `pickle` and `copy` save of an instance with slots."""
    return [getattr(self, name) for name in _fields(self.__class__)]


def _restore(self: Any, state: list[Any]) -> None:
    for name, value in zip(_fields(self.__class__), state, strict=True):
        object.__setattr__(self, name, value)


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
