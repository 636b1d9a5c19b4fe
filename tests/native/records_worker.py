"""Tables through `records.c` as the system's compiler built it: `python records_worker.py library` (by `test_sanitized`)."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
import tempfile
from pathlib import Path

from rho.backend.io import records

CASES = 300


def main() -> None:
    address = ctypes.cast(ctypes.CDLL(sys.argv[1]).kernel, ctypes.c_void_p).value
    folder = Path(__file__).parents[1] / "backend" / "files"
    spec = importlib.util.spec_from_file_location("tables_of_text", folder / "tables_of_text.py")
    assert spec is not None and spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "t.csv"
        for seed in range(CASES):
            data, columns = tables.random_table(seed)
            path.write_bytes(data)
            results = []
            for function in (None, ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(address)):
                records._compiled = lambda size, function=function: function
                results.append(tables.read(path, columns))
            assert results[0] == results[1], seed
    print("fine")


main()
