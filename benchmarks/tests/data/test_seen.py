"""What the shipped small model has seen, told without the data."""

import pytest

from franq_bench.data import seen


@pytest.fixture
def written(tmp_path, monkeypatch):
    def write(texts):
        seen.write(texts, tmp_path / "seen.bin")
        monkeypatch.setattr(seen, "FILE", tmp_path / "seen.bin")
        seen._known.cache_clear()
        return tmp_path / "seen.bin"

    yield write
    seen._known.cache_clear()


def test_a_text_is_known_by_its_first_sixty_letters_however_it_is_written(written):
    text = "The Harrow mill was built in 1874 by Elin Marsh, who had sold her share of the quarry."
    path = written([text, text.upper(), "Another text."])
    assert path.stat().st_size == 8  # two texts, four bytes each
    assert seen.seen(text.replace(",", " ") + " It goes on.")
    assert not seen.seen("The Harrow mill was built in 1875 by Elin Marsh, who had sold it.")
    assert not seen.seen("")


def test_nothing_is_known_from_an_empty_file(written):
    written([])
    assert not seen.seen("Any text.")


def test_the_shipped_file_knows_tens_of_thousands_of_texts():
    seen._known.cache_clear()
    known = seen._known()
    assert len(known) > 20_000
    assert (known[1:] > known[:-1]).all()
