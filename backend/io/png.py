"""A small PNG codec: 8- and 16-bit greys and colours, read and written with zlib and NumPy only.

Source: the PNG specification (W3C, second edition).  Read: grey, grey with alpha, RGB, RGBA, palettes (expanded to RGB,
or RGBA when it has transparency), bit depths 1 to 16, interlaced files refused; every chunk's checksum is checked.
Depths 1, 2 and 4 of grey are scaled to 0..255, depth 16 is stored as 0..65535 (declare `i32` or wider).  The shape is
[height width] for grey and [height width channels] else.

Size checks come before inflating: deflate shrinks at most 1032-fold, so a header that promises more pixels than the
compressed bytes can hold is refused before anything is allocated, and inflating stops at the promised length.  Pixels are
inflated, unfiltered and written in bands of rows.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind
from .cells import Column, require_accepted, require_shape
from .formats import FileTrouble, damaged, disagrees, system_errors
from .sources_and_sinks import Content, blocks_of, new_array

# ---------------------------------------------------------------------------------------------------- scan-line filters
#
# Undoing the filters of PNG's rows.
#
# Note [Filters].  Sub, Average and Paeth make a byte depend on its left, upper and upper left neighbours, so all pixels of one
# anti-diagonal can be restored at once.  None, Sub and Up need no diagonals, nor does Paeth in the first row of an image, where
# it is Sub.
#
# Note [Skewed].  Anti-diagonals are stored as rows of a skewed array, with their pixels in the order of the shorter side, so that
# a diagonal and its neighbours in the two diagonals before it are slices.  If the shorter side has few bytes, a byte-by-byte loop
# is faster.

_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4
LEAST_DIAGONAL: Final = 256
"""The least bytes of a diagonal for which its NumPy calls cost little per byte."""
_SHORT_DIAGONAL: Final = 64
"""The bytes of a diagonal below which the byte-by-byte loop is as fast."""


def restore(rows: Any, filters: Any, step: int, above: Any) -> Any:
    """Undoes the filters of rows; `step` is the bytes of a pixel, `above` the restored row before them (None: there is none)."""
    import numpy

    if int(filters.max(initial=0)) > _PAETH:
        raise damaged("uses a filter that PNG does not define")
    filters = filters.copy()
    if above is None:
        above = numpy.zeros(rows.shape[1], "u1")
        if filters[0] == _PAETH:
            filters[0] = _SUB
    if (filters >= _AVERAGE).any():
        if min(len(rows) * step, rows.shape[1]) < _SHORT_DIAGONAL:
            return _restore_bytes(rows, filters, step, above)
        return _restore_diagonals(rows, filters, step, above)
    rows = rows.copy()
    for row, kind in zip(rows, filters.tolist(), strict=True):
        if kind == _SUB:
            pixels = row.reshape(-1, step)
            numpy.cumsum(pixels, axis=0, dtype="u1", out=pixels)
        elif kind == _UP:
            row += above
        above = row
    return rows


def _restore_bytes(rows: Any, filters: Any, step: int, above: Any) -> Any:
    """Undoes the filters byte by byte."""
    import numpy

    count, restored = rows.shape[1], bytearray()
    before = bytes(step) + above.tobytes()
    for raw, kind in zip(rows, filters.tolist(), strict=True):
        row = bytearray(step) + raw.tobytes()
        for at in range(step, count + step):
            left, up = row[at - step], before[at]
            if kind == _SUB:
                row[at] = (row[at] + left) & 0xFF
            elif kind == _UP:
                row[at] = (row[at] + up) & 0xFF
            elif kind == _AVERAGE:
                row[at] = (row[at] + ((left + up) >> 1)) & 0xFF
            elif kind == _PAETH:
                corner = before[at - step]
                a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                row[at] = (row[at] + (left if a <= b and a <= c else up if b <= c else corner)) & 0xFF
        restored += row[step:]
        before = bytes(row)
    return numpy.frombuffer(restored, "u1").reshape(rows.shape)


def _restore_diagonals(rows: Any, filters: Any, step: int, above: Any) -> Any:
    """Undoes the filters by anti-diagonals; see Notes [Filters] and [Skewed]."""
    import numpy

    height, width = rows.shape[0], rows.shape[1] // step
    upright = height <= width
    across, along = (height, width) if upright else (width, height)
    skewed = numpy.zeros((across + along + 1, across + 1, step), "i2")
    each, line = skewed.strides[1], skewed.strides[0]
    grid = numpy.lib.stride_tricks.as_strided(skewed, (across + 1, along + 1, step), (line + each, line, skewed.strides[2]))
    pixels = grid if upright else grid.transpose(1, 0, 2)
    pixels[0, 1:], pixels[1:, 1:] = above.reshape(width, step), rows.reshape(height, width, step)
    flat = skewed.reshape(len(skewed), -1)
    masks = {kind: numpy.repeat((filters == kind).astype("i2"), step) for kind in {*filters.tolist()} - {0}}
    if not upright:
        masks = {kind: mask[::-1] for kind, mask in masks.items()}
    for diagonal in range(2, across + along + 1):
        first, last = max(1, diagonal - along), min(across, diagonal - 1) + 1
        here, before = slice(first * step, last * step), slice((first - 1) * step, (last - 1) * step)
        same, aside, corner = flat[diagonal - 1, here], flat[diagonal - 1, before], flat[diagonal - 2, before]
        left, up = (same, aside) if upright else (aside, same)
        start = (first - 1) * step if upright else (height - diagonal + first) * step
        cells = slice(start, start + (last - first) * step)
        restored = flat[diagonal, here]
        for kind, mask in masks.items():
            restored += mask[cells] * _predicted(kind, left, up, corner)
        restored &= 0xFF
    return pixels[1:, 1:].astype("u1").reshape(rows.shape)


def _predicted(kind: int, left: Any, up: Any, corner: Any) -> Any:
    import numpy

    if kind == _SUB:
        return left
    if kind == _UP:
        return up
    if kind == _AVERAGE:
        return (left + up) >> 1
    a, b = up - corner, left - corner
    c = numpy.abs(a + b)
    numpy.abs(a, out=a), numpy.abs(b, out=b)
    return numpy.where((a <= b) & (a <= c), left, numpy.where(b <= c, up, corner))


# ---------------------------------------------------------------------------------------------------- format

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
MOST_RATIO: Final = 1032
LONGEST_CHUNK: Final = (1 << 31) - 1
MOST_CHUNKS: Final = 1 << 20
LONGEST_SIDE: Final = 1_000_000
"""The compression level; libpng's default."""
_BAND: Final = 8 << 20
"""Bytes of a band of rows, for reading and for writing."""
_WRITTEN: Final = 1 << 18
_CHUNK_BYTES: Final = {b"IHDR": 13, b"PLTE": 768, b"tRNS": 768}
_PIXELS: Final = b"IDAT"
_BLOCK: Final = 1 << 16
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PALETTE: Final = 3


