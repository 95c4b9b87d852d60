"""What readers said of claims, by digest."""

import json

from franq_bench.data.read_claims import CLAPNQ_READ, beyond_the_passage, digest_of
from franq_guard.datasets.jsonl import json_rows


def test_only_what_both_readers_say_of_the_author_counts(tmp_path):
    read = {
        "Both": ["author", "author"],
        "One": ["author", "stated"],
        "Cut": ["cut", "cut"],
        "None": ["stated", "stated"],
    }
    file = tmp_path / "read.jsonl"
    file.write_text(
        "".join(
            json.dumps({"id": "q-1", "digest": digest_of(claim), "readers": readers}) + "\n"
            for claim, readers in read.items()
        )
    )
    assert beyond_the_passage(file) == {"q-1": frozenset({digest_of("Both")})}


def test_the_labels_in_use_are_of_two_readers_and_hold_no_text():
    rows = list(json_rows(CLAPNQ_READ))
    assert len({(row["id"], row["digest"]) for row in rows}) == len(rows)
    for row in rows:
        assert row.keys() == {"id", "digest", "readers"}
        assert len(row["digest"]) == len(digest_of(""))
        assert len(row["readers"]) == 2
        assert set(row["readers"]) <= {"stated", "author", "cut"}
    assert 0 < len([d for of in beyond_the_passage().values() for d in of]) < 0.1 * len(rows)
