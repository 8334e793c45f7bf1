"""docs/openapi.yaml as a judge: is an answer of the orders API one that its document promises?"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import requests
import schemathesis
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.specs.openapi.schemas import OpenApiSchema

PATH = Path(__file__).parents[1] / "docs" / "openapi.yaml"

PLACE_ORDER, ORDER_STATUS = "POST /v1/orders", "GET /v1/orders/{key}"

_PROMISES = (
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


class Document:
    def __init__(self) -> None:
        load_all_checks()
        self.schema: OpenApiSchema = schemathesis.openapi.from_path(PATH)
        self.content: dict[str, Any] = self.schema.raw_schema

    def judge(self, operation: str, *, status: int, headers: Mapping[str, str], body: str) -> None:
        """Raises where the operation does not promise the status, or with it such headers and such a body."""
        request = requests.Request("GET", "https://orders.invalid").prepare()
        answer = schemathesis.Response(
            status_code=status,
            headers={name: [value] for name, value in headers.items()},
            content=body.encode(),
            request=request,
            elapsed=0,
            verify=True,
        )
        found = self.schema.find_operation_by_label(operation)
        assert found is not None, f"{operation} is no operation"
        checks: list[Any] = CHECKS.get_by_names(_PROMISES)
        found.Case(path_parameters={"key": "any-key-at-all"}).validate_response(answer, checks=checks)

    def responses(self) -> Iterator[tuple[str, int, dict[str, Any]]]:
        """Each of each operation: the operation, the status, and what is said of it."""
        for path, methods in self.content["paths"].items():
            for method, operation in methods.items():
                for status, response in operation["responses"].items():
                    yield f"{method.upper()} {path}", int(status), self._found(response)

    def _found(self, part: dict[str, Any]) -> dict[str, Any]:
        """What it refers to, if it is a reference."""
        if "$ref" not in part:
            return part
        found: Any = self.content
        for name in part["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return dict(found)


def problem_types(response: Mapping[str, Any]) -> list[str]:
    """The types of the problems that a response may be."""
    content = response["content"].get("application/problem+json")
    if content is None:
        return []
    _, narrowed = content["schema"]["allOf"]
    types = narrowed["properties"]["type"]
    return list(types.get("enum") or [types["const"]])


@cache
def document() -> Document:
    return Document()
