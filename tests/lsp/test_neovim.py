"""A real Neovim with the files of `editors/neovim`: diagnostics, hover, completion, formatting, a fix, renaming, typing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls")
ROOT = Path(__file__).parents[2]
NVIM = shutil.which("nvim")


@pytest.mark.skipif(NVIM is None, reason="there is no nvim here")
def test_neovim(tmp_path: Path) -> None:
    assert NVIM is not None
    program, report = tmp_path / "one.rho", tmp_path / "report.json"
    program.write_text("⍝ Sums.\ntotal ← +/1 2 3\ntotla + 1\n", encoding="utf-8")
    command = [sys.executable, "-m", "rho.shell", "lsp"]
    start = "lua require('rho').setup({ cmd = vim.fn.json_decode(vim.env.RHO_LSP) })"
    environment = {
        **os.environ, "RHO_REPORT": str(report), "RHO_LSP": json.dumps(command), "RHO_VERDICTS": "off", "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    ran = subprocess.run(
        [NVIM, "--headless", "-n", "-u", "NONE", "--cmd", f"set runtimepath^={ROOT / 'editors' / 'neovim'}", "--cmd",
         "filetype plugin on | syntax on | runtime plugin/rho.lua", "--cmd", start, str(program),
         "-c", f"luafile {Path(__file__).with_name('neovim.lua')}"],
        env=environment, capture_output=True, timeout=300, check=False,
    )  # fmt: skip
    assert report.exists(), ran.stderr.decode()
    found = json.loads(report.read_text(encoding="utf-8"))
    assert "problem" not in found, (found, ran.stderr.decode())
    assert found["filetype"] == "rho" and found["syntax"] == "rhoComment"
    assert found["first"] == ["E001"] and found["place"] == [2, 0]
    assert found["action"] == "write `total`" and found["repaired"][2] == "total + 1"
    assert "total : 1" in found["hover"] and found["definition"] == 1 and found["completes"] is True
    assert any("i64" in hint for hint in found["hints"])
    assert found["formatted"] == ["x ← ⍳3", "y ← x+1"]
    assert found["renamed"] == ["'𝔸' ⋄ xyz ← 1", "xyz + xyz"]
    assert found["typed"] == "x←⍳ 3"
