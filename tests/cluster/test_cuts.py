"""Connections that are cut at some byte, either way: the same bits by the workers that are left, and nobody waits for ever."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from share import SEED, share

from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.membership import ClusterMember
from rho.lang.diagnostics.model import RunFailed
from rho.tests.backend.test_programs_on_devices import same_bits
from rho.tests.cluster.cutting import Cut
from rho.tests.cluster.residents import OWN, Some, Threads
from rho.tests.cluster.test_faults import Random, prepared

pytestmark = pytest.mark.long

WORKERS = 2
LONGEST = 60_000


class Through(Some):
    """Members of which the first is reached through a peer that cuts the connection."""

    def __init__(self, others: Threads, cut: Cut) -> None:
        super().__init__(others, WORKERS)
        self.cut = cut

    def members(self) -> list[ClusterMember]:
        first, *rest = super().members()
        return [replace(first, port=self.cut.port), *rest]


@pytest.mark.parametrize("outwards", [True, False])
@pytest.mark.parametrize("seed", share(range(30), seed=41))
def test_a_connection_is_cut_at_a_byte(threads: Threads, seed: int, outwards: bool) -> None:
    bound, data, alone = prepared(seed)
    planner, chance = Random(bound, seed), random.Random(SEED * 1000 + seed)
    count = chance.choice([chance.randrange(1, 200), chance.randrange(1, 5_000), chance.randrange(1, LONGEST)])
    cut = Cut(threads.residents[0].port, count, outwards=outwards)
    try:
        with ClusterClient(Through(threads, cut), OWN) as cluster:
            for _ in range(3):
                plan = planner(cluster.profile)
                assert same_bits(cluster.run(plan, planner, bound, data), alone), (SEED, seed, count)
            assert len(cluster.members) == WORKERS - cut.is_cut.is_set() or not cluster.lost
    finally:
        cut.close()
    with ClusterClient(Some(threads, WORKERS), OWN) as again:  # the resident is free for the next home
        assert same_bits(again.run(planner(again.profile), planner, bound, data), alone)


def test_all_connections_are_cut(threads: Threads) -> None:
    """In a run that does not begin again: what is lost before it, while links are measured, is left out."""
    bound, data, _ = prepared(1)
    planner = Random(bound, 1)
    cut = Cut(threads.residents[0].port, 1 << 40, outwards=True)
    with ClusterClient(Through(threads, cut), OWN, restarts=0) as cluster, pytest.raises(RunFailed, match="E710"):
        plan = planner(cluster.profile)
        cut.count = 100
        for _ in range(100):
            cluster.run(plan, planner, bound, data)
    cut.close()
