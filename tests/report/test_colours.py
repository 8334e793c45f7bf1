"""Text can be read by those who see little contrast, in the light and in the dark."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.report import page

STYLE = (Path(page.__file__).parent / "page.css").read_text(encoding="utf-8")
SCHEMES = [
    dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{([^}]+)", STYLE)
]

ENDINGS = ("done", "dead_lettered", "in_doubt", "failed", "lost")
ON_PAPER = ("ink", "soft", "deliveries", "effects", *ENDINGS)
READABLE = 4.5  # WCAG 2.2, 1.4.3 for text


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(scheme: Mapping[str, str]) -> None:
    pairs = [(text, behind) for text in ON_PAPER for behind in ("paper", "card")]
    pairs += [("on-colour", ending) for ending in (*ENDINGS, "soft")]
    pairs += [("ink", "wash"), ("soft", "wash")]

    found = {pair: contrast(*(scheme[name] for name in pair)) for pair in pairs}
    assert {pair: value for pair, value in found.items() if value < READABLE} == {}
