"""The generation store repeats nothing and survives a kill."""

from franq_guard.datasets.generations import GenerationStore
from franq_guard.testing import FakeLanguageModel


class Counting(FakeLanguageModel):
    def __init__(self):
        super().__init__(answers=lambda prompt: f"answer to {prompt}")
        self.prompts = []

    def generate(self, prompts, **options):
        self.prompts += prompts
        return super().generate(prompts, **options)


def test_order_and_duplicates(tmp_path):
    model, store = Counting(), GenerationStore(tmp_path / "g.jsonl")
    made = store.generate(model, ["bb", "a", "bb"], max_new_tokens=5)
    assert [g.text for g in made] == ["answer to bb", "answer to a", "answer to bb"]
    assert sorted(model.prompts) == ["a", "bb"]


def test_a_second_run_makes_nothing_again(tmp_path):
    path = tmp_path / "deep" / "g.jsonl"
    first = GenerationStore(path).generate(Counting(), ["a", "b"], max_new_tokens=5)
    model = Counting()
    again = GenerationStore(path).generate(model, ["a", "b", "c"], max_new_tokens=5)
    assert model.prompts == ["c"]
    assert [g.tokens for g in again[:2]] == [g.tokens for g in first]
    assert [g.text for g in again[:2]] == [g.text for g in first]


def test_files_of_other_processes_are_read_and_left_as_they_are(tmp_path):
    mine, theirs = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    GenerationStore(theirs).generate(Counting(), ["a"], max_new_tokens=5)
    before = theirs.read_bytes()
    model = Counting()
    GenerationStore(mine, also=[theirs]).generate(model, ["a", "b"], max_new_tokens=5)
    assert model.prompts == ["b"]
    assert theirs.read_bytes() == before
    assert len(mine.read_text(encoding="utf-8").splitlines()) == 1


def test_settings_are_part_of_the_key(tmp_path):
    model, store = Counting(), GenerationStore(tmp_path / "g.jsonl")
    store.generate(model, ["a"], max_new_tokens=5)
    store.generate(model, ["a"], max_new_tokens=6)
    assert model.prompts == ["a", "a"]


def test_a_torn_last_line_is_made_again(tmp_path):
    path = tmp_path / "g.jsonl"
    GenerationStore(path).generate(Counting(), ["a", "b"], max_new_tokens=5)
    path.write_text(path.read_text()[:-20])
    model = Counting()
    store = GenerationStore(path)
    store.generate(model, ["a", "b"], max_new_tokens=5)
    assert len(model.prompts) == 1
    model = Counting()
    GenerationStore(path).generate(model, ["a", "b"], max_new_tokens=5)
    assert model.prompts == []


def test_lines_that_are_no_generation_are_skipped(tmp_path):
    path = tmp_path / "g.jsonl"
    GenerationStore(path).generate(Counting(), ["a"], max_new_tokens=5)
    damaged = ["5", '"key"', "null", "[1]", "{}", '{"key": "k", "text": "t", "tokens": 5}']
    path.write_text("\n".join([*damaged, path.read_text()]))
    model = Counting()
    GenerationStore(path).generate(model, ["a"], max_new_tokens=5)
    assert model.prompts == []


def test_progress_counts_finished_prompts(tmp_path):
    done = []
    GenerationStore(tmp_path / "g.jsonl").generate(
        Counting(), list("abcde"), max_new_tokens=5, batch_size=2, progress=done.append
    )
    assert done == [2, 4, 5]
