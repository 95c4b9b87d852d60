"""Reliability and rejection curves, as text or inline SVG.

``reliability_plot`` and ``rejection_plot`` make a :class:`Plot` from labels and confidences,
``to_svg`` draws any plot. Axes run from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from franq_guard.metrics.measures import (
    Reliability,
    reliability,
    risk_coverage,
)

__all__ = [
    "Line",
    "Plot",
    "rejection_plot",
    "reliability_diagram",
    "reliability_plot",
    "reliability_text",
    "to_svg",
]

Points = tuple[tuple[float, float], ...]

_COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#57606a")
_SIZE, _LEFT, _TOP, _SIDE = 320, 52, 30, 230
_MOST_POINTS = 400


@dataclass(frozen=True, slots=True)
class Line:
    """A named line through points in the unit square; ``guide`` lines are dashed and grey."""

    name: str
    points: Points
    guide: bool = False
    markers: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing of lines over [0, 1] x [0, 1]; a notebook shows it as :func:`to_svg` draws it."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return to_svg(self)


def reliability_plot(
    is_true: ArrayLike, confidences: Mapping[str, ArrayLike], *, bins: int = 10
) -> Plot:
    """Share of true claims against mean confidence, per bin; on the diagonal if calibrated.

    Args:
        is_true: (n,) of 0/1.
        confidences: by name, each (n,) in [0, 1].
        bins: equal bins of [0, 1]; empty ones are left out.
    """
    tables = {name: reliability(is_true, values, bins=bins) for name, values in confidences.items()}
    return reliability_diagram(tables)


def reliability_diagram(tables: Mapping[str, Reliability]) -> Plot:
    """The plot of :func:`reliability_plot` from the numbers of its bins, by name."""
    lines = [Line("honest", ((0.0, 0.0), (1.0, 1.0)), guide=True)]
    for name, table in tables.items():
        full = table.claims > 0
        points = _points(table.confidence[full], table.share_true[full])
        lines.append(Line(name, points, markers=True))
    return Plot("Reliability", "P(true) said", "share of claims true", tuple(lines))


def rejection_plot(is_true: ArrayLike, confidences: Mapping[str, ArrayLike]) -> Plot:
    """Share of true claims among those kept, against the share rejected, least confident first."""
    truth = np.asarray(is_true, float)
    best = _kept(truth, truth)
    random = tuple((x, best[0][1]) for x in (0.0, 1.0) if best)  # the share with none rejected
    lines = [
        Line("random", random, guide=True),
        Line("best possible", best, guide=True),
    ]
    lines += [Line(name, _kept(truth, values)) for name, values in confidences.items()]
    return Plot("Rejection", "share of claims rejected", "share of the kept true", tuple(lines))


def reliability_text(table: Reliability, *, width: int = 30) -> str:
    """The reliability diagram as text: a bar for the share of true claims, ``|`` at P(true)."""
    rows = ["P(true)      said   true  claims"]
    edges = np.linspace(0, 1, len(table.claims) + 1)
    for i, (count, said, share) in enumerate(zip(*table, strict=True)):
        head = f"{edges[i]:.2f}-{edges[i + 1]:.2f}"
        if not count:
            rows.append(f"{head}      -      -       0")
            continue
        bar = list(("#" * round(share * width)).ljust(width, "."))
        bar[min(round(said * width), width - 1)] = "|"
        rows.append(f"{head}   {said:.2f}   {share:.2f}  {count:6d}  {''.join(bar)}")
    return "\n".join(rows)


def to_svg(plot: Plot) -> str:
    """The plot as one ``<svg>`` element for a page; text and axes take the page's colour."""
    parts = [_axes(plot)]
    solid = [line for line in plot.lines if not line.guide]
    for line in plot.lines:
        colour = "#8c959f" if line.guide else _COLOURS[solid.index(line) % len(_COLOURS)]
        parts.append(_draw(line, colour))
        if not line.guide:
            y = _TOP + 12 + 16 * solid.index(line)
            parts.append(f'<text x="{_LEFT + _SIDE + 12}" y="{y}" fill="{colour}">'
                         f"{escape(line.name)}</text>")  # fmt: skip
    width = _LEFT + _SIDE + 24 + 7 * max((len(line.name) for line in solid), default=0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {_SIZE}" '
        f'width="{width}" height="{_SIZE}" font-family="sans-serif" font-size="11" '
        f'fill="currentColor"><title>{escape(plot.title)}</title>{"".join(parts)}</svg>'
    )


def _kept(truth: ArrayLike, confidence: ArrayLike) -> Points:
    coverage, risk = risk_coverage(truth, confidence)
    return _points((1 - coverage)[::-1], (1 - risk)[::-1])


def _points(x: ArrayLike, y: ArrayLike) -> Points:
    """At most a few hundred points: one per claim would make a page too large."""
    pairs = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    step = np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), _MOST_POINTS)).astype(int))
    return tuple((float(a), float(b)) for a, b in pairs[step])


def _at(x: float, y: float) -> tuple[float, float]:
    return round(_LEFT + _SIDE * x, 1), round(_TOP + _SIDE * (1 - y), 1)


def _axes(plot: Plot) -> str:
    ticks = []
    for value in (0.0, 0.5, 1.0):
        x, y = _at(value, value)
        ticks.append(f'<text x="{x}" y="{_TOP + _SIDE + 14}" text-anchor="middle">{value:g}</text>')
        ticks.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{value:g}</text>')
    middle = _TOP + _SIDE / 2
    return (
        f'<text x="{_LEFT}" y="18" font-size="13">{escape(plot.title)}</text>'
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" '
        f'stroke="currentColor" stroke-opacity="0.4"/>{"".join(ticks)}'
        f'<text x="{_LEFT + _SIDE / 2}" y="{_TOP + _SIDE + 34}" text-anchor="middle">'
        f"{escape(plot.x_label)}</text>"
        f'<text transform="rotate(-90 14 {middle})" x="14" y="{middle}" text-anchor="middle">'
        f"{escape(plot.y_label)}</text>"
    )


def _draw(line: Line, colour: str) -> str:
    points = [_at(x, y) for x, y in line.points]
    dash = ' stroke-dasharray="4 4"' if line.guide else ""
    path = " ".join(f"{x},{y}" for x, y in points)
    drawn = (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}>'
        f"<title>{escape(line.name)}</title></polyline>"
    )
    if line.markers:
        drawn += "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points)
    return drawn
