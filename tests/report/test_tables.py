import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from franq_guard.report.tables import Column, Table, number

TABLE = Table(
    "main",
    "Mean PR-AUC",
    (Column("method"), Column("NQ", "higher"), Column("seconds", "lower"), Column("n")),
    (
        ("Information-based",),
        ("max-probability", 0.404, 2, 300),
        ("perplexity", 0.3951, 12.34, 300),
        ("FRANQ",),
        ("franq-condition", 0.53, 1, 300),
        ("franq-none", None, math.nan, 300),
    ),
    note="Other models.",
)


def test_round_trip():
    again = Table.from_dict(json.loads(json.dumps(TABLE.to_dict(), allow_nan=False)))
    assert again == TABLE
    assert again.rows[5] == ("franq-none", None, None, 300)  # NaN: not measured


def test_marks_by_what_is_shown():
    # NQ: .53 best; .404 and .3951 are both shown as .40: they share second
    # seconds: 1 best, 2 second; the last column says nothing of better
    assert TABLE.marks() == {
        (4, 1): "best",
        (1, 1): "second",
        (2, 1): "second",
        (4, 2): "best",
        (1, 2): "second",
    }


def test_nothing_is_marked_where_all_look_the_same():
    table = Table("t", "t", (Column("a", "higher"),), ((0.501,), (0.5,), (None,), ("text",)))
    assert table.marks() == {}


def test_markdown():
    assert TABLE.markdown().splitlines() == [
        "**Mean PR-AUC**",
        "",
        "| method | NQ | seconds | n |",
        "| --- | ---: | ---: | ---: |",
        "| *Information-based* |  |  |  |",
        "| max-probability | _.40_ | _2_ | 300 |",
        "| perplexity | _.40_ | 12.3 | 300 |",
        "| *FRANQ* |  |  |  |",
        "| franq-condition | **.53** | **1** | 300 |",
        "| franq-none | - | - | 300 |",
        "",
        "Other models.",
    ]


def test_markdown_keeps_text_as_text():
    table = Table("t", "<script>", (Column("a|b"),), (("x\n| y `z` [l](u) _i_ &lt;",),))
    text = table.markdown()
    assert "\\<script\\>" in text
    assert "| a\\|b |" in text
    assert "x \\| y \\`z\\` \\[l\\](u) \\_i\\_ &amp;lt;" in text
    assert len(text.splitlines()) == 5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.534, ".53"),
        (-0.07, "-.07"),
        (-0.001, ".00"),
        (0.0, ".00"),
        (1.0, "1.00"),
        (0.999, "1.00"),
        (-1.5, "-1.50"),
        (12.34, "12.3"),
        (1234.5, "1234"),
        (300, "300"),
        (0, "0"),
        (None, "-"),
    ],
)
def test_numbers_as_in_papers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0704, ".070"),
        (-0.0704, "-.070"),
        (0.0004, ".000"),
        (1.0, "1.000"),
        (12.34, "12.3"),
        (7, "7"),
    ],
)
def test_numbers_with_three_decimals(value, text):
    assert number(value, 3) == text


@given(st.floats(-9.9, 9.9))
def test_numbers_read_back(value):
    assert abs(float(number(value)) - value) <= 0.005 + 1e-12


GOOD = TABLE.to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": [["a", 1]]}, "row 0: 2 cells for 4 columns"),
        ({"rows": [["a", 1, 2, {}]]}, "a cell must be text, a number or null"),
        ({"rows": [["a", 1, 2, True]]}, "a cell must be text, a number or null, not True"),
        ({"rows": "abc"}, "rows a list of lists"),
        ({"columns": []}, "has no columns"),
        ({"columns": ["a"]}, "columns are a list of objects"),
        ({"columns": [{"better": "higher"}]}, "every column needs a title"),
        ({"columns": [{"title": "a", "better": "more"}]}, "'higher', 'lower' or null"),
        ({"columns": [{"title": 3}]}, "title must be text"),
        ({"columns": [{"title": "a", "decimals": 0}]}, "decimals must be a whole number from 1"),
        ({"columns": [{"title": "a", "decimals": "3"}]}, "decimals must be a whole number from 1"),
        ({"title": None}, "title must be text"),
    ],
)
def test_misfits_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        Table.from_dict(GOOD | change)


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="table 'main' lacks columns, rows"):
        Table.from_dict({"name": "main", "title": "t"})
    with pytest.raises(ValueError, match="must be an object"):
        Table.from_dict([])


def test_errors_stand_beside_their_numbers():
    table = Table(
        "t", "t", (Column("m"), Column("a", "higher")), (("x", 0.5), ("y", 0.4)),
        errors=((None, 0.034), (None, None)),
    )  # fmt: skip
    assert "| x | **.50** ±.03 |" in table.markdown()
    assert "| y | _.40_ |" in table.markdown()
    assert Table.from_dict(table.to_dict()) == table
    with pytest.raises(ValueError, match="shape of the rows"):
        Table("t", "t", (Column("a"),), ((1,),), errors=((1, 2),))


def test_decimals_of_a_column():
    table = Table(
        "t",
        "t",
        (Column("m"), Column("a", "higher"), Column("b", "higher", decimals=3)),
        (("x", 0.5012, 0.5012), ("y", 0.4991, 0.4991), ("z", 0.3, 0.3), ("n", -0.0001, 300)),
        errors=((None, 0.0342, 0.0342), *((None, None, None),) * 3),
    )
    assert table.shown() == [
        ["x", ".50", ".501"],
        ["y", ".50", ".499"],
        ["z", ".30", ".300"],
        ["n", ".00", "300"],
    ]
    # a: .50 twice, then .30; b: 300, then .501
    assert table.marks() == {
        (0, 1): "best",
        (1, 1): "best",
        (2, 1): "second",
        (3, 2): "best",
        (0, 2): "second",
    }
    assert "| x | **.50** ±.03 | _.501_ ±.034 |" in table.markdown()
    assert table.to_dict()["columns"][1:] == [
        {"title": "a", "better": "higher"},
        {"title": "b", "better": "higher", "decimals": 3},
    ]
    assert Table.from_dict(json.loads(json.dumps(table.to_dict()))) == table
