"""Folders of text as passages."""

import gzip
import json
import os
from pathlib import Path

import pytest
from pypdf.errors import DependencyError

from franq_guard.datasets.documents import read_folder
from franq_guard.datasets.jsonl import json_rows


def test_passages_name_their_file_and_stay_short(tmp_path):
    (tmp_path / "deep").mkdir()
    sentence = "This sentence has exactly seven words here. "
    (tmp_path / "deep" / "a.md").write_text("# Title\n\n" + sentence * 40)
    (tmp_path / "b.txt").write_text("One line.")
    (tmp_path / "c.csv").write_text("not,text")
    passages = read_folder(tmp_path, words=50)
    assert {p.title for p in passages} == {"deep/a.md", "b.txt"}
    assert [p.id for p in passages if p.title == "b.txt"] == ["b.txt#1"]
    long = [p.text for p in passages if p.title == "deep/a.md"]
    assert all(len(text.split()) <= 50 for text in long)
    # nothing is lost: 40 sentences of 7 words, and the title with its mark
    assert sum(len(text.split()) for text in long) == 40 * 7 + 2


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.jsonl", "a.pdf"])
def test_a_document_that_cannot_be_read_is_left_out_and_named(tmp_path, caplog, name):
    (tmp_path / name).write_bytes(b"caf\xe9 is open.")
    why = "cannot be read as PDF" if name == "a.pdf" else f"{name} is not UTF-8"
    with pytest.raises(ValueError, match=why):
        read_folder(tmp_path)
    (tmp_path / "b.txt").write_text("The café is open.", encoding="utf-8")
    (passage,) = read_folder(tmp_path)
    assert passage.text == "The café is open."
    (said,) = [r.getMessage() for r in caplog.records if r.name.startswith("franq_guard")]
    assert "a document is left out: " in said
    assert why in said


def test_files_of_other_kinds_are_counted_once(tmp_path, caplog):
    for name in ("a.docx", "b.DOCX", "c.csv", "README", ".hidden"):
        (tmp_path / name).write_text("x")
    with pytest.raises(ValueError, match=r"no text found.*; left out: 2 \.docx, 1 "):
        read_folder(tmp_path)
    (tmp_path / "b.txt").write_text("It is open.")
    assert len(read_folder(tmp_path)) == 1
    (said,) = [r.getMessage() for r in caplog.records]
    assert said.startswith("read were .txt, .md, ")
    assert "left out: 2 .docx, 1 " in said
    assert "hidden" not in said


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_text_with_a_byte_order_mark_is_read_without_it(tmp_path, encoding):
    (tmp_path / "a.md").write_bytes("# Café\r\n\r\nIt is open.\r\n".encode(encoding))
    assert [passage.text for passage in read_folder(tmp_path)] == ["# Café\n\nIt is open."]


def test_rows_that_are_not_utf8_or_cut_short_are_named(tmp_path):
    (tmp_path / "a.jsonl").write_bytes('{"text": "Café."}'.encode("latin-1"))
    with pytest.raises(ValueError, match=r"a\.jsonl is not UTF-8"):
        read_folder(tmp_path)
    cut = tmp_path / "b.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"text": "It is open."}')[:-9])
    with pytest.raises(ValueError, match=r"b\.jsonl\.gz: Compressed file ended"):
        list(json_rows(cut))
    damaged = tmp_path / "c.jsonl.gz"
    damaged.write_bytes(gzip.compress(b'{"text": "It is open."}')[:10] + b"\xff" * 20)
    with pytest.raises(ValueError, match=r"c\.jsonl\.gz: Error -3 while decompressing"):
        list(json_rows(damaged))


def test_a_sentence_longer_than_a_passage_is_kept_whole(tmp_path):
    (tmp_path / "a.txt").write_text("word " * 300)
    (passage,) = read_folder(tmp_path, words=50)
    assert len(passage.text.split()) == 300


def test_no_text_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_text(" \n ")
    with pytest.raises(ValueError, match="no text found"):
        read_folder(tmp_path)
    with pytest.raises(ValueError, match="is not a folder"):
        read_folder(tmp_path / "missing")


def test_a_heading_begins_a_passage(tmp_path):
    (tmp_path / "a.md").write_text("Before.\n\n# One\n\nFirst.\n\n## Two\n\nSecond.\n")
    assert [p.text for p in read_folder(tmp_path)] == [
        "Before.",
        "# One\n\nFirst.",
        "## Two\n\nSecond.",
    ]


def test_a_page_gives_what_it_shows(tmp_path):
    (tmp_path / "a.html").write_text(
        "<html><head><title>T</title><style>p {color: red}</style></head><body><p>Rome&nbsp;is "
        "<b>old</b>.</p><script>x()</script><h2>Rivers</h2><ul><li>The Tiber.</li></ul></body>"
    )
    assert [p.text for p in read_folder(tmp_path)] == ["Rome is old.", "Rivers\n\nThe Tiber."]


def test_a_folder_that_may_not_be_read_is_named(tmp_path, caplog, monkeypatch):
    (tmp_path / "locked").mkdir()
    (tmp_path / "a.txt").write_text("Rome is old.")
    scandir = os.scandir

    def as_for_others(path):  # root, who runs the tests, may read every folder
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", as_for_others)
    assert [p.text for p in read_folder(tmp_path)] == ["Rome is old."]
    assert "locked cannot be read: Permission denied" in caplog.text


def test_rows_of_json_are_documents(tmp_path):
    rows = [{"title": "Rome", "text": "It is old."}, {"text": "It is large."}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert [p.text for p in read_folder(tmp_path)] == ["Rome\n\nIt is old.", "It is large."]
    (tmp_path / "a.jsonl").write_text('{"title": "Rome"}')
    with pytest.raises(ValueError, match="row 1: a document needs a string 'text'"):
        read_folder(tmp_path)


def test_a_pdf_gives_its_text_and_a_broken_one_is_named(tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf("Rome is in Italy."))
    (passage,) = read_folder(tmp_path)
    assert (passage.text, passage.title) == ("Rome is in Italy.", "a.pdf")
    (tmp_path / "a.pdf").write_bytes(b"no pdf")
    with pytest.raises(ValueError, match=r"a\.pdf cannot be read as PDF"):
        read_folder(tmp_path)


@pytest.mark.parametrize("why", ["cryptography>=3.1 is required", "Unsupported filter /X"])
def test_a_pdf_that_takes_another_package_is_named(tmp_path, monkeypatch, why):
    """An encrypted one, or an unknown compression: neither error is one of pypdf's own kind."""
    kind = DependencyError if "required" in why else NotImplementedError

    def reader(file):
        raise kind(why)

    monkeypatch.setattr("pypdf.PdfReader", reader)
    (tmp_path / "a.pdf").write_bytes(pdf("Rome is in Italy."))
    with pytest.raises(ValueError, match=f"a.pdf cannot be read as PDF: {why}"):
        read_folder(tmp_path)


def pdf(text):
    """One page with one line of text, written by hand."""
    drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"xref\n0 6\n0000000000 65535 f \n" + table
    return out + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % out.index(b"xref")
