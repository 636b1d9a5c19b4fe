"""Work that only one thread does, and that no interrupt reaches.

Interrupts are raised in the main thread, and by sessions in the thread that evaluates; where one is raised just after a lock of a
library was taken, nobody gives that back and the next call waits for ever.  So such calls are handed to a thread of their own;
who asked waits for the answer, and is interrupted there.

Neighbours: `llvm_leaf` (whose library takes one lock for every call), `shell.repl.interrupting` (raises).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

from ...lang.forking import in_children
from ...lang.listening import acquire

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(slots=True)
class _Request:
    """`waiting` is taken until there is an answer.  (An event has a lock that an interrupt could leave taken.)"""

    work: Callable[[], Any]
    waiting: Any = field(default_factory=threading.Lock)
    value: Any = None
    error: BaseException | None = None


class OneThread:
    """The thread begins with the first request, and anew in a process that was forked."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._forget()
        in_children(self._forget)

    def _forget(self) -> None:
        self._thread: threading.Thread | None = None
        self._requests: SimpleQueue[_Request] = SimpleQueue()

    def does(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        """The function, done by this thread whoever calls it.  Where no thread can begin the caller does it."""

        @wraps(function)
        def asking(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if not self._is_elsewhere():
                return function(*args, **kwargs)
            request = _Request(lambda: function(*args, **kwargs))
            request.waiting.acquire()
            self._requests.put(request)
            acquire(request.waiting)
            if request.error is not None:
                raise request.error
            value: _R = request.value
            return value

        return asking

    def _is_elsewhere(self) -> bool:
        """Is there the thread, and is it another than this one?"""
        if self._thread is None:
            thread = threading.Thread(target=self._serve, args=(self._requests,), name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # there are no more threads
                return False
            self._thread = thread
        return threading.current_thread() is not self._thread

    @staticmethod
    def _serve(requests: SimpleQueue[_Request]) -> None:
        while True:
            request = requests.get()
            try:
                request.value = request.work()
            except BaseException as error:
                request.error = error
            request.waiting.release()
            del request
