"""`.h5`: datasets of HDF5 through h5py (the extra `hdf5`); `file.h5:group/name` is one of them.

The shape comes from the header; data are read straight into the array, and block by block in streams.  Numbers and bools widen as
stored types of other formats do; a vector of texts is rows of characters.  A file that refers to others is refused, as they may
be outside the folders that a program may read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from ...lang.diagnostics.model import Code
from ...typechecker.elements import Kind
from .cells import Column, converted_integers, require_accepted, require_shape
from .formats import FileTrouble, damaged, disagrees, first_line, listed, missing_package, system_errors
from .sources_and_sinks import Content, bytes_of, new_array

_BLOCK: Final = 1 << 20
_MOST_DATASETS: Final = 10_000
_HEAP: Final = b"GCOL\x01\0\0\0"
"""The signature of a global heap, which holds texts of variable length: 8 bytes of its size and its objects follow."""


@contextmanager
def _opened(content: Content) -> Iterator[Any]:
    try:
        import h5py
    except ImportError:
        raise missing_package("hdf5", "h5py") from None
    with system_errors(), content.open() as stream:
        try:
            with h5py.File(stream, "r") as file:
                yield file
        except (OSError, RuntimeError, KeyError, ValueError, TypeError, UnicodeError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            text = first_line(error)
            if "filter" in text or "plugin" in text:
                message = "is compressed with a filter that is not installed"
                raise damaged(message, f"h5py says: {text}", "write it with gzip") from None
            raise damaged(f"is not a valid HDF5 file: {text}") from None


def datasets(content: Content) -> dict[str, tuple[tuple[int, ...], str, bool]]:
    """Yields for each dataset its path, shape and stored type, and whether it is text."""
    with _opened(content) as file:
        return {name: (tuple(file[name].shape), str(file[name].dtype), _is_text(file[name])) for name in _names(file)}


def _names(file: Any) -> list[str]:
    import h5py

    names: list[str] = []
    pending, seen = [("", file)], 0
    while pending:
        path, group = pending.pop()
        for name in group:
            seen += 1
            if seen > _MOST_DATASETS:
                raise damaged(f"has more than {_MOST_DATASETS} members")
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.HardLink):
                item = group[name]
                if isinstance(item, h5py.Dataset):
                    names.append(f"{path}{name}")
                elif path.count("/") < 30:
                    pending.append((f"{path}{name}/", item))
    return sorted(names)


def _dataset(file: Any, wanted: Column) -> Any:
    """The dataset of an input; raises FileTrouble unless the kind accepts its type."""
    import h5py

    names, member = _names(file), wanted.member.strip("/")
    if not member and len(names) == 1:
        member = names[0]
    if member not in names:
        what = f"has no dataset {member}" if member else "holds several datasets, name one as `file.h5:name`"
        raise FileTrouble(Code.E704, what, f"its datasets: {listed(names)}")
    dataset = file[member]
    if dataset.external or dataset.is_virtual:
        raise disagrees(f"keeps the dataset {member} in other files, which are not read")
    if dataset.dtype.fields:
        raise disagrees(f"holds records in {member} (fields {listed(dataset.dtype.fields)}), which no element type stores")
    if h5py.check_ref_dtype(dataset.dtype) is not None or (dataset.dtype.kind == "O" and not _is_text(dataset)):
        raise disagrees(f"holds references or lists of several lengths in {member}, which no element type stores")
    if dataset.shape is None:
        raise disagrees(f"holds nothing in {member}")
    if not _is_text(dataset):
        require_accepted(_stored(dataset), wanted.kind)
    elif wanted.kind is not Kind.CHAR:
        raise disagrees(f"holds text in {member}, its declared type is {wanted.kind.value}", "declare it `char[n w]`")
    return dataset


def _stored(dataset: Any) -> str:
    enum = dataset.dtype.metadata and dataset.dtype.metadata.get("enum")
    return "bool" if enum == {"FALSE": 0, "TRUE": 1} else str(dataset.dtype.newbyteorder("="))


def _is_text(dataset: Any) -> bool:
    import h5py

    return h5py.check_string_dtype(dataset.dtype) is not None


def _check_heaps(content: Content) -> None:
    """Raises FileTrouble E705 if HDF5's library would never return from reading a global heap of the file."""
    with system_errors(), content.open() as stream:
        end, before = 0, b""
        while block := stream.read(_BLOCK):
            window, start = before + block, end - len(before)
            where = window.find(_HEAP)
            while where >= 0:
                _check_heap(stream, start + where, content.size())
                where = window.find(_HEAP, where + 1)
            end, before = end + len(block), window[1 - len(_HEAP) :]
            stream.seek(end)


