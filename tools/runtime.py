"""Makes `backend/vm/runtime.ll`, the runtime's LLVM text, from its C: a step of a release, and of every change of that C.

Needs exactly `ziglang==0.15.2` (`pip install`): its clang writes text that LLVM 20 and later read, and the same on every machine.
What belongs to one machine (target, features, metadata) is taken out.  The first line has the digest of the sources, which a
test compares.

    python tools/runtime.py
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "backend" / "vm"
ZIG = "0.15.2"
FLAGS = (
    "-std=c11", "-O2", "-g0", "-ffreestanding", "-fno-stack-protector", "-fno-sanitize=all", "-fno-vectorize",
    "-fno-slp-vectorize", "-fno-strict-aliasing", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer",
    "-target", "x86_64-linux-musl", "-S", "-emit-llvm",
)  # fmt: skip
_LINES_OF_A_MACHINE = ("target ", "source_filename", "; ModuleID", "!", "; Function Attrs")
_ADDED = "@rho_pause("
"""What `vm.runtime.Runtime` defines."""


def digest() -> str:
    """Of all sources, in the order of their names."""
    made = hashlib.sha256()
    for file in sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.h")]):
        made.update(f"{file.name}\n".encode() + file.read_bytes())
    return made.hexdigest()


def stripped(text: str) -> str:
    """Without what belongs to one machine."""
    kept = [line for line in text.splitlines() if line and not line.startswith(_LINES_OF_A_MACHINE)]
    kept = [line for line in kept if not (line.startswith("declare") and _ADDED in line)]
    text = re.sub(r", !\w[\w.]* !\d+", "", "\n".join(kept))
    text = re.sub(r' "[^"]*"(="[^"]*")?(?=.*\}$)', "", text, flags=re.MULTILINE)
    text = text.replace("= { }", "= { nounwind }")  # a group may not be empty
    return f"; sha256 {digest()}\n{text}\n"


def main() -> None:
    command = [sys.executable, "-m", "ziglang"]
    version = subprocess.run([*command, "version"], capture_output=True, text=True, check=True).stdout.strip()
    if version != ZIG:
        raise SystemExit(f"ziglang {ZIG} is needed, this is {version}")
    target = FOLDER / "runtime.ll"
    subprocess.run([*command, "cc", *FLAGS, str(FOLDER / "runtime.c"), "-o", str(target)], check=True)
    target.write_text(stripped(target.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
