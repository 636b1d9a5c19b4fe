"""Profiles that come with Rho, and profiles in files: both by what `--devices` was given.

Neighbours: `shipped/*.toml` (package data), `reading`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.opening import NotRegular, Pipes, TooLarge, read_text
from ...lang.primitives import nearest
from ...lang.source import Span
from .profile import Profile
from .reading import LARGEST_PROFILE, read_profile

FOLDER: Final = Path(__file__).parent / "shipped"


def shipped_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_profile(name: str) -> Profile:
    """A shipped profile by its name, or one in a file.  Refused: E704 there is none, E705 it is not a profile."""
    return read_profile(*profile_text(name))


def profile_text(name: str) -> tuple[str, str]:
    """The name in messages and the text of a profile.  Refused: E704."""
    names = shipped_names()
    path = FOLDER / f"{name}.toml" if name in names else Path(name)
    try:
        return (f"<profile {name}>" if name in names else name), read_text(path, LARGEST_PROFILE, Pipes.READ)
    except (OSError, ValueError) as error:
        guess = nearest(name, names)
        meant = f"; did you mean `{guess}`?" if guess else ""
        reason = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "cannot be read as a file"
        if isinstance(error, NotRegular | TooLarge):
            reason = f"cannot be read: {error.strerror}"
        what = f"`{name}` is not a shipped profile and {reason}{meant}"
        raise Refused([Diagnostic(Code.E704, what, Span(name, 0, 0), notes=(f"shipped: {', '.join(names)}",))]) from None
