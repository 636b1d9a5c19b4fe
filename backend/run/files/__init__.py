"""Files of inputs and outputs.  `reading` and `writing` are the interface; one module a format does the work."""

from .reading import READABLE, check_declared, check_range, read_shape, read_values, split_member
from .writing import WRITABLE, check_writable, prepare_values, write_atomically, write_values

__all__ = [
    "READABLE", "WRITABLE", "check_declared", "check_range", "check_writable", "prepare_values", "read_shape", "read_values",
    "split_member", "write_atomically", "write_values",
]  # fmt: skip
