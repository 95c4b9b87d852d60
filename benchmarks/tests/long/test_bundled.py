import math

import pytest

from franq_bench.data.labelled_answers import read_labelled
from franq_bench.long.matrix import score_rows
from franq_bench.long.statistics import NAMES, statistics_of
from franq_bench.store.cache import Cache
from franq_guard.faithfulness import SmallFaithfulness
from franq_guard.faithfulness.small.minilm import Embedder
from franq_guard.signals.clock import Clock
from franq_guard.signals.components import DEFAULTS
from franq_guard.signals.measure import measure
from franq_guard.signals.request import Models


def test_the_bundled_models_measure_every_method(rows, written, smollm, tmp_path):
    """FRANQ's three signals are those of the guard's claims."""
    [answer] = read_labelled([written(rows[:2])])
    judge = SmallFaithfulness.bundled()
    models = Models(smollm, judge, Embedder())
    [found] = statistics_of([answer], models, Cache(tmp_path))
    scored = [row.scores for row in score_rows(answer, found, "test")]
    for scores in scored:
        assert set(NAMES) <= set(scores)
        assert all(value is not None and math.isfinite(value) for value in scores.values())
    claims = [[labelled.claim for labelled in answer.claims]]
    [signals] = measure(
        DEFAULTS["long"], [answer.trace], claims, models, form="long", clock=Clock(None)
    )
    for scores, signal in zip(scored, signals, strict=True):
        assert scores["faithfulness"] == pytest.approx(signal.p_faithful, abs=1e-4)
        assert scores["max-probability"] == pytest.approx(signal.uq_faith, abs=1e-3)
        assert scores["parametric-knowledge"] == pytest.approx(signal.uq_unfaith, abs=1e-3)
