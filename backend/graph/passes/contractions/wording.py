"""A tree of products in the words of the language: `(+/v)×+/w` for whoever takes an offer; None where that needs more than
transpositions, sums and products of vectors and matrices that have a name.

Neighbours: `tree`; `shell.display.offers` (puts it into a program).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from .....lang.records import dataclass
from ...phases import ValueId
from .index_form import Index, Region
from .tree import Part, Tree


@dataclass(frozen=True, slots=True)
class _Words:
    """An expression and the index of each of its axes; `whole`: may it stand on the left of a function as it is?"""

    text: str
    indices: tuple[Index, ...]
    whole: bool = False

    @property
    def left(self) -> str:
        return self.text if self.whole else f"({self.text})"


def written(region: Region, tree: Tree, names: Mapping[ValueId, str]) -> str | None:
    """See the module.  A name must stand for one value."""
    shared = Counter(names.values())
    if region.repetitions != 1 or any(shared[names.get(operand.value, "")] != 1 for operand in region.operands):
        return None
    found = _part(tree.part, region, names, frozenset(region.result))
    turned = None if found is None else _turned(found, region.result)
    return None if turned is None else turned.text


def _part(part: Part, region: Region, names: Mapping[ValueId, str], kept: frozenset[Index]) -> _Words | None:
    """`kept`: the indices that the result or something else needs."""
    if isinstance(part, int):
        operand = region.operands[part]
        repeated = len(set(operand.indices)) < len(operand.indices) or len(operand.indices) > 2
        return None if repeated else _summed(_Words(names[operand.value], operand.indices, True), kept)
    left, right = (_indices(one, region) for one in part)
    first, second = _part(part[0], region, names, kept | right), _part(part[1], region, names, kept | left)
    return None if first is None or second is None else _joined(first, second, kept)


def _indices(part: Part, region: Region) -> frozenset[Index]:
    if isinstance(part, int):
        return frozenset(region.operands[part].indices)
    return _indices(part[0], region) | _indices(part[1], region)


def _summed(words: _Words, kept: frozenset[Index]) -> _Words:
    """Over the indices that nothing else needs."""
    for place in range(len(words.indices) - 1, -1, -1):
        if words.indices[place] not in kept:
            glyph = "+/" if place == len(words.indices) - 1 else "+⌿"
            words = _Words(glyph + words.text, (*words.indices[:place], *words.indices[place + 1 :]))
    return words


def _joined(first: _Words, second: _Words, kept: frozenset[Index]) -> _Words | None:
    both = [index for index in first.indices if index in second.indices]
    summed = [index for index in both if index not in kept]
    if len(summed) == 1 and both == summed:
        (index,) = summed
        a = _turned(first, (*(one for one in first.indices if one != index), index))
        b = _turned(second, (index, *(one for one in second.indices if one != index)))
        return None if a is None or b is None else _Words(f"{a.left}+.×{b.text}", (*a.indices[:-1], *b.indices[1:]))
    if not both and first.indices and second.indices:
        return _Words(f"{first.left}∘.×{second.text}", (*first.indices, *second.indices))
    if not first.indices or not second.indices:
        return _Words(f"{first.left}×{second.text}", first.indices or second.indices)
    same = _turned(second, first.indices)
    return None if same is None else _summed(_Words(f"{first.left}×{same.text}", first.indices), kept)


def _turned(words: _Words, indices: tuple[Index, ...]) -> _Words | None:
    """With its axes in another order."""
    if words.indices == indices:
        return words
    return _Words(f"⍉{words.left}", indices) if words.indices[::-1] == indices and len(indices) == 2 else None
