"""Inputs and outputs that stay in their files until a device reads or writes a part of them, on any machine.

The reading process must see the same file as the client.  A file is identified by its *fingerprint*: its size, its time of
modification and a digest of its first bytes (for a folder: the sizes and times of all files in it).  Links are not followed: a
path through a link counts as a missing file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple
from hashlib import sha256
from typing import Any, Final, TypeAlias

from ...lang.diagnostics.model import Refused, RunFailed
from ...lang.support.bounded_parsing import is_url
from ...lang.support.files import open_regular
from ...lang.support.records import cached_property, dataclass, replace, require_invariant
from ...lang.syntax.source import Span
from ...lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from ...typechecker.elements import Kind
from ..cpu.backend import CpuBackend
from ..schedule.plan.plan import Box
from ..vm.run_state import Index
from .formats import FileTrouble, damaged, split_member, system_errors
from .reading import InputSpec, RowSource, located, places_of, row_source
from .records import RecordOffset
from .sources_and_sinks import RandomAccessSink, RowSink, bytes_of, new_array
from .writing import sink_type, system_trouble

Fingerprint: TypeAlias = tuple[int, int, str]
_HEADER: Final = 1 << 16
MOST_FILES: Final = 10_000
"""The most files of a folder that has a fingerprint."""
_BLOCK: Final = 1 << 20
"""Bytes of full rows that are read at a time if a box contains parts of rows."""


def fingerprint_of(path: str) -> Fingerprint | None:
    """The fingerprint of a file or folder; None if it does not exist, is reached through a link, or has too many files."""
    try:
        if is_url(path):
            from .remote import current_version

            version = current_version(path)
            return version.size, 0, version.digest
        if os.path.realpath(path) != path:
            return None
        if os.path.isdir(path):
            return _fingerprint_of_folder(path)
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            return status.st_size, status.st_mtime_ns, sha256(file.read(_HEADER)).hexdigest()
    except (OSError, ValueError, FileTrouble):
        return None


def _fingerprint_of_folder(path: str) -> Fingerprint | None:
    sizes, times, digest, count = 0, 0, sha256(), 0
    for folder, inner, names in os.walk(path):
        inner.sort()
        for name in sorted(names):
            status = os.lstat(os.path.join(folder, name))
            sizes, times, count = sizes + status.st_size, max(times, status.st_mtime_ns), count + 1
            digest.update(f"{os.path.relpath(folder, path)}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
            if count > MOST_FILES:
                return None
    return sizes, times, digest.hexdigest()


@dataclass(frozen=True)
class StoredInput:
    """A box of an input in a file (`box` None: all of it).

    `path` may name a member; `shown` is its name in messages.  `places`: the record starts of a text table, which need not be
    measured again."""

    path: str
    kind: Kind
    shape: tuple[int, ...]
    shown: str
    span: Span
    fingerprint: Fingerprint
    reading: ColumnFormat = AS_WRITTEN
    places: tuple[RecordOffset, ...] = ()
    box: Box | None = None

    @property
    def file(self) -> str:
        return split_member(self.path)[0]

    @cached_property
    def source(self) -> RowSource:
        """The reader of the file.  Raises RunFailed if it is not the file that the client saw."""
        with located(self.shown, self.span), system_errors():
            if fingerprint_of(self.file) != self.fingerprint:
                raise damaged("changed while it was read, or is another file for a worker")
            wanted = InputSpec(self.kind, len(self.shape), self.span, self.reading, self.shown)
            source = row_source(self.path, wanted, self.shape, self.places)
        assert source is not None, "stored inputs can be read in rows"
        return source

    def window(self, box: Box) -> StoredInput:
        window = replace(self, box=box)
        window.__dict__["source"] = self.source
        return window

    def read(self) -> Any:
        """The box as an array.  Raises RunFailed."""
        source, box = self.source, self.box or tuple((0, size) for size in self.shape)
        try:
            with located(self.shown, self.span), system_errors():
                handle = source.open()
                try:
                    result = self._filled(source, handle, box)
                    source.require_same(handle)
                finally:
                    source.close(handle)
        except Refused as refused:  # becomes a failure of the run, since the program is already running
            raise RunFailed(refused.diagnostics) from None
        return result

    def _filled(self, source: RowSource, handle: Any, box: Box) -> Any:
        result = new_array(tuple(stop - start for start, stop in box), self.kind)
        (first, stop), *inner = box
        if inner == [(0, size) for size in self.shape[1:]]:
            source.read(handle, first, result, stop)
            return result
        step = max(1, _BLOCK // max(1, bytes_of(self.kind, self.shape[1:])))
        part = tuple(slice(*axis) for axis in inner)
        for at in range(first, stop, step):
            rows = new_array((min(step, stop - at), *self.shape[1:]), self.kind)
            source.read(handle, at, rows, at + len(rows))
            result[at - first : at - first + len(rows)] = rows[(slice(None), *part)]
        return result

    def facts(self) -> dict[str, Any]:
        """The fields as JSON."""
        return {
            "path": self.path, "kind": self.kind.value, "shape": self.shape, "shown": self.shown,
            "span": [self.span.file, self.span.start, self.span.end], "mark": self.fingerprint, "places": self.places,
            "reading": [self.reading.form.name, *astuple(self.reading)[1:]],
        }  # fmt: skip


@dataclass(eq=False)
class StoredOutput:
    """The file of an output, or of a part of its rows, into which each device writes its part.  `path`: of the temporary file,
    once it exists."""

    sink: RowSink
    span: Span
    path: str = ""

    @property
    def file(self) -> str:
        return os.path.realpath(self.sink.path)

    def anew(self) -> StoredOutput:
        """A copy for another run."""
        sink = self.sink
        return StoredOutput(type(sink)(sink.path, sink.kind, sink.shape, sink.name, sink.reading), self.span)

    def begin(self) -> None:
        """Creates the file.  Raises RunFailed E708."""
        with self.writing():
            self.sink.begin()
            self.path = self.sink.temporary

    def end(self) -> None:
        """Completes the file.  Raises RunFailed E708."""
        with self.writing():
            self.sink.end()

    def write(self, box: Box | None, array: Any) -> None:
        """Writes a box, which is cut along at most one axis.  Raises RunFailed E708."""
        cut = [(axis, part[0]) for axis, part in enumerate(box or ()) if part != (0, self.sink.shape[axis])]
        require_invariant(len(cut) < 2, "plans cut one axis")
        with self.writing(), self.opened():
            self.sink.put(array, *(cut[0] if cut else (0, 0)))

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keeps the file, which another process may have created, open within the block.  Raises OSError."""
        if self.sink.handle >= 0:
            yield
            return
        self.sink.handle = os.open(self.path, os.O_WRONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
        try:
            self.sink.resume()
            yield
            with self.writing():
                self.sink.suspend()
        finally:
            self.sink.discard()
            handle, self.sink.handle = self.sink.handle, -1
            os.close(handle)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with located(self.sink.path, self.span), system_trouble():
            yield

    def facts(self) -> dict[str, Any]:
        """The fields as JSON."""
        return {
            "path": self.path, "kind": self.sink.kind.value, "shape": self.sink.shape, "shown": self.sink.path,
            "span": [self.span.file, self.span.start, self.span.end], "name": self.sink.name, "first": self.sink.first,
            "reading": [self.sink.reading.form.name, *astuple(self.sink.reading)[1:]],
        }  # fmt: skip


def from_facts(facts: Mapping[str, Any]) -> StoredInput | StoredOutput:
    kind, shape, shown, span = Kind(facts["kind"]), tuple(facts["shape"]), facts["shown"], Span(*facts["span"])
    form, *clauses = facts["reading"]
    if "mark" not in facts:
        reading = ColumnFormat(CellFormat[form], *clauses)
        sink = sink_type(shown, kind, reading)
        assert sink is not None, "what is shipped is written in rows"
        part = sink.part_type()(shown, kind, shape, facts["name"], reading, first=facts["first"])
        return StoredOutput(part, span, facts["path"])
    size, time, begins = facts["mark"]
    places = tuple((record, byte, line) for record, byte, line in facts["places"])
    return StoredInput(facts["path"], kind, shape, shown, span, (size, time, begins), ColumnFormat(CellFormat[form], *clauses),
        places)


def stored_output(
    path: str, kind: Kind, shape: tuple[int, ...], name: str, reading: ColumnFormat, span: Span
) -> StoredOutput | None:  # fmt: skip
    """An output whose file can be written in any order; None if its format does not allow that."""
    sink = sink_type(path, kind, reading) if kind is not Kind.CHAR else None
    if sink is None or not issubclass(sink, RandomAccessSink):
        return None
    return StoredOutput(sink(path, kind, shape, name, reading), span)


def read_back(value: Any) -> Any:
    """The array of an output that was written to its file; other values unchanged.  Raises RunFailed."""
    if not isinstance(value, RandomAccessSink):
        return value
    with located(value.path, Span("", 0, 0)), system_errors():
        return value.values()


def stored_input(path: str, wanted: InputSpec, shape: tuple[int, ...]) -> StoredInput | None:
    """An input that can be read in boxes at random; None if each box would be read from the start of the file."""
    file, _ = split_member(path)
    real = file if is_url(file) else os.path.realpath(file)
    mark = fingerprint_of(real) if wanted.held is None and 0 not in shape else None
    if mark is None:
        return None
    path = real + path[len(file) :]
    with located(wanted.shown or path, wanted.span), system_errors():
        source = row_source(path, wanted, shape)
        if source is None:
            return None
        places = places_of(path, wanted)
    return StoredInput(path, wanted.kind, shape, wanted.shown or path, wanted.span, mark, wanted.reading, places)


class StoreBackend(CpuBackend):
    """The back end of a store: its values are stored inputs, read when a device takes them, and stored outputs."""

    def bring(self, value: Any, kind: Kind) -> Any:
        return value

    def fetch(self, value: Any, kind: Kind, room: Any = None) -> Any:
        return value.read() if isinstance(value, StoredInput) else value

    def write(self, value: Any, box: Box | None, array: Any) -> None:
        value.write(box, array)

    def part(self, value: Any, index: Index) -> Any:
        return value.window(tuple((one.start, one.stop) for one in index if isinstance(one, slice)))
