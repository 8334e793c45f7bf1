"""What a storm counts: effects by event, whatever keys they came under."""

from collections import Counter

from sandbox.demo.storm import by_event


def test_an_event_with_two_downstream_keys_has_the_effects_of_both() -> None:
    counted = Counter({"ingestion/events:E-1": 1, "billing/events:E-1": 2, "ingestion/events:E-2": 1})
    assert by_event(counted) == Counter({"E-1": 3, "E-2": 1})
