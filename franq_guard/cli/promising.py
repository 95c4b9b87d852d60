"""``franq calibrate --at-most-flagged``: what is to be promised, and what that will need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from franq_guard.cli.console import fail

if TYPE_CHECKING:
    from franq_guard.calibration.fit import About

FlaggedOption = Annotated[
    float | None,
    typer.Option(help="Set the threshold: flag at most this share of true claims, such as 0.2."),
]
ConfidenceOption = Annotated[
    float | None, typer.Option(help="Confidence of --at-most-flagged. Default: 0.9.")
]
AboutOption = Annotated[
    str | None,
    typer.Option(
        "--promise",
        help="The claims of --at-most-flagged: true (all true ones), or stated (the true ones that "
        "the passages state; a claim that they do not state is flagged in any case). Default: "
        "true.",
    ),
]


def promise_from(
    at_most_flagged: float | None, confidence: float | None, about: str | None
) -> dict[str, Any]:
    """What is to be promised; options that make no promise end the program."""
    for option, share in ("at-most-flagged", at_most_flagged), ("confidence", confidence):
        if share is not None and not 0 < share < 1:
            fail(f"--{option} must lie between 0 and 1, not {share}")
    if about not in (None, "true", "stated"):
        fail(f"--promise must be true or stated, not {about!r}")
    if at_most_flagged is None and (confidence, about) != (None, None):
        fail("--confidence and --promise need --at-most-flagged: give that, too")
    return {
        "at_most_flagged": at_most_flagged,
        "confidence": 0.9 if confidence is None else confidence,
        "about": about or "true",
    }


def beforehand(n: int, *, at_most_flagged: float, confidence: float, about: About) -> str:
    """What the promise will need of the claims that set the threshold, before they are scored."""
    from franq_guard.calibration.fit import ABOUT
    from franq_guard.calibration.promise import most_flagged

    delta = round(1 - confidence, 12)
    allowed = most_flagged(n, at_most_flagged, delta)
    one = ABOUT[about].replace("claims", "claim", 1)
    return (
        f"{n} answers with a {one} set the threshold, a claim of each: at most "
        f"{at_most_flagged:.3g} can be promised if no more than {allowed} of them are flagged"
    )
