"""`.txt`: UTF-8 text as characters.

Declared with one axis (`char[n]`) the file is its characters, newlines included, without a byte order mark.  Declared
with two (`char[n m]`) it is its lines, padded with blanks to the longest.

Neighbours: `files`; `plain_writing` (the other way).
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Iterator
from typing import Any, Final

from ....typechecker.elements import Kind
from .content import Content
from .conversions import Column
from .elements import changed, require_shape
from .filling import new_array
from .trouble import damaged, disagrees, system_errors

_BLOCK: Final = 1 << 18
_LINE_END: Final = 10
_BLANK: Final = 32


def _require_text(wanted: Column) -> None:
    if wanted.kind is not Kind.CHAR:
        note = "declare it `char[n]`, or name a csv file for numbers"
        raise disagrees(f"is text, its declared type is {wanted.kind.value}", note)
    if wanted.rank not in (1, 2):
        raise disagrees(f"is text, which has one axis (characters) or two (lines), not {wanted.rank}")


def _texts(content: Content) -> Iterator[str]:
    """The characters block by block, without a byte order mark."""
    decoder, before, lines, first = codecs.getincrementaldecoder("utf-8")(), 0, 1, True
    with system_errors(), content.open() as file:
        while True:
            raw = file.read(_BLOCK)
            held = len(decoder.getstate()[0])
            try:
                text = decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                line = lines + error.object.count(b"\n", 0, error.start)
                byte = error.object[error.start]
                raise damaged(f"is not UTF-8: byte {before - held + error.start} (line {line}) is 0x{byte:02x}") from None
            if text:
                yield text.removeprefix("\ufeff") if first else text
                first = False
            if not raw:
                return
            before += len(raw)
            lines += raw.count(b"\n")


def _codes(content: Content) -> Iterator[Any]:
    """The characters as code points block by block, `\\r\\n` as one `\\n`."""
    import numpy

    held = ""
    for text in itertools.chain(_texts(content), ("",)):
        whole = held + text
        held = "\r" if whole.endswith("\r") and text else ""
        whole = whole.removesuffix(held).replace("\r\n", "\n")
        yield numpy.frombuffer(whole.encode("utf-32-le"), "<u4")


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """Characters, or lines and the characters of the longest."""
    import numpy

    _require_text(wanted)
    if wanted.rank == 1:
        return (sum(map(len, _texts(content))),)
    lines = longest = column = 0
    for codes in _codes(content):
        ends = numpy.flatnonzero(codes == _LINE_END)
        if len(ends):
            longest = max(longest, column + int(ends[0]), int(numpy.diff(ends).max(initial=1)) - 1)
            lines, column = lines + len(ends), len(codes) - 1 - int(ends[-1])
        else:
            column += len(codes)
    return lines + (column > 0), max(longest, column)


def beside_bytes(content: Content, wanted: Column) -> int:
    """What reading takes beside the array: blocks as bytes, as text, and as code points with their places."""
    return min(64 * content.size(), 64 * _BLOCK)


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The characters as a NumPy array of dtype U1."""
    import numpy

    _require_text(wanted)
    array = new_array(shape, wanted.kind)
    items = array.reshape(-1).view("=u4")
    if len(shape) == 1:
        count = 0
        for text in _texts(content):
            if count + len(text) > len(items):
                raise changed()
            items[count : count + len(text)] = numpy.frombuffer(text.encode("utf-32-le"), "<u4")
            count += len(text)
        require_shape((count,), shape)
        return array
    items[:] = _BLANK
    lines, column = 0, 0
    for codes in _codes(content):
        lines, column = _place_lines(items, shape, codes, lines, column)
    require_shape((lines + (column > 0), shape[1]), shape)
    return array


def _place_lines(items: Any, shape: tuple[int, ...], codes: Any, line: int, column: int) -> tuple[int, int]:
    """Put a block that begins at a line and a column where it belongs; where the next one begins."""
    import numpy

    ends = codes == _LINE_END
    starts = numpy.concatenate([[-column], numpy.flatnonzero(ends) + 1])
    at = numpy.flatnonzero(~ends)
    rows = numpy.cumsum(ends)[at]
    columns = at - starts[rows]
    if len(at) and (line + int(rows[-1]) >= shape[0] or int(columns.max()) >= shape[1]):
        raise changed()
    items[(line + rows) * shape[1] + columns] = codes[at]
    return line + len(starts) - 1, len(codes) - int(starts[-1])
