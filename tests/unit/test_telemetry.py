"""Metrics as CloudWatch reads them from a log line."""

from telemetry import count
from tests.unit.conftest import Lines


def test_a_count_is_one_line_with_its_dimensions(metric_lines: Lines) -> None:
    count("DeadLettered", Reason="no-key")
    (line,) = metric_lines()
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Test"
    assert [metric["Name"] for metric in directive["Metrics"]] == ["DeadLettered"]
    assert [metric["Unit"] for metric in directive["Metrics"]] == ["Count"]
    assert [set(dimensions) for dimensions in directive["Dimensions"]] == [{"service", "Reason"}]
    assert (line["service"], line["Reason"], line["DeadLettered"]) == ("test", "no-key", [1.0])


def test_counts_do_not_mix(metric_lines: Lines) -> None:
    count("Claims")
    count("Duplicates", State="done")
    count("Duplicates", 3, State="failed")
    claims, done, failed = metric_lines()
    assert [set(each) for each in claims["_aws"]["CloudWatchMetrics"][0]["Dimensions"]] == [{"service"}]
    assert "State" not in claims
    assert (done["Duplicates"], failed["Duplicates"]) == ([1.0], [3.0])
