"""The pictures of the README: real sessions in a terminal, a real page in a browser.

    python docs/pictures/make.py [NAME…]

Terminals are run in tmux and drawn by rich (`pip install rich`), pages by headless Chromium; all three have to be there.  Each
picture is what a user sees: the keys below are typed, and what the screen shows when they have been is kept.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SESSION = "rho-pictures"


def tmux(*words: str) -> str:
    return subprocess.run(["tmux", "-L", SESSION, *words], check=True, capture_output=True, text=True).stdout


def terminal(name: str, command: str, keys: Sequence[str], *, columns: int = 100, lines: int = 26, awaited: str = "") -> None:
    """Type the keys into the command and keep the screen, once it is still and shows what is awaited."""
    from rich.console import Console
    from rich.text import Text

    path = f"PATH={Path(sys.executable).parent}:$PATH"
    quiet = "PS1='$ ' XDG_STATE_HOME=$(mktemp -d) XDG_CONFIG_HOME=$(mktemp -d)"
    tmux(
        "new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(ROOT), f"env {path} {quiet} bash --norc --noprofile"
    )
    try:
        for typed in (f"clear; {command}", *keys):
            tmux("send-keys", "-l", typed)
            still()
            if typed is not keys[-1] if keys else True:
                tmux("send-keys", "Enter")
                still(awaited if not keys else "")
        screen = tmux("capture-pane", "-e", "-p").rstrip("\n")
    finally:
        tmux("kill-server")
    console = Console(record=True, width=columns, file=open("/dev/null", "w"), force_terminal=True)  # noqa: SIM115
    console.print(Text.from_ansi(screen))
    console.save_svg(str(HERE / f"{name}.svg"), title=command or "rho")


def still(awaited: str = "", longest: float = 60.0) -> None:
    """Wait until the screen has not changed for half a second, and shows the text."""
    end, before, since = time.monotonic() + longest, "", time.monotonic()
    while time.monotonic() < end:
        now = tmux("capture-pane", "-p")
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > 0.7 and awaited in now:
            return
        time.sleep(0.05)
    raise SystemExit(f"the terminal never showed {awaited!r}:\n{before}")


def browser(name: str, program: str, arguments: Sequence[str], size: str = "1300,1010") -> None:
    """The page of a program's plan."""
    with tempfile.TemporaryDirectory() as folder:
        page, script = Path(folder, "page.html"), Path(folder, "sums.rho")
        script.write_text(program, encoding="utf-8")
        np.lib.format.open_memmap(Path(folder, "x.npy"), "w+", np.float64, (10**7,))  # a hole: nothing is written
        rho = str(Path(sys.executable).with_name("rho"))
        subprocess.run([rho, "plan", str(script), *arguments, "--format", "html", "-o", str(page)], check=True)
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or "google-chrome"
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={folder}/user",
             f"--window-size={size}", f"--screenshot={HERE / name}.png", page.as_uri()],
            check=True, capture_output=True,
        )  # fmt: skip


SUMS = """input x : f64[n] ← "x.npy"
output r ← +/√1+x×x
"""

PICTURES: dict[str, Callable[[], None]] = {
    "session": lambda: terminal(
        "session", "rho",
        [
            "sales ← 3 4⍴12 7 3 9 4 4 8 1 6 2 5 5", "mean ← {(+⌿⍵)÷≢⍵}", "mean⍤1 ⊢ sales",
            "sales-mean sales", "sales[⍒+/sales;]-⍤1 ⊢ mean sales",
        ],
    ),
    "plan": lambda: browser("plan", SUMS, ["--devices", "workstation"]),
}  # fmt: skip


def main(names: Sequence[str]) -> None:
    for name in names or PICTURES:
        PICTURES[name]()
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
