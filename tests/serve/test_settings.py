import pytest

from franq_guard.serve.settings import ServeSettings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"queue": 0}, "queue"),
        ({"batch_size": 1.5}, "batch_size"),
        ({"deadline": 0}, "deadline"),
        ({"deadline": float("inf")}, "deadline"),
        ({"window_ms": -1}, "window_ms"),
        ({"on_error": "shut"}, "on_error"),
        ({"stream": "all"}, "stream"),
        ({"closed_routes": ("chat", "elsewhere")}, "litellm, chat, not 'elsewhere'"),
        ({"closed_routes": "chat"}, "closed_routes must be a tuple"),
        ({"upstream_kind": "tgi"}, "upstream_kind"),
        ({"tokens": "abc"}, "tuple"),
        ({"tokens": ("",)}, "empty"),
        ({"tokens": ("a b",)}, "spaces"),
        ({"tokens": ("ä",)}, "ASCII"),
        ({"upstream_key": "secret\n"}, "upstream_key"),
        ({"upstream_key": "secrét"}, "upstream_key"),
        ({"upstream": "localhost:8000"}, "upstream"),
        ({"upstream": "file:///etc/passwd"}, "upstream"),
        ({"upstream": "http://a:99999/v1"}, "upstream"),
        ({"upstream": "http://me:secret@a/v1"}, "user name"),
        ({"upstream": "http://a/v1/chat/completions/"}, "before /chat/completions"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, message):
    with pytest.raises(ValueError, match=message) as caught:
        ServeSettings(**settings)
    assert "secret" not in str(caught.value)


def test_secrets_are_not_shown():
    shown = repr(ServeSettings(tokens=("hush",), upstream_key="hush"))
    assert "hush" not in shown
