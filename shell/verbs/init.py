"""`rho init DIR`: a project small enough to read at once, with data, a program, a module and a test that pass."""

from __future__ import annotations

from pathlib import Path

from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import write_whole

FILES = {
    "main.rho": """\
⍝ Mean and spread of each column of a table.
use "./columns.rho"
input table : f64[n m] ← "data.csv" where n ≥ 1

mean ← columns.mean table
spread ← columns.spread table
output mean
mean
spread
""",
    "columns.rho": """\
⍝ Functions on the columns of a table.

⍝ >>> columns.mean 2 2⍴1 2 3 6
⍝ 2 4
mean : f64[n m] → f64[m]
mean ← {(+⌿⍵)÷≢⍵}

⍝ >>> columns.spread 2 2⍴1 2 3 6
⍝ 2 4
spread : f64[n m] → f64[m] where n ≥ 1
spread ← {(⌈⌿⍵)-⌊⌿⍵}
""",
    "data.csv": "1,10\n2,20\n3,60\n",
    "README.md": """\
# A Rho project

    rho run main.rho                         # with the data beside it
    rho run main.rho --out mean=mean.csv     # and save the output
    rho test .                               # run the examples in the comments and below

```rho
+/⍳10
⍝ → 45
```
""",
}


def run(arguments: Arguments, console: Console) -> Exit:
    folder = Path(arguments.positional[0])
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; name a folder to make")
    taken = sorted(name for name in FILES if (folder / name).exists())
    if taken:
        raise UsageError(f"`{folder}` already has {', '.join(taken)}; nothing was written", "name a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise UsageError(f"`{folder}` cannot be made: {error.strerror}") from error
    console.print(f"made {folder}: try `rho run {folder / 'main.rho'}` and `rho test {folder}`")
    return Exit.OK
