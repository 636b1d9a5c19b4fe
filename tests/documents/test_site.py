"""The site: every page is in its navigation once, and every link leads to a page and a heading that are there."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from rho.lang.primitives.table import PRIMITIVES

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^ *(```|~~~).*?^ *\1 *$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)


def headings(text: str) -> set[str]:
    """The anchors of a page as GitHub makes them: in lower case, with - for blanks, and only letters, digits, - and _."""
    anchors = Counter[str]()
    names = set()
    for heading in re.findall(r"^#+ (.*)$", FENCED.sub("", text), re.M):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        names.add(f"{anchor}-{anchors[anchor]}" if anchors[anchor] else anchor)
        anchors[anchor] += 1
    return names


def broken_links(path: Path) -> Iterator[str]:
    for target, anchor in LINK.findall(CODE.sub("", FENCED.sub("", path.read_text(encoding="utf-8")))):
        linked = path.parent / target if target else path
        if not linked.exists():
            yield f"{path.name}: {target}"
        elif anchor and anchor not in headings(linked.read_text(encoding="utf-8")):
            yield f"{path.name}: {target}#{anchor}"


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_site", ROOT / "tools" / "build_site.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(builder: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    staged = tmp_path_factory.mktemp("site")
    builder.stage(staged)
    return staged


def test_links_of_the_repository_are_right() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/**/*.md"), *ROOT.glob("tests/*/*.md")]
    assert len(documents) > 60
    assert [broken for path in documents for broken in broken_links(path)] == []


def test_links_of_the_pages_are_right(folder: Path) -> None:
    pages = list((folder / "pages").rglob("*.md"))
    assert sum(len(LINK.findall(path.read_text(encoding="utf-8"))) for path in pages) > 500
    assert [broken for path in pages for broken in broken_links(path)] == []
    outside = [path for path in pages if re.search(r"\]\((\.\./){2}", path.read_text(encoding="utf-8"))]
    assert outside == []


def test_the_navigation_has_every_page_once(folder: Path) -> None:
    def leaves(entry: object) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            yield from (leaf for value in entry.values() for leaf in leaves(value))
        elif isinstance(entry, list):
            yield from (leaf for value in entry for leaf in leaves(value))

    navigation = tomllib.loads((folder / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    pages = sorted(path.relative_to(folder / "pages").as_posix() for path in (folder / "pages").rglob("*.md"))
    assert sorted(leaves(navigation)) == pages
    assert {page.name for page in ROOT.glob("docs/*.md")} <= set(pages)
    assert len({page for page in pages if page.startswith("glyphs/")}) == len(PRIMITIVES) + 1


def test_a_page_of_a_glyph_has_a_refused_example(builder: ModuleType) -> None:
    """`docs/refusals.md` has a section for each row of the table, and no other; what it claims is a test of its own."""
    sections = builder.refusals()
    assert len(sections) == len(PRIMITIVES)
    for row in PRIMITIVES:
        page = builder.glyph_page(row)
        assert page.count("⍝ error: ") == 1, row.glyph
        shown = sum(len(use.examples) for use in (row.monadic, row.dyadic) if use) + len(row.examples)
        assert shown + page.count("```rho") >= 1 + bool(shown), row.glyph


class Page(HTMLParser):
    """The links and the anchors of a page of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "__skip"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.anchors.update(value for key in ("id", "name") if (value := named.get(key)))
        self.links.update(value for key in ("href", "src") if tag in ("a", "img", "script") and (value := named.get(key)))


@pytest.mark.long
def test_zensical_makes_a_site_without_a_broken_link(folder: Path) -> None:
    """Two seconds of a processor; the loaded packages find the lexer `rho` by its entry point, as for everyone."""
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed: pip install -e '.[site]'")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "-f", folder / "zensical.toml"],
        capture_output=True, encoding="utf-8", check=False, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    site = folder / "html"
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.name != "404.html"}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            linked = Path(os.path.normpath(path.parent / target)) if target else path
            assert not (link.startswith("http") and link.endswith(".js")), "a script from elsewhere"
            if re.match(r"\w+:", link) or link.startswith("/"):
                continue
            if not linked.exists() or (linked in pages and anchor not in pages[linked].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []
    assert "<code>3|x</code>" in (site / "from-numpy.html").read_text(encoding="utf-8")
    searched = (site / "search.json").read_text(encoding="utf-8")
    assert len(json.loads(searched)["items"]) > 800 and "running sum" in searched
    tour = (site / "tour.html").read_text(encoding="utf-8")
    assert re.search(r'class="try highlight">.{0,60}<span class="[a-z]+">', tour)
