"""Server-sent events in any pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.serve.proxy.wire import Events, MalformedError, read_json, to_json

LINES = [b"data: a", b"data:b", b": comment", b"event: x", b"id", b"", b"", b"data: \xc3\xa4"]


def read(pieces):
    events = Events()
    found = [data for piece in pieces for data in events.feed(piece)]
    return found + list(events.end())


@given(
    st.lists(st.sampled_from(LINES), max_size=12),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.lists(st.integers(1, 9), min_size=1),
)
def test_pieces_and_line_ends_make_no_difference(lines, end, sizes):
    expected, data = [], []
    for line in [*lines, b""]:
        if line.startswith(b"data:"):
            data.append(line[5:].strip().decode())
        elif not line and data:
            expected.append("\n".join(data))
            data = []
    raw, pieces = end.join([*lines, b""]), []
    while raw:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(raw[:size])
        raw = raw[size:]
    assert read(pieces) == expected


def test_a_byte_order_mark_and_an_event_without_its_end_are_all_right():
    assert read([b"\xef\xbb\xbfdata: a\n\ndata: b"]) == ["a", "b"]


@pytest.mark.parametrize("raw", [b"data: \xff\n\n", b"x" * 8_400_000, b"data: aa\n" * 1_000_000])
def test_what_is_no_event(raw):
    with pytest.raises(MalformedError):
        read([raw])


def test_half_a_surrogate_pair_is_written_so_that_the_other_half_may_follow():
    halves = [read_json(rb'"\ud83d"'), read_json(rb'"\ude00"')]
    assert to_json("".join(halves)) == rb'"\ud83d\ude00"'
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(MalformedError):
        to_json(nested)
