"""Transfers as formulas: when an output must be brought, over which hops, how long they take; partial results on their way home.

A transfer is declared when a consumer may need it.  Its length is the longest that the chosen modes ask for; what the hull of
several consumers adds is left to `Encoding.lengthen`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .variables import OptionalTransfer, Route, SolverVariables, TimePoint
from .z3_solver import negation

MOST_MERGED: Final = 5
"""Partials up to which every order of their arrival is stated."""


class TransferConstraints(SolverVariables):
    """The transfers of a problem."""

    def transfer(self, p: int, maker: int, target: int) -> OptionalTransfer:
        """The transfer of the output of `p` from `maker` (-1: its only one) to `target`, declared on first use."""
        key = (p, maker if self.shape.scattered[p] else -1, target)
        transfer = self.transfers.get(key)
        if transfer is not None:
            return transfer
        stem = f"{p}_{target}" if key[1] < 0 else f"{p}_{key[1]}_{target}"
        present = self.solver.boolean(f"y{stem}")
        start = self.solver.integer(f"u{stem}")
        sent = self.transfers[key] = OptionalTransfer(p, key[1], target, present, start, None, [])
        makers = [d for d in self.shape.producer_devices(p) if key[1] in (-1, d)]
        self.clause(negation(present), negation(self.is_made_on(p, target))) if key[1] < 0 else None
        sizes = self.sizes(p, makers, target)
        for device in makers:
            if device == target:
                continue
            here = self.is_made_on(p, device)
            path = self.shape.path(device, target)
            if path is None:
                self.solver.clause((negation(here), negation(present)))
                continue
            hop = path[-1]
            route = Route(device, hop, here)
            sent.routes.append(route)
            if len(path) == 1:
                for moment in self.output_ready(p, device):
                    self._add_lower_bound(start, moment)
            else:
                relay = self.transfer(p, device, self.shape.home)
                self.solver.clause((negation(here), negation(present), relay.present))
                for other in relay.routes:
                    if other.producer == device:
                        self._add_relay(start, relay, other, present)
            for guards, size in sizes[device]:
                occupied = self.shape.problem.links[hop.link].occupied(size, self.shape.problem.phases[p])
                route.occupied[guards] = max(occupied, route.occupied.get(guards, 0))
            least = route.occupied.setdefault((), min(route.occupied.values(), default=0))
            for guards in [g for g in route.occupied if g and route.occupied[g] <= least]:
                del route.occupied[guards]
        if any(len(route.occupied) > 1 for route in sent.routes) or (
            not self._is_read_whole(p) and len(self.shape.decoder.outgoing[p]) > 1
        ):
            sent.busy = self.solver.integer(f"v{stem}")
            for route in sent.routes:
                for guards, ticks in route.occupied.items():
                    self.solver.clause((negation(route.here), *map(negation, guards), f"(>= (- {sent.busy} {start}) {ticks})"))
        self.clause(f"(>= {start} 0)")
        return sent

    def _add_delayed_copy(self, edge: int, maker: int, target: int, guard: tuple[str, ...], start: str) -> None:
        """A copy over an edge with its own ticks: its start is a variable, since a later start may save memory."""
        shape = self.shape
        p, ticks = int(shape.problem.edges[edge].source), shape.decoder.edge_keys[edge]
        key = (p, maker if shape.scattered[p] else -1, target, ticks)
        sent = self.delayed.get(key)
        if sent is None:
            stem = f"d{p}_{key[1] + 1}_{target}_{ticks}"
            present, begin = self.solver.boolean(f"y{stem}"), self.solver.integer(f"u{stem}")
            sent = self.delayed[key] = OptionalTransfer(p, key[1], target, present, begin, None, [], key=ticks)
            self.clause(f"(>= {begin} 0)")
            for device in shape.producer_devices(p):
                if device != target and key[1] in (-1, device):
                    sent.routes.append(Route(device, None, self.is_made_on(p, device), {(): 0}, ticks))
                    for moment in self.output_ready(p, device):
                        self._add_lower_bound(begin, moment)
        self.clause(*map(negation, guard), sent.present)
        self.add_difference(guard, start, sent.start, ticks + shape.decoder.syncs[target])

    def _add_lower_bound(self, later: str, moment: TimePoint) -> None:
        self.solver.clause((*map(negation, moment.guards), f"(>= (- {later} {moment.base}) {moment.ticks})"))

    def _add_relay(self, start: str, relay: OptionalTransfer, route: Route, present: str) -> None:
        moment = relay.busy_moments(route)
        assert route.hop is not None
        self.solver.clause(
            (negation(present), negation(route.here), f"(>= (- {start} {moment.base}) {moment.ticks + route.hop.latency})")
        )

    def sizes(self, p: int, makers: Sequence[int], target: int, key: int = -1) -> dict[int, list[tuple[tuple[str, ...], int]]]:
        """For each maker: (guards, the least bytes that the last hop of the transfer to `target` carries under them)."""
        shape, decoder = self.shape, self.shape.decoder
        result: dict[int, list[tuple[tuple[str, ...], int]]] = {device: [] for device in makers}
        for edge in decoder.outgoing[p]:
            if decoder.edge_keys[edge] != key:
                continue
            described = shape.problem.edges[edge]
            q = int(described.target)
            targets = [target]
            if target == shape.home and key < 0:
                targets = shape.devices[q]
            undivided = described.whole or not shape.split[q]
            for end in targets:
                if end not in shape.devices[q]:
                    continue
                for device in makers:
                    path = shape.path(device, end) if device != end else None
                    if device == target or (key < 0 and (path is None or (end != target and len(path) == 1))):
                        continue
                    if undivided and not shape.scattered[p]:
                        size = decoder.part_bytes(p, 0, decoder.output_extent[p], described.bytes)
                        sole = len(decoder.outgoing[p]) == 1 and target != shape.home
                        result[device].append(((), size) if sole else ((self.runs_on(q, end),), size))
                        continue
                    for k, mode, need in shape.accesses(edge).get((device, end), ()):
                        size = decoder.part_bytes(p, need.low, need.high, described.bytes)
                        literals = (self.mode_literals[p][k], self.mode_literals[q][mode])
                        result[device].append((tuple(literal for literal in literals if literal != "true"), size))
        for device, sizes in result.items():
            known = {size for _, size in sizes}
            if len(known) == 1 and not self._is_copied(p) and (len(decoder.outgoing[p]) == 1 or self._is_read_whole(p)):
                result[device] = [((), size) for size in known]
            elif self._is_copied(p) or not known:
                low = 0 if not self._is_copied(p) else decoder.part_bytes(p, 0, decoder.output_extent[p], None)
                if not shape.scattered[p]:
                    result[device] = [*sizes, ((), low)]
                elif self._is_copied(p):
                    for k in range(len(shape.modes[p])):
                        for maker in shape.producers(p, k):
                            if maker.device == device:
                                result[device].append(
                                    ((self.mode_literals[p][k],), decoder.part_bytes(p, maker.low, maker.high, None))
                                )
        return result

    def _is_read_whole(self, p: int) -> bool:
        """Does every reader need the full output?"""
        shape = self.shape
        edges = [shape.problem.edges[edge] for edge in shape.decoder.outgoing[p]]
        return not shape.scattered[p] and all(edge.whole or not shape.split[edge.target] for edge in edges)

    def _is_copied(self, p: int) -> bool:
        return p in self.shape.decoder.required_elsewhere

    def _add_delivery(self, edge: int, maker: int, target: int, guard: tuple[str, ...], start: str) -> None:
        """Under `guard`, `target` needs the output of `maker`: a transfer arrives before `start`."""
        shape = self.shape
        described = shape.problem.edges[edge]
        p = int(described.source)
        sent = self.transfer(p, maker, target)
        self.clause(*map(negation, guard), sent.present)
        for route in sent.routes:
            if route.producer != maker or route.hop is None:
                continue
            sync = shape.decoder.syncs[target]
            moment = sent.busy_moments(route)
            self.add_difference((*guard, route.here), start, moment.base, moment.ticks + route.hop.latency + sync)
            least = min((size for _, size in self.sizes(p, [maker], target)[maker]), default=0)
            direct = shape.travel(maker, target, least)
            if direct is not None:
                for ready in self.output_ready(p, maker):
                    self.add_after(guard, start, ready, direct)

    def add_combine(self, p: int) -> None:
        """The partial results of `p` are sent home and combined."""
        shape = self.shape
        combine = shape.problem.phases[p].combine
        assert combine is not None
        start = self.solver.integer(f"c{p}")
        for device in shape.devices[p]:
            arrivals: list[TimePoint]
            if device == shape.home:
                arrivals = self.shard_ends(p, device)
            elif not shape.decoder.has_links and not shape.decoder.has_memory_limits:
                sync = shape.decoder.syncs[shape.home]
                arrivals = [TimePoint(m.guards, m.base, m.ticks + sync) for m in self.shard_ends(p, device)]
            else:
                hop = None
                if shape.decoder.has_links:
                    path = shape.path(device, shape.home)
                    if path is None or len(path) != 1:
                        self.clause(negation(self.runs_on(p, device)))
                        continue
                    hop = path[0]
                begin = self.solver.integer(f"up{p}_{device}")
                occupied = 0 if hop is None else shape.occupied(hop, combine.bytes)
                route = Route(device, hop, self.runs_on(p, device), {(): occupied})
                self.transfers[p, -2 - device, shape.home] = OptionalTransfer(
                    p, device, shape.home, self.runs_on(p, device), begin, None, [route], partial=True
                )
                self.clause(f"(>= {begin} 0)")
                for moment in self.shard_ends(p, device):
                    self.add_after((), begin, moment)
                latency = 0 if hop is None else hop.latency
                arrivals = [TimePoint((self.runs_on(p, device),), begin, occupied + latency + shape.decoder.syncs[shape.home])]
            for moment in arrivals:
                self.add_after((), start, moment)
        self.clause(f"(>= {start} 0)")
