import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from franq_bench.tables.mistakes import read_answers, worst
from franq_bench.tables.report import write_report
from franq_bench.tables.results import Dataset, Results, Row, Scores, metric_rows
from franq_bench.tables.summary import main_table, summary_table, unmeasured
from franq_guard.report.tables import Column, Table

EVIL = "<script>alert(1)</script>\"'&amp;--><b>`|[x](javascript:1)\u202e\x00 Ünï 漢字"
METHODS = ("max-probability", "semantic-entropy", "franq-none", "franq-condition-alone")


def made(folder, *, text=EVIL, datasets=("nq", "one-class"), methods=METHODS):
    rng = np.random.default_rng(0)
    rows, answers = [], []
    for name in datasets:
        for i in range(30):
            true = 1 if name == "one-class" else i % 2
            scores = {m: round(float(rng.random() * 0.7 + 0.3 * true), 3) for m in methods}
            row = {"id": f"{text}{i}", "dataset": name, "split": "test", "is_true": true}
            rows.append(row | {"scores": scores})
            passage = {"title": text, "text": text}
            said = {"question": text, "answers": [text], "answer": text, "passages": [passage]}
            claim = {"text": text, "spans": [[0, 1]], "is_true": True, "is_faithful": None}
            answers.append(row | said | {"claims": [claim]})
    scores = Scores.of(rows)
    scores.write(folder)
    results = Results(
        settings={text: text, "data": [text, text], "nested": {text: [1]}, "n": 3},
        versions={text: text},
        datasets=tuple(Dataset(name, 0, 30, 0.5, 1) for name in datasets),
        rows=tuple(metric_rows(scores, resamples=20)),
        tables=(Table(text, text, (Column(text),), ((text,), (1.0,)), note=text),),
    )
    results.write(folder)
    with (folder / "answers.jsonl").open("w") as file:
        file.writelines(json.dumps(answer) + "\n" for answer in answers)
    return results, scores


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.open = set(), [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_target_decides_which_figures_of_the_paper_stand_beside_ours(tmp_path):
    results, _ = made(tmp_path, text="x", datasets=("nq",), methods=("faithfulness",))
    for target, theirs in (
        ("a: factuality; b: factuality", (0.108, 0.233, 0.119, 0.058)),
        ("a: faithfulness", (0.789,)),
        ("a: factuality; b: faithfulness", ()),
    ):
        settings = {"form": "long", "target": target}
        assert main_table(replace(results, settings=settings), "prr").rows[1][2:] == theirs
    faithful = replace(results, settings={"form": "long", "target": "a: faithfulness"})
    assert {row[-1] for row in summary_table(faithful).rows} == {"-"}


def test_everything_is_escaped_and_nothing_is_loaded(tmp_path):
    made(tmp_path, datasets=("nq", EVIL))
    html, _ = write_report(tmp_path, resamples=20)
    text = html.read_text()
    page = Page(text)
    assert page.open == []  # every element is closed, none by the data
    assert not page.tags & {"script", "img", "link", "iframe", "object", "base", "form"}
    names = {name for name, _ in page.attributes}
    assert not {n for n in names if n.startswith("on")} | names & {"src", "srcset", "action"}
    links = [value for name, value in page.attributes if name == "href"]
    assert links
    assert all(re.fullmatch(r"#[a-z0-9-]+", link) for link in links)
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "\x00" not in text
    shown = "".join(page.text)
    assert shown.count("<script>alert(1)</script>\"'&amp;--><b>`|[x](javascript:1)") > 20


def test_ids_are_unique(tmp_path):
    made(tmp_path)
    html, _ = write_report(tmp_path, resamples=20)
    ids = [value for name, value in Page(html.read_text()).attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_text_of_the_data_only_where_asked_and_inside_the_folder(tmp_path):
    made(tmp_path / "out", text="SECRET")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    results |= {"settings": {}, "versions": {}, "tables": []}
    (tmp_path / "out" / "results.json").write_text(json.dumps(results))
    html, markdown = write_report(tmp_path / "out", resamples=20)
    assert "SECRET" in html.read_text()
    assert "SECRET" not in markdown.read_text()
    html, _ = write_report(tmp_path / "out", with_text=False, resamples=20)
    assert "SECRET" not in html.read_text()
    html, _ = write_report(tmp_path / "out", html=tmp_path / "site" / "a.html", resamples=20)
    assert html == tmp_path / "site" / "a.html"
    assert "SECRET" not in html.read_text()
    (tmp_path / "out" / "answers.jsonl").unlink()
    html, _ = write_report(tmp_path / "out", resamples=20)
    assert "Worst mistakes" not in html.read_text()


def test_markdown_has_the_tables_and_no_markup_of_the_data(tmp_path):
    made(tmp_path, datasets=("nq",))
    _, markdown = write_report(tmp_path, resamples=20)
    text = markdown.read_text()
    assert text.startswith("# Benchmark report: short answers on nq\n")
    for heading in ("Summary", "PR-AUC", "ROC-AUC", "Settings", "The paper's own figures"):
        assert f"\n## {heading}" in text
    assert "<script>" not in text
    assert "\\<script\\>" in text
    widths = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        for line in block.splitlines():
            widths.setdefault(block, set()).add(len(re.findall(r"(?<!\\)\|", line)))
    assert all(len(w) == 1 for w in widths.values())


def test_figures_are_recomputed_from_the_scores(tmp_path, caplog):
    made(tmp_path, text="x", datasets=("nq",))
    stale = json.loads((tmp_path / "results.json").read_text())
    for row in stale["rows"]:
        row["auroc"] = 0.123
    (tmp_path / "results.json").write_text(json.dumps(stale))
    _, markdown = write_report(tmp_path, resamples=20)
    assert ".12 " not in markdown.read_text().split("## The paper")[0]
    (said,) = caplog.messages
    assert "other figures than scores.jsonl gives: auroc of max-probability on nq" in said
    assert said.endswith("...")  # eight differ


def test_halves_of_pairs_do_not_stop_the_report(tmp_path):
    made(tmp_path, text="x")
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    text = "\n".join(json.dumps(row | {"answer": "a\ud800b"}) for row in rows)
    (tmp_path / "answers.jsonl").write_text(text)
    html, _ = write_report(tmp_path, resamples=20)
    assert "a\ufffdb" in html.read_text()


def test_main_table_by_family_with_the_papers_means(tmp_path):
    results, _ = made(tmp_path, text="x")
    table = main_table(results, "pr_auc")
    assert [c.title for c in table.columns] == [
        "method", "nq", "one-class", "mean", "paper: Llama 3B", "paper: Falcon 3B",
        "paper: Llama 8B", "paper: Gemma 12B",
    ]  # fmt: skip
    assert [row[0] for row in table.rows] == [
        "Information-based", "Max Sequence/Claim Probability",
        "Sample diversity", "Semantic Entropy",
        "FRANQ", "FRANQ, no calibration", "FRANQ, condition-calibrated, as in the paper",
    ]  # fmt: skip
    own = {(r.dataset, r.method): r for r in results.rows}
    last = table.rows[-1]
    assert last[1] == own["nq", "franq-condition-alone"].pr_auc
    assert last[2] is None  # no false answer there
    assert last[3] == last[1]
    assert last[4] == pytest.approx(0.631, abs=0.001)
    # the paper's figures have three decimals, as it prints them
    assert table.shown()[-1][4] == ".631"
    assert [column.decimals for column in table.columns] == [2, 2, 2, 2, 3, 3, 3, 3]
    assert table.errors[-1][1] == own["nq", "franq-condition-alone"].pr_auc_se
    assert "other models" in table.note


def test_summary_says_what_came_first_and_where_franq_stands():
    def rows(dataset, a, b):
        half = [{"id": str(i), "dataset": dataset, "split": "test"} for i in range(4)]
        truth = (0, 0, 1, 1)
        return [
            row
            | {
                "is_true": t,
                "scores": {"perplexity": x, "franq-condition-alone": y, "franq-condition": y},
            }
            for row, t, x, y in zip(half, truth, a, b, strict=True)
        ]

    data = rows("nq", (0.1, 0.2, 0.8, 0.9), (0.1, 0.6, 0.4, 0.9))
    results = Results({}, {}, (Dataset("nq", 0, 4),), tuple(metric_rows(data, resamples=5)))
    found = {row[0]: row[1:] for row in summary_table(results).rows}
    # AUROC of the second: three of four pairs right
    # both variants of FRANQ are equal: one method is better than each
    assert found["ROC-AUC"][:4] == ("Perplexity", 1.0, 0.75, "2 of 3")
    assert found["ROC-AUC"][5:] == (0.75, "2 of 3")
    # ECE: .1 .2 .2 .1 over 4 = .15; second: .1 .6 .6 .1 over 4 = .35
    name, best, franq, place = found["Expected calibration error"][:4]
    assert (name, place) == ("Perplexity", "2 of 3")
    assert (best, franq) == (pytest.approx(0.15), pytest.approx(0.35))
    # first by its table of means but for Gemma's PRR; ROC-AUC from its tables by data set
    assert found["PR-AUC"][4] == ", ".join(
        f"1 of 15 ({model})" for model in ("Llama 3B", "Falcon 3B", "Llama 8B", "Gemma 12B")
    )
    assert found["ROC-AUC"][4] == "1 of 15 (Llama 3B), 2 of 15 (Falcon 3B)"
    # .07, shared with two others
    assert found["Expected calibration error"][4] == "1 of 12 (Llama 3B)"


@pytest.mark.parametrize("last_bit", [0.0, 2**-53])
def test_the_summary_names_all_that_are_first(last_bit):
    """The last bit of a figure differs between processors and gives no place."""
    equal = {"perplexity": 0.75, "franq-learned": 0.75 + last_bit, "p-true": 0.5}
    rows = tuple(Row("nq", method, auroc=figure) for method, figure in equal.items())
    [found] = summary_table(Results({}, {}, (Dataset("nq", 0, 4),), rows)).rows
    assert found[1] == "Perplexity and FRANQ, learned"


def test_what_was_not_measured_is_said():
    data = [
        {"id": str(i), "dataset": "nq", "split": "test", "is_true": i % 2,
         "scores": {"p-true": None if i == 3 else 0.5, "none": None}}
        for i in range(4)
    ]  # fmt: skip
    assert "P(True) on nq (1 of 4)." in unmeasured(Scores.of(data))
    assert "none" not in unmeasured(Scores.of(data))


def test_worst_mistakes(tmp_path):
    confidences = {"a": (0, 0.9), "b": (0, 0.2), "c": (1, 0.1), "d": (1, 0.8), "e": (0, None)}
    rows = [
        {"id": key, "dataset": "nq", "split": "test", "is_true": t, "scores": {"m": s}}
        for key, (t, s) in confidences.items()
    ]
    rows.append(rows[0] | {"id": "f", "split": "train"})
    said = {"question": "q", "answer": "a", "passages": [], "answers": ["g"]}
    lines = [json.dumps({"dataset": "nq", "id": key} | said) for key in "abcdef"]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    found = worst(Scores.of(rows), read_answers(tmp_path), "m")
    assert [m.score.id for m in found.sure] == ["a", "b"]
    assert [m.score.id for m in found.doubted] == ["c", "d"]
    assert found.sure[0].answer.gold == ("g",)
    assert found.sure[0].claim is None
    assert len(worst(Scores.of(rows), read_answers(tmp_path), "m", most=1).sure) == 1


def test_a_claim_shows_its_answer(tmp_path):
    claims = [{"text": "one"}, {"text": "two", "is_true": False, "is_faithful": 1}]
    said = {"question": "q", "answer": "one two", "passages": [], "claims": claims}
    (tmp_path / "answers.jsonl").write_text(json.dumps({"dataset": "nq", "id": "q7"} | said))
    row = {"id": "q7#1", "dataset": "nq", "split": "test", "is_true": 0, "scores": {"m": 0.9}}
    (mistake,) = worst(Scores.of([row | {"group": "q7"}]), read_answers(tmp_path), "m").sure
    assert mistake.claim == 1
    assert mistake.answer.claims[1] == ("two", "no", "yes")


def test_missing_files_and_bad_answers_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no results\.json"):
        write_report(tmp_path)
    made(tmp_path, text="x")
    (tmp_path / "answers.jsonl").write_text('{"dataset": "nq", "id": "1"}\n')
    with pytest.raises(ValueError, match=r"answers\.jsonl, line 1: lacks 'question'"):
        write_report(tmp_path, resamples=5)
    (tmp_path / "scores.jsonl").unlink()
    with pytest.raises(FileNotFoundError, match=r"no scores\.jsonl"):
        write_report(tmp_path)


def test_nothing_but_an_empty_data_set(tmp_path):
    Scores(()).write(tmp_path)
    Results({}, {}, (Dataset("nq", 0, 0),), ()).write(tmp_path)
    html, markdown = write_report(tmp_path, resamples=5)
    assert Page(html.read_text()).open == []
    assert "| nq | 0 | 0 | - | - |" in markdown.read_text()
