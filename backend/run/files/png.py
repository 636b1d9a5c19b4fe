"""A small PNG codec: 8- and 16-bit greys and colours, read and written with zlib and NumPy only.

Source: the PNG specification (W3C, second edition).  Read: grey, grey with alpha, RGB, RGBA, palettes (expanded to RGB,
or RGBA when it has transparency), bit depths 1 to 16, interlaced files refused; every chunk's checksum is checked.
Depths 1, 2 and 4 of grey are scaled to 0..255, depth 16 is stored as 0..65535 (declare `i32` or wider).  The shape is
[height width] for grey and [height width channels] else.

Size checks come before inflating: deflate shrinks at most 1032-fold, so a header that promises more pixels than the
compressed bytes can hold is refused before anything is allocated, and inflating stops at the promised length.

Note [Filters].  Sub, Average and Paeth make a byte depend on its left, upper and upper left neighbours, so all pixels
of one anti-diagonal can be restored at once; None, Sub and Up alone need no diagonals.

Neighbours: `files`; `picture` (which values become which pixels when writing).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from ....typechecker.elements import Kind
from .elements import require_accepted, require_shape, to_kind
from .trouble import damaged, disagrees, system_errors

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
MOST_RATIO: Final = 1032
LONGEST_CHUNK: Final = (1 << 31) - 1
_CHANNELS: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PALETTE: Final = 3
_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4


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
    """Names and checked contents up to IEND."""
    start = file.read(8)
    if start != SIGNATURE:
        raise damaged("is not a PNG file" if start else "is empty, not a PNG file")
    while True:
        head = file.read(8)
        if len(head) < 8:
            raise damaged("is truncated: it ends before its last chunk")
        length, name = struct.unpack(">I4s", head)
        if length > LONGEST_CHUNK:
            raise damaged("has a chunk of an impossible length")
        content = file.read(length)
        check = file.read(4)
        if len(content) < length or len(check) < 4:
            raise damaged(f"is truncated inside its chunk {name.decode('latin-1')!r}")
        if zlib.crc32(content, zlib.crc32(name)) != struct.unpack(">I", check)[0]:
            raise damaged(f"has a wrong checksum in its chunk {name.decode('latin-1')!r}")
        yield name, content
        if name == b"IEND":
            return


def _parse(file: BinaryIO) -> tuple[Image, bytes]:
    """The image's description and its compressed pixels."""
    image: Image | None = None
    palette = alpha = b""
    pixels: list[bytes] = []
    for name, content in _chunks(file):
        if image is None:
            if name != b"IHDR" or len(content) != 13:
                raise damaged("does not begin with an image header")
            image = _parse_header(content)
        elif name == b"PLTE":
            palette = content
        elif name == b"tRNS":
            alpha = content
        elif name == b"IDAT":
            pixels.append(content)
    assert image is not None  # _chunks yields at least IEND, which is no IHDR
    if image.colour == _PALETTE:
        if not palette or len(palette) % 3 or len(palette) > 768:
            raise damaged("has no proper palette")
        image = Image(image.width, image.height, image.depth, image.colour, palette, alpha)
    data = b"".join(pixels)
    if (image.row_bytes + 1) * image.height > MOST_RATIO * len(data):
        raise damaged(f"promises {image.height} × {image.width} pixels, more than its {len(data)} compressed bytes can hold")
    return image, data


def _parse_header(content: bytes) -> Image:
    width, height, depth, colour, compression, filtering, interlace = struct.unpack(">IIBBBBB", content)
    if not width or not height or width > LONGEST_CHUNK or height > LONGEST_CHUNK:
        raise damaged(f"has an impossible size, {height} × {width}")
    if depth not in _DEPTHS.get(colour, ()):
        raise damaged(f"has no pixel format: depth {depth}, colour type {colour}")
    if compression or filtering or interlace > 1:
        raise damaged("uses a method that PNG does not define")
    if interlace:
        raise disagrees("is interlaced, which is not read", "save it again without interlacing")
    return Image(width, height, depth, colour)


def header(path: str, kind: Kind, rank: int) -> tuple[int, ...]:
    """The shape, after checking chunks and what the compressed data can hold; no pixel is inflated."""
    with system_errors(), open(path, "rb") as file:
        image, _ = _parse(file)
    require_accepted(image.stored, kind)
    return image.shape


