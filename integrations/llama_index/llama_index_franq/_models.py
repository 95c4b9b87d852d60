"""The engine's own local models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from franq_guard.capture.local import LocalModel, live_models
from llama_index_franq._find import language_models, local_model

if TYPE_CHECKING:
    from franq_guard import Guard


class Models:
    """The local models in an engine, each with its recorder attached; see :func:`live_models`.

    Args:
        engine: an engine, agent or model.
        guard: checks the answers.
        recorded_only: leave out models that would have to be asked after the answer: the
            application may already have them write the next one.
    """

    def __init__(self, engine: Any, guard: Guard, *, recorded_only: bool = False) -> None:
        all_models = language_models(engine)
        pairs = [pair for llm in all_models if (pair := local_model(llm)) is not None]
        distinct = {id(model): (model, tokenizer) for model, tokenizer in pairs}
        found = live_models(distinct.values(), guard)
        self.local = [model for model in found if model.recorded or not recorded_only]
        self._alone = len(self.local) == 1 and len(pairs) == len(all_models)

    @property
    def only(self) -> LocalModel | None:
        """The only model that can have written an answer; None if that is not certain."""
        return self.local[0] if self._alone else None
