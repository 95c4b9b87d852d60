"""Which numbers are computed in, by what the processor has."""

import pytest

from franq_guard.basics import numbers
from franq_guard.basics.numbers import chosen_dtype


@pytest.fixture
def processor(monkeypatch):
    """``processor(native)``: one that multiplies bfloat16 itself, or not."""
    numbers._warn.cache_clear()
    yield lambda native: monkeypatch.setattr(numbers, "native_bfloat16", lambda: native)
    numbers._warn.cache_clear()


@pytest.mark.parametrize(("native", "taken"), [(True, "bfloat16"), (False, "float32")])
def test_auto_takes_what_the_processor_has(processor, native, taken):
    processor(native)
    assert chosen_dtype("auto") == taken
    assert chosen_dtype("float32") == "float32"
    assert chosen_dtype("bfloat16") == "bfloat16"


def test_imitated_bfloat16_is_warned_of_once(processor, caplog):
    processor(True)
    chosen_dtype("bfloat16")
    assert not caplog.records
    processor(False)
    for _ in range(3):
        chosen_dtype("bfloat16")
        chosen_dtype("auto")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "dtype='auto'" in caplog.text
