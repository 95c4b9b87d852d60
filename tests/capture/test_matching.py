"""Who wrote an answer, what of it was delivered, and which passages its prompt showed."""

import json
from dataclasses import dataclass
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard import Generation, Passage, Token
from franq_guard.basics.text import place_of
from franq_guard.capture.matching import (
    call_that_wrote,
    calls_behind,
    clipped,
    prompt_of_messages,
    shown,
    with_metadata_in_prompt,
)
from franq_guard.capture.server_logprobs import server_generation
from franq_guard.claims import token_indices
from franq_guard.language_model.server.tokens import ServerToken

TOLD = Generation(
    " It is so.\n",
    (
        Token(1, 0, 3, -1.0),
        Token(2, 3, 6, -2.0),
        Token(3, 6, 10, -3.0),
        Token(4, 10, 11, -4.0),
    ),
    prompt="p",
    prompt_token_ids=(7, 8),
    source="captured",
)


@dataclass
class Run:
    text: str | None


def test_a_stripped_answer_keeps_its_tokens():
    cut = clipped(TOLD, "It is so.")
    # The blank in front and the line end are gone: one character off the first, all of the last.
    assert [(t.start, t.end) for t in cut.tokens] == [(0, 2), (2, 5), (5, 9), (9, 9)]
    assert [t.id for t in cut.tokens] == [1, 2, 3, 4]
    assert (cut.text, cut.prompt, cut.source) == ("It is so.", "p", "captured")


def test_the_whole_text_stays_as_it_is():
    assert clipped(TOLD, TOLD.text) == TOLD


@pytest.mark.parametrize("server", [True, False])
def test_an_answer_that_was_thought_before_has_the_tokens_of_the_answer(server):
    """A model that reasons drafts the sentence first; frameworks take the draft out."""
    pieces = ["<think>", "It is so.", "</think>", "\n", "It is so.", "<end>"]
    if server:
        told = [ServerToken(piece.encode(), -float(i)) for i, piece in enumerate(pieces)]
        cut = server_generation("It is so.", None, told)
    else:
        ends = list(accumulate(map(len, pieces)))
        spans = pairwise([0, *ends])
        tokens = tuple(Token(i, *span, -float(i)) for i, span in enumerate(spans))
        cut = clipped(Generation("".join(pieces), tokens, source="captured"), "It is so.")
    # None of the thoughts counts, which an empty span before the first character would.
    stated = token_indices([(0, 9)], cut.tokens, text=cut.text)
    assert [cut.tokens[i].logprob for i in stated] == [-4.0]
    # Cut off behind its beginning, as at a stop string, it is the beginning.
    assert place_of("It is.", " It is. Or: It is.") == 1
    assert place_of("It was.", "It is.") == -1


def test_another_text_keeps_the_prompt_alone():
    expected = Generation("It was so.", prompt="p", prompt_token_ids=(7, 8))
    assert clipped(TOLD, "It was so.") == expected


@given(st.lists(st.text(min_size=0, max_size=4)), st.data())
def test_clipped_tokens_tile_any_stretch(pieces, data):
    text, tokens = "".join(pieces), []
    for piece in pieces:
        start = tokens[-1].end if tokens else 0
        tokens.append(Token(-1, start, start + len(piece), -1.0))
    start = data.draw(st.integers(0, len(text)))
    answer = text[start : data.draw(st.integers(start, len(text)))]
    cut = clipped(Generation(text, tuple(tokens), source="server"), answer)
    assert "".join(answer[t.start : t.end] for t in cut.tokens) == answer


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ("A dam.", 2),  # the same text, the newest of two
        (" A dam.\n", 2),
        ("The dam holds", 1),  # a part of what was written
        ("Answer: Rewritten question", 3),  # more than what was written
        ("Nothing alike", 4),  # the last
        ("", 4),
    ],
)
def test_the_call_that_wrote_an_answer(answer, place):
    texts = ["A dam.", "The dam holds water.", "A dam. ", "Rewritten question", None]
    runs = [Run(text) for text in texts]
    assert call_that_wrote(answer, runs) is runs[place]


