"""The ledger in a DynamoDB table: every claim and every mark is one conditional UpdateItem, no reads.

A refused write brings the stored item back (ReturnValuesOnConditionCheckFailure), at no cost; `transitions`
then says whether that is this writer's own earlier write, a state to report, or a claim that is lost.

Two rare writes need to know what they replace and are made a second time, conditioned on what the refusal
showed: a claim on a record that expired while its outcome was open and that TTL has not deleted yet,
and a FAILED that has to become IN_DOUBT because the record is marked unknown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from idempotency import results, transitions
from idempotency.errors import Contended
from idempotency.model import Claim, Key, Policy, Record, Semantics, State, Verdict, attention

_ROUNDS = 3

# DynamoDB reserves owner, state, result and unknown; a placeholder for another name would only cost time.
# `unsettled` is what the next claim inherits as its `unknown`: an UpdateItem can copy, not compute.
_LIVE = "(attribute_not_exists(expiresAt) OR expiresAt > :now)"
_MINE = f"#owner = :owner AND attempt = :attempt AND {_LIVE}"
_OPEN = "(#state = :in_progress OR #state = :in_doubt)"

_CONSTANTS = {
    ":one": {"N": "1"},
    ":true": {"BOOL": True},
    ":false": {"BOOL": False},
    **{f":{state.lower()}": {"S": state.value} for state in State},
}


class _Conflict(Exception):  # noqa: N818 - an answer of the store, not an error
    def __init__(self, item: dict[str, Any] | None) -> None:
        self.item = item


@dataclass(frozen=True, slots=True)
class _Write:
    """An update and its condition, with the names and constants they mention worked out once."""

    update: str
    condition: str
    names: dict[str, str]
    constants: dict[str, Any]

    @classmethod
    def of(cls, update: str, condition: str) -> "_Write":
        mentioned = f"{update} {condition}"
        return cls(
            update=update,
            condition=condition,
            names={name: name[1:] for name in re.findall(r"#\w+", mentioned)},
            constants={
                name: _CONSTANTS[name] for name in re.findall(r":\w+", mentioned) if name in _CONSTANTS
            },
        )


_IDENTIFYING = ("owner", "attempt", "state", "updatedAt", "unknown")

_RENEW = "SET leaseUntil = :lease_until, updatedAt = :now"
_SETTLE = "SET #state = {state}, expiresAt = :expires_at, updatedAt = :now"
_WHY = ", reason = :reason, attention = :attention"

_RENEWED = f"{_MINE} AND #state = :in_progress"
_WRITES = {
    "renew": _Write.of(_RENEW, _RENEWED),
    "renew-retried": _Write.of(f"{_RENEW}, #unknown = :true", _RENEWED),
    "complete": _Write.of(
        f"{_SETTLE.format(state=':done')}, #result = :result REMOVE reason, attention, unsettled",
        f"{_MINE} AND #state <> :done",
    ),
    "fail": _Write.of(
        f"{_SETTLE.format(state=':failed')}{_WHY}, unsettled = #unknown",
        f"{_MINE} AND {_OPEN} AND #unknown = :false",
    ),
    "doubt": _Write.of(
        f"SET #state = :in_doubt, updatedAt = :now{_WHY} REMOVE expiresAt",
        f"{_MINE} AND #state = :in_progress",
    ),
    "release": _Write.of(
        f"{_SETTLE.format(state=':released')}{_WHY}, unsettled = #unknown", f"{_MINE} AND {_OPEN}"
    ),
    "release-unknown": _Write.of(
        f"{_SETTLE.format(state=':released')}{_WHY}, #unknown = :true, unsettled = :true",
        f"{_MINE} AND {_OPEN}",
    ),
}


def _claim_write(policy: Policy, *, fingerprinted: bool) -> _Write:
    """The claim's columns of the contract's table, as one condition."""
    claimable = ["#state = :released"]
    if policy.retry_failed:
        claimable.append("#state = :failed")
    if policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM:
        claimable.append("#state = :in_doubt")
        claimable.append("(#state = :in_progress AND leaseUntil <= :taken_over)")
    same_content = (
        " AND (#owner = :owner OR attribute_not_exists(fingerprint) OR fingerprint = :fingerprint)"
        if fingerprinted
        else ""
    )
    expired = "expiresAt <= :now AND (attribute_not_exists(unsettled) OR unsettled = :false)"
    return _Write.of(
        "ADD attempt :one SET #owner = :owner, #state = :in_progress,"
        " leaseUntil = :lease_until, expiresAt = :expires_at, updatedAt = :now,"
        " #unknown = if_not_exists(unsettled, :false), unsettled = :true"
        + (", fingerprint = :fingerprint" if fingerprinted else "")
        + " REMOVE #result, reason, attention"
        + ("" if fingerprinted else ", fingerprint"),
        f"attribute_not_exists(pk) OR ({expired}) OR ({_LIVE} AND ({' OR '.join(claimable)}){same_content})",
    )


class DynamoDBLedger:
    """Keeps the contract of `Ledger` in one table (partition key `pk`, sort key `sk`, TTL on `expiresAt`).

    A new event costs two writes, a duplicate one. Errors of the store other than a refused condition
    propagate as botocore raised them: the caller has not claimed.
    """

    def __init__(self, client: Any, table: str, policy: Policy) -> None:
        self._client = client
        self._table = table
        self.policy = policy
        self._claims = {
            fingerprinted: _claim_write(policy, fingerprinted=fingerprinted)
            for fingerprinted in (True, False)
        }

    def claim(
        self, key: Key, *, owner: str, now: int, lease: int, retention: int, fingerprint: str | None = None
    ) -> Claim:
        values = {
            ":owner": {"S": owner},
            ":now": _number(now),
            ":lease_until": _number(now + lease),
            ":expires_at": _number(now + retention),
        }
        if fingerprint is not None:
            values[":fingerprint"] = {"S": fingerprint}
        if self.policy.semantics is Semantics.IDEMPOTENT_DOWNSTREAM:
            values[":taken_over"] = _number(now - self.policy.margin)
        try:
            before = self._write(self._claims[fingerprint is not None], key, values, answer="ALL_OLD")
        except _Conflict as conflict:
            judge = partial(
                transitions.claim,
                key=key,
                owner=owner,
                now=now,
                lease=lease,
                retention=retention,
                fingerprint=fingerprint,
                policy=self.policy,
            )
            return self._judge_or_replace(key, conflict.item, judge)
        taken = Record(  # of a new event nothing was there before, so that its answer is empty
            key=key,
            owner=owner,
            attempt=int(before["attempt"]["N"]) + 1 if before else 1,
            state=State.IN_PROGRESS,
            lease_until=now + lease,
            expires_at=now + retention,
            updated_at=now,
            unknown="unsettled" in before and before["unsettled"]["BOOL"],
            fingerprint=fingerprint,
        )
        return Claim(verdict=Verdict.ACQUIRED, record=taken)

    def renew(
        self, key: Key, *, owner: str, attempt: int, now: int, lease: int, retried: bool = False
    ) -> Record:
        return self._mark(
            "renew-retried" if retried else "renew",
            key,
            {":lease_until": _number(now + lease)},
            partial(transitions.renew, lease=lease, retried=retried),
            owner=owner,
            attempt=attempt,
            now=now,
        )

    def complete(
        self, key: Key, *, owner: str, attempt: int, now: int, retention: int, result: object = None
    ) -> Record:
        return self._mark(
            "complete",
            key,
            {":expires_at": _number(now + retention), ":result": {"S": results.encode(result)}},
            partial(transitions.complete, retention=retention, result=result),
            owner=owner,
            attempt=attempt,
            now=now,
        )

    def fail(self, key: Key, *, owner: str, attempt: int, now: int, retention: int, reason: str) -> Record:
        return self._mark(
            "fail",
            key,
            {":expires_at": _number(now + retention), **_why(key, State.FAILED, reason)},
            partial(transitions.fail, retention=retention, reason=reason),
            owner=owner,
            attempt=attempt,
            now=now,
        )

    def doubt(self, key: Key, *, owner: str, attempt: int, now: int, reason: str) -> Record:
        return self._mark(
            "doubt",
            key,
            _why(key, State.IN_DOUBT, reason),
            partial(transitions.doubt, reason=reason),
            owner=owner,
            attempt=attempt,
            now=now,
        )

    def release(
        self,
        key: Key,
        *,
        owner: str,
        attempt: int,
        now: int,
        retention: int,
        reason: str,
        outcome_unknown: bool = False,
    ) -> Record:
        return self._mark(
            "release-unknown" if outcome_unknown else "release",
            key,
            {":expires_at": _number(now + retention), **_why(key, State.RELEASED, reason)},
            partial(transitions.release, retention=retention, reason=reason, outcome_unknown=outcome_unknown),
            owner=owner,
            attempt=attempt,
            now=now,
        )

    def read(self, key: Key) -> Record | None:
        answer = self._client.get_item(TableName=self._table, Key=primary_key(key), ConsistentRead=True)
        return record_of(key, answer["Item"]) if "Item" in answer else None

    def _mark(
        self,
        name: str,
        key: Key,
        values: dict[str, Any],
        transition: Callable[..., Record],
        *,
        owner: str,
        attempt: int,
        now: int,
    ) -> Record:
        values |= {":owner": {"S": owner}, ":attempt": _number(attempt), ":now": _number(now)}
        try:
            return record_of(key, self._write(_WRITES[name], key, values))
        except _Conflict as conflict:
            stored = conflict.item
        for _ in range(_ROUNDS):
            seen = record_of(key, stored) if stored else None
            wanted = transition(seen, key=key, owner=owner, attempt=attempt, now=now)
            if seen is None or wanted is seen:
                return wanted
            try:
                return self._replace(seen, wanted)
            except _Conflict as conflict:
                stored = conflict.item
        raise Contended(key)

    def _judge_or_replace(
        self, key: Key, stored: dict[str, Any] | None, judge: Callable[[Record | None], Claim]
    ) -> Claim:
        for _ in range(_ROUNDS):
            seen = record_of(key, stored) if stored else None
            claim = judge(seen)
            if claim.verdict is not Verdict.ACQUIRED:
                return claim
            try:
                self._replace(seen, claim.record)
            except _Conflict as conflict:
                stored = conflict.item
            else:
                return claim
        raise Contended(key)

    def _replace(self, seen: Record | None, wanted: Record) -> Record:
        """Writes every attribute of `wanted`, provided that the record is still the one that was seen."""
        after = attributes_of(wanted)
        present = {name: value for name, value in after.items() if value is not None}
        absent = after.keys() - present.keys()
        update = "SET " + ", ".join(f"#{name} = :{name}" for name in present)
        if absent:
            update += " REMOVE " + ", ".join(f"#{name}" for name in sorted(absent))
        if seen is None:
            condition, before = "attribute_not_exists(#pk)", {}
        else:
            stored = attributes_of(seen)
            before = {f":seen_{name}": stored[name] for name in _IDENTIFYING}
            condition = " AND ".join(f"#{name} = :seen_{name}" for name in _IDENTIFYING)
        values = {f":{name}": value for name, value in present.items()} | before
        self._write(_Write.of(update, condition), wanted.key, values)
        return wanted

    def _write(
        self, write: _Write, key: Key, values: dict[str, Any], *, answer: str = "ALL_NEW"
    ) -> dict[str, Any]:
        """One conditional UpdateItem; the one place where an error of the store is translated."""
        try:
            answered = self._client.update_item(
                TableName=self._table,
                Key=primary_key(key),
                UpdateExpression=write.update,
                ConditionExpression=write.condition,
                ExpressionAttributeNames=write.names,
                ExpressionAttributeValues=write.constants | values,
                ReturnValues=answer,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] == "ConditionalCheckFailedException":
                stored: Any = error.response.get("Item")
                raise _Conflict(stored) from error
            raise
        attributes: dict[str, Any] = answered.get("Attributes", {})
        return attributes


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}


def _why(key: Key, state: State, reason: str) -> dict[str, Any]:
    return {":reason": {"S": reason}, ":attention": {"S": attention(key, state)}}


def primary_key(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def attributes_of(record: Record) -> dict[str, Any]:
    """The record as DynamoDB stores it, without its key; None for an attribute that has to be absent."""

    def text(value: str | None) -> dict[str, str] | None:
        return None if value is None else {"S": value}

    unsettled = record.unknown or record.state in (State.IN_PROGRESS, State.IN_DOUBT)
    return {
        "owner": text(record.owner),
        "attempt": _number(record.attempt),
        "state": text(record.state.value),
        "leaseUntil": _number(record.lease_until),
        "expiresAt": None if record.expires_at is None else _number(record.expires_at),
        "updatedAt": _number(record.updated_at),
        "unknown": {"BOOL": record.unknown},
        "unsettled": None if record.state is State.DONE else {"BOOL": unsettled},
        "fingerprint": text(record.fingerprint),
        "result": text(record.result),
        "reason": text(record.reason),
        "attention": text(record.attention),
    }


def record_of(key: Key, item: dict[str, Any]) -> Record:
    """The record that is stored as `item`, whose key is not looked at."""

    def text(name: str) -> str | None:
        return item[name]["S"] if name in item else None

    return Record(
        key=key,
        owner=item["owner"]["S"],
        attempt=int(item["attempt"]["N"]),
        state=State(item["state"]["S"]),
        lease_until=int(item["leaseUntil"]["N"]),
        expires_at=int(item["expiresAt"]["N"]) if "expiresAt" in item else None,
        updated_at=int(item["updatedAt"]["N"]),
        unknown=item["unknown"]["BOOL"],
        fingerprint=text("fingerprint"),
        result=text("result"),
        reason=text("reason"),
    )
