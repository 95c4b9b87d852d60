"""The notebooks run, and the outputs that are stored in them are what they print today."""

from .notebooks import code_cells, read, run
from .test_code import NUMBER, assert_alike


def check(name):
    stored = [cell["outputs"] for cell in code_cells(read(name))]
    assert any(stored)
    for shown, said in zip(stored, run(name), strict=True):
        assert [output["output_type"] for output in shown] == [o["output_type"] for o in said]
        for one, other in zip(shown, said, strict=True):
            if one["output_type"] == "stream":
                assert_alike("".join(one["text"]), "".join(other["text"]))
            else:
                pages = ["".join(output["data"]["text/html"]) for output in (one, other)]
                assert NUMBER.sub("#", pages[0]) == NUMBER.sub("#", pages[1])


def test_the_first_check(shared_models):
    check("first_check.ipynb")
