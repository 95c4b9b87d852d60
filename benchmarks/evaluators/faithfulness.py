"""Compares FRANQ with the faithfulness metrics of evaluation frameworks, on rows written for it.

    python benchmarks/evaluators/faithfulness.py [--rows 50] [--held] [--out FILE] [METRIC ...]

Each row is a passage about something invented and an answer of one claim: alternately a paraphrase
and a claim with one fact changed. The frameworks' metrics ask a judge model through their own
interfaces; here it is the bundled SmolLM2 of 135M parameters. If a framework cannot read the
judge's reply, the row counts as unreadable and gets no score. With ``--held`` the judge can write
nothing but what has the form that the framework asks for. Runs in the environment of
`make test-evaluators`; FRANQ asks no judge and needs no framework, so that ``... franq`` runs
anywhere.

Each metric's scores go into a file that keeps those of the others, and the table of all of them is
printed at the end: when FRANQ's own model changes, only ``franq`` has to be run again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from judge import NAME, Client, Judge, served
from scores import KEPT, Scores, store, stored, table

from franq_guard import Guard
from franq_guard.faithfulness.small.storage import FOLDER, MANIFEST
from franq_guard.language_model.transformers.smollm2 import SHA256

ROWS = Path(__file__).parents[2] / "tests" / "fixtures" / "invented.jsonl"
Score = Callable[[str, str, str], float]
Found = dict[str, float | None]


class Row(NamedTuple):
    """One answer that is judged."""

    id: str
    is_true: bool
    text: tuple[str, str, str]
    """Question, passage, answer."""


def franq() -> Score:
    from franq_guard.evaluators.assessment import assess

    guard = Guard.offline().warm()

    def score(question: str, passage: str, answer: str) -> float:
        found = assess(guard.check(question, [passage], answer), guard.policy)
        return math.nan if found.score is None else found.score

    return score


def haystack(judge: Judge) -> Score:
    from haystack import component
    from haystack.components.evaluators import FaithfulnessEvaluator
    from haystack.dataclasses import ChatMessage

    lists = {"statements": {"items": {"type": "string"}}}
    lists["statement_scores"] = {"items": {"type": "integer"}}
    schema = {
        "type": "object",
        "properties": {name: {"type": "array", **kind} for name, kind in lists.items()},
    }

    @component
    class Generator:
        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
            reply = judge(messages[-1].text or "", schema)
            return {"replies": [ChatMessage.from_assistant(reply)]}

    metric = FaithfulnessEvaluator(chat_generator=Generator(), progress_bar=False)

    def score(question: str, passage: str, answer: str) -> float:
        row = {"questions": [question], "contexts": [[passage]], "predicted_answers": [answer]}
        return float(metric.run(**row)["individual_scores"][0])

    return score


def deepeval(judge: Judge) -> Score:
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase

    class Local(DeepEvalBaseLLM):
        def load_model(self, *args: Any, **kwargs: Any) -> Any:
            return judge

        def generate(self, prompt: str, schema: Any = None, **kwargs: Any) -> Any:
            return schema.model_validate_json(judge(prompt, schema.model_json_schema()))

        async def a_generate(self, prompt: str, schema: Any = None, **kwargs: Any) -> Any:
            return self.generate(prompt, schema)

        def get_model_name(self, *args: Any, **kwargs: Any) -> str:
            return NAME

    metric = FaithfulnessMetric(model=Local(), include_reason=False, async_mode=False)

    def score(question: str, passage: str, answer: str) -> float:
        case = LLMTestCase(input=question, actual_output=answer, retrieval_context=[passage])
        return float(metric.measure(case, _show_indicator=False))

    return score


def ragas(judge: Judge) -> Score:
    from ragas.llms.base import InstructorBaseRagasLLM
    from ragas.metrics.collections import Faithfulness

    class Local(InstructorBaseRagasLLM):
        def generate(self, prompt: str, response_model: Any) -> Any:
            reply = judge(prompt, response_model.model_json_schema())
            found = reply[reply.find("{") : reply.rfind("}") + 1]
            return response_model.model_validate_json(found)

        async def agenerate(self, prompt: str, response_model: Any) -> Any:
            return self.generate(prompt, response_model)

    metric = Faithfulness(llm=Local())

    def score(question: str, passage: str, answer: str) -> float:
        result = metric.score(user_input=question, response=answer, retrieved_contexts=[passage])
        return float(result.value)

    return score


def mlflow(judge: Judge) -> Score:
    """``is_grounded``, which the scorer ``RetrievalGroundedness`` calls for a trace."""
    from mlflow.genai.judges import is_grounded

    def score(question: str, passage: str, answer: str) -> float:
        with served(judge) as address:
            os.environ |= {"OPENAI_API_BASE": address, "OPENAI_API_KEY": "unused"}
            found = is_grounded(
                request=question, response=answer, context=[passage], model=f"openai:/{NAME}"
            )
        if found.error is not None:
            raise ValueError(found.error.error_message)
        return {"yes": 1.0, "no": 0.0}[str(found.value)]

    return score


def openevals(judge: Judge) -> Score:
    from openevals.llm import create_llm_as_judge
    from openevals.prompts import RAG_GROUNDEDNESS_PROMPT

    metric = create_llm_as_judge(prompt=RAG_GROUNDEDNESS_PROMPT, judge=Client(judge), model=NAME)

    def score(question: str, passage: str, answer: str) -> float:
        found: Any = metric(context=passage, outputs=answer)
        return float(found["score"])

    return score


JUDGED = {
    "ragas": ragas,
    "deepeval": deepeval,
    "haystack": haystack,
    "mlflow": mlflow,
    "openevals": openevals,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    names = ["franq", *JUDGED]
    parser.add_argument("metrics", nargs="*", default=names, help=", ".join(names))
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument(
        "--tokens", type=int, help="most of a reply (96); with --held, of a string (32)"
    )
    parser.add_argument("--held", action="store_true", help="hold the judge to the form")
    parser.add_argument("--out", type=Path, default=KEPT, help="the file of all metrics' scores")
    given = parser.parse_args()
    if unknown := sorted({*given.metrics} - {*names}):
        parser.error(f"no metric {', '.join(unknown)}: there are {', '.join(names)}")
    if given.rows != parser.get_default("rows") and given.out == KEPT:
        parser.error("--rows: the stored scores are of 50 rows each; give --out FILE, too")
    texts = ROWS.read_text("utf-8").splitlines()[: given.rows]
    rows = [chosen(json.loads(text), i) for i, text in enumerate(texts)]
    for name in given.metrics:
        if name == "franq":
            digest = json.loads((FOLDER / MANIFEST).read_text("utf-8"))["sha256"]
            score, replies, model = franq(), "-", f"small model {digest[:8]}"
        else:
            judge = Judge(given.tokens or (32 if given.held else 96), held=given.held)
            score, replies = JUDGED[name](judge), "held" if given.held else "free"
            model = f"{NAME} {SHA256[:8]}"
        true, changed, seconds = measured(name, score, rows)
        found = Scores(
            metric=name, replies=replies, model=model, true=true, changed=changed, seconds=seconds
        )
        print(found.line(), flush=True)
        store(found, given.out)
    print(table(stored(given.out)))


def chosen(row: dict[str, Any], number: int) -> Row:
    """The row with a paraphrase or with a changed claim, now the one, now the other."""
    kind = "changed" if number % 2 else "paraphrase"
    claims = [claim["text"] for claim in row["claims"] if claim["kind"] == kind]
    # Of the two changed claims now the first, now the second: they change different things.
    answer = claims[number // 2 % len(claims)]
    return Row(row["id"], kind != "changed", (row["question"], row["passage"], answer))


def measured(name: str, score: Score, rows: list[Row]) -> tuple[Found, Found, float]:
    """The scores of the true and of the changed answers, and the processor time a row."""
    began = time.process_time()
    true: Found = {}
    changed: Found = {}
    for row in rows:
        value: float | None
        try:
            value = score(*row.text)
        except Exception as error:  # a reply that cannot be read is one of the results
            print(f"   {name}: {type(error).__name__}: {str(error)[:80]!r}", flush=True)
            value = None
        if value is not None and math.isnan(value):
            value = None
        (true if row.is_true else changed)[row.id] = value
    return true, changed, round((time.process_time() - began) / len(rows), 2)


if __name__ == "__main__":
    main()
