from franq_guard.serve.store import Store


def test_the_latest_are_kept():
    store = Store(2, 10)
    for key in "abc":
        store.put(key, key.upper())
    assert [store.get(key) for key in "abc"] == [None, "B", "C"]
    store.put("b", "new")
    store.put("d", "D")
    assert (store.get("b"), store.get("c"), len(store)) == ("new", None, 2)


def test_what_is_past_is_gone_and_makes_room():
    now = [0.0]
    store = Store(10, 5, clock=lambda: now[0])
    store.put("a", 1, size=3)
    now[0] = 4
    store.put("b", 2, size=3)
    now[0] = 5
    assert (store.get("a"), store.get("b"), len(store)) == (None, 2, 1)
    now[0] = 9
    store.put("c", 3)
    assert len(store) == 1


def test_memory_is_bounded_by_size_too():
    store = Store(1_000_000, 900, size=1000)
    for i in range(20_000):
        store.put(str(i), "x" * 100, size=100)
    assert len(store) == 10
    store.put("large", "x", size=1001)
    assert store.get("large") is None
    assert len(store) == 10
