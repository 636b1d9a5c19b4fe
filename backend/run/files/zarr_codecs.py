"""How chunks of zarr arrays are decoded: a list of codecs by name, each with a bound on what it gives.

Codecs come from metadata, which is data: a name is looked up in this module only, never in a registry (numcodecs' own holds
`pickle`).  What a codec will give is known from the sizes of the chunk; what says that it gives more is refused before it is
inflated.  gzip, zlib and bz2 are Python's; blosc, zstd, lz4, shuffle and delta are numcodecs', crc32c is google-crc32c's (the
extra `zarr`).

Neighbours: `zarr_metadata` (which codecs), `zarr_shards` (chunks inside chunks).
"""

from __future__ import annotations

import bz2
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from .trouble import damaged, missing_package

_CHECKSUM: Final = 4


@dataclass(frozen=True, slots=True)
class Codec:
    """From bytes to bytes: its name, and the settings that decoding needs."""

    name: str
    settings: Mapping[str, Any]


def _inflated(window: int, data: bytes, size: int, settings: Mapping[str, Any]) -> bytes:
    engine = zlib.decompressobj(window)
    found = engine.decompress(data, size + 1)
    return found + engine.decompress(b"", size + 1 - len(found)) if len(found) <= size else found


def _bz2(data: bytes, size: int, settings: Mapping[str, Any]) -> bytes:
    return bz2.BZ2Decompressor().decompress(data, size + 1)


def _promised(data: bytes, start: int) -> int:
    if len(data) < start + 4:
        raise damaged("has a chunk that ends early")
    return int.from_bytes(data[start : start + 4], "little")


def _require(promised: int, size: int) -> None:
    if promised != size:
        raise damaged(f"has a chunk that promises {promised} bytes, not the {size} of a chunk")


def _blosc(data: bytes, size: int, settings: Mapping[str, Any]) -> Any:
    _require(_promised(data, 4), size)
    if _promised(data, 12) > len(data):
        raise damaged("has a chunk that ends early")
    return _numcodecs("Blosc").decode(data) if size else b""


def _lz4(data: bytes, size: int, settings: Mapping[str, Any]) -> Any:
    _require(_promised(data, 0), size)
    return _numcodecs("LZ4").decode(data)


def _zstd(data: bytes, size: int, settings: Mapping[str, Any]) -> Any:
    """Once into as much room as there may be, which refuses what is more, and once as it is: frames need not say their size."""
    engine = _numcodecs("Zstd")
    engine.decode(data, bytearray(size))
    return engine.decode(data)


def _shuffle(data: bytes, size: int, settings: Mapping[str, Any]) -> Any:
    elements = settings.get("elementsize", 4)
    if not isinstance(elements, int) or not 0 < elements <= 255 or len(data) % elements:
        raise damaged("has chunks shuffled by items of an impossible size")
    return _numcodecs("Shuffle", elementsize=elements).decode(data)


def _delta(data: bytes, size: int, settings: Mapping[str, Any]) -> Any:
    import numpy

    stored, result = settings["astype"], settings["dtype"]
    steps = numpy.frombuffer(data, stored)
    return numpy.cumsum(steps, dtype=result).tobytes() if len(steps) else b""


def _crc32c(data: bytes, size: int, settings: Mapping[str, Any]) -> bytes:
    try:
        import google_crc32c
    except ImportError:
        raise missing_package("zarr", "google-crc32c") from None
    content = bytes(data[:-_CHECKSUM])
    if len(data) < _CHECKSUM or google_crc32c.value(content) != int.from_bytes(data[-_CHECKSUM:], "little"):
        raise damaged("has a chunk with a wrong checksum")
    return content


def _numcodecs(name: str, **settings: Any) -> Any:
    try:
        import numcodecs
    except ImportError:
        raise missing_package("zarr", "numcodecs") from None
    return getattr(numcodecs, name)(**settings)


_DECODERS: Final[Mapping[str, Callable[[bytes, int, Mapping[str, Any]], Any]]] = {
    "blosc": _blosc, "bz2": _bz2, "crc32c": _crc32c, "delta": _delta, "gzip": partial(_inflated, 31), "lz4": _lz4,
    "shuffle": _shuffle, "zlib": partial(_inflated, 15), "zstd": _zstd,
}  # fmt: skip
ALLOWED: Final = frozenset(_DECODERS)
_KEEPING: Final = ("shuffle", "delta", "crc32c")
"""Those whose results' sizes follow from their operands'."""


def decode_bytes(data: bytes, codecs: tuple[Codec, ...], size: int) -> bytes:
    """The bytes that `codecs` encoded, in the order in which they were applied: `size` of them."""
    for codec, given in zip(reversed(codecs), reversed(_sizes(codecs, size)), strict=True):
        try:
            found = _DECODERS[codec.name](data, given or 0, codec.settings)
        except (ValueError, RuntimeError, TypeError, EOFError, OSError, zlib.error) as error:
            raise damaged(f"has a chunk that is not {codec.name}: {error}") from None
        data = found if isinstance(found, bytes) else memoryview(found).tobytes()
        if given is not None and len(data) != given:
            raise damaged(f"has a chunk of {len(data)} bytes, not {given}, by {codec.name}")
    if len(data) != size:
        raise damaged(f"has a chunk of {len(data)} bytes, not {size}")
    return data


def _sizes(codecs: tuple[Codec, ...], size: int) -> list[int | None]:
    """The bytes that each codec is given when a chunk of `size` bytes is written; None: what a compressor makes of them."""
    sizes: list[int | None] = []
    known: int | None = size
    for codec in codecs:
        if known is None and codec.name not in _KEEPING:
            raise damaged("compresses chunks twice, which is not read")
        sizes.append(known)
        if codec.name not in _KEEPING:
            known = None
        elif known is not None and codec.name == "delta":
            known = known // codec.settings["dtype"].itemsize * codec.settings["astype"].itemsize
        elif known is not None and codec.name == "crc32c":
            known += _CHECKSUM
    return sizes
