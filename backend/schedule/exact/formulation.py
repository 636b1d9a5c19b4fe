"""The scheduling problem as formulas: difference constraints guarded by Booleans, for a makespan fixed per probe.

`x` chooses a mode, `s` is the start of a shard, `y` and `u` say that a transfer happens and when, `c` is the start of a combine;
one order Boolean stands for each unrelated pair that may share a device.  What rarely matters is left out until a model breaks
it (`separate` for channels, `lengthen` for hulls, `memory` for peaks); so every refutation holds, and a model is checked.

Invariant: each schedule of the problem with the candidate modes satisfies the formulas (with its own ticks).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..timeline.problem_index import Channel
from .transfer_constraints import TransferConstraints
from .variables import OptionalTransfer, Route, TimePoint
from .z3_solver import negation

# ---------------------------------------------------------------------------------------------------- formulation

__all__ = ["Formulation", "OptionalTransfer", "Route", "TimePoint"]


class Formulation(TransferConstraints):
    """All formulas of a problem with candidate modes."""

    def build(self) -> None:
        """Assert all formulas except the lazy constraints."""
        shape = self.shape
        for p in range(shape.count):
            self.add_phase(p)
        for edge in range(len(shape.problem.edges)):
            self.add_data(edge)
        for p in range(shape.count):
            if shape.combined[p]:
                self.add_combine(p)
        for q, earlier in enumerate(shape.decoder.constraints.start_after):
            for p in dict.fromkeys(earlier):
                self.add_precedence(p, q)
        for q, earlier in enumerate(shape.decoder.constraints.issue_after):
            for p in dict.fromkeys(earlier):
                self.add_issue_order(p, q)
        self.add_required_copies()
        self.add_exclusions()
        if shape.decoder.constraints.machines is not None:
            self.limit_machines(shape.decoder.constraints.machines)

    # ---------------------------------------------------------------------------- structure

    def add_phase(self, p: int) -> None:
        literals = self.mode_literals[p]
        if not literals:
            self.solver.add("false")
        if len(literals) > 1:
            self.solver.clause(literals)
            self.solver.at_most([(literal, 1) for literal in literals], 1)
        for k, pieces in enumerate(self.shape.pieces[p]):
            for piece, head in zip(pieces, self.heads.head[p][k], strict=True):
                self.clause(negation(literals[k]), f"(>= {self.start(p, piece.device)} {head})")

    def add_data(self, edge: int) -> None:
        """The target's shards start after their operands have arrived."""
        described = self.shape.problem.edges[edge]
        p, q = int(described.source), int(described.target)
        needed = self.accesses(edge)
        delayed = self.shape.decoder.edge_keys[edge] >= 0
        by_maker: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
        for (maker, target), guards in needed.items():
            for guard in guards:
                by_maker.setdefault(maker, []).append((target, guard))
        if not self.shape.split[q] and not self.shape.scattered[p]:
            for maker in by_maker:  # on whichever device the target runs
                for moment in self.output_ready(p, maker):
                    self.add_after((), self.start(q, -1), moment)
        for maker, entries in by_maker.items():
            for target, guard in entries:
                start = self.start(q, target)
                if maker == target:
                    if self.shape.split[q] or self.shape.scattered[p]:
                        for moment in self.output_ready(p, maker):
                            self.add_after(guard, start, moment)
                elif delayed:
                    for moment in self.output_ready(p, maker):
                        self.add_after(guard, start, moment, self.shape.delay(edge, maker, target))
                    if self.shape.decoder.has_memory_limits:
                        self._add_delayed_copy(edge, maker, target, guard, start)
                else:
                    self._add_delivery(edge, maker, target, guard, start)

    # --------------------------------------------------------------------------- directives

    def add_precedence(self, p: int, q: int) -> None:
        for literal, start in self.starts(q):
            for moment in self.ends(p):
                self.add_after((literal,), start, moment)

    def add_issue_order(self, p: int, q: int) -> None:
        """The first shard of p starts no later than any of q, and goes first on a device that both use."""
        earliest = self.starts(p)
        for literal, start in self.starts(q):
            choices = []
            for other, begin in earliest:
                held = f"(>= (- {start} {begin}) 0)"
                choices.append(held if other == "true" else f"(and {other} {held})")
            self.clause(negation(literal), *choices)
        for device in self.shape.devices[p]:
            if device in self.shape.devices[q]:
                self._first(p, q, device)

    def _first(self, p: int, q: int, device: int, guards: Sequence[str] = ()) -> None:
        both = (*guards, self.runs_on(p, device), self.runs_on(q, device))
        for moment in self.shard_ends(p, device):
            self.add_after(both, self.start(q, device), moment)

    def add_required_copies(self) -> None:
        """`keep` and `replicate`: outputs are transferred to the devices that require them."""
        constraints = self.shape.decoder.constraints
        for p, targets in constraints.required_copies.items():
            for target in sorted(targets):
                self._copy(p, target, "true")
        for p in sorted(constraints.replicated):
            for target in sorted({d for q in range(self.shape.count) for d in self.shape.devices[q]}):
                self._copy(p, target, self.is_used(target))

    def _copy(self, p: int, target: int, guard: str) -> None:
        if not self.shape.decoder.has_links:
            return
        for maker in self.shape.producer_devices(p):
            if maker != target:
                sent = self.transfer(p, maker, target)
                self.clause(negation(guard), negation(self.is_made_on(p, maker)), sent.present)

    def limit_machines(self, limit: int) -> None:
        """At most so many devices have a shard."""
        devices = sorted({d for p in range(self.shape.count) for d in self.shape.devices[p]})
        weighted = [(self.is_used(d), 1) for d in devices]
        self.solver.at_most(weighted, limit)

    # ---------------------------------------------------------------------------- resources

    def order(self, first: str, then: str) -> str:
        """The literal that `first` precedes `then` on their shared resource."""
        if (then, first) in self._orders:
            return negation(self._orders[then, first])
        if (first, then) not in self._orders:
            self._orders[first, then] = self.solver.boolean(f"b!{first}!{then}")
        return self._orders[first, then]

    def add_exclusions(self) -> None:
        """Exclusive devices: of any two items on one device, one ends before the other starts."""
        shape = self.shape
        for p in range(shape.count):
            for q in range(p + 1, shape.count):
                if q in shape.precedes[p] or p in shape.precedes[q]:
                    continue
                for device in shape.devices[p]:
                    if device in shape.devices[q]:
                        self._either(p, q, device)
        for p in range(shape.count):
            if not shape.combined[p]:
                continue
            for q in range(shape.count):
                if q != p and q not in shape.precedes[p] and p not in shape.precedes[q] and shape.home in shape.devices[q]:
                    first = self.order(f"c{p}", f"s{q}")
                    for moment in self.combine_ends(p):
                        self.add_after((first, self.runs_on(q, shape.home)), self.start(q, shape.home), moment)
                    for moment in self.shard_ends(q, shape.home):
                        self.add_after((negation(first),), f"c{p}", moment)
                if q > p and shape.combined[q] and q not in shape.precedes[p] and p not in shape.precedes[q]:
                    first = self.order(f"c{p}", f"c{q}")
                    for moment in self.combine_ends(p):
                        self.add_after((first,), f"c{q}", moment)
                    for moment in self.combine_ends(q):
                        self.add_after((negation(first),), f"c{p}", moment)

    def _either(self, p: int, q: int, device: int) -> None:
        shape = self.shape
        if shape.split[p] or shape.split[q]:
            first = self.order(f"s{p}_{device}", f"s{q}_{device}")
        else:
            first = self.order(f"s{p}", f"s{q}")
        if first == "true":
            return
        self._first(p, q, device, (first,))
        self._first(q, p, device, (negation(first),))

    def channel_ends(self, sent: OptionalTransfer) -> dict[Channel, list[Route]]:
        """The routes of a transfer by the channel that they occupy."""
        result: dict[Channel, list[Route]] = {}
        for route in sent.routes:
            if route.hop is not None and route.hop.channel is not None:
                result.setdefault(route.hop.channel, []).append(route)
        return result

    def add_disjunction(self, one: OptionalTransfer, other: OptionalTransfer) -> bool:
        """Two transfers do not overlap on a channel that both may use; False if that was asserted already."""
        key = (min(one.start, other.start), max(one.start, other.start))
        if key in self._separated:
            return False
        self._separated.add(key)
        first = self.order(one.start, other.start)
        theirs = self.channel_ends(other)
        for channel, routes in self.channel_ends(one).items():
            for route in routes:
                for match in theirs.get(channel, ()):
                    both = (one.present, other.present, route.here, match.here)
                    self.add_after((*both, first), other.start, one.busy_moments(route))
                    self.add_after((*both, negation(first)), one.start, other.busy_moments(match))
        return True

    def add_duration(self, sent: OptionalTransfer, guards: tuple[str, ...], ticks: int) -> bool:
        """The transfer takes at least `ticks` under these guards; False if that was asserted already or is implied."""
        key = (sent.start, str(ticks), *guards)
        if sent.busy is None or key in self._lengthened:
            return False
        self._lengthened.add(key)
        self.solver.clause((*map(negation, guards), negation(sent.present), f"(>= (- {sent.busy} {sent.start}) {ticks})"))
        return True


