"""Records what a model generates, without changing its results.

Frameworks drop the probabilities of a local model, run ``generate`` in threads without the caller's
context, and use their own streamers. Therefore a :class:`Recorder` is attached to the model object
and records each call of ``generate``; an answer is found again by its text. Log-probabilities
depend only on the prompt and the generated ids, so it does not matter which of several equal
records is found.
"""

from __future__ import annotations

import inspect
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from time import monotonic
from types import MethodType
from typing import Any

from transformers import GenerationMixin, LogitsProcessorList

from franq_guard.basics.failures import log_failure
from franq_guard.language_model.encoding import Encoder
from franq_guard.language_model.transformers.network import Network, unwrapped
from franq_guard.language_model.transformers.recorded_answer import BEGINNING, RecordedAnswer
from franq_guard.language_model.transformers.recorded_call import Listener, RecordedCall, Row
from franq_guard.language_model.transformers.running_answer import RunningAnswer
from franq_guard.records import Generation

logger = logging.getLogger(__name__)

_KEY = "_franq_recorder"
_attaching = threading.Lock()
_PROMPTS = 32
"""How many prompts' ids are kept: a stream of claims asks with the same prompt at every part."""
_OPEN = 16
"""Of how many finished answers the tokens are kept as objects, which take five times the memory."""

Record = RecordedAnswer | RunningAnswer


