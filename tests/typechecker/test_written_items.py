"""Items that a program writes into what it compares: the blank behind a text makes the last word end."""

from __future__ import annotations

import pytest

import rho

INPUTS = "input t : char[n]\ninput v : i64[n]\ninput x : f64[n]\n"


def accepted(mask: str) -> bool:
    """Are there surely ends, so that lengths come out of differences?"""
    return rho.check(f"{INPUTS}ends ← ⍸{mask}\nends-¯1,¯1↓ends\n").accepted


@pytest.mark.parametrize("mask", ["' '=t,' '", "(', ',t)=','", "0=v,1 0", "7=7,v,v"])
def test_one_is_written(mask: str) -> None:
    assert accepted(mask)


@pytest.mark.parametrize("mask", ["' '=t,'-'", "' '=t", "0=v,1 2", "' '≠t,' '", "⎕nan=x,⎕nan", "'a'=v,0"])
def test_none_is_known(mask: str) -> None:
    assert not accepted(mask)
