"""Builds the documentation site, `build/site/html`, from `README.md`, `docs/`, the tables of primitives and the examples.

The pages are staged in `build/site/pages` as plain Markdown, each linking to others by file, and `build/site/zensical.toml` has
the navigation; Zensical (`pip install -e '.[site]'`) converts them to HTML with search.  `--pages` stops before that. The
playground (`tools/playground`) runs Rho in the reader's browser; Pyodide is downloaded from npm once and copied.

    python tools/build_site.py
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

from rho.lang.diagnostics.help_pages import code_span, primitive_markdown
from rho.lang.primitives.record import GlyphRole, Primitive
from rho.lang.primitives.table import PRIMITIVES

ROOT = Path(__file__).parent.parent
LEARN = ("tour.md", "language.md", "from-numpy.md", "from-apl.md", "apl-differences.md", "recipes.md")
REFERENCE = (
    "primitives.md", "refusals.md", "stdlib.md", "library.md", "errors.md", "python.md", "semantics.md", "instances.md",
    "examples.md", "glossary.md", "contributing.md",
)  # fmt: skip
"""The pages of two chapters in their order; pages without a chapter are in Explain, sorted by title."""
PYODIDE = "314.0.7"
_PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
_PLAYGROUND = ROOT / "tools" / "playground"
_PROGRAM = """use stats
x ← 3 1 4 1 5 9 2 6
stats.mean x
output highest ← 3↑x[⍒x]
2 3⍴⍳6
"""
_PICTURES = (("docs/*.json", ""), ("docs/pictures/*.[ps][nv]g", "pictures"), ("benchmarks/results/*.svg", "results"))
_FENCE = re.compile(r"^```rho(?: (\w+))?$", re.M)
_ROW = re.compile(r"^\|.*$", re.M)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
_TITLE = re.compile(r"^# (.*)$", re.M)
_GROUPS: Mapping[str, tuple[GlyphRole, ...]] = {
    "Functions": (GlyphRole.FUNCTION,),
    "Operators": (GlyphRole.MONADIC_OPERATOR, GlyphRole.DYADIC_OPERATOR),
    "Constants and syntax": (GlyphRole.CONSTANT, GlyphRole.SYNTAX),
}


def slug(row: Primitive) -> str:
    """The file name of a glyph's page: the first name that can be typed for it, else its Unicode name."""
    name = row.names[0] if row.names else row.glyph
    if row.role is GlyphRole.SYNTAX and row.glyph.isalpha() and row.glyph.isascii():
        return f"word-{row.glyph}"
    return name if name.isalnum() else "-".join(map(unicodedata.name, row.glyph)).lower().replace(" ", "-")