class Recorder:
    """Records what a model generates. Make one with :meth:`attach`; thread-safe.

    Recorded for each token are its id, log-probability, entropy and ``top_k`` alternatives, from
    the model's own distribution before repetition penalties, temperature and all other processors.
    With beam search and assisted generation these are not available: only the ids are recorded,
    with source ``none`` and NaN, to be scored by teacher forcing. The last ``capacity`` different
    answers are kept, and all unfinished ones.
    """

    def __init__(self, model: Any, tokenizer: Any, *, capacity: int = 256, top_k: int = 5) -> None:
        self._model = model
        self._encoder = Encoder(tokenizer, Network(model).window)
        self._capacity = capacity
        self._top_k = top_k
        self._saved: dict[str, Any] = {}
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._records: OrderedDict[tuple[Any, ...], RecordedAnswer] = OrderedDict()
        self._running: dict[int, tuple[RecordedCall, list[RunningAnswer]]] = {}
        self._open: OrderedDict[int, RecordedAnswer] = OrderedDict()
        self._prompt_ids = lru_cache(maxsize=_PROMPTS)(self._encoder.ids)

    @classmethod
    def attach(cls, model: Any, tokenizer: Any, *, capacity: int = 256, top_k: int = 5) -> Recorder:
        """The model's recorder, new if it has none. ``ValueError`` for an encoder-decoder."""
        model = unwrapped(model)
        if model.config.is_encoder_decoder:
            raise ValueError("a causal language model is needed, this one is an encoder-decoder")
        with _attaching:  # two recorders of one model would call each other for ever
            known = vars(model).get(_KEY)
            if isinstance(known, Recorder):
                return known
            recorder = cls(model, tokenizer, capacity=capacity, top_k=top_k)
            recorder._install()
            return recorder

    def detach(self) -> None:
        """Restore the model as it was before :meth:`attach`; the records are kept."""
        if vars(self._model).get(_KEY) is not self:
            return
        for name in (_KEY, "generate", "_get_logits_processor"):
            vars(self._model).pop(name, None)
        vars(self._model).update(self._saved)

    def find(self, text: str, prompt: str | None = None) -> Generation | None:
        """The newest recorded answer that matches ``text``, or None.

        Unfinished answers are found by their text so far.

        ``text`` may be the answer, the answer with other white space, cut at a stop string, or a
        stretch of at least 16 characters of it; the token spans of the result cover ``text``. It
        may also be prompt + answer, as pipelines return it: then the result's ``text`` is the part
        after the prompt. ``prompt`` limits the search to one prompt string; with it a beginning
        or an end shorter than 16 characters is found, too.
        """
        found = self._record_of(text, prompt)
        if found is None:
            return None
        record, own = found
        if isinstance(record, RecordedAnswer):
            self._opened(record)
        return record.as_text(own)

    def ended_at(self, text: str, prompt: str | None = None) -> float | None:
        """When the answer that :meth:`find` returns was complete, by ``time.monotonic``.

        Infinite while it is being written; None if there is no such answer.
        """
        found = self._record_of(text, prompt)
        return None if found is None else found[0].ended_at

    def _record_of(self, text: str, prompt: str | None) -> tuple[Record, str] | None:
        """What :meth:`find` looks for, and the text without a repeated prompt."""
        running, finished = self._unfinished(), self._finished()
        ids = () if prompt is None else self._prompt_ids(prompt)

        def asked(record: Record) -> bool:
            return prompt is None or record.has_prompt(prompt, ids)

        if prompt is not None:
            running = [record for record in running if asked(record)]
            # A stream asks at every part of an answer. The answer that is being written is looked
            # for first, so that the finished ones need not be compared each time.
            found = _best(text, running, sure=True, worst=BEGINNING)
            if found is not None:
                return found, text
        # Texts are compared before prompts, which are longer and have to be decoded first.
        records: list[Record] = [*running, *finished]
        found = _best(text, records, sure=prompt is not None, only=asked)
        if found is None and prompt is not None:
            found = next((r for r in finished if r.ends_with(text) and asked(r)), None)
        if found is not None:
            return found, text
        for record in records:
            rest = record.without_prompt(text)
            if rest is not None and record.rank(rest, sure=True) is not None and asked(record):
                return record, rest
        return None

    def _opened(self, record: RecordedAnswer) -> None:
        """Note that its tokens are asked for; free those of the answer not asked for longest."""
        with self._lock:
            self._open[id(record)] = record
            self._open.move_to_end(id(record))
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)[1].close()

    def _finished(self) -> list[RecordedAnswer]:
        with self._lock:
            return list(reversed(self._records.values()))

    def _unfinished(self) -> list[Record]:
        with self._lock:
            running = list(reversed(self._running.values()))
        return [record for call, known in running for record in self._written_by(call, known)]

    def _written_by(self, call: RecordedCall, known: list[RunningAnswer]) -> Sequence[Record]:
        """What a call has written so far; ``known`` keeps its answer if it writes only one."""
        if known:
            return known[:1]
        rows = call.so_far()
        if len(rows) == 1:
            known.append(RunningAnswer(self._encoder, call, rows[0].prompt_ids))
            return known[:1]
        return [RecordedAnswer(self._encoder, *row) for row in rows]

    def __len__(self) -> int:
        return len(self._records)

    def __deepcopy__(self, memo: object) -> Recorder:
        return self  # a copy of a model has the same recorder

    def __getstate__(self) -> dict[str, Any]:
        """For pickle, with its model: without the answers, which a model's file must not hold."""
        own = ("_model", "_encoder", "_capacity", "_top_k", "_saved")
        return {name: getattr(self, name) for name in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def _install(self) -> None:
        own = vars(self._model)
        self._saved = {n: own[n] for n in ("generate", "_get_logits_processor") if n in own}
        own[_KEY] = self
        # No bound methods: pickle would look for these among the methods of the model's class.
        own["generate"] = partial(_recorded_generate, self._model)
        own["_get_logits_processor"] = partial(_ours_first, self._model)

    def original(self, model: Any, name: str) -> Callable[..., Any]:
        """The model's method from before :meth:`attach`."""
        own: Callable[..., Any] | None = self._saved.get(name)
        return own or MethodType(getattr(type(model), name), model)

    def start(self, arguments: Mapping[str, Any]) -> RecordedCall:
        """Begin to record a call of ``generate``."""
        config = self._model.generation_config
        run = RecordedCall(arguments, top_k=self._top_k, config=config, save=self._save)
        with self._lock:
            self._running[id(run)] = run, []
        return run

    def over(self, run: RecordedCall) -> None:
        """End a call of ``generate``, which has returned or failed."""
        with self._lock:
            self._running.pop(id(run), None)

    def _save(self, rows: Sequence[Row]) -> None:
        with self._lock:
            for row in rows:
                key = row.prompt_ids, row.ids
                self._records.pop(key, None)  # a repeated answer becomes the newest
                self._records[key] = RecordedAnswer(self._encoder, *row, ended_at=monotonic())
            while len(self._records) > self._capacity:
                self._records.popitem(last=False)


def _best(
    text: str,
    records: Iterable[Record],
    *,
    sure: bool,
    worst: int | None = None,
    only: Callable[[Record], bool] = lambda _: True,
) -> Record | None:
    """The first record of the best rank that ``text`` has in any, up to the rank ``worst``.

    ``only``: which records count; asked of those that match, best first.
    """
    ranks = [(record.rank(text, sure=sure), record) for record in records]
    ranked = [(r, x) for r, x in ranks if r is not None and (worst is None or r <= worst)]
    return next((x for _, x in sorted(ranked, key=lambda pair: pair[0]) if only(x)), None)


def _recorded_generate(model: Any, *args: Any, **kwargs: Any) -> Any:
    """``generate`` with a listener, which does not change its result or its exceptions."""
    recorder: Recorder = vars(model)[_KEY]
    original = recorder.original(model, "generate")
    run = None
    try:
        run = recorder.start(_by_name(args, kwargs))
        args, kwargs = (), run.arguments
    except Exception as error:  # listening must never break the user's generation
        log_failure(logger, "this generation could not be recorded", error)
    if run is None:
        return original(*args, **kwargs)
    try:
        out = original(*args, **kwargs)
        run.end(out)
        return out
    finally:
        recorder.over(run)


def _by_name(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """All arguments of one call of ``generate`` by name; ``TypeError`` if they do not fit."""
    bound = inspect.signature(GenerationMixin.generate).bind(None, *args, **kwargs).arguments
    more = bound.pop("kwargs", {})
    return {name: value for name, value in {**bound, **more}.items() if name != "self"}


def _ours_first(model: Any, *args: Any, **kwargs: Any) -> Any:
    """The logits processors of one call with the listener first, so it gets the model's logits.

    For beam search and assisted generation the listener is removed instead.
    """
    recorder: Recorder = vars(model)[_KEY]
    processors = recorder.original(model, "_get_logits_processor")(*args, **kwargs)
    ours = [p for p in processors if isinstance(p, Listener)]
    if not ours:
        return processors
    others = [p for p in processors if not isinstance(p, Listener)]
    try:
        config = kwargs["generation_config"] if "generation_config" in kwargs else args[0]
        ours = [p for p in ours if p.begin(config)]
    except Exception as error:  # listening must never break the user's generation
        log_failure(logger, "token probabilities could not be kept", error)
        ours = []
    return LogitsProcessorList([*ours, *others])