def test_without_calls_nobody_wrote_it():
    assert call_that_wrote("A dam.", []) is None
    assert calls_behind("A dam.", []) == []


DAM, COST = "The old dam holds much water.", "It cost two million euros."


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        (DAM, [0]),
        (f"{DAM}\n\n{COST}", [0, 1]),
        ("The old dam", [0]),  # cut
        # Rewritten: of its 7 pairs of words the dam's text has 3 (the old, old dam, dam holds),
        # and no other text has any.
        ("The old dam holds 5 litres of it.", [0]),
        # The dam's text as it is, and of the 4 pairs of the rest 2 are of the cost (it cost,
        # million euros).
        (f"{DAM} It cost 2 million euros.", [0, 1]),
        # A word that is in the answer by chance shows nothing, beside a text that is in it.
        (f"{DAM} It is much, and more.", [0]),
        ("Nothing alike", [0, 1, 2]),
        ("", [0, 1, 2]),
    ],
)
def test_the_calls_that_an_answer_is_made_of(answer, places):
    runs = [Run(DAM), Run(COST), Run("much")]
    assert calls_behind(answer, runs) == [runs[place] for place in places]


def test_short_texts_that_are_joined_are_all_behind_the_answer():
    runs = [Run("Kassel"), Run("1820"), Run("no")]
    assert calls_behind("Where: Kassel. When: 1820.", runs) == runs[:2]


def test_the_call_with_most_of_the_words_wrote_a_rewritten_answer():
    runs = [Run(DAM), Run("The new dam is the best.")]
    assert call_that_wrote("The old dam holds 5 litres.", runs) is runs[0]


LONG = "One two three four five six seven eight nine ten eleven twelve."
OTHER = "Red orange yellow green blue indigo violet black white grey brown pink."


def test_sentences_of_the_metadata_that_the_prompt_has_are_added_below():
    about = {"answer": LONG, "unseen": OTHER, "year": "2019", "author": "Mary Hill", "page": 3}
    passage = Passage("How many?", "Numbers", "7", about)
    prompt = f"2019, Mary Hill, page 3: How many? {LONG}"
    (told,) = with_metadata_in_prompt([passage], prompt, but=lambda text: False)
    assert (told.text, told.title, told.id) == (f"How many?\n{LONG}", "Numbers", "7")
    assert with_metadata_in_prompt([passage], prompt, but=lambda text: text == LONG) == [passage]
    assert with_metadata_in_prompt([passage], None, but=lambda text: False) == [passage]
    repeated = Passage(f"So: {LONG}", metadata=about)
    assert with_metadata_in_prompt([repeated], prompt, but=lambda text: False) == [repeated]


def test_passages_that_the_prompt_lacks_are_not_shown():
    passages = [Passage(LONG), Passage(OTHER)]
    assert shown(passages, f"Use this:\n{LONG}\nAnswer:") == [passages[0]]
    assert shown(passages, f"{OTHER} {LONG}") == passages


def test_white_space_and_punctuation_do_not_matter():
    passages = [Passage(LONG), Passage(OTHER)]
    assert shown(passages, LONG.replace(" ", "\n * ")) == [passages[0]]


def test_a_passage_of_a_few_words_is_shown_too():
    passages = [Passage("A red bridge."), Passage(OTHER)]
    assert shown(passages, f"Use this: a bridge. A red, bridge. {OTHER}") == passages
    assert shown(passages, f"Use this: a bridge. {OTHER}") == passages[1:]


def test_a_passage_of_a_few_words_is_not_shown_by_a_part_of_a_word():
    passages = [Passage(LONG), Passage("42"), Passage("Rome"), Passage("東京")]
    prompt = f"{LONG}\nWho wrote Romeo in 1942? 東京は"
    assert shown(passages, prompt) == [passages[0], passages[3]]
    assert shown(passages, f"{prompt} (42) Rome!") == passages


def test_passages_cut_short_are_still_shown():
    passages = [Passage(LONG), Passage(OTHER)]
    # Of 12 words, the first 8 hold 3 of 7 six-word stretches; of the other one, all 7 or none.
    short = LONG[: LONG.index(" nine")]
    assert shown(passages, short) == [passages[0]]
    assert shown(passages, f"{short} {OTHER[: OTHER.index(' white')]}") == passages
    assert shown(passages, f"{short} {OTHER}") == [passages[1]]  # 3/7 is less than half of 7/7


