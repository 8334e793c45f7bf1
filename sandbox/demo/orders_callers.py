"""Who calls the orders API: users and a role, as somebody's account would have them."""

import json
from collections.abc import Callable, Mapping
from itertools import cycle
from threading import Lock
from typing import Any

from botocore.credentials import Credentials

from sandbox.aws import Sandbox
from sandbox.deployment import ACCOUNT, REGION

USERS = ("ann", "ben")
ROLE = "shop"
CALLERS = (*USERS, ROLE)
DENIED = "eve"  # a user without any grant

_SESSIONS = 4  # of the role; each of its requests is another one's

Caller = Callable[[], Credentials]
"""Answers the credentials for the next request."""


def callers(sandbox: Sandbox, api_id: str) -> Mapping[str, Caller]:
    """All of `CALLERS`, who may call the API, and `DENIED`, who may not."""
    iam = sandbox.client("iam")
    grant = _policy(Action="execute-api:Invoke", Resource=_everything_of(api_id))
    for user in (*USERS, DENIED):
        iam.create_user(UserName=user)
        if user != DENIED:
            iam.put_user_policy(UserName=user, PolicyName="orders", PolicyDocument=grant)
    account = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    trust = _policy(Action="sts:AssumeRole", Principal=account)
    role = iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    iam.put_role_policy(RoleName=ROLE, PolicyName="orders", PolicyDocument=grant)
    sessions = [_session(sandbox, role, f"shop-{number}") for number in range(_SESSIONS)]
    users = {user: _turns([_access_key(iam, user)]) for user in (*USERS, DENIED)}
    return users | {ROLE: _turns(sessions)}


def _policy(**statement: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]})


def _everything_of(api_id: str) -> str:
    return f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{api_id}/*"


def _access_key(iam: Any, user: str) -> Credentials:
    key = iam.create_access_key(UserName=user)["AccessKey"]
    return Credentials(key["AccessKeyId"], key["SecretAccessKey"])


def _session(sandbox: Sandbox, role: str, name: str) -> Credentials:
    assumed = sandbox.client("sts").assume_role(RoleArn=role, RoleSessionName=name)["Credentials"]
    return Credentials(assumed["AccessKeyId"], assumed["SecretAccessKey"], assumed["SessionToken"])


def _turns(credentials: list[Credentials]) -> Caller:
    each, one_at_a_time = cycle(credentials), Lock()

    def take() -> Credentials:
        with one_at_a_time:
            return next(each)

    return take
