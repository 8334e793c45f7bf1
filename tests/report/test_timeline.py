"""Deliveries against effects: a step upwards for each, at its time."""

import re

from sandbox.demo.journal import What
from sandbox.report.timeline import timeline


def event(*moments: tuple[float, What]) -> dict[str, object]:
    return {"moments": [{"at": at, "what": what, "told": ""} for at, what in moments]}


def line(picture: str, kind: str) -> list[tuple[float, float]]:
    """The corners that the line of this kind rises to."""
    path = re.search(rf'<path d="([^"]+)" class="line {kind}"', picture)
    assert path is not None
    return [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", path[1])]


def test_each_delivery_and_each_effect_is_a_step_upwards() -> None:
    picture = timeline(
        "",
        [
            event(
                (0, What.DELIVERY), (1, What.CALL), (2, What.EFFECT), (5, What.DELIVERY), (6, What.SKIPPED)
            ),
            event((1, What.DELIVERY), (4, What.EFFECT)),
        ],
    )
    deliveries, effects = line(picture, "deliveries"), line(picture, "effects")

    assert (len(deliveries), len(effects)) == (3, 2)
    assert [x for x, _ in deliveries] == sorted(x for x, _ in deliveries)
    assert deliveries[1][1] == effects[1][1] > deliveries[2][1]  # two are as high as two
    assert "3 deliveries and 2 effects of 2 events within 6 seconds" in picture


def test_there_is_a_line_where_nothing_ever_happened() -> None:
    assert "0 effects" in timeline("at-most-once", [event()])


def test_labels_of_lines_that_end_together_don_t_stand_on_each_other() -> None:
    picture = timeline("", [event((0, What.DELIVERY), (1, What.EFFECT))])
    heights = [float(y) for y in re.findall(r'y="([\d.]+)" class="end', picture)]

    assert abs(heights[0] - heights[1]) >= 12


def test_where_an_event_has_several_effects_their_number_has_no_ceiling() -> None:
    events = [event((0, What.DELIVERY), (1, What.EFFECT), (2, What.EFFECT))]

    assert "ceiling" in timeline("", events)
    assert "ceiling" not in timeline("", events, several=True)
