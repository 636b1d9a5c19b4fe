"""Values of a session from Python and to Python: what `%%rho -i xs -o labels` does.

Both ways are copies, so that nothing outside changes a value that the session keeps.

Neighbours: `items` (what is kept), `shell.embedding.arrays` (what Python values are taken), `shell.jupyter.magic`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from ...backend.run.files.trouble import FileTrouble
from ...lang.lexer import NAME
from ...lang.primitives import ELEMENT_NAMES, RESERVED_WORDS
from ...lang.source import Span
from ..cli.arguments import UsageError, near
from ..cli.exits import Exit
from ..embedding.arrays import as_array
from ..execution.outcome import as_numpy
from .items import Kept, Leaf, Tree, ValueItem
from .workspace import Entered, Workspace

PYTHON = "<python>"


def bind(workspace: Workspace, name: str, value: object) -> None:
    """Name a Python value in the session.  UsageError: the name is none, or the value is not an array."""
    if re.fullmatch(NAME, name) is None or name in RESERVED_WORDS | ELEMENT_NAMES:
        raise UsageError(f"`{name}` cannot be a name in Rho")
    try:
        given, kind = as_array(value, f"`{name}`")
    except TypeError as error:
        raise UsageError(str(error)) from None
    except FileTrouble as trouble:
        raise UsageError(f"`{name}` {trouble.message}", " ".join(trouble.notes)) from None
    array = np.array(given, copy=True, order="C")
    state = workspace.state
    shape = " ".join(map(str, array.shape))
    type_ = f"{kind.value}[{shape}]" if array.ndim else kind.value
    leaf = Leaf(f"∆∆{state.counter + 1}", type_, array, kind)
    workspace.state = replace(
        state.entering([ValueItem(name, leaf, Span(PYTHON, 0, 0))], {**state.types, name: type_}),
        sizes={size: number for size, number in state.sizes.items() if size != name}, params=state.params - {name},
        counter=state.counter + 1,
    )  # fmt: skip


def fetch(workspace: Workspace, name: str) -> Any:
    """The value of a name for Python: an array, a number, text as `str`, a tuple.  UsageError: there is none of it."""
    type_ = workspace.state.types.get(name)
    if type_ is None:
        raise UsageError(f"there is no name `{name}` in the session{near(name, list(workspace.state.types))}")
    if type_ in ("function", "operator", "module"):
        raise UsageError(f"`{name}` is a {type_}: only values go to Python", "rho.compile makes a Python function of Rho text")
    item = workspace.state.latest.get(name)
    if isinstance(item, ValueItem):
        return _of_kept(item.value)
    entered, _ = workspace.evaluate(name)
    return result_of(entered)


def result_of(entered: Entered) -> Any:
    """The value that was printed last; None if nothing was."""
    return python_value(entered.printed[-1].value) if entered.exit is Exit.OK and entered.printed else None


def _of_kept(value: Kept) -> Any:
    if isinstance(value, Tree):
        return tuple(_of_kept(item) for item in value.items)
    return python_value(value.array)


def python_value(value: Any) -> Any:
    """A copy as Python has it: scalars as scalars, a vector of characters as text."""
    array = np.asarray(as_numpy(value))
    if array.dtype.kind == "U" and array.ndim <= 1:
        return "".join(character or "\0" for character in array.reshape(-1).tolist())
    return array.copy() if array.ndim else array[()].item()