def _check_heap(stream: BinaryIO, start: int, file_size: int) -> None:
    """The library advances by the size of an object of index 0, free space: forever if it is 0 and not at the end."""
    stream.seek(start + len(_HEAP))
    size = int.from_bytes(stream.read(8), "little")
    objects, at = stream.read(size - 16) if 16 <= size <= file_size - start else b"", 0
    while at + 16 <= len(objects):
        index, length = struct.unpack_from("<H6xQ", objects, at)
        if not index and not length:
            raise damaged("is not a valid HDF5 file: free space of a global heap is empty")
        at += 16 + -(-length // 8) * 8 if index else length


def _texts(content: Content, dataset: Any) -> Any:
    import h5py

    from .sources_and_sinks import padded_texts

    if h5py.check_string_dtype(dataset.dtype).length is None:
        _check_heaps(content)
    if dataset.ndim != 1:
        raise disagrees(f"holds text of {dataset.ndim} axes; a column of text has one")
    return padded_texts(dataset.asstr()[:].tolist())


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after all checks that need no data; for text the data are read, since its longest item decides the shape."""
    with _opened(content) as file:
        dataset = _dataset(file, wanted)
        return tuple(map(int, _texts(content, dataset).shape if _is_text(dataset) else dataset.shape))


def working_memory(content: Content, wanted: Column) -> int:
    """The bytes that reading takes besides the array: h5py's cache, a chunk as stored and inflated, and a block."""
    with _opened(content) as file:
        dataset = _dataset(file, wanted)
        chunk = int(dataset.dtype.itemsize)
        for size in dataset.chunks or ():
            chunk *= int(size)
        return 2 * chunk + 4 * _BLOCK


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with _opened(content) as file:
        dataset = _dataset(file, wanted)
        if _is_text(dataset):
            texts = _texts(content, dataset)
            require_shape(texts.shape, shape)
            return texts
        require_shape(tuple(dataset.shape), shape)
        array = new_array(shape, wanted.kind)
        if not shape:
            array[...] = converted_integers(dataset[()], array.dtype)
        for first in range(0, shape[0] if shape else 0, step := _rows(dataset, wanted, shape)):
            array[first : first + step] = converted_integers(dataset[first : first + step], array.dtype)
        return array


def _rows(dataset: Any, wanted: Column, shape: tuple[int, ...]) -> int:
    """The rows of a block: those of some chunks, if the dataset has chunks."""
    rows = max(1, _BLOCK // max(1, bytes_of(wanted.kind, shape[1:])))
    chunk = int(dataset.chunks[0]) if dataset.chunks else 1
    return max(rows // chunk * chunk, min(chunk, 16 * rows), 1)


def blocks(content: Content, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
    """The first row of the chunks that contain row `first`, and an iterator of items in row order from there on, block by
    block."""
    with _opened(content) as file:
        dataset = _dataset(file, wanted)
        step = _rows(dataset, wanted, tuple(dataset.shape))
    return first // step * step, _blocks(content, wanted, first // step * step, step)


def _blocks(content: Content, wanted: Column, start: int, step: int) -> Iterator[Any]:
    with _opened(content) as file:
        dataset = _dataset(file, wanted)
        for first in range(start, dataset.shape[0], step):
            rows = new_array((min(step, dataset.shape[0] - first), *dataset.shape[1:]), wanted.kind)
            rows[...] = converted_integers(dataset[first : first + step], rows.dtype)
            yield rows.reshape(-1)
