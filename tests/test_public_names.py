"""Every name that a README, an example or a page promised stays importable from where it says.

A name that moves keeps its old address here. Nothing is removed from these tables but by a new
major version.
"""

from importlib import import_module
from operator import attrgetter

import pytest

NAMES = {
    "franq_guard": (
        "Calibrator Claim Evidence FranqClassifier Generation Guard GuardedAnswer Passage Policy "
        "Signals Token Trace Verdict to_dataframe"
    ),
    "franq_guard.batch": "DatasetSettings RESULTS Report check_batch check_dataset",
    "franq_guard.calibration": "Calibrator Knots",
    "franq_guard.claims": (
        "ALIGNED Alignment ClaimSplitter FallbackReport LLMSplitter RuleSplitter align "
        "first_statements remove_claims token_indices"
    ),
    "franq_guard.demo": "DemoQuestion corpus questions",
    "franq_guard.evaluation.metrics": (
        "Reliability aurc auroc bootstrap_se brier ece pr_auc precision_recall prr prr_raw "
        "reliability risk_coverage"
    ),
    "franq_guard.evaluators.langsmith": "franq_evaluator",
    "franq_guard.faithfulness": "AlignScore FaithfulnessModel LargerFaithfulness SmallFaithfulness",
    "franq_guard.franq": "franq",
    "franq_guard.guard": "Guard",
    "franq_guard.language_model": (
        "Contrast LanguageModel LlamaCppModel MissingModelError Prompt Recorder Removal "
        "ServerError ServerModel TransformersModel UntrustworthyServerError load_bundled "
        "question_prompt rag_prompt remove_evidence token_spans"
    ),
    "franq_guard.language_model.base": "LanguageModel Prompt",
    "franq_guard.policy": "MARKS Policy",
    "franq_guard.records": (
        "Claim Evidence Generation GuardedAnswer Label Passage Reason Signals Source Span Status "
        "Token Trace Verdict"
    ),
    "franq_guard.release": "FactualityError Released",
    "franq_guard.streaming": "ClaimStream",
    "franq_guard.telemetry": "configure here under",
    "franq_guard.testing": "FakeFaithfulness FakeGuard FakeLanguageModel",
    "franq_guard.traces": "trace_of",
    "franq_guard.uncertainty.methods": (
        "Level Method compute confidence find log_confidence methods"
    ),
    "franq_guard.uncertainty.statistics": "Samples Statistics needed",
    "langchain_franq": (
        "Captured FactualityError FranqCallback FranqMiddleware GuardedChain capture feedback_to "
        "guard_chain guard_node"
    ),
    "langchain_franq.local": "BM25PassageRetriever local_rag_chain pipeline_of",
    "llama_index_franq": (
        "FactualityError FranqEvaluator GuardedChatEngine GuardedQueryEngine guard_agent "
        "guard_chat_engine guard_query_engine"
    ),
    "llama_index_franq.local": "BM25NodeRetriever llm_of",
}

METHODS = {
    "franq_guard": (
        "Calibrator.apply Calibrator.load Calibrator.save FranqClassifier.fit "
        "FranqClassifier.predict_proba Guard.acheck Guard.check Guard.check_many "
        "Guard.check_trace Guard.faithfulness Guard.offline GuardedAnswer.flagged "
        "GuardedAnswer.score GuardedAnswer.to_dict GuardedAnswer.to_html Policy.apply"
    ),
    "franq_guard.claims": "ClaimSplitter.split RuleSplitter.split",
    "franq_guard.faithfulness": (
        "AlignScore.from_checkpoint AlignScore.from_pretrained FaithfulnessModel.evidence "
        "FaithfulnessModel.nli FaithfulnessModel.score LargerFaithfulness.bundled "
        "LargerFaithfulness.load "
        "SmallFaithfulness.bundled"
    ),
    "franq_guard.language_model": (
        "LlamaCppModel.from_gguf Recorder.attach TransformersModel.from_pretrained"
    ),
    "franq_guard.uncertainty.methods": "Method.row",
}


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for table in (NAMES, METHODS)
        for module, names in table.items()
        for name in names.split()
    ],
)
def test_a_promised_name_is_importable_from_its_address(module, name):
    assert attrgetter(name)(import_module(module)) is not None


def test_a_kept_address_gives_the_same_object():
    from franq_guard import datasets, demo, release, streaming
    from franq_guard.evaluation import metrics as kept
    from franq_guard.metrics import measures

    assert demo.corpus is import_module(f"{datasets.__name__}.demo").corpus
    assert release.Released is streaming.Released
    assert kept.prr is measures.prr


def test_both_frameworks_raise_the_same_error():
    import langchain_franq
    import llama_index_franq
    from franq_guard.release import FactualityError

    assert langchain_franq.FactualityError is llama_index_franq.FactualityError is FactualityError
