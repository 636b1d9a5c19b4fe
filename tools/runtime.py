"""Compiles the C of the runtime and of tables to LLVM text, `backend/vm/runtime.ll` and `backend/io/records.ll`, after a change
of the C sources.

It needs exactly `ziglang==0.15.2` (`pip install`), whose clang writes text that LLVM 20 and later read, identical on every
machine. Machine-specific lines (target, features, metadata) are removed.  The first line has the digest of the sources, which a
test compares.

    python tools/runtime.py
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

BACKEND = Path(__file__).parent.parent / "backend"
SOURCES = (BACKEND / "vm" / "runtime.c", BACKEND / "io" / "records.c")
"""The modules; each is one source, which includes the others of its folder."""
ZIG = "0.15.2"
FLAGS = (
    "-std=c11", "-O2", "-g0", "-ffreestanding", "-fno-stack-protector", "-fno-sanitize=all", "-fno-vectorize",
    "-fno-slp-vectorize", "-fno-strict-aliasing", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer",
    "-target", "x86_64-linux-musl", "-S", "-emit-llvm",
)  # fmt: skip
_LINES_OF_A_MACHINE = ("target ", "source_filename", "; ModuleID", "!", "; Function Attrs")
_ADDED = "@rho_pause("
"""The declaration in place of which `backend.vm.runtime.Runtime` inserts a definition."""


def digest(folder: Path) -> str:
    """The digest of all sources of a folder, in the order of their names."""
    result = hashlib.sha256()
    for file in sorted([*folder.glob("*.c"), *folder.glob("*.h")]):
        result.update(f"{file.name}\n".encode() + file.read_bytes())
    return result.hexdigest()


def stripped(text: str, folder: Path) -> str:
    """The LLVM text without machine-specific lines, after a line with the digest."""
    lines = [line for line in text.splitlines() if line and not line.startswith(_LINES_OF_A_MACHINE)]
    lines = [line for line in lines if not (line.startswith("declare") and _ADDED in line)]
    text = re.sub(r", !\w[\w.]* !\d+", "", "\n".join(lines))
    text = re.sub(r' "[^"]*"(="[^"]*")?(?=.*\}$)', "", text, flags=re.MULTILINE)
    text = text.replace("= { }", "= { nounwind }")  # LLVM rejects empty groups of attributes
    return f"; sha256 {digest(folder)}\n{text}\n"


def main() -> None:
    command = [sys.executable, "-m", "ziglang"]
    version = subprocess.run([*command, "version"], capture_output=True, text=True, check=True).stdout.strip()
    if version != ZIG:
        raise SystemExit(f"ziglang {ZIG} is needed, this is {version}")
    for source in SOURCES:
        target = source.with_suffix(".ll")
        subprocess.run([*command, "cc", *FLAGS, str(source), "-o", str(target)], check=True)
        target.write_text(stripped(target.read_text("utf-8"), source.parent), "utf-8")


if __name__ == "__main__":
    main()
