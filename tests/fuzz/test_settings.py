"""Settings: any context of cdk.json is read, or refused in one line; what is accepted works."""

import http.client
import json
from operator import attrgetter
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from effects.http import HttpEffect
from idempotency.errors import NotApplied
from ingestion.starter import select
from stacks.ingestion_definition import ingestion_definition
from stacks.orders_definition import orders_definition
from stacks.refusal import Refusal
from stacks.settings import read_stage
from stacks.settings.texts import is_downstream_url, is_jmespath, names_a_part
from tests.fuzz.effort import examples
from tests.fuzz.strategies.contexts import PLACES, addresses, any_contexts, contexts, expressions, shipped
from tests.fuzz.strategies.texts import json_values

# A word alone between backquotes; it still works, and synth only warns.
pytestmark = pytest.mark.filterwarnings("ignore:deprecated string literal:PendingDeprecationWarning")


def _with(setting: str, value: object) -> dict[str, Any]:
    """The shipped stages with one setting of ingestion changed."""
    stages = shipped()
    stages["dev"]["ingestion"][setting] = value
    return {"stage": "dev", "stages": stages}


@examples(200)
@given(contexts() | contexts() | any_contexts)
@example(_with("event_key", f"a[{'9' * 5_000}]"))
@example(_with("event_key", "(" * 2_000))
@example(_with("fingerprint", "!" * 3_000 + "a"))
@example(_with("event_key", "ceil(to_number('1e400'))"))
@example(_with("event_key", "a|" * 2_000 + "a"))
@example(_with("margin_seconds", True))
@example(_with("effect_\nurl", "https://effects.test/"))
def test_a_context_is_read_or_refused_in_one_line(context: dict[str, Any]) -> None:
    try:
        settings = read_stage(context.get("stage"), context.get("stages"))
    except Refusal as refusal:
        line = str(refusal)
        assert line.splitlines() == [line]
        event(type(refusal).__name__)
    else:
        for definition in (ingestion_definition(settings.ingestion), orders_definition(settings.orders)):
            json.dumps(definition, allow_nan=False)
        for place, hint in PLACES:
            if hint in (bool, int, str):
                assert type(attrgetter(".".join(place))(settings)) is hint
        event("read")


@examples(150)
@given(expressions, st.lists(json_values, max_size=3))
@example("ceil(to_number(a))", [{"a": "1e400"}])
def test_an_expression_that_is_accepted_finds_something_or_nothing_in_any_body(
    expression: str, bodies: list[Any]
) -> None:
    assume(is_jmespath(expression) and names_a_part(expression))
    search = select(expression)
    for body in ({}, *bodies):
        search(body)


@examples(150)
@given(addresses)
@example("https://a\x00b/")
@example("https://effects.test/\x01")
@example(f"https://{'a' * 64}.test/")
@example("https://.effects.test/")
@example("https://effects.test:0/")
def test_an_address_that_is_accepted_can_be_called(address: str) -> None:
    """With no network at all nothing has happened, and the effect says so."""
    assume(is_downstream_url(address))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("socket.getaddrinfo", _no_such_host)
        with pytest.raises(NotApplied):
            HttpEffect(address, deadline_seconds=1).post("{}", idempotency_key="key", attempt=1)
    url = urlsplit(address)
    assert url.port != 0  # which would be taken for none
    target = f"{url.path or '/'}?{url.query}"
    http.client.HTTPConnection(url.hostname or "").putrequest("POST", target)  # refuses what it can't write


def _no_such_host(host: str, *_: object, **__: object) -> Any:
    host.encode("idna")
    raise OSError("no such host")
