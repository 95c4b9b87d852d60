r"""Signs of a value ("1½", "≥ 18", "1.2B users", "1:3", "$3.5\,\text{kg}$") in words and digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.faithfulness.small.cut import stretches
from franq_guard.faithfulness.small.model import SmallFaithfulness
from franq_guard.faithfulness.small.plain import plain
from franq_guard.faithfulness.small.spelling import as_written
from franq_guard.faithfulness.small.written_out import written_out


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Add 1½ cups.", "Add 1.5 cups."),
        ("Add 1 ¼ cups.", "Add 1.25 cups."),
        ("Add 2 3/4 cups.", "Add 2.75 cups."),
        ("Add ½ cup and 1/4 tsp.", "Add 0.5 cup and 0.25 tsp."),
        ("A 2½-hour walk.", "A 2.5-hour walk."),
        ("It takes ¾ of the land.", "It takes three quarters of the land."),
        ("For those aged ≥ 65.", "For those aged at least 65."),
        ("Adults (≥18 years) and BMI≥ 30.", "Adults (at least 18 years) and BMI at least 30."),
        ("It costs <= $5.", "It costs at most $5."),
        ("Noise: < 40 dB, > 3 % loss.", "Noise: less than 40 dB, more than 3 % loss."),
        ("- BMI > 30;\n- `age` ≥ 18;", "- BMI more than 30;\n- `age` at least 18;"),
        ("Weight &lt; 40 kg.", "Weight less than 40 kg."),
        ("| Noise | ≤ 40 dB |", "| Noise | at most 40 dB |"),
        ("It has 1.2B users.", "It has 1.2 billion users."),
        ("It has 12M monthly users.", "It has 12 million monthly users."),
        ("Over 500K people came.", "Over 500 thousand people came."),
        ("Mix them in a ratio of 1:3.", "Mix them in a ratio of 1 to 3."),
        ("Mix them at a 1:3 ratio.", "Mix them at a 1 to 3 ratio."),
        (r"It weighs $3.5\,\text{kg}$.", "It weighs 3.5 kg."),
        (r"It weighs \(3.5\) kg or 3.6~kg.", "It weighs 3.5 kg or 3.6 kg."),
        (r"It takes $1{,}250\ \mathrm{W}$.", "It takes 1,250 W."),
        (r"At $25\,^{\circ}\mathrm{C}$, \SI{4}{mm}.", "At 25 °C, 4 mm."),
        (r"Loss of $5\%$ on $85~\mathrm{m}^2$.", "Loss of 5% on 85 m²."),
        (r"Of $1.5\times10^{6}$ cells.", "Of 1.5 × 10^6 cells."),
        (r"A rate of $3 \times 10^{-4}$.", "A rate of 3 × 10^-4."),
    ],
)
def test_a_sign_is_read_as_one_says_it(text: str, read: str) -> None:
    assert plain(text).text == read
    assert plain(read).text == read


@pytest.mark.parametrize(
    "text",
    [
        "It won by ½–½, on 1/2/2020, in 3/4 time, with 1⅓ cups.",
        "p < 0.05 (n ≥ 30); 5 kg > 3 kg; 5 > 3; 10 < 20 %.",
        "> 5 people came, he wrote.\n>> 6 came.",
        "Go to File > 3D and Home > 2020 > May.",
        "I <3 you. a -> 5, b => 5, c <- 5, d<5>.",
        "foo>=1.2 and `age > 5`",
        "if age > 5:",
        "while (width < 5) {",
        "SELECT name WHERE age > 5",
        "  expr: age > 2h",
        '  - filter: "amount > 0"',
        "max_len > 5 and len(x) > 5",
        "    confidence > 9",
        "deadline = None if timeout < 0 else 1",
        "mask > 0x40, pid < 2**31, tuple < 4-tuple, 20 ≤ BMI ≤ 25",
        "The ratio is always 1:2**0.5",
        "The ratio was read at 10:30, a ratio is 10:05, a ratio of 10:30 pm",
        "<td>5</td> <b>6",
        "3M employees met. Bus 12B people know. A 4K screen, 5M deep, grade 2B.",
        "It was 10:30, the score 1:3, John 3:16, the proportion was known by 10:30:15.",
        "It costs $5 and $6, $7/$8, or US$5 to $6.",
        r"We have $x = 5$ and $a > 3$ and \$5 of $y^2$.",
        "~5 people on ~/x",
    ],
)
def test_other_signs_stay(text: str) -> None:
    assert plain(text).text == text


@pytest.mark.parametrize(
    ("passage", "claim", "written"),
    [
        ("It makes below 40 dB.", "It makes < 40 dB.", "It makes below 40 dB."),
        ("It serves under 200 people.", "It serves <200 people.", "It serves under 200 people."),
        ("It seats up to 300.", "It seats ≤ 300.", "It seats up to 300."),
        ("It serves at least 200.", "It serves ≥ 200.", "It serves at least 200."),
        ("It serves below 2000.", "It serves < 200.", "It serves less than 200."),
        ("It lives below 200 m.", "It lives < 200 m deep.", "It lives less than 200 m deep."),
        ("He reigned over 5 years.", "He reigned > 5 years.", "He reigned more than 5 years."),
    ],
)
def test_a_limit_is_said_in_the_passages_words(passage: str, claim: str, written: str) -> None:
    assert as_written(claim, passage) == written


PAIRS = [
    ("Add {} of milk to the dough.", "1.5 litres", "1½ litres", "½ litre"),
    ("Add {} of sugar.", "half a cup", "½ cup", "1½ cups"),
    ("Applicants must be {} years old.", "at least 18", "≥ 18", "≤ 18"),
    ("The noise is {} dB.", "below 40", "< 40", ">= 40"),
    ("The app has {} users.", "1.2 billion", "1.2B", "1.2M"),
    ("The grant is {} a year.", "$500,000", "$500K", "$400K"),
    ("Mix cement and sand in a ratio of {}.", "1 to 3", "1:3", "3:1"),
    ("The heater has a power of {}.", "1,250 W", r"$1{,}250\ \mathrm{W}$", r"$1{,}520\,\text{W}$"),
    ("The learning rate is {} in all runs.", "0.001", "$10^{-3}$", "$10^{-4}$"),
    ("The flat has {} of floor space.", "85 square metres", "85 m2", "85 m3"),
    ("Call us at {} on weekdays.", "+1 555 123 4567", "+1 (555) 123-4567", "+1 (555) 123-4576"),
]


@pytest.mark.parametrize(("said", "there", "right", "wrong"), PAIRS)
def test_the_right_value_passes_and_the_wrong_one_does_not(
    model: SmallFaithfulness, said: str, there: str, right: str, wrong: str
) -> None:
    passage = said.format(there)
    high, low = model.score([passage] * 2, [said.format(right), said.format(wrong)])
    assert high > 0.8
    assert low < 0.3
    [found] = model.evidence([f"It is open. {passage}"], [said.format(right)])
    assert found is not None
    assert f"It is open. {passage}"[found.start : found.end] == passage


def test_the_evidence_stands_in_the_text_as_it_is(model: SmallFaithfulness) -> None:
    passage = r"It is open. It weighs $3.5\,\text{kg}$. Noise is < 40 dB. Add 1½ cups."
    claims = ["It weighs 3.5 kg.", "Noise is less than 40 dB.", "Add 1.5 cups."]
    shown = [passage[one.start : one.end] for one in model.evidence([passage], claims) if one]
    assert shown == [r"It weighs $3.5\,\text{kg}$.", "Noise is < 40 dB.", "Add 1½ cups."]


PIECES = [
    "It", "5", "12", "1:3", "½", "¾", "1/2", "≥", "<", ">", ">=", "$", "K", "B", "M", "ratio of",
    "users", "of", "cup", "kg", " ", " ", ". ", "\n", r"\,", r"\text{kg}", "~", "10^{3}", r"\(",
    r"\)", "&lt;", "\ufb01", "\u00ad", "`",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(texts)
def test_every_stretch_leads_back_to_where_it_stands(text: str) -> None:
    written = written_out(text)
    for span in stretches(written.text):
        start, end = written.original(*span)
        assert 0 <= start < end <= len(text)
    whole = plain(text)
    assert whole.original(0, len(whole.text))[1] <= len(text)


@given(texts, texts)
def test_a_claim_with_signs_is_written_once(claim: str, text: str) -> None:
    once = as_written(claim, text)
    assert isinstance(once, str)
    assert as_written(text, text) == plain(text).text


def test_a_long_run_of_signs_is_read_once() -> None:
    """What is quadratic takes a minute here."""
    for run in ("1½ ", "≥5 ", "a < 5 ", "$5$ ", "$", r"\(", "1:3 ", "5M ", "ratio of ", "5 ", "~"):
        many = run * (50_000 // len(run))
        assert plain(f"x {many}y").text
        assert as_written("It is < 5 kg.", many)
