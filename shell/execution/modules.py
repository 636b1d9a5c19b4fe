"""Reads the modules that `use` names, once for a program; caches checked programs; binds sizes from numbers, arrays and headers.

`use stats` is `stats.rho` of the standard library; `use "./x.rho"` is relative to the file that contains it.
A file outside the permitted folders is E707.  `typechecker.check` calls `ModuleLoader.load` and finds cycles itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ... import __version__
from ...lang.diagnostics.model import Refused, RhoError
from ...lang.support.bounded_parsing import is_url
from ...lang.support.caches import Cache, code_version
from ...lang.support.files import Pipes
from ...lang.support.records import replace
from ...lang.syntax.source import LIBRARY_PREFIX, Source, Span, module_name
from ...typechecker.core.operations import Core, CoreInput
from ...typechecker.sizes.polynomials import SizeVariable
from ..console.process_exit import UsageError
from ..console.standard_streams import read_source
from .params import Permissions, param_values_of

if TYPE_CHECKING:
    from ...backend.graph.bind_sizes import BoundGraph
    from ...lang.diagnostics.model import Diagnostic


# ---------------------------------------------------------------------------------------------------- modules

class ModuleLoader:
    """Reads the modules of one program.
    `folder` is the folder of a program without a file (`rho eval`); `texts` has the modules that are not read from disk, by
    name."""

    def __init__(self, folder: str, permissions: Permissions, texts: Mapping[str, Source] | None = None) -> None:
        self._folder = folder
        self._permissions = permissions
        self._texts = texts or {}
        self._sources: dict[str, Source | None] = {}
        self.uses: dict[tuple[str, str | None], Source | None] = {}
        """The texts that `load` has returned, by its arguments."""

    def load(self, module: str, importer: str | None) -> Source | None:
        """The text of a module, by library name or path, that the file `importer` uses; None if there is no such file.

        Refused E707: it is outside the permitted folders; UsageError: it cannot be read.
        """
        name = module_name(module, importer or "<eval>", self._folder)
        if name not in self._sources:
            self._sources[name] = self._read(name, importer or "<eval>")
        self.uses[module, importer] = self._sources[name]
        return self._sources[name]

    @property
    def sources(self) -> tuple[Source, ...]:
        """Every module read so far (messages show their lines)."""
        return tuple(source for source in self._sources.values() if source is not None)

    def _read(self, name: str, importer: str) -> Source | None:
        from ..display.documentation import STDLIB

        if name in self._texts:
            return self._texts[name]
        if name.startswith(LIBRARY_PREFIX):
            path = STDLIB / name.removeprefix(LIBRARY_PREFIX)
            return read_source(str(path), name, Pipes.REFUSED) if path.parent == STDLIB and path.is_file() else None
        if not os.path.isfile(name):
            return None
        if not self._permissions.may_read(name):
            raise Refused([self._permissions.refusal(name, Span(importer, 0, 0))])
        return read_source(name, pipes=Pipes.REFUSED)


# ---------------------------------------------------------------------------------------------------- checked programs
#
# A cache in the user's cache folder, so that a file whose texts have not changed is not checked again by its next run.
#
# An entry has the outcome of checking, and the text of each module that was loaded, which must be unchanged.  Its key is the
# program's name and text, the version of the checker's modules, and the settings.

PROGRAM_CACHE: Final = "RHO_PROGRAM_CACHE"
"""The environment variable that names another folder, or is `off`."""
_CHECKED: Final = Cache("programs", PROGRAM_CACHE, ".core", 4 << 20, 1000)


def read_checked(source: Source, loader: ModuleLoader, settings: str) -> tuple[Core, tuple[Diagnostic, ...]] | None:
    """The core and the diagnostics of a program that was accepted with these settings and the same texts; None if it was not."""
    stored = _CHECKED.read_value(_key(source, settings))
    if stored is None:
        return None
    core, diagnostics, uses = stored
    with suppress(RhoError, UsageError):  # which checking raises again
        if all(loader.load(module, importer) == text for (module, importer), text in uses.items()):
            return core, diagnostics
    return None


def write_checked(source: Source, loader: ModuleLoader, settings: str, core: Core, diagnostics: tuple[Diagnostic, ...]) -> None:
    """Store an accepted program, best effort."""
    _CHECKED.write_value(_key(source, settings), (core, diagnostics, loader.uses))


def _key(source: Source, settings: str) -> str:
    solver = find_spec("z3")
    version = f"{__version__} {code_version('lang', 'typechecker')}"
    return f"{version}\n{settings}\n{solver and solver.origin}\n{source.name}\n{source.text}"


# ---------------------------------------------------------------------------------------------------- sizes
#
# A program's sizes come from numbers by name, then from arrays, then from the headers of its data files.
#
# Estimates and plans need sizes and no data, so a number overrides the size of the data.

MAXIMUM_TEXT: Final = 1 << 20
"""The largest text file, in bytes, whose rows are counted while someone types (hints of editors)."""
_WITH_HEADER: Final = (".npy", ".png")
Shapes = Mapping[str, Sequence[int]]


class MissingSizes(UsageError):
    """No number, array or header determines these sizes."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = ", ".join(names)
        super().__init__(f"nothing says how large this program's data is: {self.names}", f"give {size_flags(names)}")


