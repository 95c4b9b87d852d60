"""What has to be awaited is refused wherever a plain function is wanted."""

from functools import partial

import pytest

from franq_guard.basics.awaited import is_async
from franq_guard.capture.evidence import check_evidence
from franq_guard.policy import Policy


class Awaited:
    async def __call__(self, *_):
        return []


async def awaited(*_):
    return []


def plain(*_):
    return []


@pytest.mark.parametrize("function", [awaited, Awaited(), partial(awaited, 1)])
def test_async_functions_and_objects_called_so_are_told_apart(function):
    assert is_async(function)
    with pytest.raises(TypeError, match="not a coroutine function"):
        check_evidence(function)
    with pytest.raises(ValueError, match="not a coroutine function"):
        Policy(action=function)


@pytest.mark.parametrize("function", [plain, partial(plain, 1), print, "context", None])
def test_others_are_not(function):
    assert not is_async(function)
    check_evidence(function)
