"""Files of inputs and outputs.  `reading` and `writing` are the interface; one module a format does the work."""

from .filling import bytes_of
from .memory import reading_bytes, writing_bytes
from .npy_rows import NpySource
from .reading import READABLE, Wanted, check_declared, check_range, located, read_shape, read_values, split_member
from .row_sink import RowSink
from .rows import RowSource, row_source
from .sinks import sink_type
from .writing import WRITABLE, Prepared, check_writable, prepare_table, prepare_values, write_together, write_values

__all__ = [
    "READABLE", "WRITABLE", "NpySource", "Prepared", "RowSink", "RowSource", "Wanted",
    "bytes_of", "check_declared", "check_range", "check_writable",
    "located", "prepare_table", "prepare_values",
    "read_shape", "read_values", "reading_bytes", "row_source", "sink_type", "split_member",
    "write_together", "write_values", "writing_bytes",
]  # fmt: skip
