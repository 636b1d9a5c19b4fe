"""Search by type: every function that fits, the nearest first; and what may be meant if none does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .catalogue import Entry
from .matching import match
from .types import Function, Hole, NoType, read


@dataclass(frozen=True, slots=True)
class Fit:
    """`how` is empty where the function is applied as it is."""

    cost: int
    entry: Entry
    type: str
    how: str


def search(asked: Function, entries: Iterable[Entry]) -> list[Fit]:
    """Best first, each function once."""
    found: list[Fit] = []
    for entry in entries:
        fits: list[Fit] = []
        for written in entry.types:
            try:
                given = read(written)
            except NoType:
                continue  # a signature beyond what can be searched for
            fit = match(asked, given)
            if fit is not None:
                fits.append(Fit(fit.cost, entry, written, fit.how))
        if fits:
            found.append(min(fits, key=lambda fit: fit.cost))
    return sorted(found, key=lambda fit: (fit.cost, fit.entry.origin, fit.entry.name))


def wider(asked: Function, text: str, entries: tuple[Entry, ...]) -> list[str]:
    """Searches near one that found nothing which do find something, with how much."""
    arguments, _, _ = text.rpartition("→")
    candidates = [(f"{arguments.strip()} → _", replace(asked, result=Hole()))]
    result = text.rpartition("→")[2].strip()
    holes = " → ".join(["_"] * len(asked.arguments))
    candidates.append((f"{holes} → {result}", replace(asked, arguments=tuple([Hole() for _ in asked.arguments]))))
    found = []
    for written, wide in candidates:
        count = len(search(wide, entries))
        if count:
            found.append(f"rho search '{written}' finds {count}")
    return found
