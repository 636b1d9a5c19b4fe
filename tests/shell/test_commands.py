"""`rho fmt`, `test`, `new`, `plan`, `doc`, `info`, `devices` and wrong commands: what is printed, where, with which exit code."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from rho.shell.cli.arguments import Arguments
from rho.shell.console.standard_streams import Console
from rho.shell.display import costs
from rho.shell.execution import stored_plans
from rho.shell.pipeline import Session
from rho.shell.verbs import check

from .conftest import Rho


def test_fmt_rewrites_and_checks(rho: Rho, tmp_path: Path) -> None:
    path = tmp_path / "a.rho"
    path.write_text("x←`iota 3   ⍝ three\n", encoding="utf-8")
    assert rho("fmt", "--check", str(path)).code == 1
    assert path.read_text(encoding="utf-8").startswith("x←`iota")
    assert rho("fmt", str(path)).code == 0
    assert path.read_text(encoding="utf-8") == "x ← ⍳3  ⍝ three\n"
    assert rho("fmt", "--check", str(path)).code == 0
    assert rho("fmt", "-", stdin="x←⍳3").out == "x ← ⍳3\n"
    assert rho("fmt", "-", "--ascii", stdin="x←⍳3").out.isascii()


def test_fmt_says_when_there_was_nothing_to_do(rho: Rho, tmp_path: Path) -> None:
    path = tmp_path / "a.rho"
    path.write_text("x ← ⍳3\n", encoding="utf-8")
    ran = rho("fmt", str(path))
    assert (ran.code, ran.out, ran.err) == (0, "", f"already formatted: {path}\n")
    (tmp_path / "b.rho").write_text("y ← ⍳3\n", encoding="utf-8")
    assert rho("fmt", str(tmp_path)).err == "already formatted: 2 files\n"
    path.write_text("x←⍳3\n", encoding="utf-8")
    assert rho("fmt", str(path)).err == ""


def test_fmt_leaves_a_broken_file_alone(rho: Rho, tmp_path: Path) -> None:
    path = tmp_path / "a.rho"
    path.write_text("x ← (1 2\n", encoding="utf-8")
    ran = rho("fmt", str(path))
    assert ran.code == 3 and "E003" in ran.err
    assert path.read_text(encoding="utf-8") == "x ← (1 2\n"


def test_documented_examples(rho: Rho, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```rho\nx ← 1 2 3\n+/x\n⍝ → 6\nx + 1 2\n⍝ error: E101\nx\n⍝ type: i64[3]\nx\n⍝ → 1 2 3\n⍝ → 1 2 3\n```\n"
        "```rho\n6 ⇐ +/1 2 3\nE101 ⇐ 1 2+1 2 3\n```\n```rho\n      2×3\n6\n```\n",
        encoding="utf-8",
    )
    assert rho("test", str(page)).code == 0
    page.write_text("```rho\n+/1 2 3\n⍝ → 7\n```\n\n```rho\n1+1\n⍝ error: E101\n```\n```rho\n5 ⇐ 2+2\n```\n", encoding="utf-8")
    ran = rho("test", "--json", str(page))
    assert ran.code == 1
    assert [failure["line"] for failure in ran.json()["failures"]] == [3, 8, 11]


def test_a_file_without_examples_has_nothing_to_test(rho: Rho, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Words.\n", encoding="utf-8")
    ran = rho("test", str(page))
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing to test in 1 file\n")


def test_a_new_project_works(rho: Rho, tmp_path: Path) -> None:
    folder = tmp_path / "waves"
    assert rho("init", str(folder)).code == 0
    assert rho("run", str(folder / "main.rho")).out == "2 30\n2 50\n"
    assert rho("test", str(folder)).code == 0
    assert rho("fmt", "--check", str(folder)).code == 0
    assert rho("init", str(folder)).code == 2


def test_plan_as_text_and_json(rho: Rho, project: Path) -> None:
    text = rho("plan", "src/mean.rho")
    assert text.code == 0 and "peak" in text.out and "n=3" in text.out
    found = rho("plan", "src/mean.rho", "--json").json()
    assert found["schema"] == "plan/2"
    assert rho("plan", "src/mean.rho", "--json", "-o", "p.json").out == ""
    stored = json.loads((project / "p.json").read_text(encoding="utf-8"))  # with times, so that it can be compared and drawn
    assert [stored[key] for key in ("schema", "phases", "sizes")] == [found[key] for key in ("schema", "phases", "sizes")]
    assert stored["prediction"]["makespan"] > 0


def test_documentation(rho: Rho) -> None:
    assert "rank" in rho("doc", "⍤").out
    assert rho("doc", "`iota").out == rho("doc", "⍳").out
    assert rho("doc", "stats.mean").out.startswith("stats.mean")
    assert "E101" in rho("explain", "E101").out
    assert rho("explain", "E1o1").code == 2
    unknown = rho("explain", "E999")
    assert unknown.code == 2 and "docs/errors.md lists all codes" in unknown.err
    missing = rho("doc", "stats.meen")
    assert missing.code == 2 and "did you mean `stats.mean`" in missing.err
    assert "⍋" in rho("search", "sort").out
    assert rho("search", "no such thing whatever", "--json").json() is not None


def test_info_and_devices(rho: Rho) -> None:
    assert rho("info", "--json").json()["rho"]
    device = rho("devices", "--json").json()["devices"][0]
    assert device["name"] == "cpu0" and device["cores"] >= 1 and device["memory_bytes"] > 0


def test_devices_of_a_profile(rho: Rho, project: Path) -> None:
    found = rho("devices", "--devices", "workstation", "--json").json()
    assert [device["kind"] for device in found["devices"]] == ["cpu", "gpu", "gpu"] and len(found["links"]) == 2
    assert "node[0..39]" in rho("devices", "--devices", "cluster40").out
    assert rho("devices", "--devices", "cluster40", "-o", "mine.toml").code == 0
    again = rho("devices", "--devices", "mine.toml", "--json").json()
    assert again["profile"]["fingerprint"] == rho("devices", "--devices", "cluster40", "--json").json()["profile"]["fingerprint"]
    (project / "mine.toml").write_text("schema = 3\n", encoding="utf-8")
    bad = rho("devices", "--devices", "mine.toml")
    assert bad.code == 4 and "mine.toml:1" in bad.err and "E705" in bad.err
    missing = rho("devices", "--devices", "wrkstation")
    assert missing.code == 4 and "did you mean `workstation`" in missing.err
    assert rho("devices", "--devices", "laptop", "--calibrate").code == 2


@pytest.mark.parametrize(("when", "marked"), [(None, True), (date(2026, 11, 21), False)])
def test_estimates_by_default_tables_are_marked(
    rho: Rho, project: Path, monkeypatch: pytest.MonkeyPatch, when: date | None, marked: bool
) -> None:
    known = stored_plans.this_machine()
    machine = replace(known, calibration=replace(known.calibration, calibrated=when))
    monkeypatch.setattr(stored_plans, "this_machine", lambda: machine)
    header = rho("run", "src/mean.rho", "--analyze").err.splitlines()[0]
    assert "estimate µs" in header and ("(uncalibrated)" in header) is marked
    assert costs.uncalibrated_note() == (" (uncalibrated)" if marked else "")


def test_analyze_puts_estimates_beside_times(rho: Rho, project: Path) -> None:
    result = rho("run", "src/mean.rho", "--analyze")
    assert result.code == 0 and "estimate" in result.err and "actual" in result.err and "took" in result.err
    found = rho("run", "src/mean.rho", "--analyze", "--json").json()["plan"]
    rows = found["measured"]["phases"]
    assert found["measured"]["runs"] >= 1 and rows
    assert all(row["actual_ns"] > 0 and row["p10_ns"] <= row["estimate_ns"] <= row["p90_ns"] for row in rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("evla", "1"), "did you mean `rho eval`?"),
        (("kmeans.rho",), "did you mean `rho run kmeans.rho`?"),
        (("kernel",), "needs install"),
        (("kernel", "instal"), "did you mean `install`?"),
        (("kernel", "install", "--user", "--prefix", "x"), "two places"),
        (("run",), "needs FILE"),
        (("run", "a.rho", "b.rho"), "unexpected argument `b.rho`: `rho run` takes 1 argument"),
        (("run", "no/such/file.rho"), "there is no file"),
    ],
)
def test_usage_errors(rho: Rho, words: tuple[str, ...], said: str) -> None:
    ran = rho(*words)
    assert ran.code == 2 and said in ran.err and ran.out == ""


def test_help_starts_with_examples(rho: Rho) -> None:
    assert rho("--help").out.index("examples") < rho("--help").out.index("verbs")
    assert rho("run", "--help").out == rho("help", "run").out


def test_a_session_from_a_pipe(rho: Rho) -> None:
    ran = rho("repl", stdin="x ← ⍳3\nf ← {\n  ⍵×2\n}\nf x\n)type x\nx + 1 2\n5\n")
    assert ran.code == 3
    assert ran.out == "0 2 4\nidx<3>[3]\n"
    assert "E101" in ran.err


def test_outputs_are_refused_together(rho: Rho, tmp_path: Path) -> None:
    script = tmp_path / "two.rho"
    script.write_text("output good ← ⍳3\noutput bad ← ⍳5\n", encoding="utf-8")
    good = tmp_path / "good.json"
    ran = rho("run", str(script), "--out", f"good={good}", "--out", f"bad={tmp_path / 'bad.png'}")
    assert ran.code == 1 and "E708" in ran.err
    assert not good.exists(), "one output was written though another is refused"
    ran = rho("run", str(script), "--out", f"good={tmp_path}.npy", "--out", f"bad={tmp_path / 'folder.npy'}")
    assert ran.code == 0
    (tmp_path / "taken.npy").mkdir()
    assert "it is a folder" in rho("run", str(script), "--out", f"good={tmp_path / 'taken.npy'}").err


def test_watch_checks_again_when_a_text_changes(tmp_path: Path) -> None:
    program, module = tmp_path / "a.rho", tmp_path / "m.rho"
    program.write_text('use "./m.rho"\nf : f64[n] → f64[n]\nf ← {m.g ⍵}\n', encoding="utf-8")
    module.write_text("g ← {⍵+1}\n", encoding="utf-8")
    versions = iter(["g ← {1↓⍵}\n", "g ← {⍵-1}\n"])
    read: list[frozenset[str]] = []

    def wait(names: frozenset[str]) -> bool:
        read.append(names)
        text = next(versions, None)
        module.write_text(text or "", encoding="utf-8")
        return text is not None

    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, io.StringIO(), {})
    arguments = Arguments("check", (str(program),), {"--format": ("github",)})
    assert check.watch(Session(), arguments, console, wait) == 0
    assert out.getvalue().count("::error") == 1
    assert all({str(program), str(module)} <= names for names in read)


@pytest.mark.parametrize("words", [("run", "nope.rho", "--json"), ("eval", "--json"), ("run", "--format=json", "nope.rho")])
def test_json_of_a_wrong_command_is_an_object(rho: Rho, project: Path, words: tuple[str, ...]) -> None:
    ran = rho(*words)
    assert ran.code == 2
    shown = ran.json()
    assert (shown["values"], shown["printed"]) == ([], [])
    assert [found["severity"] for found in shown["diagnostics"]] == ["error"]


def test_check_json_of_a_missing_file(rho: Rho, project: Path) -> None:
    shown = rho("check", "nope.rho", "--json").json()
    assert shown["summary"]["errors"] == 1
    assert shown["diagnostics"][0]["message"] == "there is no file `nope.rho`"


def test_a_new_project_has_nothing_to_warn_of(rho: Rho, project: Path) -> None:
    assert rho("init", "new").code == 0
    ran = rho("check", "new", "--strict")
    assert (ran.code, ran.out) == (0, "")


NUMBERS = [("u8 ¯1", "¯1"), ("i64 0÷0", "NaN"), ("⌊-1E30", "¯1E30"), ("i64 3J¯4", "3J¯4")]


@pytest.mark.parametrize(("expression", "number"), NUMBERS)
def test_numbers_in_failures_read_as_the_program_writes_them(rho: Rho, expression: str, number: str) -> None:
    for words in (("eval", expression), ("eval", expression + " 1" if "-" not in expression else expression)):
        ran = rho(*words)
        assert ran.code == 1
        assert f" {number} " in ran.err or f": {number} " in ran.err


PERMUTATIONS = [
    ("2\n0\n1\n", 0, ""), ("2\n0\n2\n", 4, "does not hold 1"), ("0\n1\n3\n", 4, "holds 3"), ("0\n-1\n1\n", 4, "holds ¯1"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "code", "words"), PERMUTATIONS)
def test_a_permutation_is_checked_when_it_is_loaded(rho: Rho, project: Path, data: str, code: int, words: str) -> None:
    (project / "p.csv").write_text(data, encoding="utf-8")
    (project / "p.rho").write_text('input p : perm<n> ← "p.csv"\np⌷10×⍳≢p\n', encoding="utf-8")
    ran = rho("run", "p.rho")
    assert ran.code == code, ran.err
    assert words in ran.err
    assert ("E706" in ran.err) is bool(code)


def test_a_run_that_shows_and_keeps_nothing_says_what_it_made(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.rho").write_text("rain ← 9⍴1.5\nr ← +/rain\noutput r\noutput rain\n", encoding="utf-8")
    said = "outputs: r f64, rain f64[9] (keep one with --out NAME=FILE)\n"
    ran = rho("run", "p.rho")
    assert (ran.code, ran.out, ran.err) == (0, "", said)
    for more in (("--json",), ("--out", "r=r.json"), ("--plot", "rain")):
        assert "keep one" not in rho("run", "p.rho", *more).err
    Path("p.rho").write_text("r ← +/1 2\noutput r\nr\n", encoding="utf-8")
    assert rho("run", "p.rho").err == ""


@pytest.mark.parametrize(
    ("text", "said"), [("", "the program is empty\n"), ("\n⍝ later\n", "the program is empty\n"), ("x ← 3\n", "")]
)
def test_an_empty_program_is_said_to_be_empty(rho: Rho, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.rho").write_text(text, encoding="utf-8")
    ran = rho("run", str(tmp_path / "p.rho"))
    assert (ran.code, ran.out, ran.err) == (0, "", said)
