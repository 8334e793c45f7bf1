"""A task's effect, once per execution: guarded by Powertools Idempotency, fenced by an owner.

Powertools knows neither FAILED nor IN_DOUBT: a call that raised is forgotten and made again. So the
downstream must honour the key, which is the task's: two callers, or two lives of a key, never share one.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig, idempotent_function

import wiring
from effects.http import HttpEffect
from orders.task_records import PREFIX
from powertools_fencing import ClaimLost, FencedDynamoDBPersistenceLayer
from telemetry import count, log

_TRIES_OF_A_VISIT = 1000  # more than a state is tried before it fails (synth allows a few hundred)

# A character may take 12 bytes, and a hundred items' receipts must fit into an execution's state.
_RECEIPT_CHARACTERS = 160


def attempt_of(event: dict[str, Any]) -> int:
    """Rises with each try, those after a redrive included, whose state counts its retries anew."""
    return _TRIES_OF_A_VISIT * (event.get("redriveCount") or 0) + int(event["retryCount"]) + 1


def perform(
    key: str, content: dict[str, Any], *, downstream: HttpEffect, attempt: int, context: Any
) -> dict[str, str]:
    """The downstream's receipt: the first one, if the task was done before. Raises what the effect raises."""
    return _once(context)(
        task={"key": key},
        call=lambda: downstream.post(json.dumps(content), idempotency_key=key, attempt=attempt),
    )


def _once(context: Any) -> Callable[..., dict[str, str]]:
    config = IdempotencyConfig(
        event_key_jmespath="key",
        raise_on_no_idempotency_key=True,
        expires_after_seconds=wiring.number("TASK_RETENTION_SECONDS"),
        hash_function="sha256",
        lambda_context=context,
    )

    @idempotent_function(  # type: ignore[untyped-decorator] # Powertools' own is untyped
        data_keyword_argument="task", config=config, persistence_store=_layer(), key_prefix=PREFIX
    )
    def once(*, task: dict[str, str], call: Callable[[], dict[str, Any]]) -> dict[str, str]:
        answer = call()
        log.info("done", task=task["key"])
        return {"receipt": (answer["body"] or "")[:_RECEIPT_CHARACTERS]}

    return cast("Callable[..., dict[str, str]]", once)


@cache
def _layer() -> FencedDynamoDBPersistenceLayer:
    return FencedDynamoDBPersistenceLayer(
        table_name=wiring.text("TASKS_TABLE"),
        boto3_client=wiring.client("dynamodb"),
        on_claim_lost=_lost,
        margin_seconds=wiring.number("MARGIN_SECONDS"),
    )


def _lost(lost: ClaimLost) -> None:
    count("LostClaims")
    log.warning("claim lost", write=lost.write)
