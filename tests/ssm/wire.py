"""Calls as the guard makes them, and their answers in short."""

from typing import Any

import pytest
from botocore.exceptions import ClientError


def create(client: Any, name: str, value: str = "v") -> str:
    """`created`, or the code of the refusal."""
    try:
        client.put_parameter(Name=name, Value=value, Type="String", Tier="Standard", Overwrite=False)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return "created"


def read(client: Any, name: str) -> str | None:
    try:
        return str(client.get_parameter(Name=name)["Parameter"]["Value"])
    except ClientError as error:
        if error.response["Error"]["Code"] != "ParameterNotFound":
            raise
        return None


def pages(client: Any, path: str, *, recursive: bool = False, size: int = 10) -> list[list[str]]:
    """The names on each page of a listing."""
    answer = client.get_parameters_by_path(Path=path, Recursive=recursive, MaxResults=size)
    found = [[each["Name"] for each in answer["Parameters"]]]
    while "NextToken" in answer:
        answer = client.get_parameters_by_path(
            Path=path, Recursive=recursive, MaxResults=size, NextToken=answer["NextToken"]
        )
        found.append([each["Name"] for each in answer["Parameters"]])
    return found


def standing(client: Any, path: str) -> dict[str, str]:
    """All that a path holds, by name, where listings tell the truth."""
    return {name: value for name in sorted(listed(client, path)) if (value := read(client, name)) is not None}


def listed(client: Any, path: str, *, recursive: bool = False) -> set[str]:
    return {name for page in pages(client, path, recursive=recursive) for name in page}


def code(refused: pytest.ExceptionInfo[ClientError]) -> str:
    return str(refused.value.response["Error"]["Code"])
