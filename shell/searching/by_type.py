"""Search by type: every function that fits, the nearest first; and what may be meant if none does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .catalogue import Entry
from .matching import match
from .types import Function, NoType, read


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
    arguments, _, result = text.rpartition("→")
    holes = " → ".join(["_"] * len(asked.arguments))
    found = []
    for written in (f"{arguments.strip()} → _", f"{holes} → {result.strip()}"):
        count = len(search(read(written), entries))
        if count:
            found.append(f"rho search '{written}' finds {count}")
    return found
