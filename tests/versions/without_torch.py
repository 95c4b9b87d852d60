"""A pytest plugin for an environment without torch: skips the tests that need it.

Only a missing torch, or a missing package that comes with it, makes a test skipped; any other
missing module is a failure.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from franq_guard.language_model import MissingModelError

PACKAGES = (
    "accelerate", "gguf", "huggingface_hub", "langchain_huggingface", "llama_index.llms",
    "safetensors", "tokenizers", "torch", "transformers",
)  # fmt: skip
_SKIPPED: set[str] = set()
"""Files that were skipped as a whole; a name that another one imports from them is missing, too."""


def missing(error: BaseException | None) -> str | None:
    """The package of ``PACKAGES`` whose absence caused this error, if one did."""
    while error is not None:
        name = (getattr(error, "name", None) or "") if isinstance(error, ImportError) else ""
        if isinstance(error, MissingModelError):  # the guard looks for torch before it imports it
            name = str(error).partition(",")[0]
        if isinstance(error, ImportError) and error.path in _SKIPPED:
            return name
        if any(f"{name}.".startswith(f"{package}.") for package in PACKAGES):
            return name
        error = error.__cause__ or error.__context__
    return None


def skip_or_raise(error: BaseException) -> None:
    """Skip what runs at present if the error comes from a missing torch; else raise it."""
    if name := missing(error):
        pytest.skip(f"needs {name}", allow_module_level=True)
    raise error


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """A file that imports torch at its top is skipped as a whole."""
    report = yield
    call = report.__dict__.get("call")
    if report.failed and call and missing(call.excinfo.value.__cause__ or call.excinfo.value):
        _SKIPPED.add(str(collector.path))
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, "Skipped: needs torch")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Fixtures that load a model."""
    try:
        return (yield)
    except Exception as error:
        skip_or_raise(error)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """The test itself."""
    try:
        return (yield)
    except Exception as error:
        skip_or_raise(error)