def read(path: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The pixels as a NumPy array of the kind."""
    import numpy

    with system_errors(), open(path, "rb") as file:
        image, data = _parse(file)
    require_accepted(image.stored, kind)
    require_shape(image.shape, shape)
    raw = numpy.frombuffer(_inflate(image, data), dtype="u1").reshape(image.height, image.row_bytes + 1)
    rows = _restore(raw[:, 1:].copy(), raw[:, 0], max(1, image.pixel_bits // 8))
    return to_kind(_samples(image, rows), kind)


def _inflate(image: Image, data: bytes) -> bytes:
    expected = (image.row_bytes + 1) * image.height
    engine = zlib.decompressobj()
    try:
        raw = engine.decompress(data, expected + 1)
    except zlib.error as error:
        raise damaged(f"has damaged pixels: {error}") from None
    if len(raw) != expected:
        raise damaged(f"has {'more' if len(raw) > expected else 'fewer'} pixels than its header promises")
    return raw


def _restore(rows: Any, filters: Any, step: int) -> Any:
    """Undo the filters of each row; `step` is the bytes of one pixel."""
    import numpy

    if int(filters.max(initial=0)) > _PAETH:
        raise damaged("uses a filter that PNG does not define")
    if not (filters >= _AVERAGE).any():
        for y, kind in enumerate(filters.tolist()):
            if kind == _SUB:
                pixels = rows[y].reshape(-1, step)
                numpy.cumsum(pixels, axis=0, dtype="u1", out=pixels)
            elif kind == _UP and y:
                rows[y] += rows[y - 1]
        return rows
    return _restore_diagonals(rows, filters, step)


def _restore_diagonals(rows: Any, filters: Any, step: int) -> Any:
    """See Note [Filters]."""
    import numpy

    height, width = rows.shape[0], rows.shape[1] // step
    padded = numpy.zeros((height + 1, width + 1, step), dtype="i2")
    padded[1:, 1:] = rows.reshape(height, width, step)
    order = filters[:, None]
    for diagonal in range(height + width - 1):
        y = numpy.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        left, up, corner = padded[y + 1, x], padded[y, x + 1], padded[y, x]
        guess = left + up - corner
        a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
        paeth = numpy.where((a <= b) & (a <= c), left, numpy.where(b <= c, up, corner))
        used = order[y]
        choices = {_SUB: left, _UP: up, _AVERAGE: (left + up) >> 1, _PAETH: paeth}
        added = numpy.select([used == which for which in choices], list(choices.values()), 0)
        padded[y + 1, x + 1] = (padded[y + 1, x + 1] + added) & 0xFF
    return padded[1:, 1:].astype("u1").reshape(rows.shape)


def _samples(image: Image, rows: Any) -> Any:
    """Bytes of rows as samples of the image's shape."""
    import numpy

    if image.depth == 16:
        return rows.reshape(-1).view(">u2").reshape(image.shape)
    if image.depth < 8:
        bits = numpy.unpackbits(rows, axis=1).reshape(image.height, -1, image.depth)
        weights = 1 << numpy.arange(image.depth)[::-1]
        rows = (bits @ weights)[:, : image.width]
        if image.colour != _PALETTE:
            return (rows * (255 // ((1 << image.depth) - 1))).astype("u1")
    if image.colour != _PALETTE:
        return rows.reshape(image.shape)
    colours = numpy.frombuffer(image.palette, dtype="u1").reshape(-1, 3)
    if int(rows.max(initial=0)) >= len(colours):
        raise damaged("uses a colour that its palette does not have")
    if image.alpha:
        opaque = numpy.frombuffer(image.alpha[: len(colours)].ljust(len(colours), b"\xff"), dtype="u1")
        colours = numpy.concatenate([colours, opaque[:, None]], axis=1)
    return colours[rows.reshape(image.height, image.width)]


# ------------------------------------------------------------------------- writing


def write(file: BinaryIO, pixels: Any) -> None:
    """Write `u1` or `u2` samples of shape [h w] or [h w c], c from 1 to 4."""
    import numpy

    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    depth = 16 if pixels.dtype.itemsize == 2 else 8
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    samples = numpy.ascontiguousarray(pixels, dtype=">u2" if depth == 16 else "u1")
    rows = samples.reshape(height, -1).view("u1").reshape(height, width * channels * depth // 8)
    file.write(SIGNATURE)
    _write_chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    raw = numpy.zeros((height, rows.shape[1] + 1), dtype="u1")
    raw[:, 1:] = rows
    _write_chunk(file, b"IDAT", zlib.compress(raw.tobytes(), 6))
    _write_chunk(file, b"IEND", b"")


def _write_chunk(file: BinaryIO, name: bytes, content: bytes) -> None:
    file.write(struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(content, zlib.crc32(name))))
