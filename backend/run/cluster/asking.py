"""Questions to what may never answer, each on a thread of its own, which is left to itself when its time is over.

Neighbours: `membership` (asks Dask, whose calls have no time limit of their own).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from time import monotonic
from typing import TypeVar

from ....lang.listening import LISTENING

_T = TypeVar("_T")
_Name = TypeVar("_Name")


def answers(questions: Mapping[_Name, Callable[[], _T]], seconds: float) -> dict[_Name, _T | Exception]:
    """What each returns or raises in so many seconds; a TimeoutError of those that do neither."""
    asked = {name: _begun(question) for name, question in questions.items()}
    until = monotonic() + seconds
    found: dict[_Name, _T | Exception] = {}
    for name, one in asked.items():
        try:
            found[name] = _ended(one, max(0.0, until - monotonic()))
        except TimeoutError as error:
            found[name] = error if one.done() else TimeoutError(f"it has said nothing for {seconds:.0f} seconds")
        except Exception as error:
            found[name] = error
    return found


def answer(question: Callable[[], _T], seconds: float, undo: Callable[[_T], object] = lambda late: None) -> _T:
    """What it returns; `undo` gets what it returns too late.  Whatever it raises; TimeoutError: it does neither in so many
    seconds."""
    asked = _begun(question)
    try:
        return _ended(asked, seconds)
    except BaseException:
        asked.add_done_callback(lambda late: late.exception() or undo(late.result()))
        raise


def _ended(asked: Future[_T], seconds: float) -> _T:
    until = monotonic() + seconds
    while not wait([asked], LISTENING).done:
        if monotonic() > until:
            raise TimeoutError(f"it has said nothing for {seconds:.0f} seconds")
    return asked.result()


def _begun(question: Callable[[], _T]) -> Future[_T]:
    made: Future[_T] = Future()

    def work() -> None:
        try:
            made.set_result(question())
        except BaseException as error:
            made.set_exception(error)

    threading.Thread(target=work, name="rho asks", daemon=True).start()
    return made
