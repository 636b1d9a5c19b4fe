"""What is a URL, which are refused, and which lie below another."""

from __future__ import annotations

import pytest

from rho.lang.support.bounded_parsing import file_of, is_below, is_url, parent_url, url_error


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("http://h/x.npy", True), ("S3://b/x", True), ("file:///x", True), ("x.npy", False), ("C://x", False),
        ("a/http://h", False), ("-:csv", False),
    ],
)  # fmt: skip
def test_what_is_a_url(path: str, is_one: bool) -> None:
    assert is_url(path) == is_one


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://h/a/../x.npy", "`..`"), ("http://h/a/%2e%2E/x.npy", "`..`"), ("http://h/a%2F..%2Fx.npy", "`..`"),
        ("http://h/./x", "`.`"),
        ("http://u:p@h/x.npy", "password"), ("http://h@evil/x", "password"), ("simplecache::http://h/x", "chain"),
        ("zip://a::http://h/x", "chain"), ("http://h/x y", "blank"), ("http://h\\@evil/x", "blank"), ("http://h/x#y", "`#`"),
        ("http://h:no/x", "not a URL"), ("file://other/x", "not a file of this machine"),
        ("file://x.npy", "not a file of this machine"),
    ],
)  # fmt: skip
def test_what_could_lead_elsewhere_is_refused(url: str, words: str) -> None:
    assert words in (url_error(url) or "")


@pytest.mark.parametrize(
    "url", ["http://h/x.npy", "http://h:80/a/b.npz:x", "https://h/x.csv?sig=a%2Fb", "s3://b/k", "file:///a/x", "file://localhost/x"]
)
def test_what_is_read(url: str) -> None:
    assert url_error(url) is None


@pytest.mark.parametrize(
    ("url", "allowed", "is_so"),
    [
        ("http://h/a/x", "http://h/a/", True), ("http://h/a/x", "http://h/a", True), ("http://h/a", "http://h/a", True),
        ("HTTP://H/a/x", "http://h/a", True), ("http://h/A/x", "http://h/a", False), ("http://h/ab", "http://h/a", False),
        ("http://h.evil/x", "http://h", False), ("http://h:81/x", "http://h", False), ("https://h/x", "http://h", False),
        ("http://h/x", "http://h", True), ("http://h/x?y", "http://h/", True), ("http://h/x?y", "http://h/x", False),
    ],
)  # fmt: skip
def test_which_lie_below(url: str, allowed: str, is_so: bool) -> None:
    assert is_below(url, allowed) == is_so


def test_files_and_what_is_above() -> None:
    assert file_of("file:///a%20b/x.npy") == "/a b/x.npy"
    assert parent_url("http://h/a/x.npy?to=/b/c") == "http://h/a/"
