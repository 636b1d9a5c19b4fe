"""Decoding of chunks of zarr arrays: a list of codecs by name, each with a bound on the size of its output.

Codec names come from metadata, that is from untrusted data: a name is looked up in this module only, never in a registry
(numcodecs' own contains `pickle`).  The size of a codec's output follows from the shape of the chunk; data that announce more are
refused before they are decompressed.  gzip, zlib and bz2 are Python's; blosc, zstd, lz4, shuffle and delta are numcodecs', crc32c
is google-crc32c's (the extra `zarr`).
"""

from __future__ import annotations

import bz2
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO, Final

from ...lang.support import bounded_parsing
from ...lang.support.records import dataclass, replace
from .formats import damaged, disagrees, missing_package
from .npy import MOST_AXES, stored_type
from .sources_and_sinks import length_of, require_characters

# ---------------------------------------------------------------------------------------------------- codecs

_CHECKSUM: Final = 4


@dataclass(frozen=True, slots=True)
class Codec:
    """A bytes-to-bytes codec: its name, and the settings that decoding needs."""

    name: str
    settings: Mapping[str, Any]


def _inflated(window: int, data: bytes, size: int, settings: Mapping[str, Any]) -> bytes:
    engine = zlib.decompressobj(window)
    inflated = engine.decompress(data, size + 1)
    return inflated + engine.decompress(b"", size + 1 - len(inflated)) if len(inflated) <= size else inflated


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
    """Decodes first into a buffer of the largest allowed size, which rejects larger output, then without it, since frames may
    omit their size."""
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
"""The codecs whose output size follows from their input size."""


def decode_bytes(data: bytes, codecs: tuple[Codec, ...], size: int) -> bytes:
    """Returns the `size` bytes that `codecs`, in the order of encoding, encoded."""
    for codec, given in zip(reversed(codecs), reversed(_sizes(codecs, size)), strict=True):
        try:
            decoded = _DECODERS[codec.name](data, given or 0, codec.settings)
        except (ValueError, RuntimeError, TypeError, EOFError, OSError, zlib.error) as error:
            raise damaged(f"has a chunk that is not {codec.name}: {error}") from None
        data = decoded if isinstance(decoded, bytes) else memoryview(decoded).tobytes()
        if given is not None and len(data) != given:
            raise damaged(f"has a chunk of {len(data)} bytes, not {given}, by {codec.name}")
    if len(data) != size:
        raise damaged(f"has a chunk of {len(data)} bytes, not {size}")
    return data


def _sizes(codecs: tuple[Codec, ...], size: int) -> list[int | None]:
    """Returns the input size of each codec when a chunk of `size` bytes is encoded; None behind a compressor."""
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


# ---------------------------------------------------------------------------------------------------- metadata
#
# Metadata of zarr arrays, versions 2 and 3, checked before anything is decoded.
#
# Sources: the specifications of Zarr version 2 and version 3 (core, and `sharding_indexed`).  Metadata are JSON of at most a
# megabyte; a codec that is not in the lists of this module is refused, and so is any feature that changes the meaning of a chunk
# (storage transformers, fields that must be understood).

