"""Checking one version of a program after another, paying for what changed: for editors, sessions and `check --watch`.

A `Checker` keeps bound statements by their texts and the outcomes of definitions by all that they mean
(`elaborate.sites`), and gives for every version exactly what `check` gives for it alone: diagnostics, core, types,
quantities and signatures.  Whatever is not certain to be the same is done again.

One checker serves one loader of modules and one strictness; it is not to be used by two threads at once.
"""

from __future__ import annotations

from ..lang.parser import Parsed
from ..lang.properties import cached_property
from ..lang.source import Source
from .check import CheckResult, LoadModule, check, no_modules
from .elaborate import programs
from .elaborate.sites import Memory


class Checker:
    """Checks versions of programs; `index_origin` overrides what files say."""

    def __init__(self, load_module: LoadModule = no_modules, *, strict: bool = False, index_origin: int | None = None) -> None:
        self._load_module = load_module
        self._strict = strict
        self._index_origin = index_origin
        self._memory = Memory()

    @cached_property
    def beside(self) -> Checker:
        """A checker of other texts by the same rules, so that this one's memory stays with its program."""
        return Checker(self._load_module, strict=self._strict, index_origin=self._index_origin)

    def read(self, source: Source, load_module: LoadModule | None = None) -> Parsed:
        """This version with what its names stand for, without checking it."""
        return programs.read(source, self._load_module if load_module is None else load_module, {}, self._memory)

    def check(self, source: Source, load_module: LoadModule | None = None) -> CheckResult:
        """The result of checking this version; `load_module` may read the modules anew."""
        load = self._load_module if load_module is None else load_module
        try:
            return check(source, load_module=load, strict=self._strict, index_origin=self._index_origin, memory=self._memory)
        finally:
            self._memory.turn()
