from xml.etree import ElementTree

import numpy as np
import pytest

from franq_guard.metrics.measures import reliability
from franq_guard.metrics.plots import (
    rejection_plot,
    reliability_plot,
    reliability_text,
    to_svg,
)

TRUE = [1, 0, 1, 0]
P = {"FRANQ <&>": [0.9, 0.8, 0.4, 0.3]}
SVG = "{http://www.w3.org/2000/svg}"
PLOTS = [reliability_plot(TRUE, P), rejection_plot(TRUE, P)]


def test_points_by_hand():
    by_name = {line.name: line.points for line in reliability_plot(TRUE, P).lines}
    assert by_name["FRANQ <&>"] == ((0.3, 0.0), (0.4, 1.0), (0.8, 0.0), (0.9, 1.0))
    by_name = {line.name: line.points for line in rejection_plot(TRUE, P).lines}
    np.testing.assert_allclose(
        by_name["FRANQ <&>"], [(0, 0.5), (0.25, 2 / 3), (0.5, 0.5), (0.75, 1)]
    )
    np.testing.assert_allclose(
        by_name["best possible"], [(0, 0.5), (0.25, 2 / 3), (0.5, 1), (0.75, 1)]
    )


@pytest.mark.parametrize("plot", PLOTS, ids=[p.title for p in PLOTS])
def test_svg_is_well_formed_and_names_its_lines(plot):
    svg = ElementTree.fromstring(to_svg(plot))
    texts = {"".join(t.itertext()) for t in svg.iter(f"{SVG}text")}
    assert {plot.title, plot.x_label, plot.y_label, "FRANQ <&>"} <= texts
    width = float(svg.get("width"))
    for line in svg.iter(f"{SVG}polyline"):
        points = np.array([p.split(",") for p in line.get("points").split()], float)
        assert ((points >= 0) & (points <= width)).all()


def test_no_claims_draw_no_points():
    for plot in (reliability_plot([], {"x": []}), rejection_plot([], {"x": []})):
        assert "nan" not in to_svg(plot)
        assert plot.lines[-1].points == ()


def test_svg_corner():
    # (0, 0) is the lower left corner of the frame, (1, 1) its upper right: 52 + 230, 30
    svg = to_svg(reliability_plot(TRUE, P))
    assert 'points="52.0,260.0 282.0,30.0"' in svg


def test_a_notebook_shows_the_drawing():
    assert PLOTS[0]._repr_html_() == to_svg(PLOTS[0])


def test_many_claims_make_a_small_page():
    rng = np.random.default_rng(0)
    plot = rejection_plot(rng.integers(0, 2, 20000), {"x": rng.uniform(size=20000)})
    assert len(to_svg(plot)) < 40000
    assert plot.lines[-1].points[0][0] == 0


def test_reliability_as_text():
    lines = reliability_text(reliability(TRUE, P["FRANQ <&>"]), width=10).splitlines()
    assert len(lines) == 11
    assert lines[1].split() == ["0.00-0.10", "-", "-", "0"]
    # bin (.3, .4]: one true claim at .4: a full bar, the mark in column 4 of 10
    assert lines[4] == "0.30-0.40   0.40   1.00       1  ####|#####"
    assert lines[9].endswith("1  #########|")
