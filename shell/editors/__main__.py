"""`python -m rho.shell.editors [FOLDER]`: write the generated editor files (default: `editors/` of this checkout)."""

from __future__ import annotations

import sys
from pathlib import Path

from .editor_files import generated_files


def main(words: list[str]) -> None:
    folder = Path(words[0]) if words else Path(__file__).resolve().parents[2] / "editors"
    for name, text in generated_files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
