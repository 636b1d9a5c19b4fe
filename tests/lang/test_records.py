"""The decorator of `lang.support.records` makes what the standard one makes, later."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from rho.lang.support.records import dataclass as late, field_names, replace


@late(frozen=True, slots=True)
class Point:
    """A frozen class with every kind of default."""

    x: int
    y: int = 2
    seen: list[int] = dataclasses.field(default_factory=list, compare=False)
    note: str = dataclasses.field(default="", repr=False, compare=False)


class Written:
    """The same class text under either decorator."""

    def __init__(self, decorator: Callable[..., Any], **options: Any) -> None:
        class Sample:
            a: int
            b: int = 2
            c: list[int] = dataclasses.field(default_factory=list)
            d: int = dataclasses.field(default=7, init=False)
            e: int = dataclasses.field(default=0, compare=False, repr=False)

            def __post_init__(self) -> None:
                object.__setattr__(self, "e", self.a + self.b)

        self.made = decorator(**options)(Sample)


@pytest.mark.parametrize(
    "options", [{"frozen": True, "slots": True}, {"slots": True}, {"frozen": True, "slots": True, "eq": False}]
)
def test_same_as_the_standard_decorator(options: dict[str, bool]) -> None:
    ours, theirs = Written(late, **options).made, Written(dataclasses.dataclass, **options).made
    for arguments in ((1,), (1, 5), (1, 5, [4])):
        mine, other = ours(*arguments), theirs(*arguments)
        assert [getattr(mine, name) for name in "abcde"] == [getattr(other, name) for name in "abcde"]
        assert repr(mine) == repr(other)
        assert (mine == ours(*arguments)) == (other == theirs(*arguments))
        assert mine != other and mine != 3
    assert ours(b=3, a=1).e == 4
    assert ours(1).c is not ours(1).c
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__
    assert [field.name for field in dataclasses.fields(ours)] == [field.name for field in dataclasses.fields(theirs)]
    assert dataclasses.replace(ours(1), b=9).e == 10
    with pytest.raises(TypeError):
        ours()
    with pytest.raises(TypeError):
        ours(1, f=2)


def test_a_frozen_value_stays_as_it_is() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert point == Point(1, 2, [3], "other") and hash(point) == hash(Point(1, note="more"))
    assert repr(point) == "Point(x=1, y=2, seen=[])"


def test_values_are_copied_and_pickled() -> None:
    point = Point(1, seen=[2], note="kept")
    for again in (pickle.loads(pickle.dumps(point)), copy.copy(point), copy.deepcopy(point)):
        assert again == point and again.seen == [2] and again.note == "kept"


def test_methods_are_written_once() -> None:
    made = Written(late, frozen=True, slots=True).made
    waiting = made.__init__, made.__eq__, made.__hash__, made.__repr__
    one, other = made(1), made(1, c=())
    assert one != other and repr(one) and hash(other)
    written = made.__init__, made.__eq__, made.__hash__, made.__repr__
    assert not set(waiting) & set(written)
    assert made(1) != other and written[0] is made.__init__ and made.__init__.__qualname__.endswith("Sample.__init__")


def test_own_methods_stay() -> None:
    @late(frozen=True, slots=True)
    class Own:
        x: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

        def __repr__(self) -> str:
            return "own"

    assert Own(1) == Own(2) and hash(Own(1)) == 5 and repr(Own(1)) == "own"


def test_subclasses_have_the_fields_of_their_bases() -> None:
    def family(decorator: Callable[..., Any], **options: Any) -> Any:
        @decorator(**options)
        class Base:
            x: int
            y: int = 2

        @decorator(**options)
        class Derived(Base):
            z: tuple[int, ...] = ()
            y: int = 3
            shared: ClassVar[int] = 5

        return Derived

    for options in ({"slots": True}, {"frozen": True, "slots": True}, {}):
        ours, theirs = family(late, **options), family(dataclasses.dataclass, **options)
        assert repr(ours(1, z=(4,))) == repr(theirs(1, z=(4,))) and [*field_names(ours)] == ["x", "y", "z"]
        assert ours(1).y == 3 and ours.shared == 5 and ours.__match_args__ == theirs.__match_args__
        assert ours.__dict__.get("__slots__") == theirs.__dict__.get("__slots__")
        for mine, other in zip(dataclasses.fields(ours), dataclasses.fields(theirs), strict=True):
            assert (mine.name, mine.type, mine.default) == (other.name, other.type, other.default)


def test_a_class_without_slots_has_its_defaults_as_attributes() -> None:
    ours, theirs = Written(late).made, Written(dataclasses.dataclass).made
    assert {name: getattr(ours, name, None) for name in "abcde"} == {name: getattr(theirs, name, None) for name in "abcde"}
    assert [getattr(ours(1, c=[2]), name) for name in "abcde"] == [1, 2, [2], 7, 3]


def test_replace_is_that_of_the_standard_library() -> None:
    ours, theirs = Written(late, frozen=True, slots=True).made, Written(dataclasses.dataclass, frozen=True, slots=True).made
    for changes in ({}, {"a": 4}, {"b": 3, "c": [1]}):
        assert repr(replace(ours(1), **changes)) == repr(dataclasses.replace(theirs(1), **changes))
        assert repr(dataclasses.replace(ours(1), **changes)) == repr(dataclasses.replace(theirs(1), **changes))
    for function, value in ((replace, ours(1)), (dataclasses.replace, theirs(1))):
        with pytest.raises(ValueError):
            function(value, d=3)
        with pytest.raises(TypeError):
            function(value, other=3)


def test_instances_share_no_default_that_can_be_changed() -> None:
    class Sample:
        items: list[int] = []  # noqa: RUF012

    for decorator in (late, dataclasses.dataclass):
        with pytest.raises(ValueError, match="default_factory"):
            decorator(Sample)


def test_records_share_code_and_keep_their_names() -> None:
    @late(frozen=True, slots=True)
    class First:
        alpha: int
        beta: int = 1

    @late(frozen=True, slots=True)
    class Second:
        _0: int
        gamma: str = "_1"

    assert repr(First(1)).endswith("First(alpha=1, beta=1)") and repr(Second(2, gamma="x")).endswith("Second(_0=2, gamma='x')")
    assert First(beta=2, alpha=1) == First(1, 2) != First(2, 2) and Second(2).gamma == "_1"
    with pytest.raises(TypeError, match=r"First.__init__\(\) missing 1 required positional argument: 'alpha'"):
        First()  # type: ignore[call-arg]
