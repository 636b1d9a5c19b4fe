"""Bounded parsing of untrusted text: JSON with a limit on the number of values, natural numbers, URLs."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Final

# ---------------------------------------------------------------------------------------------------- json_text

MOST_VALUES: Final = 1 << 22


class TooManyValues(ValueError):
    """A text that may hold more values than its reader takes."""


def require_few(text: str, most: int = MOST_VALUES) -> None:
    """TooManyValues unless a JSON text surely holds at most `most` values: what separates them is counted, in strings too."""
    if sum(map(text.count, ",:[{")) > most:
        raise TooManyValues(f"more than {most:,} values")


def decode(text: str, most: int = MOST_VALUES) -> Any:
    """The value of a JSON text.  ValueError (among others a JSONDecodeError), RecursionError."""
    require_few(text, most)
    return json.loads(text)


# ---------------------------------------------------------------------------------------------------- numerals
#
# Natural numbers as users, environments and files write them.

def natural(text: str, most: int) -> int | None:
    """The number that decimal digits say, from 0 to `most`; None for any other text, digits of other scripts included.

    However many digits there are: Python's own `int` refuses thousands of them."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(most)) and int(digits) <= most else None


# ---------------------------------------------------------------------------------------------------- urls
#
# URLs that name inputs: what is one, where a `file://` leads, and which lie below another.
#
# Nothing here asks anybody.  A URL that could lead elsewhere than it says (`..`, credentials, chains of fsspec) is refused before
# its beginning is compared with what is allowed.

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
    path, top = normal(url), normal(allowed).rstrip("/")
    return path.rstrip("/") == top or path.startswith(top + "/")


def above(url: str) -> str:
    """The URL directly above one, which ends in `/`."""
    return url.partition("?")[0].rpartition("/")[0] + "/"
