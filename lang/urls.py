"""URLs that name inputs: what is one, where a `file://` leads, and which lie below another.

Nothing here asks anybody.  A URL that could lead elsewhere than it says (`..`, credentials, chains of fsspec) is refused before
its beginning is compared with what is allowed.

Neighbours: `shell.execution.permissions` (what is allowed), `backend.run.files.remote` (reads).
"""

from __future__ import annotations

import os
import re
from typing import Final

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")
_FILE: Final = re.compile(r"(?i)file://")
_BLANK: Final = re.compile(r"[\x00-\x20\x7f\\]")


def is_url(path: str) -> bool:
    """Also what no one may read, so that it is not taken for a name of a file."""
    return _URL.match(path) is not None


def is_file_url(path: str) -> bool:
    return _FILE.match(path) is not None


def trouble_of(url: str) -> str | None:
    """Why a URL is not read: words that go on after it; None: nothing is wrong."""
    from urllib.parse import unquote, urlsplit

    if "::" in url:
        return "is a chain of URLs, which is not read"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return f"is not a URL: {error}"
    names = re.split(r"[/\\]", unquote(parts.path))
    if _BLANK.search(url):
        return "holds a blank or a backslash, which a URL writes as `%20` or `%5C`"
    if ".." in names or "." in names:
        return "holds `.` or `..`: write where it leads"
    if "@" in parts.netloc:
        return "holds a name or a password, which are not given so"
    if parts.fragment:
        return "holds a `#`, which no server is told"
    if is_file_url(url) and (parts.netloc.lower() not in ("", "localhost") or parts.query or not parts.path):
        return "is not a file of this machine: write `file:///FOLDER/FILE`"
    return None


def file_of(url: str) -> str:
    """The path that a `file://` is, of which `trouble_of` has nothing to say."""
    from urllib.parse import unquote, urlsplit

    return os.path.normpath(unquote(urlsplit(url).path))


def normal(url: str) -> str:
    """With its scheme and host in small letters, as they are compared."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}://{host.lower()}{slash}{path}"


def is_below(url: str, allowed: str) -> bool:
    """Is it the URL that is allowed, or below it as a file is below a folder?"""
    own, top = normal(url), normal(allowed).rstrip("/")
    return own.rstrip("/") == top or own.startswith(top + "/")


def above(url: str) -> str:
    """The URL directly above one, which ends in `/`."""
    return url.partition("?")[0].rpartition("/")[0] + "/"
