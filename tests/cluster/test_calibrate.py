"""Links are measured once, by messages to residents; what cannot be measured has declared figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rho.backend.cluster import cluster_profile
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.cluster_profile import measure, profile_of
from rho.backend.cluster.membership import ClusterMember
from rho.backend.cluster.wire import SIZES, Lost, rising, rounded
from rho.lang.diagnostics.model import RunFailed

from .residents import OWN, Some, Threads

pytestmark = pytest.mark.long


class Given(Some):
    """These members, whoever they are."""

    def __init__(self, members: list[ClusterMember]) -> None:
        self.given = members

    def members(self) -> list[ClusterMember]:
        return self.given


def test_every_link_has_what_messages_took() -> None:
    with ClusterClient(Threads(2), OWN) as cluster:
        links = {(link.source, link.target): link.table for link in cluster.profile.links}
        found = cluster.measured
        assert found is not None and found.between is None
        (home,), (within,) = found.home.values(), found.within.values()
        assert links == {("home", "w0"): home, ("home", "w1"): home, ("w0", "w1"): within}
        assert home.size == SIZES and 0 < home.ns[0] <= home.ns[1] <= home.ns[2]


def test_links_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with ClusterClient(Threads(1), OWN) as cluster:
        before = cluster.profile
        monkeypatch.setattr(cluster_profile, "link_table", None)
        assert cluster.profile == before


def test_machines_have_links_of_their_own_and_the_slowest_between_them() -> None:
    threads = Threads(3)
    members = [replace(one, machine=name) for one, name in zip(threads.members(), ("a", "a", "b"), strict=True)]
    with ClusterClient(Given(members), OWN) as cluster:
        found = measure(cluster.connected())
    assert (set(found.home), set(found.within)) == ({"a", "b"}, {"a"})
    links = {(link.source, link.target): link.table for link in profile_of(OWN, members, found).links}
    assert links["home", "w2"] == found.home["b"]
    assert links["w0", "w2"] == links["w1", "w2"] == found.between is not None
    threads.close()


def test_a_worker_that_does_not_answer_is_left_out_and_reported() -> None:
    threads = Threads(2)
    members = [replace(threads.members()[0], token="another"), threads.members()[1]]
    with ClusterClient(Given(members), OWN) as cluster:
        with pytest.raises(Lost, match="the connection ended"):
            measure(cluster.connected())
        told: list[str] = []
        cluster.tell = told.append
        assert [device.kind for device in cluster.profile.devices] == ["home", "worker"]
        assert cluster.members == members[1:] and [lost.process for lost in cluster.lost] == [1]
        assert len(told) == 1 and "the connection ended" in told[0]
    threads.close()


def test_a_worker_that_nobody_reaches_is_the_one_that_is_lost() -> None:
    threads = Threads(2)
    first, second = threads.members()
    members = [first, replace(second, token="another")]
    with ClusterClient(Given(members), OWN) as cluster, pytest.raises(Lost, match=f"it cannot reach {second.address}") as lost:
        measure(cluster.connected())
    assert lost.value.process == 2
    threads.close()


def test_another_version_is_refused_before_anything_is_measured() -> None:
    threads = Threads(1)
    members = Given([replace(threads.members()[0], version="another")])
    with ClusterClient(members, OWN) as cluster, pytest.raises(RunFailed, match="another version of Rho"):
        cluster.profile  # noqa: B018
    threads.close()


def test_figures_have_two_digits_and_never_fall() -> None:
    assert [rounded(ns) for ns in (7, 49, 1_234, 999_999)] == [7, 49, 1_200, 1_000_000]
    assert rising([5, 3, 9]).ns == (5, 5, 9)