@cache
def refusals() -> Mapping[str, str]:
    """The sections of `docs/refusals.md` by their headings."""
    sections = re.split(r"^## ", (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    return {heading: text.strip() for heading, _, text in (section.partition("\n") for section in sections)}


def glyph_page(row: Primitive) -> str:
    """The page of one glyph: its names, its types, examples, and a rejected program."""
    heading = f"{code_span(row.glyph)} {row.title}"
    refused = ["## Refused, and right", "", refusals()[heading], ""]
    return "\n".join([f"# {heading}", "", *primitive_markdown(row), *refused])


def glyph_index() -> str:
    """The page that lists the glyphs, each linked to its page."""
    lines = ["# Glyphs", "", "Each glyph has a page. [One page](../primitives.md) has all, and the keys that type them.", ""]
    for title, roles in _GROUPS.items():
        lines += [f"## {title}", "", "| glyph | names | |", "|---|---|---|"]
        for row in PRIMITIVES:
            if row.role in roles:
                glyph, names = (text.replace("|", "\\|") for text in (code_span(row.glyph), ", ".join(row.names)))
                lines.append(f"| [{glyph}]({slug(row)}.md) | {names} | {row.title} |")
        lines.append("")
    return "\n".join(lines)


def examples_page() -> str:
    """The page that shows the programs of `examples/`."""
    lines = ["# Examples", "", "Programs in `examples/`, with their data; `rho run examples/life.rho` runs one.", ""]
    for path in sorted((ROOT / "examples").glob("*.rho")):
        lines += [f"## {path.stem}", "", "```rho skip", path.read_text(encoding="utf-8").rstrip(), "```", ""]
    return "\n".join(lines)


def playground_page() -> str:
    """The page with the playground's form; `tools/playground/page.js` runs it."""
    glyphs = [{"glyph": row.glyph, "names": row.names, "key": row.key, "title": row.title} for row in PRIMITIVES if row.names]
    panes = {"values": "Values", "check": "Problems", "type": "Types"}
    lines = [
        "# Try", "", "Rho runs here, in your browser, by its reference interpreter; nothing is sent anywhere. Types, errors and",
        "values follow what you type. `` `i `` or `` `iota `` and a blank is `⍳`. *Stop* ends a program that",
        "takes long. Programs that read files need [an installation](index.md#start).", "",
        '<div id="rho-bar" role="toolbar" aria-label="Glyphs"></div>',
        f'<textarea id="rho-text" spellcheck="false" aria-label="Program">{html.escape(_PROGRAM)}</textarea>',
        '<div id="rho-controls"><button id="rho-stop" type="button" disabled>Stop</button>',
        '<button id="rho-share" type="button">Link to this program</button>',
        '<span id="rho-status" role="status">The playground needs JavaScript.</span></div>', '<div class="rho-panes">',
        *(f'<section><h2>{title}</h2><pre id="rho-{name}"></pre></section>' for name, title in panes.items()),
        '</div>', '<details><summary>Plan</summary><pre id="rho-plan"></pre></details>',
        f'<script type="application/json" id="rho-glyphs">{json.dumps(glyphs).replace("<", chr(92) + "u003c")}</script>', "",
    ]  # fmt: skip
    return "\n".join(lines)


def limits_page(readme: str) -> str:
    """The README's section on what Rho does not do, as a page."""
    heading, _, rest = readme[readme.index("## What Rho does not do") :].partition("\n")
    return f"# {heading.removeprefix('## ')}\n{rest.partition(chr(10) + '## ')[0]}\n"


def staged(name: str, text: str, folder: str = "docs") -> str:
    """Markdown of the repository as a page of the site: links between its files are adapted, and the words after a fence's
    language, which tests read, become classes.
    `folder` is the folder of the repository that the links in `text` are relative to."""

    def link(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        path = Path(os.path.normpath(Path(folder, target))).as_posix()
        if path.partition("/")[0] == "examples":
            path, anchor = "examples.md", f"#{Path(path).stem}" if path.endswith(".rho") else ""
        inside = path.removeprefix("docs/").removeprefix("benchmarks/")
        return f"]({os.path.relpath(inside, Path(name).parent)}{anchor})"

    def fence(match: re.Match[str]) -> str:
        return "```rho" if match[1] else "```{ .rho .try }"

    return _ROW.sub(bars_in_code, _FENCE.sub(fence, _LINK.sub(link, text)))


def bars_in_code(row: re.Match[str]) -> str:
    """A table's row with `|` unescaped inside code, since GitHub needs the backslash and Python's Markdown would show it."""
    return _CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0])


def pages() -> Iterator[tuple[str, str]]:
    """The name and the Markdown of every page."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    yield "index.md", staged("index.md", readme, ".")
    yield "try.md", playground_page()
    yield "limits.md", staged("limits.md", limits_page(readme), ".")
    yield "examples.md", staged("examples.md", examples_page())
    yield "changelog.md", staged("changelog.md", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), ".")
    yield "glyphs/index.md", _ROW.sub(bars_in_code, glyph_index())
    for row in PRIMITIVES:
        yield f"glyphs/{slug(row)}.md", staged(f"glyphs/{slug(row)}.md", glyph_page(row))
    for folder, section in (("docs", ""), ("benchmarks/results", "results/")):
        for path in sorted((ROOT / folder).glob("*.md")):
            name = section + path.name
            yield name, staged(name, path.read_text(encoding="utf-8"), folder)


def navigation(names: list[str]) -> list[dict[str, object]]:
    """The chapters: Try, Learn, Glyphs, Explain, Reference, Measured, Limits."""
    results = [name for name in names if name.startswith("results/")]
    placed = {*results, *LEARN, *REFERENCE, "index.md", "try.md", "measured.md", "limits.md", "changelog.md"}
    return [
        {"Home": "index.md"},
        {"Try": "try.md"},
        {"Learn": [name for name in LEARN if name in names]},
        {"Glyphs": ["glyphs/index.md", *({f"{row.glyph} {row.title}": f"glyphs/{slug(row)}.md"} for row in PRIMITIVES)]},
        {"Explain": [name for name in names if name not in placed and not name.startswith("glyphs/")]},
        {"Reference": [*(name for name in REFERENCE if name in names), "changelog.md"]},
        {"Measured": ["measured.md", *results]},
        {"Limits": "limits.md"},
    ]


def configuration(names: list[str]) -> str:
    """Zensical's configuration in TOML; its tables are inline, so that `json` can write them."""
    slugs = {"object": "pymdownx.slugs.slugify", "kwds": {"case": "lower"}}
    extensions: dict[str, dict[str, object]] = {
        "admonition": {}, "attr_list": {}, "tables": {}, "toc": {"permalink": True, "slugify": slugs},
        "pymdownx.highlight": {"anchor_linenums": False}, "pymdownx.superfences": {},
    }  # fmt: skip
    project: dict[str, object] = {
        "site_name": "Rho", "site_description": "A rank-polymorphic array language, checked before it runs",
        "docs_dir": "pages", "site_dir": "html", "use_directory_urls": False, "nav": navigation(names),
        "extra_javascript": ["playground/page.js"], "extra_css": ["playground/page.css"],
    }  # fmt: skip
    theme = {
        "language": "en", "font": False, "icon": {"logo": "lucide/sigma"},
        "features": ["navigation.tabs", "navigation.indexes", "navigation.top", "content.code.copy", "search.highlight"],
        "palette": [
            {"media": "(prefers-color-scheme: light)", "scheme": "default", "toggle": {"icon": "lucide/sun", "name": "Dark"}},
            {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "toggle": {"icon": "lucide/moon", "name": "Light"}},
        ],
    }  # fmt: skip
    lines = ["[project]", *(f"{key} = {_toml(value)}" for key, value in project.items())]
    lines += ["[project.theme]", *(f"{key} = {_toml(value)}" for key, value in theme.items())]
    lines += ["[project.markdown_extensions]", *(f"{_toml(name)} = {_toml(options)}" for name, options in extensions.items())]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key, ensure_ascii=False)} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def stage(folder: Path, pyodide: Path | None = None) -> list[str]:
    """Write the pages and the configuration into a folder; return the names of the pages, by title."""
    shutil.rmtree(folder / "pages", ignore_errors=True)
    texts = dict(pages())
    for name, text in texts.items():
        path = folder / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    stage_playground(folder / "pages" / "playground", pyodide)
    (folder / "pages" / "pictures").mkdir()
    for pattern, section in _PICTURES:
        for path in ROOT.glob(pattern):
            shutil.copy(path, folder / "pages" / section)
    titles = {name: _TITLE.search(text) for name, text in texts.items()}
    names = sorted(texts, key=lambda name: title[1].lower() if (title := titles[name]) else name)
    (folder / "zensical.toml").write_text(configuration(names), encoding="utf-8")
    return names