# ---------------------------------------------------------------------------------------------------- valid inequalities
#
# Valid inequalities of a makespan T: latest starts, and the work that fits between heads and tails on each device and channel.
#
# They are asserted for each probe, because T is a constant in them.

class ValidInequalities:
    """The loads of a formulation's devices and channels, collected once."""

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation
        shape = formulation.shape
        self.devices: dict[int, list[tuple[str, int, int, int]]] = {}
        """By device: (literal, ticks, head, tail)."""
        for p, k, _, piece, head, tail in formulation.heads.pieces():
            literal = formulation.mode_literals[p][k]
            self.devices.setdefault(piece.device, []).append((literal, piece.ticks, head, tail))
        for p in range(shape.count):
            combine = shape.problem.phases[p].combine
            if combine is not None:
                for k, literal in enumerate(formulation.mode_literals[p]):
                    ticks = combine.ticks_per_shard * len(shape.modes[p][k])
                    head = formulation.heads.finish(p, k) - ticks
                    self.devices.setdefault(shape.home, []).append((literal, ticks, head, formulation.heads.combine_tail[p]))
        self.channels: dict[Channel, list[tuple[str, int, int, int]]] = {}
        self._channels()

    def _channels(self) -> None:
        formulation = self.formulation
        for sent in formulation.transfers.values():
            for route in sent.routes:
                if route.hop is None or route.hop.channel is None:
                    continue
                least = min(route.occupied.values(), default=0)
                if least == 0:
                    continue
                literal = sent.present
                if route.here != "true" and route.here != sent.present:
                    literal = formulation.solver.boolean(f"r!{sent.start}!{route.producer}")
                    formulation.solver.clause((negation(sent.present), negation(route.here), literal))
                head, tail = self._head_and_tail(sent.phase, route.producer, sent.target, sent.partial)
                self.channels.setdefault(route.hop.channel, []).append((literal, least, head, tail))

    def _head_and_tail(self, p: int, maker: int, target: int, partial: bool) -> tuple[int, int]:
        """(earliest tick at which the output can be on `maker`, ticks that must follow its arrival on `target`)."""
        heads, shape = self.formulation.heads, self.formulation.shape
        if shape.combined[p] and not partial:
            head = min((heads.finish(p, k) for k in range(len(shape.modes[p]))), default=0)
        else:
            head = min(
                (
                    heads.head[p][k][i] + piece.ticks
                    for k, pieces in enumerate(shape.pieces[p])
                    for i, piece in enumerate(pieces)
                    if piece.device == maker
                ),
                default=0,
            )
        if partial:
            return head, heads.combine_tail[p]
        rests = [
            piece.ticks + heads.tail[q][k][i]
            for edge in shape.decoder.outgoing[p]
            for q in (int(shape.problem.edges[edge].target),)
            for k, pieces in enumerate(shape.pieces[q])
            for i, piece in enumerate(pieces)
            if piece.device == target
        ]
        relays = target == shape.home and any(
            path is not None and len(path) == 2
            for d in range(len(shape.decoder.kinds))
            if d != maker
            for path in (shape.path(maker, d),)
        )
        return head, 0 if relays else min(rests, default=0)

    def add_inequalities(self, makespan: int) -> None:
        """Assert all inequalities that hold for schedules of at most `makespan` ticks (the caller pushes and pops)."""
        formulation, solver = self.formulation, self.formulation.solver
        heads = formulation.heads
        for p, k, _, piece, head, tail in heads.pieces():
            latest = makespan - tail - piece.ticks
            literal = formulation.mode_literals[p][k]
            if latest < head:
                formulation.clause(negation(literal))
            else:
                formulation.clause(negation(literal), f"(<= {formulation.start(p, piece.device)} {latest})")
        for p in range(formulation.shape.count):
            if formulation.shape.combined[p]:
                for moment in formulation.combine_ends(p):
                    latest = makespan - heads.combine_tail[p] - moment.ticks
                    formulation.clause(*map(negation, moment.guards), f"(<= {moment.base} {latest})")
        for sent in formulation.transfers.values():
            if sent.phase in formulation.shape.decoder.required_elsewhere:
                for route in sent.routes:
                    moment = sent.busy_moments(route)
                    latest = makespan - moment.ticks - (route.hop.latency if route.hop is not None else 0)
                    formulation.clause(negation(sent.present), *map(negation, moment.guards), f"(<= {moment.base} {latest})")
        for entries in (*self.devices.values(), *self.channels.values()):
            for limit, weighted in windows(entries, makespan):
                solver.at_most(weighted, limit)


def windows(entries: list[tuple[str, int, int, int]], makespan: int) -> list[tuple[int, list[tuple[str, int]]]]:
    """For each set of items with heads >= a and tails >= b, the limit of their total ticks: makespan - a - b.

    Returns the tightest limit per set, without sets that no choice of modes could violate.
    """
    by_set: dict[tuple[int, ...], int] = {}
    tails = sorted({entry[3] for entry in entries})
    for a in sorted({entry[2] for entry in entries}):
        after = [i for i, entry in enumerate(entries) if entry[2] >= a and entry[1]]
        for b in tails:
            members = tuple(i for i in after if entries[i][3] >= b)
            if not members:
                break
            by_set[members] = max(by_set.get(members, 0), a + b)
    result: list[tuple[int, list[tuple[str, int]]]] = []
    for members, used in by_set.items():
        limit = max(0, makespan - used)  # no tick is left where a and b alone exceed the makespan
        if sum(entries[i][1] for i in members) > limit:
            result.append((limit, [(entries[i][0], entries[i][1]) for i in members]))
    return result
