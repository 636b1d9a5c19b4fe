"""`rho init DIR`: a project small enough to read at once, with data, a program, a module and a test that pass.

`rho init --from sales.csv`: a program with an `input` line for each column.
"""

from __future__ import annotations

from pathlib import Path

from ..cli.arguments import Arguments, NotWritten, UsageError
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import rewrite

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
    table = arguments.value("--from")
    if table is not None:
        return _from_table(table, arguments, console)
    if not arguments.positional:
        raise UsageError("rho init: needs DIR, or --from FILE", "for example: rho init waves, rho init --from sales.csv")
    folder = Path(arguments.positional[0])
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"`{folder}` is a file; name a folder to make")
    taken = sorted(name for name in FILES if (folder / name).exists())
    if taken:
        raise UsageError(f"`{folder}` already has {', '.join(taken)}; nothing was written", "name a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritten(f"`{folder}` cannot be made: {error.strerror}") from error
    for name, text in FILES.items():
        rewrite(folder / name, text)
    console.print(f"made {folder}: try `rho run {folder / 'main.rho'}` and `rho test {folder}`")
    return Exit.OK


def _from_table(table: str, arguments: Arguments, console: Console) -> Exit:
    """A program that reads every column of a table."""
    from ...backend.run.files.trouble import FileTrouble, system_errors
    from ..execution.sniffing import program_of

    if not table.lower().endswith((".csv", ".tsv")):
        raise UsageError(f"--from {table}: a table is a csv or a tsv file")
    target = Path(arguments.positional[0]) if arguments.positional else Path(Path(table).stem + ".rho")
    if target.exists():
        raise UsageError(f"`{target}` is there already; nothing was written", f"name another: rho init --from {table} NAME.rho")
    try:
        with system_errors():
            text = program_of(table, str(target.parent))
    except FileTrouble as trouble:
        raise UsageError(f"--from {table}: the file {trouble.message}", *trouble.notes[:1]) from None
    rewrite(target, text)
    console.print(f"made {target}: add what to compute, then `rho run {target}`")
    return Exit.OK
