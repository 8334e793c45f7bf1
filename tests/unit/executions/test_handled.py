"""Marker items: which ends of which executions have been dealt with."""

from executions.handled import End, HandledEnds
from tests.unit.aws import MarkerTable

NOW = 1_800_000_000
END = End(execution="arn:aws:states:::execution:ingestion:a", stopped_at=1_800_000_000_123)


def test_an_end_is_open_until_it_is_marked() -> None:
    table = MarkerTable()
    handled = HandledEnds(table, table.table)
    assert handled.open_among([END]) == [END]
    handled.add(END, now=NOW)
    assert handled.open_among([END]) == []


def test_another_end_of_the_same_execution_is_open() -> None:
    table = MarkerTable()
    handled = HandledEnds(table, table.table)
    handled.add(END, now=NOW)
    later = End(execution=END.execution, stopped_at=END.stopped_at + 1)
    assert handled.open_among([END, later]) == [later]


def test_a_marker_outlives_the_ninety_days_of_an_execution() -> None:
    table = MarkerTable()
    HandledEnds(table, table.table).add(END, now=NOW)
    (item,) = table.items
    assert item["expiresAt"] == {"N": str(NOW + 91 * 86_400)}


def test_a_marker_is_no_record_of_any_event() -> None:
    table = MarkerTable()
    HandledEnds(table, table.table).add(END, now=NOW)
    (item,) = table.items
    assert item["pk"] == {"S": f"execution:{END.execution}"}
    assert item["sk"] == {"S": f"handled#{END.stopped_at}"}


def test_a_page_is_read_in_one_call_and_more_than_a_hundred_in_several() -> None:
    table = MarkerTable()
    ends = [End(execution=f"e-{number}", stopped_at=1) for number in range(250)]
    assert HandledEnds(table, table.table).open_among(ends) == ends
    assert table.reads == [100, 100, 50]


def test_none_is_read_with_none() -> None:
    table = MarkerTable()
    assert HandledEnds(table, table.table).open_among([]) == []
    assert table.reads == []


def test_what_dynamodb_leaves_unprocessed_is_left_to_the_next_run() -> None:
    """It may be marked or not: neither a copy nor a claim that it was handled would be right."""
    table = MarkerTable(unprocessed=[END.item_key])
    other = End(execution="e-2", stopped_at=1)
    assert HandledEnds(table, table.table).open_among([END, other]) == [other]
