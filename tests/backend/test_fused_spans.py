"""A check that fails in a fused phase blames the function that failed, however the phase is run."""

from __future__ import annotations

from pathlib import Path

import pytest

import rho
from rho.lang.diagnostics.model import RunFailed
from rho.shell.main import main

SHIFTS = (
    "({x}) ⎕shl 1", "{{⍵+⍺⎕shl 1}}⍣({x}) ⊢ 0", "+/({x}) ⎕shr 8", "{{⍵ ⎕shl 1}}¨{x}", "({x}) ⎕shl⍤0 1 ⊢ 1 2 3",
)  # fmt: skip
PROGRAMS = {
    "5+i64 0.5×3": "i64", "7+2×i64 0.5+1.0×⍳4": "i64", "(i64 1.5×⍳3)+⌊1.0×⍳3": "i64", "+/i64 0.5×⍳5": "i64",
    "1+⌊1e300×1+⍳3": "⌊", "2×⌈1e300×1+⍳3": "⌈", "(⌊0.5×⍳3)+⌊1e300×⍳3": "⌊", "1+i64 0.5×⍳100000": "i64",
}  # fmt: skip


@pytest.mark.parametrize("mode", ["off", "always", ""])
@pytest.mark.parametrize("text", PROGRAMS)
def test_the_function_is_blamed(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode:
        monkeypatch.setenv("RHO_KERNELS", mode)
    with pytest.raises(RunFailed) as raised:
        rho.eval(f"{text}  ⍝ {mode}")  # a program of its own: prepared programs are kept by their text
    (found,) = raised.value.diagnostics
    assert found.code == "E703"
    assert text[found.span.start : found.span.end] == PROGRAMS[text]
    if text.count(PROGRAMS[text]) == 2:
        assert found.span.start == text.rindex(PROGRAMS[text])


@pytest.mark.parametrize("mode", ["off", "always", ""])
@pytest.mark.parametrize("text", ["{q ← u8 ⍵ ⋄ 1+⍵}", "{q ← ⌊1e300×⍵ ⋄ 1+⍵}", "{{q ← u8 ⍵ ⋄ 1+⍵}⍣3 ⊢ ⍵}", "{q ← u8¨⍵ ⋄ +/⍵}"])
def test_a_check_fails_though_nothing_reads_its_value(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode:
        monkeypatch.setenv("RHO_KERNELS", mode)
    function = rho.compile(f"{text}  ⍝ {mode}")
    for _ in range(20):
        with pytest.raises(RunFailed, match="E703"):
            function([1.5, 2.0])


@pytest.mark.parametrize(("typed", "shown"), [("3 70", "70"), ("3 ¯1", "¯1")])
@pytest.mark.parametrize("engine", ["run", "reference"])
@pytest.mark.parametrize("template", SHIFTS)
def test_a_shift_out_of_range_says_so_when_run(
    template: str, engine: str, typed: str, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.csv").write_text("\n".join(typed.replace("¯", "-").split()) + "\n", encoding="utf-8")
    (tmp_path / "p.rho").write_text(f"input x : i64[n]\noutput y ← {template.format(x='x')}\n", encoding="utf-8")
    command = ["run", str(tmp_path / "p.rho"), "--in", f"x={tmp_path / 'x.csv'}"]
    assert main([*command, *(["--verify"] if engine == "reference" else [])]) == 1
    assert f"error[E310]: a shift of i64 is by 0 to 63 bits, but this is {shown}" in capsys.readouterr().err


def test_a_negative_index_is_written_as_rho_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.csv").write_text("3\n-1\n", encoding="utf-8")
    for text in ("(⍳5)[x]", "{⍵+(2×⍳5)[⍺]}⍣x ⊢ 0"):
        (tmp_path / "p.rho").write_text(f"input x : i64[n]\noutput y ← {text}\n", encoding="utf-8")
        assert main(["run", str(tmp_path / "p.rho"), "--in", f"x={tmp_path / 'x.csv'}"]) == 1
        assert "index ¯1 (counted" in capsys.readouterr().err
