"""Which fields of a structured answer a user has named."""

import pytest

from franq_guard.capture.fields import ALL, check_fields, is_named


@pytest.mark.parametrize(
    ("fields", "path", "named"),
    [
        (("summary",), ("summary",), True),
        (("summary",), ("summary", "text"), True),  # all below it
        (("findings.text",), ("findings", "text"), True),
        (("findings.text",), ("findings", "texts"), False),
        (("findings",), ("findings_of_others",), False),
        (("text",), ("findings", "text"), False),  # not at the end of a path
        (("a.b",), ("a.b",), True),  # a key with a dot
        ((ALL,), ("findings", "text"), True),
        ((ALL,), (), True),  # a text in a list without keys
        (("summary",), (), False),
        ((), ("summary",), False),
    ],
)
def test_a_path_is_named_by_itself_or_its_beginning(fields, path, named):
    assert is_named(path, fields) is named


def test_what_cannot_work_is_refused():
    assert check_fields(["summary"], "buffer") == ("summary",)
    assert check_fields((), "claims") == ()
    with pytest.raises(ValueError, match="not one string"):
        check_fields("summary", "buffer")
    with pytest.raises(ValueError, match="are not streamed"):
        check_fields(("summary",), "claims")
