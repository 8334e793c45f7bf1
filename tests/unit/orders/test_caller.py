"""Who asks: one value for all retries of a client, and never one for two."""

from typing import Any

import pytest

from orders import caller
from orders.problem import Kind, Problem
from tests.unit.orders.requests import Caller, identity_pool, role, signed, token


def _of(who: Caller) -> str:
    return caller.of({"requestContext": who})


CALLERS = {
    "user": signed("AIDAALICE"),
    "another user": signed("AIDABOB"),
    "the same unique id in another account": signed("AIDAALICE", account="210987654321"),
    "role": role("session-1"),
    "another role": role("session-1", "AROAOTHER"),
    "a role called like the user": role("session-1", "AIDAALICE"),
    "account root": signed("123456789012"),
    "federated user": signed("123456789012:bob"),
    "another federated user": signed("123456789012:carol"),
    "a federated user of that name elsewhere": signed("210987654321:bob", account="210987654321"),
    "token": token("alice"),
    "another subject": token("bob"),
    "the same subject of another issuer": token("alice", "https://issuer.example/other"),
    "a subject with a part of his issuer": token("pool:alice", "https://issuer.example"),
    "an issuer with a part of its subject": token("alice", "https://issuer.example:pool"),
    "a subject called like the user": token("AIDAALICE"),
    "a subject called like the user's value": token("user:123456789012:AIDAALICE"),
    "identity": identity_pool("us-east-1:11111111-2222"),
    "another identity": identity_pool("us-east-1:11111111-3333"),
    "an identity called like the subject": identity_pool("alice"),
}


def test_no_two_callers_meet() -> None:
    values = {name: _of(who) for name, who in CALLERS.items()}
    assert len(set(values.values())) == len(CALLERS), values


@pytest.mark.parametrize("who", [signed("AIDAALICE"), token("alice"), identity_pool("us-east-1:1")])
def test_the_kind_is_part_of_the_value(who: Caller) -> None:
    kinds = ("user:", "jwt:", "identity-pool:")
    assert sum(_of(who).startswith(kind) for kind in kinds) == 1


def test_the_sessions_of_a_role_are_one_caller() -> None:
    """The SDKs name a new session for every process; the client's retry may come from another."""
    assert _of(role("session-1")) == _of(role("session-2")) == "role:123456789012:AROASHOP"


def test_a_session_whose_name_holds_a_colon_is_still_that_role() -> None:
    assert _of(role("a:b")) == _of(role("c"))


@pytest.mark.parametrize("gone", ["accountId", "caller"])
@pytest.mark.parametrize("value", [None, ""])
def test_who_cannot_be_told_is_refused(gone: str, value: str | None) -> None:
    who = signed("AIDAALICE")
    who["identity"][gone] = value
    with pytest.raises(Problem) as refused:
        _of(who)
    assert refused.value.kind is Kind.CALLER_UNKNOWN
    assert refused.value.kind.status == 403


@pytest.mark.parametrize(
    "context",
    [
        None,
        {},
        {"identity": None, "authorizer": None},
        {"identity": {}, "authorizer": {}},
        {"authorizer": {"claims": None}},
        {"authorizer": {"claims": {"iss": "https://issuer.example/pool"}}},
        {"authorizer": {"claims": {"sub": "alice"}}},
        {"authorizer": {"claims": {"iss": "", "sub": "alice"}}},
        {"authorizer": {"principalId": "alice"}},
        {"identity": {"sourceIp": "192.0.2.1", "userAgent": "curl", "user": "AIDAALICE"}},
    ],
)
def test_nobody_is_no_caller(context: dict[str, Any] | None) -> None:
    with pytest.raises(Problem) as refused:
        caller.of({"requestContext": context})
    assert refused.value.kind is Kind.CALLER_UNKNOWN


def test_a_header_says_nothing_of_the_caller() -> None:
    event = {"requestContext": signed("AIDAALICE"), "headers": {"Authorization": "somebody else"}}
    assert caller.of(event) == _of(signed("AIDAALICE"))


def test_the_users_of_an_identity_pool_share_its_role_and_are_not_one_caller() -> None:
    assert _of(identity_pool("us-east-1:1")) != _of(identity_pool("us-east-1:2"))
    assert _of(identity_pool("us-east-1:1")) != _of(role("CognitoIdentityCredentials", "AROAPOOL"))
