"""A small PNG codec: 8- and 16-bit greys and colours, read and written with zlib and NumPy only.

Source: the PNG specification (W3C, second edition).  Read: grey, grey with alpha, RGB, RGBA, palettes (expanded to RGB,
or RGBA when it has transparency), bit depths 1 to 16, interlaced files refused; every chunk's checksum is checked.
Depths 1, 2 and 4 of grey are scaled to 0..255, depth 16 is stored as 0..65535 (declare `i32` or wider).  The shape is
[height width] for grey and [height width channels] else.

Size checks come before inflating: deflate shrinks at most 1032-fold, so a header that promises more pixels than the
compressed bytes can hold is refused before anything is allocated, and inflating stops at the promised length.  Pixels are
inflated, restored (`png_filters`) and written in bands of rows.

Neighbours: `files`; `picture` (which values become which pixels when writing).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final

from .content import Content
from .conversions import Column
from .elements import require_accepted, require_shape
from .filling import new_array
from .png_filters import LEAST_DIAGONAL, restore
from .trouble import damaged, disagrees, system_errors

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
MOST_RATIO: Final = 1032
LONGEST_CHUNK: Final = (1 << 31) - 1
MOST_CHUNKS: Final = 1 << 20
LONGEST_SIDE: Final = 1_000_000
"""libpng's own default."""
_BAND: Final = 8 << 20
"""Bytes of the rows that are inflated and restored at a time, and of those that are compressed."""
_WRITTEN: Final = 1 << 18
_SMALL: Final = {b"IHDR": 13, b"PLTE": 768, b"tRNS": 768}
_PIXELS: Final = b"IDAT"
_BLOCK: Final = 1 << 16
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PALETTE: Final = 3


@dataclass(frozen=True, slots=True)
class Image:
    """IHDR, and the palette with its transparency if there is one."""

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
    """Names and contents up to IEND: small ones whole, pixels block by block, of others nothing.  Checksums are compared."""
    start = file.read(8)
    if start != SIGNATURE:
        raise damaged("is not a PNG file" if start else "is empty, not a PNG file")
    for number in range(MOST_CHUNKS):
        head = file.read(8)
        if len(head) < 8:
            raise damaged("is truncated: it ends before its last chunk")
        length, name = struct.unpack(">I4s", head)
        if not number and (name != b"IHDR" or length != _SMALL[name]):
            raise damaged("does not begin with an image header")
        if length > LONGEST_CHUNK:
            raise damaged("has a chunk of an impossible length")
        if name in _SMALL and length > _SMALL[name]:
            raise damaged(f"has a chunk {name.decode()} of {length} bytes, more than {_SMALL[name]}")
        sum, whole = zlib.crc32(name), b""
        for block in _blocks(file, length, name):
            sum = zlib.crc32(block, sum)
            if name == _PIXELS:
                yield name, block
            elif name in _SMALL:
                whole += block
        check = file.read(4)
        if len(check) < 4:
            raise damaged(f"is truncated inside its chunk {name.decode('latin-1')!r}")
        if sum != struct.unpack(">I", check)[0]:
            raise damaged(f"has a wrong checksum in its chunk {name.decode('latin-1')!r}")
        if name in _SMALL or name == b"IEND":
            yield name, whole
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
    """The image's description, after checking every chunk and what its pixels can hold."""
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
    assert image is not None  # `_chunks` begins with it
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
    """The shape, after checking chunks and what the compressed data can hold; no pixel is inflated."""
    with system_errors(), content.open() as file:
        image = _parse(file)
    require_accepted(image.stored, wanted.kind)
    return image.shape


def beside_bytes(content: Content, wanted: Column) -> int:
    """What reading takes beside the array: a band, inflated, restored and as samples."""
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
    """Rows of a band: so many that restoring them by diagonals pays."""
    return max(_BAND // (row_bytes + 1), LEAST_DIAGONAL // step + 1)


class _Pixels:
    """The inflated bytes of an image's chunks, in the order of the file."""

    def __init__(self, file: BinaryIO) -> None:
        self._blocks = (content for name, content in _chunks(file) if name == _PIXELS)
        self._engine = zlib.decompressobj()
        self._left = b""

    def read(self, count: int) -> bytearray:
        """So many bytes.  E705: there are fewer."""
        found = self._inflate(count)
        if len(found) < count:
            raise damaged("has fewer pixels than its header promises")
        return found

    def require_end(self) -> None:
        if self._inflate(1):
            raise damaged("has more pixels than its header promises")

    def _inflate(self, most: int) -> bytearray:
        found = bytearray()
        try:
            while len(found) < most:
                piece = self._engine.decompress(self._left, most - len(found))
                self._left = self._engine.unconsumed_tail
                found += piece
                if not piece and not self._left:
                    block = None if self._engine.eof else next(self._blocks, None)
                    if block is None:
                        break
                    self._left = block
        except zlib.error as error:
            raise damaged(f"has damaged pixels: {error}") from None
        return found


def _samples(image: Image, rows: Any) -> Any:
    """Rows of bytes as samples of their part of the image."""
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
    """Write samples of 8 or 16 bits of shape [h w] or [h w c], c from 1 to 4; `band` makes those of some rows."""
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
        raw = numpy.zeros((len(rows), row_bytes + 1), dtype="u1")  # every row begins with its filter: none
        raw[:, 1:] = rows
        _write_chunk(file, _PIXELS, engine.compress(raw.data))
    _write_chunk(file, _PIXELS, engine.flush())
    _write_chunk(file, b"IEND", b"")


def writing_rows(row_bytes: int) -> int:
    """Rows that are compressed at a time."""
    return max(1, _WRITTEN // (row_bytes + 1))


def _write_chunk(file: BinaryIO, name: bytes, content: bytes) -> None:
    file.write(struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(name))))