MOST_BYTES: Final = 1 << 20
LARGEST_CHUNK: Final = 1 << 30
_LARGEST_SIZE: Final = (1 << 62) - 1
_MOST_CODECS: Final = 16
_MOST_DEPTH: Final = 3
_MOST_INNER: Final = 1 << 18
"""The most chunks in one shard."""
_NAMES: Final = {
    "bool": "b1", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4",
    "uint64": "u8", "float16": "f2", "float32": "f4", "float64": "f8", "complex64": "c8", "complex128": "c16",
}  # fmt: skip
_TEXT: Final = {"name": "fixed_length_utf32", "configuration": {"length_bytes": 4}}
_UNDERSTOOD: Final = frozenset((
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs", "attributes",
    "storage_transformers", "dimension_names",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shards:
    """The codec `sharding_indexed`: the shape and the encoding of inner chunks, and the position and encoding of their index."""

    shape: tuple[int, ...]
    inner: Pipeline
    at_end: bool
    checked: bool
    """Whether the index has a checksum."""
    order: str
    """The byte order of the index, `<` or `>`."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The encoding of a chunk: axes permuted (`order`; None: not permuted), then items as bytes or shards, then codecs."""

    order: tuple[int, ...] | None
    dtype: Any
    shards: Shards | None
    codecs: tuple[Codec, ...] = ()


@dataclass(frozen=True, slots=True)
class ZarrArray:
    """The metadata of an array.

    `stored`: the name in `elements.ACCEPTED`; `prefix`, `separator`: those of the keys of chunks; `fill`: the item of absent
    chunks.
    """

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    stored: str
    pipeline: Pipeline
    fill: Any
    prefix: str
    separator: str

    @property
    def grid(self) -> tuple[int, ...]:
        """The number of chunks along each axis."""
        return tuple(-(-size // chunk) for size, chunk in zip(self.shape, self.chunks, strict=True))

    @property
    def chunk_bytes(self) -> int:
        """The bytes of the chunks that are decoded one at a time (inner ones in shards)."""
        shape, pipeline = self.chunks, self.pipeline
        while pipeline.shards is not None:
            shape, pipeline = pipeline.shards.shape, pipeline.shards.inner
        return math.prod(shape) * int(pipeline.dtype.itemsize)


def parse(raw: bytes) -> Mapping[str, Any]:
    """Returns the JSON object of a metadata file.  Raises E705."""
    try:
        value = bounded_parsing.decode(raw.decode("utf-8"), 1 << 17)
    except (ValueError, RecursionError) as error:
        raise damaged(f"is not a zarr array or group: its metadata are not JSON ({error})") from None
    if not isinstance(value, dict):
        raise damaged("is not a zarr array or group: its metadata are not an object")
    return value


def version_2(metadata: Mapping[str, Any]) -> ZarrArray:
    """Returns an array by its `.zarray`, translated to metadata of version 3."""
    if metadata.get("zarr_format") != 2:
        raise damaged(f"has metadata of format {_shown(metadata.get('zarr_format'))}, not 2")
    name, filters, compressor = metadata.get("dtype"), metadata.get("filters") or [], metadata.get("compressor")
    if not isinstance(name, str):
        raise disagrees("holds records with fields, not numbers of one type")
    if not isinstance(filters, list):
        raise damaged("has no list of filters")
    stored = stored_type(name, "zarr")
    named = [_object(one, "codec") for one in (*filters, *([] if compressor is None else [compressor]))]
    codecs = [
        {"name": "transpose", "configuration": {"order": metadata.get("order")}},
        {"name": "bytes", "configuration": {"endian": "big" if name[0] == ">" else "little"}},
        *({"name": _text(one, "id"), "configuration": one} for one in named),
    ]
    return version_3({
        "zarr_format": 3, "shape": metadata.get("shape"), "data_type": _TEXT if stored == "str1" else stored, "codecs": codecs,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": metadata.get("chunks")}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": metadata.get("dimension_separator", ".")}},
        "fill_value": metadata.get("fill_value"),
    })  # fmt: skip


def version_3(metadata: Mapping[str, Any]) -> ZarrArray:
    """Returns an array by its `zarr.json`."""
    for key, value in metadata.items():
        if key not in _UNDERSTOOD and not (isinstance(value, dict) and value.get("must_understand") is False):
            raise damaged(f"has metadata that are not understood: {_shown(key)}")
    if metadata.get("zarr_format") != 3 or metadata.get("storage_transformers"):
        raise damaged("has metadata of another format than 3, or storage transformers, which are not read")
    shape = _sizes_in(metadata, "shape")
    grid, keys = _object(metadata.get("chunk_grid"), "chunk grid"), _object(metadata.get("chunk_key_encoding"), "names of chunks")
    if grid.get("name") != "regular" or keys.get("name") not in ("default", "v2"):
        raise damaged("has a grid of chunks, or names of them, that are not read")
    chunks = _sizes_in(_object(grid.get("configuration"), "chunk grid"), "chunk_shape")
    code = _data_type(metadata.get("data_type"))
    settings = _object(keys.get("configuration") or {}, "names of chunks")
    default = keys["name"] == "default"
    separator = _separator(settings.get("separator", "/" if default else "."))
    pipeline = _pipeline(metadata.get("codecs"), chunks, code, _MOST_DEPTH)
    fill = _fill(metadata.get("fill_value"), _dtype("<" + code))
    return _sound(ZarrArray(shape, chunks, stored_type("<" + code, "zarr"), pipeline, fill, "c" if default else "", separator))


def _sound(array: ZarrArray) -> ZarrArray:
    if len(array.chunks) != len(array.shape) or 0 in array.chunks:
        raise damaged("has chunks of another number of axes than the array, or without items")
    if array.chunk_bytes > LARGEST_CHUNK:
        raise damaged(f"has chunks of {array.chunk_bytes} bytes; at most {LARGEST_CHUNK} are read")
    return array


def _pipeline(listed: Any, shape: tuple[int, ...], code: str, depth: int) -> Pipeline:
    if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_CODECS or not depth:
        raise damaged("has no list of codecs, or one that is too long or too deep")
    order = tuple(range(len(shape)))
    dtype, shards, codecs = None, None, []
    for one in listed:
        codec = {"name": one} if isinstance(one, str) else _object(one, "codec")
        name, settings = _text(codec, "name"), _object(codec.get("configuration") or {}, "codec")
        if dtype is None and name == "transpose":
            order = tuple(order[axis] for axis in _order(settings.get("order"), len(shape)))
        elif dtype is None and name == "bytes":
            endian = settings.get("endian", "little")
            if endian not in ("little", "big"):
                raise damaged(f"has items in an unknown byte order: {_shown(endian)}")
            dtype = _dtype(("<" if endian == "little" else ">") + code)
        elif dtype is None and name == "sharding_indexed":
            dtype = _dtype("<" + code)
            shards = _shards(settings, tuple(shape[axis] for axis in order), code, depth)
        elif dtype is None:
            raise _refused(name)
        else:
            codecs.append(_codec(name.removeprefix("numcodecs."), settings, dtype))
    if dtype is None:
        raise damaged("does not say how its items are laid out")
    if shards is not None and codecs:
        raise damaged("encodes whole shards, which is not read")
    return Pipeline(None if order == tuple(range(len(shape))) else order, dtype, shards, tuple(codecs))


def _shards(settings: Mapping[str, Any], shape: tuple[int, ...], code: str, depth: int) -> Shards:
    inner = _sizes_in(settings, "chunk_shape")
    if len(inner) != len(shape) or 0 in inner or any(size % part for size, part in zip(shape, inner, strict=True)):
        raise damaged("has shards that their chunks do not fill")
    if math.prod(size // part for size, part in zip(shape, inner, strict=True)) > _MOST_INNER:
        raise damaged(f"has more than {_MOST_INNER} chunks in a shard")
    index = settings.get("index_codecs")
    plain = _pipeline(index, (1,), "u8", 1)
    if plain.order or plain.shards or any(codec.name != "crc32c" for codec in plain.codecs) or len(plain.codecs) > 1:
        raise damaged("has an index of shards that is compressed, which is not read")
    location = settings.get("index_location", "end")
    if location not in ("start", "end"):
        raise damaged("has an index of shards at no place that is known")
    return Shards(inner, _pipeline(settings.get("codecs"), inner, code, depth - 1), location == "end", bool(plain.codecs),
                  ">" if plain.dtype.byteorder == ">" else "<")  # fmt: skip


def _codec(name: str, settings: Mapping[str, Any], dtype: Any) -> Codec:
    if name not in ALLOWED:
        raise _refused(name)
    if name == "delta":
        result = _numeric(settings.get("dtype"))
        return Codec(name, {"dtype": result, "astype": _numeric(settings.get("astype", settings.get("dtype")))})
    return Codec(name, settings)


def _refused(name: str) -> Exception:
    known = ", ".join(sorted((*ALLOWED, "bytes", "sharding_indexed", "transpose")))
    return damaged(f"names the codec {_shown(name)}, which is not read", f"codecs that are read: {known}")


def _numeric(name: Any) -> Any:
    if not isinstance(name, str) or stored_type(name, "zarr") in ("str1", "bool"):
        raise damaged("has differences of a type that is not numeric")
    return _dtype(name)


def _dtype(name: str) -> Any:
    import numpy

    return numpy.dtype(name)


def _data_type(value: Any) -> str:
    if isinstance(value, str) and value in _NAMES:
        return _NAMES[value]
    if value == _TEXT:
        return "U1"
    raise disagrees(f"holds items of type {_shown(value)}, which no element type stores")


def _sizes_in(metadata: Mapping[str, Any], key: str) -> tuple[int, ...]:
    sizes = metadata.get(key)
    if not isinstance(sizes, list) or len(sizes) > MOST_AXES:
        raise damaged(f"has no {key} in its metadata")
    if not all(isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= _LARGEST_SIZE for size in sizes):
        raise damaged(f"has a broken {key} in its metadata")
    return tuple(sizes)


def _order(value: Any, rank: int) -> tuple[int, ...]:
    if value in ("C", "F"):
        return tuple(range(rank)) if value == "C" else tuple(reversed(range(rank)))
    if not isinstance(value, list) or not all(isinstance(axis, int) for axis in value) or sorted(value) != list(range(rank)):
        raise damaged("has an order of axes that is not a permutation")
    return tuple(value)


def _separator(value: Any) -> str:
    if value not in (".", "/"):
        raise damaged(f"has names of chunks that are not read: {_shown(value)}")
    return str(value)


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise damaged(f"has a broken {what} in its metadata")
    return value


def _text(metadata: Mapping[str, Any], key: str) -> str:
    value = metadata.get(key)
    if not isinstance(value, str):
        raise damaged("has a codec without a name")
    return value


def _shown(value: Any) -> str:
    return "`" + "".join(c if c.isprintable() else "?" for c in str(value)[:60]) + "`"


_WORDS: Final[Mapping[Any, float]] = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _fill(value: Any, dtype: Any) -> Any:
    """Returns the item of absent chunks, in the stored dtype."""
    import numpy

    try:
        if dtype.kind == "U":
            text = str(value or "")
            if len(text) > 1:
                raise ValueError
            return numpy.array(text, "U1")[()]
        if value is None:
            return dtype.type(0)
        if isinstance(value, str) and value.startswith("0x"):
            raw = bytes.fromhex(value[2:])
            return numpy.frombuffer(raw, dtype.newbyteorder(">"), 1)[0].astype(dtype.newbyteorder("="))
        if isinstance(value, list) and dtype.kind == "c" and len(value) == 2:
            return dtype.type(complex(*(_WORDS[part] if part in _WORDS else float(part) for part in value)))
        number = _WORDS[value] if isinstance(value, str) else value
        if isinstance(number, list | dict):
            raise ValueError
        if dtype.kind == "b" and number not in (0, 1):
            raise ValueError
        if dtype.kind in "iu":
            if number != int(number) or not numpy.iinfo(dtype).min <= number <= numpy.iinfo(dtype).max:
                raise ValueError
            number = int(number)
        return dtype.type(number)
    except (ValueError, TypeError, KeyError, OverflowError):
        raise damaged(f"has an item for chunks that are not there, {_shown(value)}, that is not of its type") from None


# ---------------------------------------------------------------------------------------------------- shards
#
# Decoding one chunk from bytes to a NumPy array, or the inner chunks of a shard.
#
# The index of a shard is read first, then one inner chunk after another, so that a shard is never fully in memory.

_ABSENT: Final = (1 << 64) - 1
_SLACK: Final = 1 << 16
"""The most bytes that an encoding may add."""

Place = tuple[int, ...]


def decoded(file: BinaryIO, pipeline: Pipeline, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    """Yields (origin, items) of the present parts of a chunk, in the order of the axes of the array."""
    return _decoded(_Bytes(file, 0, length_of(file)), pipeline, shape)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """A byte range of an open file."""

    file: BinaryIO
    start: int
    size: int

    def read(self, at: int, count: int) -> bytes:
        """Returns up to `count` bytes from the offset `at` on."""
        self.file.seek(self.start + at)
        return self.file.read(min(count, self.size - at))


def _decoded(bytes: _Bytes, pipeline: Pipeline, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    order = pipeline.order
    inner = shape if order is None else tuple(shape[axis] for axis in order)
    for indices, part in _parts(bytes, pipeline, inner):
        if order is None:
            yield indices, part
        else:
            back = tuple(order.index(axis) for axis in range(len(order)))
            yield tuple(indices[axis] for axis in back), part.transpose(back)


def _parts(bytes: _Bytes, pipeline: Pipeline, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    if pipeline.shards is not None:
        yield from _inner(bytes, pipeline.shards, shape)
        return
    size = math.prod(shape) * int(pipeline.dtype.itemsize)
    most = size + size // 8 + _SLACK
    if bytes.size > most:
        raise damaged(f"has a chunk of more than {most} bytes, which holds {size}")
    yield (0,) * len(shape), _items(decode_bytes(bytes.read(0, most), pipeline.codecs, size), pipeline.dtype).reshape(shape)


def _items(data: bytes, dtype: Any) -> Any:
    import numpy

    items = numpy.frombuffer(data, dtype)
    if dtype.kind == "b":
        return items.view(numpy.uint8) != 0
    if dtype.kind == "U":
        require_characters(items)
    return items


def _inner(bytes: _Bytes, shards: Shards, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    import numpy

    counts = tuple(size // part for size, part in zip(shape, shards.shape, strict=True))
    index_size = 16 * math.prod(counts) + 4 * shards.checked
    if bytes.size < index_size:
        raise damaged("has a shard that is shorter than its index")
    raw = bytes.read(bytes.size - index_size if shards.at_end else 0, index_size)
    if shards.checked:
        raw = decode_bytes(raw, (Codec("crc32c", {}),), index_size - 4)
    index = numpy.frombuffer(raw, shards.order + "u8").reshape(-1, 2)
    present = numpy.flatnonzero(~((index[:, 0] == _ABSENT) & (index[:, 1] == _ABSENT)))
    places = numpy.stack(numpy.unravel_index(present, counts), axis=1) if counts else numpy.zeros((len(present), 0), int)
    for which, indices in zip(present.tolist(), places.tolist(), strict=True):
        start, size = int(index[which, 0]), int(index[which, 1])
        if start + size > bytes.size:
            raise damaged("has a shard whose index leads out of it")
        first = tuple(at * part for at, part in zip(indices, shards.shape, strict=True))
        for at, items in _decoded(replace(bytes, start=bytes.start + start, size=size), shards.inner, shards.shape):
            yield tuple(a + b for a, b in zip(first, at, strict=True)), items
