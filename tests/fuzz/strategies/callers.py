"""Who calls the API of orders, as API Gateway tells the functions."""

from typing import Any

from hypothesis import strategies as st

_accounts = st.sampled_from(["123456789012", "210987654321"])
_unique_ids = st.sampled_from(["AIDAALICE", "AROASHOP", "alice"])
_sessions = st.from_regex(r"[A-Za-z0-9+=,.@_-]{1,8}", fullmatch=True)
_claims = st.sampled_from(["alice", "https://issuer.test", "user:123456789012:AIDAALICE"]) | st.text(
    "ab:", min_size=1, max_size=3
)

Identity = tuple[object, dict[str, Any]]  # who it is, and what API Gateway says in `requestContext`


def _signed(who: object, account: str, unique_id: str, **more: str) -> Identity:
    names = ("cognitoIdentityId", "cognitoIdentityPoolId", "cognitoAuthenticationType", "apiKey", "userArn")
    known = {"accountId": account, "caller": unique_id, "user": unique_id, "sourceIp": "192.0.2.1"}
    return who, {"identity": {**dict.fromkeys(names), **known, **more}, "authorizer": None}


def with_token(issuer: str, subject: str) -> Identity:
    claims = {"iss": issuer, "sub": subject, "token_use": "access", "exp": "1800000000"}
    identity = {"accountId": None, "caller": None, "sourceIp": "192.0.2.1"}
    return ("token", issuer, subject), {
        "identity": identity,
        "authorizer": {"claims": claims, "scopes": None},
    }


def identities() -> st.SearchStrategy[Identity]:
    """Users, the sessions of roles, federated users, tokens, identities of a pool."""
    return st.one_of(
        st.builds(
            lambda account, user: _signed(("user", account, user), account, user), _accounts, _unique_ids
        ),
        st.builds(lambda account: _signed(("user", account, account), account, account), _accounts),
        st.builds(
            lambda account, role, session: _signed(("role", account, role), account, f"{role}:{session}"),
            _accounts,
            _unique_ids,
            _sessions,
        ),
        st.builds(
            lambda account, name: _signed(("federated", account, name), account, f"{account}:{name}"),
            _accounts,
            _unique_ids,
        ),
        st.builds(with_token, _claims, _claims),
        st.builds(
            lambda identity: _signed(
                ("pool", identity),
                "123456789012",
                "AROAPOOL:CognitoIdentityCredentials",
                cognitoIdentityId=identity,
            ),
            st.sampled_from(["us-east-1:1", "us-east-1:2", "alice"]),
        ),
    )


# What API Gateway does not say, because nobody was asked who they are, or by an authorizer of another kind.
strangers: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {},
        {"identity": None, "authorizer": None},
        {"identity": {"accountId": None, "caller": None}, "authorizer": {"claims": {}}},
        {"identity": {"accountId": "", "caller": "AIDAALICE"}, "authorizer": {"principalId": "alice"}},
        {"identity": {"accountId": "123456789012"}, "authorizer": {"claims": {"sub": "alice", "iss": ""}}},
    ]
)
