"""The decorator of `lang.support.records` makes what the standard one makes, later."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from rho.lang.support.records import dataclass as late


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
