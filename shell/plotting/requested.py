"""`rho run --plot NAME[=FILE]`: what is to be drawn, checked before anything runs.

A value that is not an output of the program is made one for this run; of the results it is left out again.

Neighbours: `shell.verbs.run`; `drawable`, `terminal`, `figures`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ...lang.diagnostics import Refused
from ...lang.source import Source
from ..cli.arguments import Arguments, UsageError, near
from ..cli.console import Console
from ..cli.results import require_place
from ..execution.outcome import Outcome
from ..execution.permissions import Permissions
from ..session import Session
from ..stages import Loaded
from . import figures
from .drawable import Chart, NotDrawable, Picture, chart_of, require_chart

if TYPE_CHECKING:
    from ...backend.run.files import Prepared


@dataclass(frozen=True, slots=True)
class Drawing:
    """Names, of several the first for the x axis; what is made of them; the file the picture goes to, None: the terminal."""

    names: tuple[str, ...]
    path: str | None
    chart: Chart = Chart.PLAIN

    @property
    def option(self) -> str:
        kind = "" if self.chart is Chart.PLAIN else f"{self.chart.value}:"
        return f"--plot {kind}{','.join(self.names)}" + (f"={self.path}" if self.path else "")

    def picture(self, outcome: Outcome) -> Picture:
        """UsageError: the values do not go together."""
        try:
            return chart_of(self.chart, [outcome.outputs[name] for name in self.names], self.names)
        except NotDrawable as error:
            raise UsageError(f"{self.option}: {error}", error.hint) from None


@dataclass(frozen=True, slots=True)
class Drawings:
    """All that is to be drawn; `added` are names that the program does not output itself; `size` is that of every picture:
    columns and lines in the terminal, pixels in files."""

    wanted: tuple[Drawing, ...] = ()
    added: tuple[str, ...] = ()
    size: tuple[int, int] | None = None

    def program(self, source: Source, session: Session, *, stored: bool = False) -> tuple[Source, Drawings]:
        """The program with what is drawn among its outputs.  UsageError: a name that is none, or of no array; where the plan is
        `stored` already, one that it does not keep."""
        if not self.wanted:
            return source, self
        checked = session.check(source)
        if checked.core is None:
            return source, self
        outputs = [entry.name for entry in checked.core.outputs]
        arrays = [name for name, type in checked.types.items() if type not in _NO_ARRAYS and not type.startswith("(")]
        added = []
        for one, name in [(drawing, name) for drawing in self.wanted for name in drawing.names]:
            if name in outputs or name in added:
                continue
            if name not in arrays:
                shaped = [name for name in arrays if "[" in checked.types[name] or checked.types[name].startswith("perm")]
                raise _unknown(one, name, shaped, checked.types.get(name))
            if stored:
                raise UsageError(f"{one.option}: a stored plan keeps outputs only", f"add `output {name}` and plan again")
            added.append(name)
        if not added:
            return source, self
        ending = "" if source.text.endswith("\n") else "\n"
        text = source.text + ending + "".join(f"output {name}\n" for name in added)
        return Source(source.name, text), replace(self, added=tuple(added))

    def check(self, loaded: Loaded, permissions: Permissions) -> None:
        """UsageError, Refused: what cannot be drawn, or not there.  Called before any data is read."""
        core = loaded.core
        values = {entry.name: entry for entry in core.outputs}
        for one in self.wanted:
            entry = values[one.names[-1]]
            types = [core.types[values[name].value] for name in one.names]
            try:
                require_chart(one.chart, [(type_.element.kind, len(type_.shape)) for type_ in types])
            except NotDrawable as error:
                raise UsageError(f"{one.option}: {error}", error.hint) from None
            if one.path is not None and not permissions.may_write(one.path):
                raise Refused([permissions.write_refusal(one.path, entry.span)])

    def without(self, outcome: Outcome) -> Outcome:
        """The results that the program itself has."""
        if not self.added:
            return outcome
        return replace(outcome, outputs={name: value for name, value in outcome.outputs.items() if name not in self.added})

    def files(self, loaded: Loaded, outcome: Outcome) -> list[Prepared]:
        """Pictures made, to be written with the outputs."""
        from ...backend.run.files import Prepared

        spans = {entry.name: entry.span for entry in loaded.core.outputs}
        prepared = []
        for one in self.wanted:
            if one.path is not None:
                content = figures.figure(one.picture(outcome), Path(one.path).suffix[1:].lower(), self.size)
                prepared.append(Prepared(one.path, partial(_write, content), spans[one.names[-1]]))
        return prepared

    def show(self, outcome: Outcome, console: Console, write: Callable[[str], None]) -> None:
        """What goes to the terminal."""
        from .terminal import draw

        for one in self.wanted:
            if one.path is None:
                for line in draw(one.picture(outcome), console, self.size):
                    write(line)


_NO_ARRAYS = ("function", "operator", "module")


def drawings_of(arguments: Arguments) -> Drawings:
    """What the options ask; UsageError for files that cannot be drawn."""
    wanted = []
    for text in arguments.values("--plot"):
        asked, equals, path = text.partition("=")
        kind, colon, listed = asked.rpartition(":")
        names = tuple([name.strip() for name in listed.split(",")])
        charts = {chart.value: chart for chart in Chart}
        if colon and kind not in charts:
            raise UsageError(f"--plot {text}: there is no chart `{kind}`", f"there are {', '.join(charts)}")
        one = Drawing(names, path or None, charts.get(kind, Chart.LINE if len(names) > 1 else Chart.PLAIN))
        if not all(names) or (equals and not path):
            raise UsageError(f"`--plot {text}` is not of the form --plot NAME or --plot NAME=FILE")
        if one.path is not None:
            _check_file(one, one.path)
        wanted.append(one)
    return Drawings(tuple(wanted), size=_size_of(arguments.value("--plot-size")))


_SIZE = re.compile(r"([0-9]{1,4})x([0-9]{1,4})", re.ASCII)


def _size_of(text: str | None) -> tuple[int, int] | None:
    found = None if text is None else _SIZE.fullmatch(text)
    if text is not None and (found is None or min(int(found[1]), int(found[2])) < 4):
        raise UsageError(f"--plot-size {text}: a width and a height such as 100x20")
    return None if found is None else (int(found[1]), int(found[2]))


def _check_file(one: Drawing, path: str) -> None:
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in figures.FORMATS:
        raise UsageError(f"{one.option}: pictures are {' or '.join(figures.FORMATS)} files")
    if not figures.is_there():
        without = one.option.partition("=")[0]
        raise UsageError(f"{one.option}: {figures.MISSING}", f"{figures.ADVICE}; {without} draws in the terminal")
    require_place(path, f"{one.option}: `{path}`")


def _write(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _unknown(one: Drawing, name: str, arrays: Sequence[str], type_: str | None) -> UsageError:
    if type_ is not None:
        what = "a tuple" if type_.startswith("(") else f"{'an' if type_[0] in 'aeiou' else 'a'} {type_}"
        return UsageError(f"{one.option}: `{name}` is {what}, which is not drawn", "vectors and matrices are")
    known = ", ".join(f"`{known}`" for known in arrays)
    message = f"{one.option}: this program has no value `{name}`{near(name, arrays)}"
    return UsageError(message, f"its values are {known}" if known else "")