def _page(name):
    return f"Imprint of the house. {' '.join(f'{name}{number}' for number in range(200))}"


def test_a_long_passage_that_is_cut_is_shown_beside_a_short_one():
    """Of some 200 stretches of the page a tenth is in the prompt, of the short one all."""
    pages = [Passage(_page("left")), Passage(_page("right"))]
    cut = " ".join(pages[0].text.split()[:25])
    assert shown([Passage(LONG), *pages], f"{LONG}\n{cut}") == [Passage(LONG), pages[0]]
    # A few words of it may be there for another reason.
    assert shown([Passage(LONG), *pages], f"{LONG}\n{cut[:60]}") == [Passage(LONG)]


def test_what_a_passage_shares_with_one_that_is_shown_does_not_show_it():
    """Chunks overlap: the end of the first one is the beginning of the next."""
    words = _page("word").split()
    chunks = [Passage(" ".join(words[i : i + 90])) for i in (0, 60)]
    assert shown(chunks, chunks[0].text) == chunks[:1]
    # The same where both are cut, here before the 20 words that they share.
    longer = [
        Passage(" ".join([*words[:20], *[f"{name}{i}" for i in range(300)]])) for name in "ab"
    ]
    cut = " ".join(longer[0].text.split()[:40])
    assert shown([Passage(LONG), *longer], f"{LONG} {cut}") == [Passage(LONG), longer[0]]


@pytest.mark.parametrize("prompt", [None, "A summary of them, in other words.", ""])
def test_where_it_cannot_be_told_all_are_shown(prompt):
    passages = [Passage(LONG), Passage(OTHER)]
    assert shown(passages, prompt) == passages


def test_no_passages_are_shown_of_none():
    assert shown([], "anything") == []


def test_messages_become_the_prompt_of_the_guards_model(fake_guard):
    # The fake model puts the system text and the user's on lines of their own.
    assert prompt_of_messages(fake_guard, ["Be brief.", "Be kind."], ["Hello.", "How old?"]) == (
        "Be brief.\nBe kind.\nHello.\n\nHow old?"
    )


def test_messages_without_a_model_are_plain_text():
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness

    guard = Guard(faithfulness=FakeFaithfulness())
    assert prompt_of_messages(guard, ["Be brief."], ["How old?"]) == "Be brief.\n\nHow old?"
    assert prompt_of_messages(guard, [], ["How old?"]) == "How old?"


def _unloadable():
    raise OSError("the disk is full")


def test_no_model_is_loaded_for_a_prompt_that_none_will_read():
    from franq_guard import Guard
    from franq_guard.testing import FakeFaithfulness

    guard = Guard(faithfulness=FakeFaithfulness(), language_model=_unloadable)
    assert prompt_of_messages(guard, ["Be brief."], ["How old?"]) == "Be brief.\n\nHow old?"


@pytest.mark.parametrize("asked", ["uq_faith", "franq"])
def test_the_model_is_loaded_for_a_prompt_that_it_will_read(asked):
    from franq_guard import Calibrator, Guard
    from franq_guard.testing import FakeFaithfulness, FakeLanguageModel

    value = "perplexity" if asked == "uq_faith" else Calibrator.uncalibrated()
    model = FakeLanguageModel()
    guard = Guard(faithfulness=FakeFaithfulness(), language_model=lambda: model, **{asked: value})
    # The fake model puts the system text and the user's on lines of their own.
    assert prompt_of_messages(guard, ["Be brief."], ["How old?"]) == "Be brief.\nHow old?"


def test_a_document_that_a_tool_printed_as_json_is_in_the_prompt():
    lines = Passage("The pump is\nnot very\nold, but\nit is\nloud.\nAsk in\nthe shop.")
    other = Passage("A text about the weather of the coast and its many winds.")
    assert shown([lines, other], f"Use this: {json.dumps([lines.text])}") == [lines]
