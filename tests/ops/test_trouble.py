"""Whatever is wrong, the operator reads one clear line and a script sees an exit status."""

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    TokenRetrievalError,
)

from ops.aws import Aws
from tests.ops.conftest import Once
from tests.ops.deployed import Deployed
from tests.unit.aws import refusal


def test_no_credentials_are_one_line(once: Once, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    result = once("status")
    assert result.exit_code == 1
    assert result.stderr == (
        "once: no AWS credentials: log in, or name a profile with --profile or AWS_PROFILE\n"
    )


def test_no_region_is_one_line(once: Once, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    result = once("status")
    assert (result.exit_code, result.stderr) == (1, "once: no region: name it with --region or AWS_REGION\n")


def test_a_profile_that_is_not_there_is_one_line(once: Once) -> None:
    result = once("status", "--profile", "nobody")
    assert (result.exit_code, result.stderr) == (1, "once: The config profile (nobody) could not be found\n")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (refusal("ExpiredToken"), "log in again"),
        (refusal("ExpiredTokenException"), "log in again"),
        (refusal("InvalidClientTokenId"), "AWS does not know these credentials"),
        (refusal("AccessDenied", "DescribeStacks"), "AWS refused DescribeStacks (AccessDenied)"),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:9"), "nobody answers at http://127.0.0.1:9"),
        (NoCredentialsError(), "no AWS credentials"),
        (TokenRetrievalError(provider="sso", error_msg="expired"), "log in again"),
    ],
)
def test_what_aws_says_is_one_line(
    deployed: Deployed,
    once: Once,
    monkeypatch: pytest.MonkeyPatch,
    error: BotoCoreError | ClientError,
    said: str,
) -> None:
    def refuse(_: str) -> None:
        raise error

    monkeypatch.setattr(deployed.stacks, "get_paginator", refuse)
    result = once("status", "--json")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "--stage", "prod"], "no stacks of stage prod: there are dev-charges, dev-ingestion"),
        (["status", "--stack", "nothing"], "no stack is named nothing"),
        (["status", "--workload", "orders"], "no stack of orders in stage dev"),
        (["show", "CHG-404"], "nothing is known of CHG-404 in dev-ingestion, dev-charges"),
        (["release", "CHG-404", "--reason", "x", "--yes"], "no record of CHG-404"),
        (["resolve", "--file", "missing", "--applied", "--reason", "x"], "missing can't be read"),
        (["resolve", "--reason-code", "in-doubt", "--applied", "--reason", "x"], "nothing in doubt matches"),
    ],
)
def test_what_is_not_there_is_one_line(deployed: Deployed, once: Once, words: list[str], said: str) -> None:
    result = once(*words)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stat"], "Did you mean 'status'"),
        (["status", "--workload", "payments"], "must be one of ingestion"),
        (["resolve", "CHG-1", "--reason", "x"], "--applied or --not-applied"),
        (["resolve", "CHG-1", "--applied"], "say why"),
        (["resolve", "--applied", "--reason", "x"], "say which"),
        (["release", "CHG-1", "--reason", " "], "say why"),
        (["dlq", "redrive"], "say which"),
        (["dlq", "redrive", "--all", "--key", "CHG-1"], "say which"),
        (["dlq"], "Missing command"),
        (["show"], "Missing argument"),
    ],
)
def test_wrong_words_are_one_line_and_another_status(
    deployed: Deployed, once: Once, words: list[str], said: str
) -> None:
    result = once(*words)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert said in result.stderr


def test_the_options_of_the_stage_stand_before_or_behind_the_command(deployed: Deployed, once: Once) -> None:
    before = once("--stage", "dev", "--json", "--workload", "charges", "status")
    behind = once("status", "--stage=dev", "--json", "--workload", "charges")
    assert before.exit_code == 0
    assert before.stdout == behind.stdout


def test_without_a_word_it_explains_itself(once: Once) -> None:
    result = once()
    assert result.exit_code == 0
    assert all(
        command in result.stdout for command in ("status", "show", "stuck", "resolve", "release", "dlq")
    )


def test_clients_of_the_sandbox_go_to_its_endpoint() -> None:
    aws = Aws(profile=None, region=None, endpoint_url="http://127.0.0.1:4567")
    assert aws.client("sqs").meta.endpoint_url == "http://127.0.0.1:4567"
