"""The playground: Rho under Pyodide gives types, errors, plans and values, in node and in headless Chromium.

Pyodide is fetched from npm by `python tools/build_site.py`; without it, node or Chromium these tests are skipped and say so.
"""

from __future__ import annotations

import base64
import http.server
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DRIVER = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const folder = pathToFileURL(process.argv[2] + "/").href;
const { loadPyodide } = await import(folder + "pyodide/pyodide.mjs");
const { ask, loadRho } = await import(folder + "rho.mjs");
const indexURL = process.argv[2] + "/pyodide/";
const python = await loadRho(loadPyodide, indexURL, new Uint8Array(readFileSync(process.argv[2] + "/rho.zip")));
console.log(JSON.stringify(JSON.parse(process.argv[3]).map(([commands, text]) => ask(python, commands, text))));
"""
PROBE = """<!doctype html><meta charset="utf-8"><iframe src="try.html#%s" width="900" height="900"></iframe><script>
const frame = document.querySelector("iframe"), report = [];
const poll = setInterval(() => {
  const page = frame.contentDocument, result = page?.documentElement?.dataset.rhoResult;
  if (!result || result === report.at(-1)?.result) return;
  const read = (name) => page.getElementById(name).textContent;
  const [values, problems, types, plan] = ["values", "check", "type", "plan"].map((name) => read(`rho-${name}`));
  report.push({ result, values, problems, types, plan });
  const text = page.getElementById("rho-text"), next = ["2+3", "1 2 3+4 5", "⍳4"][report.length - 1];
  if (next === undefined) {
    clearInterval(poll);
    const buttons = [...page.querySelectorAll("#rho-bar button")];
    const press = (before, key) => {
      text.value = before;
      text.setSelectionRange(before.length, before.length);
      text.dispatchEvent(new KeyboardEvent("keydown", { key }));
      return text.value;
    };
    const pressed = [press("`iota", " "), press("`", "3"), press("2`r", "4"), press("`abcd", " ")];
    buttons.find((button) => button.textContent === "⍒").click();
    const clicked = text.value;
    page.getElementById("rho-share").click();
    const hash = frame.contentWindow.location.hash;
    const facts = { pressed, clicked, hash, buttons: buttons.map((button) => button.textContent) };
    fetch("tour.html").then((answer) => answer.text()).then((tour) => {
      frame.srcdoc = tour.replace("<head>", `<head><base href="${location.href}">`);
      frame.onload = () => {
        const links = [...frame.contentDocument.querySelectorAll("a.rho-open")].map((link) => link.href);
        fetch("/report", { method: "POST", body: JSON.stringify({ report, links, ...facts }) });
      };
    });
    return;
  }
  if (next === "⍳4") page.querySelector("details").open = true;
  text.value = next;
  text.dispatchEvent(new Event("input"));
}, 20);
</script>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The playground's folder with Pyodide and Rho, staged with the pages of the site."""
    spec = importlib.util.spec_from_file_location("build_site", ROOT / "tools" / "build_site.py")
    assert spec is not None and spec.loader is not None
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
    package = ROOT / "build" / "npm" / f"pyodide-{builder.PYODIDE}"
    if not package.exists():
        pytest.skip("Pyodide is not here: python tools/build_site.py fetches it")
    staged = tmp_path_factory.mktemp("playground")
    builder.stage(staged, package)
    builder.compile_rho(staged / "pages" / "playground")
    return staged


def test_rho_under_pyodide(folder: Path, tmp_path: Path) -> None:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    driver = tmp_path / "driver.mjs"
    driver.write_text(DRIVER, encoding="utf-8")
    asked = [
        ("check type values plan", "use stats\nx ← 3 1 4\nstats.mean x\noutput top ← ⌈/x\n⌹2 2⍴2 0 0 4\n"),
        ("check values", "1 2 3+4 5\n"),
        ("check type cost values", "input x : f64[n] where n ≥ 1\n(+/x)÷≢x\n"),
        ("check values fmt", "      x ← 2 3⍴⍳6\n      +/x\n3 12\n"),
    ]
    done = subprocess.run(
        ["node", driver, folder / "pages" / "playground", json.dumps(asked)], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    program, refused, open_size, session = json.loads(done.stdout.splitlines()[-1])
    assert program["check"]["exit"] == program["type"]["exit"] == program["plan"]["exit"] == 0
    assert program["values"]["text"].splitlines()[:3] == ["2.666666667", "0.5 0", "0   0.25"]
    assert "top" in program["values"]["text"] and program["plan"]["text"].startswith("plan/2")
    assert "error[E101]" in refused["check"]["text"] and "values" not in refused
    assert "f64" in open_size["type"]["text"] and "n" in open_size["cost"]["text"]
    assert "no file is named for the input `x`" in open_size["values"]["text"]
    assert session["values"]["text"] == "3 12\n" and session["fmt"]["text"] == "x ← 2 3⍴⍳6\n+/x\n"


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and takes the probe's report."""

    def __init__(self, reports: Queue[Any], *arguments: Any, **named: Any) -> None:
        self.reports = reports
        super().__init__(*arguments, **named)

    def do_POST(self) -> None:
        self.reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def served(folder: Path) -> Iterator[tuple[str, Queue[Any]]]:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed: pip install -e '.[site]'")
    builder = [sys.executable, "-m", "zensical", "build", "-f", folder / "zensical.toml"]
    subprocess.run(builder, check=True, capture_output=True)
    start = base64.b64encode("x ← 3 1 4\n⌽x\n".encode()).decode()
    (folder / "html" / "probe.html").write_text(PROBE % start, encoding="utf-8")
    reports: Queue[Any] = Queue()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, reports, directory=str(folder / "html")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/probe.html", reports
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_page_in_a_browser(served: tuple[str, Queue[Any]]) -> None:
    """A link opens its program; values, an error and a plan follow what is typed; glyphs by key, name and bar; no other host."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium")
    address, reports = served
    with tempfile.TemporaryDirectory() as profile:
        process = subprocess.Popen(
            [
                browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={profile}",
                "--remote-debugging-port=0", address,
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            reported = reports.get(timeout=240)
        finally:
            process.kill()
            process.wait()
    first, sum_of, refused, last = reported["report"]
    print("milliseconds of the first result, and of later ones:", *(one["result"].split()[1] for one in reported["report"]))
    assert first["values"].splitlines() == ["4 1 3"] and first["problems"] == "no problems in 1 file"
    assert sum_of["values"].strip() == "5" and "i64" in sum_of["types"]
    assert "error[E101]" in refused["problems"] and refused["values"] == ""
    assert last["values"].strip() == "0 1 2 3" and last["plan"].startswith("plan/2")
    assert "⍳" in reported["buttons"] and len(reported["buttons"]) > 60
    assert reported["pressed"] == ["⍳", "<", "2⍴", "`abcd"] and reported["clicked"] == "`abcd⍒"
    assert base64.b64decode(reported["hash"].removeprefix("#")).decode() == "`abcd⍒"
    assert all("/try.html#" in link for link in reported["links"]) and len(reported["links"]) > 5
    assert base64.b64decode(reported["links"][0].partition("#")[2]).decode() == "⍳6\n2 3⍴⍳6\n10×2 3⍴⍳6\n2×3+4\n"