@dataclass(frozen=True, slots=True)
class Image:
    """The fields of IHDR, and the palette with its transparency, if there is one."""

    width: int
    height: int
    depth: int
    colour: int
    palette: bytes = b""
    alpha: bytes = b""

    @property
    def pixel_bits(self) -> int:
        return self.depth * _CHANNELS[self.colour]

    @property
    def row_bytes(self) -> int:
        return (self.width * self.pixel_bits + 7) // 8

    @property
    def shape(self) -> tuple[int, ...]:
        channels = (4 if self.alpha else 3) if self.colour == _PALETTE else _CHANNELS[self.colour]
        return (self.height, self.width) if channels == 1 else (self.height, self.width, channels)

    @property
    def stored(self) -> str:
        return "uint16" if self.depth == 16 else "uint8"


# ------------------------------------------------------------------------- reading


def _chunks(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yields (name, content) of the chunks up to IEND after verifying their checksums: pixels in blocks; unneeded chunks are
    empty."""
    start = file.read(8)
    if start != SIGNATURE:
        raise damaged("is not a PNG file" if start else "is empty, not a PNG file")
    for number in range(MOST_CHUNKS):
        head = file.read(8)
        if len(head) < 8:
            raise damaged("is truncated: it ends before its last chunk")
        length, name = struct.unpack(">I4s", head)
        if not number and (name != b"IHDR" or length != _CHUNK_BYTES[name]):
            raise damaged("does not begin with an image header")
        if length > LONGEST_CHUNK:
            raise damaged("has a chunk of an impossible length")
        if name in _CHUNK_BYTES and length > _CHUNK_BYTES[name]:
            raise damaged(f"has a chunk {name.decode()} of {length} bytes, more than {_CHUNK_BYTES[name]}")
        sum, data = zlib.crc32(name), b""
        for block in _blocks(file, length, name):
            sum = zlib.crc32(block, sum)
            if name == _PIXELS:
                yield name, block
            elif name in _CHUNK_BYTES:
                data += block
        check = file.read(4)
        if len(check) < 4:
            raise damaged(f"is truncated inside its chunk {name.decode('latin-1')!r}")
        if sum != struct.unpack(">I", check)[0]:
            raise damaged(f"has a wrong checksum in its chunk {name.decode('latin-1')!r}")
        if name in _CHUNK_BYTES or name == b"IEND":
            yield name, data
        if name == b"IEND":
            return
    raise damaged(f"has more than {MOST_CHUNKS} chunks")


def _blocks(file: BinaryIO, length: int, name: bytes) -> Iterator[bytes]:
    while length:
        block = file.read(min(length, _BLOCK))
        if not block:
            raise damaged(f"is truncated inside its chunk {name.decode('latin-1')!r}")
        length -= len(block)
        yield block


def _parse(file: BinaryIO) -> Image:
    """Returns the description of an image, after checking every chunk and the least size of its pixel data."""
    image: Image | None = None
    palette = alpha = b""
    compressed = 0
    for name, content in _chunks(file):
        if image is None:
            image = _parse_header(content)
        elif name == b"PLTE":
            palette = content
        elif name == b"tRNS":
            alpha = content
        elif name == _PIXELS:
            compressed += len(content)
    assert image is not None  # `_chunks` yields IHDR first
    if image.colour == _PALETTE:
        if not palette or len(palette) % 3:
            raise damaged("has no proper palette")
        image = replace(image, palette=palette, alpha=alpha)
    if (image.row_bytes + 1) * image.height > MOST_RATIO * compressed:
        raise damaged(f"promises {image.height} × {image.width} pixels, more than its {compressed} compressed bytes can hold")
    return image


def _parse_header(content: bytes) -> Image:
    width, height, depth, colour, compression, filtering, interlace = struct.unpack(">IIBBBBB", content)
    if not width or not height or width > LONGEST_CHUNK or height > LONGEST_CHUNK:
        raise damaged(f"has an impossible size, {height} × {width}")
    if max(width, height) > LONGEST_SIDE:
        raise disagrees(f"is {height} × {width} pixels; sides up to {LONGEST_SIDE:,} are read")
    if depth not in _DEPTHS.get(colour, ()):
        raise damaged(f"has no pixel format: depth {depth}, colour type {colour}")
    if compression or filtering or interlace > 1:
        raise damaged("uses a method that PNG does not define")
    if interlace:
        raise disagrees("is interlaced, which is not read", "save it again without interlacing")
    return Image(width, height, depth, colour)


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """Returns the shape, after checking chunks and the size of the compressed data; no pixel is inflated."""
    with system_errors(), content.open() as file:
        image = _parse(file)
    require_accepted(image.stored, wanted.kind)
    return image.shape


def working_memory(content: Content, wanted: Column) -> int:
    """Returns the bytes besides the array: a band, inflated, restored and as samples."""
    with system_errors(), content.open() as file:
        image = _parse(file)
    rows = min(image.height, band_rows(image.row_bytes, max(1, image.pixel_bits // 8)))
    return rows * (image.row_bytes * 8 + image.width * len(image.palette[:4]) * 8 // max(1, image.depth)) + (1 << 18)


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The pixels as a NumPy array of the kind."""
    import numpy

    with system_errors(), content.open() as file:
        image = _parse(file)
        require_accepted(image.stored, wanted.kind)
        require_shape(image.shape, shape)
        array = new_array(shape, wanted.kind)
        file.seek(0)
        pixels = _Pixels(file)
        above = numpy.zeros(image.row_bytes, "u1")
        step = max(1, image.pixel_bits // 8)
        most = band_rows(image.row_bytes, step)
        for top in range(0, image.height, most):
            count = min(most, image.height - top)
            raw = numpy.frombuffer(pixels.read(count * (image.row_bytes + 1)), "u1").reshape(count, image.row_bytes + 1)
            rows = restore(raw[:, 1:], raw[:, 0], step, above if top else None)
            above = rows[-1].copy()
            array[top : top + count] = _samples(image, rows)
        pixels.require_end()
    return array


def band_rows(row_bytes: int, step: int) -> int:
    """Returns the rows of a band, enough for diagonals to pay."""
    return max(_BAND // (row_bytes + 1), LEAST_DIAGONAL // step + 1)


class _Pixels:
    """Inflates the pixel chunks of an image as a stream."""

    def __init__(self, file: BinaryIO) -> None:
        self._blocks = (content for name, content in _chunks(file) if name == _PIXELS)
        self._engine = zlib.decompressobj()
        self._left = b""

    def read(self, count: int) -> bytearray:
        """Returns the next `count` bytes.  Raises E705 if there are fewer."""
        inflated = self._inflate(count)
        if len(inflated) < count:
            raise damaged("has fewer pixels than its header promises")
        return inflated

    def require_end(self) -> None:
        if self._inflate(1):
            raise damaged("has more pixels than its header promises")

    def _inflate(self, most: int) -> bytearray:
        inflated = bytearray()
        try:
            while len(inflated) < most:
                piece = self._engine.decompress(self._left, most - len(inflated))
                self._left = self._engine.unconsumed_tail
                inflated += piece
                if not piece and not self._left:
                    block = None if self._engine.eof else next(self._blocks, None)
                    if block is None:
                        break
                    self._left = block
        except zlib.error as error:
            raise damaged(f"has damaged pixels: {error}") from None
        return inflated


def _samples(image: Image, rows: Any) -> Any:
    """Returns rows of bytes as samples."""
    import numpy

    count = len(rows)
    if image.depth == 16:
        return numpy.ascontiguousarray(rows).view(">u2").reshape(count, *image.shape[1:])
    if image.depth < 8:
        shifts = numpy.arange(8 - image.depth, -1, -image.depth, dtype="u1")
        mask = numpy.uint8((1 << image.depth) - 1)
        rows = ((rows[:, :, None] >> shifts) & mask).reshape(count, -1)[:, : image.width]
        if image.colour != _PALETTE:
            return rows * numpy.uint8(255 // int(mask))
    if image.colour != _PALETTE:
        return rows.reshape(count, *image.shape[1:])
    colours = numpy.frombuffer(image.palette, dtype="u1").reshape(-1, 3)
    if int(rows.max(initial=0)) >= len(colours):
        raise damaged("uses a colour that its palette does not have")
    if image.alpha:
        opaque = numpy.frombuffer(image.alpha[: len(colours)].ljust(len(colours), b"\xff"), dtype="u1")
        colours = numpy.concatenate([colours, opaque[:, None]], axis=1)
    return colours[rows.reshape(count, image.width)]


# ------------------------------------------------------------------------- writing


def write(file: BinaryIO, shape: tuple[int, ...], depth: int, band: Callable[[int, int], Any]) -> None:
    """Write samples of 8 or 16 bits of shape [h w] or [h w c], c from 1 to 4; `band(first, last)` returns those of rows [first,
    last)."""
    import numpy

    height, width = shape[:2]
    channels = shape[2] if len(shape) == 3 else 1
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    row_bytes = width * channels * depth // 8
    file.write(SIGNATURE)
    _write_chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    engine = zlib.compressobj(6)
    for top in range(0, height, writing_rows(row_bytes)):
        samples = numpy.ascontiguousarray(band(top, top + writing_rows(row_bytes)), dtype=">u2" if depth == 16 else "u1")
        rows = samples.reshape(len(samples), -1).view("u1")
        raw = numpy.zeros((len(rows), row_bytes + 1), dtype="u1")  # every row begins with its filter type, 0 (none)
        raw[:, 1:] = rows
        _write_chunk(file, _PIXELS, engine.compress(raw.data))
    _write_chunk(file, _PIXELS, engine.flush())
    _write_chunk(file, b"IEND", b"")


def writing_rows(row_bytes: int) -> int:
    """Returns the number of rows that are compressed at a time."""
    return max(1, _WRITTEN // (row_bytes + 1))


def _write_chunk(file: BinaryIO, name: bytes, content: bytes) -> None:
    file.write(struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(name))))


# ---------------------------------------------------------------------------------------------------- arrays as pictures
#
# Values of a result become pixels when it is written as `.png`.
#
# A picture is a matrix (grey), or has a third axis of 1 to 4 channels.  bool is black and white; u8 is written as it is;
# integers within 0..255 and within 0..65535 become 8- and 16-bit pixels as they are; floats within 0..1 are multiplied by
# 255 and rounded; anything else is scaled linearly, its least finite value to 0 and its greatest to 255.  NaN counts as
# the least value, infinities as the nearest finite one.
#
# Values are examined and converted some rows at a time.

_ENCODED_BLOCK: Final = 1 << 17
"""Items that are examined at a time."""


@dataclass(frozen=True, slots=True)
class Pixels:
    """Converts `values` to samples of `depth` bits, scaled from the range `low` to `high` if given."""

    values: Any
    kind: Kind
    depth: int = 8
    low: float | None = None
    high: float = 0.0

    def band(self, first: int, last: int) -> Any:
        """Returns the samples of some rows."""
        import numpy

        values = self.values[first:last]
        if self.kind is Kind.BOOL:
            return values.astype("u1") * numpy.uint8(255)
        if self.low is None:
            return values.astype("u1" if self.depth == 8 else "u2", copy=False)
        half = self.high / 2 - self.low / 2  # halved, because the difference may overflow
        if not half:
            return numpy.zeros(values.shape, dtype="u1")
        known = numpy.clip(numpy.nan_to_num(values.astype("f8"), nan=self.low), self.low, self.high)
        return numpy.rint((known / 2 - self.low / 2) / half * 255).astype("u1")


def pixels(values: Any, kind: Kind) -> Pixels:
    """Returns the conversion of a NumPy array of the kind to samples.  Raises FileTrouble (E708) for other shapes or kinds."""
    if kind is Kind.CHAR or kind.is_complex:
        held = "text or dates" if kind is Kind.CHAR else kind.value
        raise FileTrouble(Code.E708, f"holds {held}, a picture needs real numbers")
    if values.ndim not in (2, 3) or (values.ndim == 3 and not 1 <= values.shape[2] <= 4):
        advice = "a picture is a matrix, or has a last axis of 1 to 4 channels"
        raise FileTrouble(Code.E708, f"has shape {list(values.shape)}, which is not a picture", advice)
    if 0 in values.shape:
        raise FileTrouble(Code.E708, f"has shape {list(values.shape)}, a picture needs at least one pixel")
    if kind in (Kind.BOOL, Kind.U8):
        return Pixels(values, kind)
    low, high = _range(values)
    if kind.is_integer and low >= 0 and high <= 65535:
        return Pixels(values, kind, 8 if high <= 255 else 16)
    if not kind.is_integer and low >= 0 and high <= 1:
        low, high = 0, 1
    return Pixels(values, kind, 8, float(low), float(high))


def _range(values: Any) -> tuple[Any, Any]:
    """Returns the least and the greatest finite value; 0 and 0 if there is none."""
    import numpy

    low = high = None
    for block in blocks_of(values, _ENCODED_BLOCK):
        finite = block[numpy.isfinite(block)]
        if finite.size:
            least, greatest = finite.min(), finite.max()
            low, high = least if low is None else min(low, least), greatest if high is None else max(high, greatest)
    return (0, 0) if low is None else (low, high)
