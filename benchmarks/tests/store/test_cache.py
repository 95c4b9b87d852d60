import pytest

from franq_bench.store.cache import Cache, content_key


def test_what_was_kept_is_there_the_next_time(tmp_path):
    Cache(tmp_path / "deep" / "folder")["a"] = {"text": "ä\n", "n": [1, 2.5, None]}
    again = Cache(tmp_path / "deep" / "folder")
    assert "a" in again
    assert "b" not in again
    assert again["a"] == {"text": "ä\n", "n": [1, 2.5, None]}


@pytest.mark.parametrize("damage", ['{"key": "b", "ro', "\x00\xff", "[1]", '{"row": 2}', "null"])
def test_a_damaged_line_is_passed_over_and_the_next_one_is_whole(tmp_path, damage):
    Cache(tmp_path)["a"] = 1
    with (tmp_path / "1-of-1.jsonl").open("a", encoding="utf-8") as file:
        file.write(damage)
    second = Cache(tmp_path)
    assert "b" not in second
    second["b"] = 2
    third = Cache(tmp_path)
    assert (third["a"], third["b"]) == (1, 2)


def test_shards_write_apart_and_are_read_together(tmp_path):
    one, two = Cache(tmp_path, part="1-of-2"), Cache(tmp_path, part="2-of-2")
    one["a"], two["b"] = 1, 2
    assert "b" not in one
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1-of-2.jsonl", "2-of-2.jsonl"]
    both = Cache(tmp_path)
    assert (both["a"], both["b"]) == (1, 2)


def test_keys_are_of_the_content():
    assert content_key("m", ["p"], {"n": 1}) == content_key("m", ["p"], {"n": 1})
    keys = {content_key("m", "p"), content_key("mp"), content_key(["m", "p"]), content_key("m", 1)}
    assert len(keys) == 4