def size_flags(names: Sequence[str]) -> str:
    """The options that give sizes: `--size n=N --size m=N`."""
    return " ".join(f"--size {name}=N" for name in names)


def sizes_of(core: Core) -> tuple[SizeVariable, ...]:
    """The sizes that a caller chooses: params, and those in the types of inputs."""
    sizes: dict[SizeVariable, None] = dict.fromkeys(param.variable for param in core.params)
    for entry in core.inputs:
        for size in core.types[entry.value].shape:
            sizes.update(dict.fromkeys(size.variables()))
    return tuple(sizes)


def bind_known_sizes(
    core: Core, numbers: Mapping[str, int], shapes: Shapes, headers: Callable[[Core], Shapes],
    without: frozenset[str] = frozenset(), files: Collection[str] = (),
) -> BoundGraph:  # fmt: skip
    """The program with its sizes bound: from `numbers` by name, then from `shapes` of inputs, then from `headers` of inputs that
    still lack a size.

    Headers are read for inputs whose path the program names, and those of `files`; params without a number have their defaults.
    Raises MissingSizes; Refused: facts that do not hold, shapes that disagree; RunFailed: a header cannot be read.
    """
    from ...backend import bind_shapes
    from ...backend.vm.input_sizes import sizes_from

    shapes = {name: array.shape for name, array in param_values_of(core, {}).arrays.items()} | dict(shapes)
    known = {param.variable: param.default for param in core.params}
    known.update({variable: numbers[variable.name] for variable in sizes_of(core) if variable.name in numbers})
    known = sizes_from(core, shapes, known)
    absent = [entry for entry in core.data if entry.name not in shapes and _unknown_sizes(core, entry, known)]
    if readable := [entry for entry in absent if entry.path is not None or entry.name in files]:
        known = sizes_from(core, headers(with_only_inputs(core, readable)), known)
    lacking = {variable.name: None for entry in absent for variable in _unknown_sizes(core, entry, known)}
    if lacking:
        raise MissingSizes(list(lacking))
    every = {
        entry.name: tuple(size.evaluate(known) for size in core.types[entry.value].shape)
        for entry in core.inputs if entry.name not in shapes
    }  # fmt: skip
    return bind_shapes(core, {**every, **shapes}, {param.name: known[param.variable] for param in core.params}, without=without)


def header_reader(
    folder: str, permissions: Permissions | None = None, given: Mapping[str, str] | None = None
) -> Callable[[Core], Shapes]:  # fmt: skip
    """A function that reads the shapes of a program's inputs from the headers of their files.
    `folder` is the program's; `given` has paths by input name that override those in the program."""

    def read(core: Core) -> Shapes:
        from .loading import find_inputs

        files = find_inputs(core, given or {}, folder, permissions or Permissions.of([folder or "."], []))
        return {name: file.shape for name, file in files.items()}

    return read


def bind_header_sizes(core: Core, folder: str) -> BoundGraph | None:
    """The program with the sizes of its data; None if some are missing, or reading them needs the rows of a long text file or a
    URL.

    Refused, RunFailed: a header cannot be read, or does not fit.
    """
    if any(is_url(entry.path or "") or _is_long(os.path.join(folder, entry.path or "")) for entry in core.data):
        return None
    try:
        return bind_known_sizes(core, {}, {}, header_reader(folder))
    except MissingSizes:
        return None


def with_only_inputs(core: Core, entries: Sequence[CoreInput]) -> Core:
    """The program with only these inputs."""
    return replace(core, inputs=tuple(entries))


def _unknown_sizes(core: Core, entry: CoreInput, known: Mapping[SizeVariable, int]) -> list[SizeVariable]:
    return [one for size in core.types[entry.value].shape for one in size.variables() if one not in known]


def _is_long(path: str) -> bool:
    """Is the file a long text, whose rows would have to be counted?"""
    try:
        return not path.endswith(_WITH_HEADER) and os.path.getsize(path) > MAXIMUM_TEXT
    except (OSError, ValueError):
        return True
