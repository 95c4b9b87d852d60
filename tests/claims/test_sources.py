"""Numbered sources and footnotes: those that state something are claims, those that cite are not.

The entries are our own, as models write them under an answer: what a source says, quotes with and
without a page, notes on prices and conditions; references in several styles, titles, files and
addresses.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from franq_guard.claims import RuleSplitter, remove_claims
from franq_guard.claims.rules.citations import cited_by

SPLITTER = RuleSplitter()
STATEMENTS = [
    "The pump holds 51 litres.",
    "It was built in 1990.",
    "The pump runs on 12 V and must not be used with petrol.",
    "Passage 1 says that the pump holds 51 litres.",
    "According to the manual, the pump holds 51 litres.",
    '"The pump holds 51 litres." (manual.pdf)',
    '"The pump holds 51 litres" – Pump manual, p. 4',
    'Pump manual: "The pump holds 51 litres."',
    'manual.pdf, p. 4: "Do not run the pump dry for more than 30 seconds."',
    "Pump manual, p. 4: The pump holds 51 litres.",
    "The warranty lasts 24 months from the date of purchase.",
    "Prices include VAT and are valid until 31 March 2025.",
    "Based on a 40-hour week, this is 160 hours a month.",
    "This figure does not include the 12 pumps sold in Norway.",
    "Members pay $9 instead of $12.",
    "Passage 2: The filter costs 39 euros.",
    "Doc 3 – The filter must be changed every six months.",
    "https://example.org/pump – The pump holds 51 litres.",
    "Smith (2019) found that the drug halves the risk of stroke.",
    "In 2019, Smith et al. showed that the sea rises 3 mm a year.",
    "Only the Pro plan includes backups.",
    "There are 12 stations on the line.",
    "Children under 12 travel free.",
    "The museum is closed on Mondays (museum website).",
    "Rome was founded in 753 BC [see passage 2].",
    "Ann Lee, who designed the bridge, died in 1911.",
    "As of 2024, the town has 12,400 inhabitants.",
    "You must return the item within 30 days.",
    "Aspirin should not be given to children under 16.",
    "The Treaty of Ulm was signed on 3 May 1805; it ended the war.",
    'Excerpt: "Refunds are paid within 14 days."',
    "The manual states the pump holds 51 litres.",
    "Note: The pump holds 51 litres.",
    "Employee handbook, section 4 - Employees receive 25 days of leave per year.",
    "The pump holds 51 litres (Miller, 2019, p. 4).",
    "It's heated by gas.",
    "Orders above 50 euros are shipped free of charge.",
    "[Pump manual](https://example.org/m): The pump holds 51 litres.",
    "**Passage 3**: The pump was tested in Ulm.",
    "The pump holds 51 litres. (Passage 1)",
    "The visa fee is 80 euros for adults and 40 euros for children.",
    '"Our shops close at 6 p.m. on Saturdays." – website of the firm',
    "Ferries to the island do not run in January.",
    "Document 1 states that the fine was reduced to 300 euros.",
    "The rate was 4.5% in 2022 and 5.25% in 2023.",
    "Source 2: The tower has 12 floors.",
    "According to Lee (2020), the river flooded the town twice.",
    "He left the party in 1998 and founded his own.",
    "The tests were carried out at 20 °C.",
    "Dogs must be kept on a lead.",
    "These numbers exclude part-time staff.",
    "Tickets cost 12 euros (source: price list).",
    "Context 4 – The engine was replaced in 2016.",
    "handbook.pdf: New members pay no fee in the first year.",
    "They use lithium batteries because these are lighter.",
    "No permit is needed for stays of up to 90 days.",
    "Three of the five judges disagreed.",
    "[Passage 1] The dam was finished in 1968.",
    "The law entered into force on 1 January 2020.",
    "Mercury has no moons.",
    "https://example.com/faq: Parcels arrive within five working days.",
    'Section 7.3: "The tenant pays for the water."',
    "Both parents have to sign the form.",
    "Section 2 of the contract requires a notice of three months.",
    "The K7 replaced the K5 in 2019.",
    "Her second novel sold 40,000 copies.",
    "Since 2018, the bridge has been closed to cars.",
    "If the light is red, the battery is empty.",
    "Rome and Bonn signed the treaty in 1990.",
    "The register was last updated on 4 May 2023.",
    "The EU has 27 members.",
    "Smith et al. (2019) found that the river is clean.",
]  # fmt: skip
CITATIONS = [
    "Miller, J. (2019). The sea is rising. Nature 12.",
    "https://example.org/pump",
    "manual.pdf, p. 4",
    "Pump handbook: How the pump works",
    'Smith, A. and Lee, B. "The pump that wins." Journal of Pumps, vol. 4, no. 2, 2019, pp. 12–19.',
    '"Boeing recalls 47 planes", Reuters, 3 May 2021.',
    "World Health Organization. Malaria is preventable. Geneva, 2020.",
    'BBC News: "Storm hits the coast" (12 March 2020)',
    "Passage 2",
    "Document 3: Pump manual",
    "[Pump manual](https://example.org/manual)",
    'Wikipedia, "History of pumps", accessed 4 May 2024.',
    "Pump manual, section 4.2",
    "J. Smith, The Bridge Was Built in a Day, Penguin, 1990.",
    "Lee (1990). Towns",
    "Ibid., p. 12.",
    "See Miller 2019, p. 4.",
    "Vaswani, A. et al. Attention Is All You Need. NeurIPS 2017.",
    'U.S. Department of Energy, Office of Pumps. "How a heat pump works". Retrieved 3 May 2024.',
    "Devlin J, Chang MW. BERT: Pre-training of deep bidirectional transformers. arXiv:1810.04805.",
    "Company website – About us",
    "Personal communication with the author, 4 May 2023.",
    "Dylan, Bob. The Times They Are a-Changin'. Columbia, 1964.",
    "Harper Lee, To Kill a Mockingbird",
    "Employee handbook (2023), chapter 3: Leave",
    'The Guardian, "Sea levels are rising faster than expected", 2019',
    "Lee v. Silver Spring Networks, 345 U.S. 12 (1990).",
    "ISO 9001:2015",
    "12 Main Street, Springfield",
    "doi:10.1000/xyz123",
    "Brown T, et al. Language models are few-shot learners. 2020.",
    "Annual Report 2023, page 47 (Financial results)",
    '"The Pump Is Red", manual.pdf',
    "NASA: What is climate change?",
    "Doe, J. Why we sleep. New York: Scribner, 2017.",
    "Title: Pump manual | Author: Ann Lee | Date: 2019",
    "National Park Service – Bears are active in spring (nps.gov)",
    "Mayo Clinic. High blood pressure: Symptoms & causes. https://example.org/bp",
    "Passage 1 (Title: Towns of Italy)",
    "The Bridge on the River Kwai (1957)",
    "Towns. Rome, 1990.",
    "FAQ – How do I return an item?",
    '"Storm Kills Three in Ulm." The Ulm Gazette, 3 May 1921.',
    "Miller J. Sea levels rise. Nature. 2019;12:4-9.",
    "Smith A. Aspirin reduces the risk of stroke. BMJ 2019;364:l44.",
    "Aspirin reduces the risk of stroke. Smith A. BMJ 2019.",
    "The sea is rising. Nature 12, 2019.",
    "Sea levels are rising | NASA",
    "How the pump works (manual, p. 4)",
    "Retrieved from the company database on 4 May 2023.",
    "Attention is all you need — https://arxiv.org/abs/1706.03762",
    "The earth is warming - BBC News - https://example.org/bbc",
    "The pump is red: a study of colours. Ulm: Fox, 1990.",
    "Text of passage 2, lines 4–9",
    "GitHub - fox/pumps: A library that holds pumps",
    "Garcia, M., & Olsen, T. (2021). Rivers of the north. University Press.",
    "User guide, version 2.1, pages 14-15",
    "European Commission (2022), Report on energy prices, Brussels.",
    "www.example.com/help/returns",
    "leaflet.pdf",
    "Section 7.3 of the contract",
    "World Bank Open Data (accessed 12 June 2023)",
    'Park, S. "Why rivers flood." Water Today, 14 May 2018.',
    "Harari YN. Sapiens: a brief history of humankind. London: Vintage; 2015.",
    "The New York Times, 4 July 1999, p. A1",
    "RFC 2616: Hypertext Transfer Protocol",
    'Encyclopaedia Britannica, s.v. "Dam"',
    "Interview with Ann Lee, Radio Ulm, 3 June 2001",
    "He, K., Zhang, X. & Sun, J. Deep residual learning for images. CVPR, 770–778 (2016).",
    "National Health Service: Vaccinations and when to have them",
    "Passages 1 and 3",
    "Chunk 4 (score 0.81)",
    "Ulm City Council, minutes of 4 May 2020",
    "When Breath Becomes Air, Paul Kalanithi, 2016",
    "Statista: Number of ferries by country",
    "Okafor C. Malaria vaccines protect children. Lancet 2021;397:1809.",
    "Is coffee good for you? - Health Line",
    "We Are Never Meeting in Real Life, Samantha Irby",
    "Help center > Billing > Refunds",
    "Product page: K7 pump (blue)",
    "Plants can hear bees, study finds | Science Daily",
    "EU Regulation 2016/679, Art. 17",
    "Tolstoy, Leo. War and Peace. Translated by Louise Maude. Oxford, 1933.",
    'internal wiki, "Onboarding", last edited 3 Feb 2024',
    "Lee A, Wu B. Tea lowers blood pressure: a meta-analysis. J Tea. 2018;3(2):11-20.",
]  # fmt: skip
IN_LIST = [
    "It is old [1].\n\nSources:\n[1] {}\n[2] leaflet.pdf\n",
    "It is old [1].\n\n## References\n\n- [1] {}\n- [2] leaflet.pdf\n",
    "It is old.[^1]\n\n**Sources:**\n\n[^1]: {}\n[^2]: leaflet.pdf\n",
]
NOTES = ["It is old.[^1]\n\n[^1]: {}\n", "It is old [1].\n\n[1]: {}\n", "It is old.¹\n\n¹ {}\n"]
HEADLINES = {
    "Aspirin reduces the risk of stroke. Smith A. BMJ 2019.",
    "The sea is rising. Nature 12, 2019.",
    "Sea levels are rising | NASA",
    "Plants can hear bees, study finds | Science Daily",
}
"""As a footnote each of these would rather be a remark; in a list of sources it is a title."""


def stated(answer):
    return [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None][1:]


@pytest.mark.parametrize("form", IN_LIST + NOTES)
@pytest.mark.parametrize("entry", STATEMENTS)
def test_an_entry_that_states_something_is_a_claim(entry, form):
    answer = form.format(entry)
    claims = stated(answer)
    assert claims
    begin = answer.index(entry, answer.index("\n"))
    for claim in claims:
        assert all(begin <= a < b <= begin + len(entry) for a, b in claim.spans)
    found = SPLITTER.split(answer)
    left = remove_claims(answer, found, range(1, len(found)))
    assert stated(left) == []
    assert ("leaflet.pdf" in left) == ("leaflet.pdf" in answer)


@pytest.mark.parametrize("form", IN_LIST + NOTES)
@pytest.mark.parametrize("entry", CITATIONS)
def test_an_entry_that_cites_is_no_claim(entry, form):
    if form in NOTES and entry in HEADLINES:
        return
    answer = form.format(entry)
    assert stated(answer) == []
    assert entry in next(c.text for c in SPLITTER.split(answer) if entry in c.text)


@pytest.mark.parametrize(
    "entry",
    [
        "Employees who leave before the end of March lose their bonus.",
        'Leaflet, page 2: "Take one tablet twice a day."',
    ],
)
def test_some_statements_are_still_taken_for_a_source(entry):
    assert stated(IN_LIST[0].format(entry)) == []


@pytest.mark.parametrize("form", IN_LIST[:2] + NOTES[:2])
def test_an_entry_that_states_something_is_cited_by_its_number(form):
    answer = form.format("The pump holds 51 litres.")
    claims = [claim for claim in SPLITTER.split(answer) if claim.not_a_claim is None]
    assert [claim.text for claim in claims] == ["It is old.", "The pump holds 51 litres."]
    assert [[c.names for c in of] for of in cited_by(answer, claims)] == [[("1",)], [("1",)]]


def test_entries_of_one_list_are_told_apart():
    answer = (
        "It is red.\n\nSources:\n[1] leaflet.pdf\n[2] The pump holds 51 litres.\n"
        "[3] Miller, J. (2019). The sea is rising. Nature 12.\n[4] https://a.b/c\n"
        "[5] https://a.b/d – It was built in 1990, and it is red.\n- manual.pdf, p. 4\n"
    )
    assert [claim.text for claim in stated(answer)] == [
        "The pump holds 51 litres.", "It was built in 1990.", "It is red.",
    ]  # fmt: skip
    assert RuleSplitter(language="de").split(answer)[2].not_a_claim == "citation"


ENTRY = st.one_of(
    st.sampled_from(STATEMENTS).map(lambda entry: (entry, True)),
    st.sampled_from(CITATIONS).map(lambda entry: (entry, False)),
)
LISTS = st.tuples(
    st.sampled_from(["Sources:\n", "## References\n\n", "**Sources**\n", "Sources\n=====\n"]),
    st.sampled_from(["[{}] ", "- [{}] ", "[^{}]: ", "{}. [{}] ", "\n[{}] "]),
    st.lists(ENTRY, min_size=1, max_size=6),
    st.sampled_from(["", "\n\nIt rained all day long in Paris, and then it rained again in Rome."]),
)


def made(above, mark, entries, below):
    """The text, and the range of each entry in it with whether it states something."""
    text, places = f"It is old.\n\n{above}", []
    for k, (entry, states) in enumerate(entries):
        text += mark.replace("{}", str(k + 1))
        places.append((len(text), len(text) + len(entry), states))
        text += f"{entry}\n"
    return text + below, places


@given(LISTS)
@settings(max_examples=150, deadline=None)
def test_claims_lie_in_the_entries_that_state_something(drawn):
    text, places = made(*drawn)
    covered = set()
    for claim in SPLITTER.split(text):
        for a, b in claim.spans:
            assert 0 <= a < b <= len(text)
            assert covered.isdisjoint(range(a, b))
            covered.update(range(a, b))
    claims = [claim for claim in SPLITTER.split(text) if claim.not_a_claim is None]
    for start, end, states in places:
        inside = [c for c in claims if any(a < end and start < b for a, b in c.spans)]
        assert bool(inside) == states, text[start:end]
        assert all(start <= a and b <= end for c in inside for a, b in c.spans)


@given(LISTS, st.data())
@settings(max_examples=100, deadline=None)
def test_what_is_settled_of_a_list_stays_so(drawn, data):
    text, _ = made(*drawn)
    cut = data.draw(st.integers(0, len(text)))
    end = SPLITTER.settled(text[:cut])
    now = [(u.span, u.claims) for u in SPLITTER.units(text[:cut]) if u.span[1] <= end]
    later = [(u.span, u.claims) for u in SPLITTER.units(text)]
    assert later[: len(now)] == now


@pytest.mark.parametrize("below", ["", "\n\nIt rained all day long in Paris, and then it rained."])
@pytest.mark.parametrize("mark", ["[{}] ", "- [{}] ", "[^{}]: "])
def test_a_stream_finds_the_same(both_ways, mark, below):
    entries = [*STATEMENTS[5:60:9], *CITATIONS[3:80:13]]
    entries = [(entry, None) for entry in sorted(entries, key=len)]
    text, _ = made("Sources:\n", mark, entries, below)
    streamed, whole = both_ways("What is old?", "It is old.", text)
    assert streamed == whole
    assert sum(v.claim.not_a_claim is None for v in whole) >= 7
