"""Bounded parsing of untrusted text: JSON with a limit on the number of values, natural numbers, URLs."""

from __future__ import annotations

import os
import re
from typing import Any, Final

# ---------------------------------------------------------------------------------------------------- JSON

MOST_VALUES: Final = 1 << 22


class TooManyValues(ValueError):
    """A JSON text may have more values than its reader accepts."""


def limit_values(text: str, most: int = MOST_VALUES) -> None:
    """Raise TooManyValues unless a JSON text has at most `most` values, counted by its separators, also those in strings."""
    if sum(map(text.count, ",:[{")) > most:
        raise TooManyValues(f"more than {most:,} values")


def decode(text: str, most: int = MOST_VALUES) -> Any:
    """The value of a JSON text.  Raises ValueError (TooManyValues, JSONDecodeError) or RecursionError."""
    import json

    limit_values(text, most)
    return json.loads(text)


# ---------------------------------------------------------------------------------------------------- natural numbers

def parse_natural(text: str, most: int) -> int | None:
    """The natural number up to `most` that ASCII digits write; None for any other text.

    The number of digits is unlimited, whereas Python's `int` refuses thousands of them."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(most)) and int(digits) <= most else None


# ---------------------------------------------------------------------------------------------------- URLs
#
# URLs of inputs, by their text alone.  A URL that may lead elsewhere than its prefix says (`..`, credentials, chains of fsspec)
# is refused before its prefix is compared with those that are permitted.

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")
_FILE: Final = re.compile(r"(?i)file://")
_BLANK: Final = re.compile(r"[\x00-\x20\x7f\\]")


def is_url(path: str) -> bool:
    """Does a path start with a URL scheme?  True of malformed URLs too, so that they are not taken for names of files."""
    return _URL.match(path) is not None


def is_file_url(path: str) -> bool:
    return _FILE.match(path) is not None


def url_error(url: str) -> str | None:
    """The reason why a URL is refused, as words that follow it in a message; None for a well-formed one."""
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
    """The path of a well-formed `file://` URL (`url_error` is None)."""
    from urllib.parse import unquote, urlsplit

    return os.path.normpath(unquote(urlsplit(url).path))


def normalize_url(url: str) -> str:
    """The URL with scheme and host in lower case, as for comparisons."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme.lower()}://{host.lower()}{slash}{path}"


def is_below(url: str, allowed: str) -> bool:
    """Is a URL the permitted one, or below it as a file is below a folder?"""
    path, top = normalize_url(url), normalize_url(allowed).rstrip("/")
    return path.rstrip("/") == top or path.startswith(top + "/")


def parent_url(url: str) -> str:
    """The URL of the folder of another one; it ends in `/`."""
    return url.partition("?")[0].rpartition("/")[0] + "/"
