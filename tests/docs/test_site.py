"""The site is whole: every page is in its menu, and every link and heading it names is there."""

import re
import runpy
import tomllib

import pytest

from .blocks import FENCE, ROOT

SITE = runpy.run_path(str(ROOT / "docs" / "site" / "pages.py"))
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
INTERNAL = re.compile(r"\]\(([^)\s]*)\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    SITE["main"](out)
    return out


def entries(nav):
    for entry in nav:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else entries(value)


def test_every_page_is_in_the_menu_and_every_entry_is_a_page(site):
    settings = tomllib.loads((site / "zensical.toml").read_text("utf-8"))["project"]
    menu = list(entries(settings["nav"]))
    assert len(set(menu)) == len(menu)
    pages = {path.name for path in (site / "pages").glob("*.md")}
    assert set(menu) == pages


def test_links_lead_to_pages_and_headings_of_the_site(site):
    pages = sorted((site / "pages").rglob("*.md"))
    assert len(pages) > 20
    for page in pages:
        text = COMMENT.sub("", FENCE.sub("", page.read_text("utf-8")))
        for link in INTERNAL.findall(text):
            if link.startswith(("http://", "https://")):
                continue
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            assert target.is_file(), f"{page.name}: {link}"
            if anchor:
                assert anchor in anchors(target), f"{page.name}: {link}"


def anchors(page):
    """The names of the headings, as GitHub and Zensical make them."""
    text = FENCE.sub("", page.read_text("utf-8"))
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {name.strip().replace(" ", "-") for name in words}


def test_the_index_has_every_page():
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name


def test_the_page_of_the_api_has_every_name_of_the_package():
    import franq_guard

    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    told = {name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}
    assert {name for name in franq_guard.__all__ if not name.startswith("__")} <= told


def test_a_link_that_leads_nowhere_is_refused(tmp_path, monkeypatch):
    (tmp_path / "page.md").write_text("See [this](nowhere.md).", encoding="utf-8")
    monkeypatch.setitem(SITE["page"].__globals__, "ROOT", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"page\.md links to nowhere\.md"):
        SITE["page"]("page.md", "page.md")


def test_links_are_changed_outside_code_only(tmp_path, monkeypatch):
    text = "[a](../one/a.md#part)\n\n```\n[a](../one/a.md)\n```\n[c](code.py) [w](https://x.org)\n"
    for name in ("one/a.md", "two/code.py"):
        tmp_path.joinpath(name).parent.mkdir()
        tmp_path.joinpath(name).touch()
    (tmp_path / "two" / "page.md").write_text(text, encoding="utf-8")
    monkeypatch.setitem(SITE["page"].__globals__, "ROOT", tmp_path)
    changed, linked = SITE["page"]("two/page.md", "page.md")
    assert changed == (
        "[a](one/a.md#part)\n\n```\n[a](../one/a.md)\n```\n"
        "[c](files/two/code.py.txt) [w](https://x.org)\n"
    )
    assert linked == {"one/a.md": "one/a.md", "two/code.py": "files/two/code.py.txt"}


FIGURES = ["README.md", "docs/measurements.md"]


@pytest.mark.parametrize("page", FIGURES)
def test_every_figure_has_the_command_that_prints_it(page):
    text = (ROOT / page).read_text("utf-8")
    tables = [t for t in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE) if "| command |" in t]
    rows = [row for table in tables for row in table.splitlines()[2:]]
    assert rows
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for row in rows:
        command = re.fullmatch(r"`([^`]+)`.*", row.strip("| ").split(" | ")[-1])[1]
        words = command.split()
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), command
        elif words[0] == "python" and words[1] != "-m":
            assert (ROOT / words[1]).is_file(), command
        else:
            assert words[:2] in (["franq", "bench"], ["python", "-m"]), command


def test_the_gallery_has_the_questions_of_the_demo_and_no_script():
    from franq_guard.datasets.demo import questions
    from franq_guard.report.text import safe

    page = (ROOT / "docs" / "gallery" / "demo.html").read_text("utf-8")
    assert all(safe(asked.question) in page for asked in questions()[:6])
    assert "<script" not in page
    assert page.count('<div class="franq">') == page.count("<h2>") > 6
