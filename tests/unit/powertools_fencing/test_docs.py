"""The example of docs/powertools.md runs, and does what the page says."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.powertools_fencing.table import ENOUGH, LONG_OVER, LambdaContext, Process, fenced, records

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = Path(__file__).parents[3] / "docs" / "powertools.md"


@pytest.fixture
def example(dynamodb: "DynamoDBClient") -> dict[str, Any]:
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    module: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, PAGE, "exec"), module)  # noqa: S102 - our own page
    return module


def test_the_example_charges_once(example: dict[str, Any], dynamodb: "DynamoDBClient") -> None:
    for amount in (10, 99):
        answer = example["handler"]({"orderId": "O-1", "amount": amount}, LambdaContext(ENOUGH))
        assert answer == {"charged": 10}
    assert [(each["id"].partition("#")[0], each["status"]) for each in records(dynamodb)] == [
        ("charge", "COMPLETED")
    ]


def test_the_example_counts_lost_claims(
    example: dict[str, Any], dynamodb: "DynamoDBClient", capsys: pytest.CaptureFixture[str]
) -> None:
    class Order(dict[str, Any]):
        def __getitem__(self, name: str) -> Any:
            """Somebody takes over while the example is at work."""
            Process(fenced(dynamodb)).charge()
            raise TimeoutError

    with pytest.raises(TimeoutError):
        example["handler"](Order(orderId="O-1"), LambdaContext(LONG_OVER))
    assert capsys.readouterr().out == "metric LostClaims: deletion\n"
