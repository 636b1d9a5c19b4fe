"""Zarr arrays as the package zarr writes them: versions, types, codecs, orders, shards, missing chunks, archives."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from share import share

from rho.backend.io.reading import InputSpec, read_shape, read_values
from rho.tests.backend.files.loading import BOOL, C64, CHAR, F32, F64, I32, I64, SPAN, U8, np
from rho.typechecker.elements import Kind

zarr = pytest.importorskip("zarr")
numcodecs = pytest.importorskip("numcodecs")
KINDS = {"bool": BOOL, "uint8": U8, "int16": I32, "int64": I64, "float32": F32, "float64": F64, "complex64": C64}
SHAPES = ((), (7,), (5, 6), (3, 4, 5), (0, 3))
PLAIN = list(itertools.product(KINDS, SHAPES, (1, 2, 100), (2, 3), (None, "auto"), (False, True)))
TABLE = np.random.default_rng(3).integers(0, 100, (17, 23)).astype("float64")
COMPRESSORS = ("Blosc", "Zstd", "LZ4", "Zlib", "GZip", "BZ2")
FILTERS = ((), ("Shuffle",), ("Delta",), ("Delta", "Shuffle"))
OLD = list(itertools.product(COMPRESSORS, FILTERS, "CF", "./"))
INNER = ("", "blosc", "zstd", "gzip", "zstd crc32c", "zlib", "lz4", "bz2", "shuffle zstd")
NEW = list(itertools.product((None, (10, 14), (20, 28)), INNER, (False, True), "./"))


def same(path: Path, wanted: Any, kind: Kind) -> None:
    shape = read_shape(str(path), InputSpec(kind, wanted.ndim, SPAN))
    found = read_values(str(path), InputSpec(kind, len(shape), SPAN), shape)
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))


def ids(case: tuple[Any, ...]) -> str:
    return " ".join(map(str, case))


@pytest.mark.parametrize("case", share(PLAIN), ids=ids)
def test_types_shapes_and_missing_chunks(case: tuple[Any, ...], tmp_path: Path) -> None:
    stored, shape, chunk, version, compressors, partly = case
    values = np.random.default_rng(1).integers(0, 100, shape)
    values = values % 2 == 0 if stored == "bool" else values.astype(stored)
    chunks = tuple(min(chunk, max(1, size)) for size in shape)
    array = zarr.create_array(
        str(tmp_path / "x.zarr"), shape=shape, chunks=chunks, dtype=values.dtype, zarr_format=version, compressors=compressors,
        fill_value=1,
    )  # fmt: skip
    if partly and shape:
        array[:1] = values[:1]
    else:
        array[...] = values
    same(tmp_path / "x.zarr", array[...], KINDS[stored])


@pytest.mark.parametrize("case", share(OLD, 1), ids=ids)
def test_codecs_of_version_2(case: tuple[Any, ...], tmp_path: Path) -> None:
    compressor, filters, order, separator = case
    made = {"Shuffle": numcodecs.Shuffle(8), "Delta": numcodecs.Delta("<f8")}
    array = zarr.create_array(
        str(tmp_path / "x.zarr"), shape=TABLE.shape, chunks=(5, 7), dtype=TABLE.dtype, zarr_format=2, order=order,
        compressors=getattr(numcodecs, compressor)(), filters=[made[name] for name in filters] or None,
        chunk_key_encoding={"name": "v2", "separator": separator},
    )  # fmt: skip
    array[...] = TABLE
    same(tmp_path / "x.zarr", TABLE, F64)


@pytest.mark.parametrize("case", share(NEW, 2), ids=ids)
def test_codecs_of_version_3(case: tuple[Any, ...], tmp_path: Path) -> None:
    from zarr import codecs
    from zarr.codecs import numcodecs as wrapped

    shards, inner, transposed, separator = case
    made = {
        "blosc": codecs.BloscCodec(), "zstd": codecs.ZstdCodec(checksum=True), "gzip": codecs.GzipCodec(),
        "crc32c": codecs.Crc32cCodec(), "zlib": wrapped.Zlib(), "lz4": wrapped.LZ4(), "bz2": wrapped.BZ2(),
        "shuffle": wrapped.Shuffle(elementsize=8),
    }  # fmt: skip
    array = zarr.create_array(
        str(tmp_path / "x.zarr"), shape=TABLE.shape, chunks=(5, 7), shards=shards, dtype=TABLE.dtype, zarr_format=3,
        compressors=[made[name] for name in inner.split()] or None,
        filters=[codecs.TransposeCodec(order=(1, 0))] if transposed else None,
        serializer=codecs.BytesCodec(endian="big" if separator == "." else "little"),
        chunk_key_encoding={"name": "default", "separator": separator},
    )  # fmt: skip
    array[:12] = TABLE[:12]
    same(tmp_path / "x.zarr", array[...], F64)


@pytest.mark.filterwarnings("ignore")
def test_archives_and_text(tmp_path: Path) -> None:
    store = zarr.storage.ZipStore(str(tmp_path / "z.zarr"), mode="w")
    group = zarr.create_group(store)
    group.create_array("a", shape=TABLE.shape, chunks=(5, 7), dtype="f8")[...] = TABLE
    store.close()
    same(tmp_path / "z.zarr:a", TABLE, F64)
    words = np.array([list("héy"), list("a😀c")])
    for version in (2, 3):
        path = tmp_path / f"t{version}.zarr"
        zarr.create_array(str(path), shape=words.shape, chunks=(1, 2), dtype="U1", zarr_format=version)[...] = words
        same(path, words, CHAR)