def fetch_pyodide(cache: Path) -> Path | None:
    """The folder of Pyodide's npm package, fetched at first; None where npm is not installed or cannot fetch it."""
    package = cache / f"pyodide-{PYODIDE}"
    if not package.exists():
        npm = shutil.which("npm")
        cache.mkdir(parents=True, exist_ok=True)
        command = [npm or "npm", "pack", "--silent", "--fetch-retries=1", "--fetch-timeout=60000", f"pyodide@{PYODIDE}"]
        if npm is None or subprocess.run(command, cwd=cache, check=False, stdout=subprocess.DEVNULL).returncode:
            return None
        with tarfile.open(cache / f"pyodide-{PYODIDE}.tgz") as archive:
            archive.extractall(cache / "unpacked", filter="data")
        (cache / "unpacked" / "package").rename(package)
    return package


def pack_rho(path: Path) -> None:
    """Write an archive of Rho, its dependencies and the playground's Python to `path`, without compiled code and its C
    sources."""
    parsimonious = distribution("parsimonious")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(_PLAYGROUND / "answers.py", "answers.py")
        for name in ("__init__.py", "__main__.py"):
            archive.write(ROOT / name, f"rho/{name}")
        for room in ("lang", "typechecker", "backend", "shell", "stdlib"):
            for file in sorted((ROOT / room).rglob("*")):
                if file.suffix in (".py", ".rho", ".toml", ".loop"):
                    archive.write(file, f"rho/{file.relative_to(ROOT).as_posix()}")
        for part in parsimonious.files or ():
            if (part.suffix == ".py" and "tests" not in part.parts) or "LICENSE" in part.name:
                archive.write(Path(str(parsimonious.locate_file(part))), part.as_posix())


def compile_rho(folder: Path) -> None:
    """Replace the modules that the playground imports by compiled ones, if node can run Pyodide: they load in a third of the
    time."""
    if shutil.which("node") is not None and (folder / "rho.zip").exists():
        subprocess.run(["node", _PLAYGROUND / "compile.mjs", folder.absolute()], check=True)


def stage_playground(folder: Path, pyodide: Path | None) -> None:
    """Write the playground's files into a folder; without Pyodide the page says that it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("page.js", "page.css", "worker.mjs", "rho.mjs"):
        shutil.copy(_PLAYGROUND / name, folder)
    if pyodide is not None:
        (folder / "pyodide").mkdir(exist_ok=True)
        for name in _PYODIDE_FILES:
            shutil.copy(pyodide / name, folder / "pyodide")
        pack_rho(folder / "rho.zip")


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the documentation site.")
    parser.add_argument("--pages", action="store_true", help="only write the Markdown and the configuration")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "site", help="where to write (build/site)")
    options = parser.parse_args()
    pyodide = fetch_pyodide(ROOT / "build" / "npm")
    if pyodide is None:
        print(f"npm has no pyodide {PYODIDE} here: the site has no playground", file=sys.stderr)
    stage(options.folder, pyodide)
    if options.pages:
        return 0
    compile_rho(options.folder / "pages" / "playground")
    configured = options.folder.absolute() / "zensical.toml"
    return subprocess.run([sys.executable, "-m", "zensical", "build", "--strict", "-f", configured], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
