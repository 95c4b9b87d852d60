import pytest

from franq_guard.datasets.questions import Question
from franq_guard.faithfulness import SmallFaithfulness
from franq_guard.faithfulness.small.minilm import Embedder
from franq_guard.records import Passage
from franq_guard.signals.request import Models

FACTS = [
    ("Norway", "Oslo"),
    ("Portugal", "Lisbon"),
    ("Kenya", "Nairobi"),
    ("Peru", "Lima"),
    ("Austria", "Vienna"),
    ("Ghana", "Accra"),
    ("Chile", "Santiago"),
    ("Nepal", "Kathmandu"),
]


@pytest.fixture(scope="session")
def questions():
    """Eight questions, two passages each; every other one asks for what no passage says."""
    made = []
    for i, (country, city) in enumerate(FACTS):
        first = Passage(f"{city} is the capital of {country}.", title=country)
        trade = f"{country} sold {1000 + 7 * i} tons of fish in {1950 + i}."
        second = Passage(trade, title=f"Trade of {country}")
        asked = (f"What is the capital of {country}?", (city,))
        if i % 2:
            asked = (f"Who was the first postmaster of {city}?", ("Ida Quill",))
        made.append(Question(f"q{i}", "made", *asked, (first, second), (not i % 2, False)))
    return made


@pytest.fixture(scope="session")
def models(smollm):
    return Models(language_model=smollm, faithfulness=SmallFaithfulness.bundled(), embed=Embedder())
