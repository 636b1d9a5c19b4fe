"""Which format a file is in, and its problem."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from ..problem import Contention, Problem
from .dot import decode_dot
from .instance_json import decode
from .json_values import MOST_CHARACTERS, load_json, problems_of
from .stg import decode_stg
from .topology import Devices, equal_processors


class Format(Enum):
    JSON = "instance/1"
    STG = "STG"
    DOT = "DOT"


def format_of(file: str, text: str) -> Format:
    """By what the text starts with, else by the file's ending."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return Format.JSON
    if start.startswith(("digraph", "strict", "graph", "/*", "//")) or file.endswith((".dot", ".gv")):
        return Format.DOT
    return Format.JSON if file.endswith(".json") else Format.STG


def read_instance(file: str, text: str, devices: Devices | None = None, contention: Contention | None = None) -> Problem:
    """The problem that `text` says.  `devices`: other devices than it names, or how many equal ones.

    Refused: what is not an instance.  Rejected (SCH107, SCH201, …) for directives that cannot be meant."""
    problems = problems_of(file)
    if len(text) > MOST_CHARACTERS:
        problems.fail("", f"the file has {len(text)} characters; at most {MOST_CHARACTERS} are read")
    text = text.removeprefix("\ufeff")
    equal = None if devices is None else equal_processors(devices) if isinstance(devices, int) else devices(1)
    match format_of(file, text):
        case Format.JSON:
            problem = decode(load_json(text, problems), problems, devices)
        case Format.DOT:
            problem = decode_dot(text, problems, equal)
        case Format.STG:
            if equal is None:
                problems.fail("", "a task graph says nothing of processors: give --devices N")
            problem = decode_stg(text, problems, equal)
    return problem if contention is None else replace(problem, contention=contention)
