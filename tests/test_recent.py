"""A cache that is asked for many keys at once."""

from concurrent.futures import ThreadPoolExecutor

from franq_guard.basics.recent import Recent


def test_what_was_asked_for_last_is_kept():
    cache = Recent(2)
    cache.keep({"a": 1, "b": 2})
    assert cache.known(["a"]) == {"a": 1}  # now b was not used for longest
    cache.keep({"c": 3})
    assert cache.known("abc") == {"a": 1, "c": 3}
    cache.keep(dict.fromkeys("defg", 4))  # more than there is room for
    assert (len(cache), cache.known("defg")) == (2, {"f": 4, "g": 4})
    cache.forget()
    assert len(cache) == 0


def test_without_room_nothing_is_kept():
    cache = Recent(0)
    cache.keep({"a": 1})
    assert cache.known("a") == {}


def test_threads_share_a_cache():
    cache = Recent(50)

    def work(at):
        keys = range(at, at + 40)
        cache.keep({key: key for key in keys if key not in cache.known(keys)})
        return all(key == value for key, value in cache.known(keys).items())

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(400)))
    assert len(cache) == 50
