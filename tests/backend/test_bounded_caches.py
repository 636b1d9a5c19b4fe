"""A bounded cache evicts what was not used for longest, also while threads share it."""

from __future__ import annotations

import random
import threading
from functools import partial

from share import drawing

from rho.backend.jit.compiler import LruCache

MOST = 4


def test_the_least_recently_used_entry_is_evicted() -> None:
    choose, cache, used = drawing("caches"), LruCache[int](MOST), list[int]()
    for step in range(1_000):
        key, call = choose.randrange(7), choose.choice(["get", "put", "of", "of another object"])
        was_cached = key in used
        if call == "get":
            assert (cache.get(key) is not None) == was_cached
        elif call == "put":
            cache.put(key, (), step)
        else:
            cache.of(key, (object(),) if "another" in call else (), partial(int, step))
        if was_cached or call != "get":
            used = [*(one for one in used if one != key), key][-MOST:]
        assert len(cache.values()) == len(used)
    assert [cache.get(key) is not None for key in range(7)] == [key in used for key in range(7)]


def test_an_entry_about_other_objects_is_replaced() -> None:
    cache, first, second = LruCache[str](MOST), [1], [1]
    assert cache.of(1, (first,), lambda: "a") == "a" == cache.of(1, (first,), lambda: "b")
    assert cache.of(1, (second,), lambda: "c") == "c" and cache.values() == ["c"]


def test_threads_share_a_cache() -> None:
    cache, wrong = LruCache[int](3), list[object]()

    def use(seed: int) -> None:
        choose = random.Random(seed)
        try:
            for _ in range(3_000):
                key = choose.randrange(8)
                wrong.extend([key] if cache.of(key, (), lambda key=key: key) != key or cache.get(key) not in (key, None) else [])
        except Exception as failure:
            wrong.append(failure)

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(cache.values()) <= 3
