"""One mail per customer: sent, refused, put off or in doubt; never twice."""

import json
from collections.abc import Iterator

import boto3
import pytest
from botocore.exceptions import BotoCoreError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from botocore.stub import Stubber

import wiring
from idempotency.errors import EffectError, NotApplied, Rejected
from idempotency.model import State
from samples.welcome_mail.effect import SAYS, effect
from tests.statemachines.ingestion_run import IngestionRun
from tests.statemachines.marks import at_most_once

pytestmark = at_most_once

CUSTOMER = json.dumps({"eventId": "E-1", "email": "ada@example.com"})
SENT = {"MessageId": "M-1"}


def named(meaning: type[EffectError]) -> list[str]:
    return [code for code, means in SAYS.items() if means is meaning]


@pytest.fixture
def ses(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    """SES as botocore knows it: what SES would not understand is refused, and so is a mail too many."""
    client = boto3.client("sesv2")
    monkeypatch.setenv("SENDER", "welcome@example.com")
    monkeypatch.setattr(
        wiring, "client", lambda service, *, attempts: {("sesv2", 1): client}[service, attempts]
    )
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


@pytest.fixture
def mails(ingestion: IngestionRun) -> IngestionRun:
    """The workflow as it is deployed, with the mail for its effect."""
    ingestion.downstream.always(lambda _: effect(ingestion.downstream.asked[-1]))
    return ingestion


def test_a_customer_who_is_named_twice_gets_one_mail(ses: Stubber, mails: IngestionRun) -> None:
    ses.add_response("send_email", SENT)
    assert [mails.deliver(CUSTOMER).output["reason"] for _ in range(2)] == ["done", "done"]
    assert mails.record("E-1").result == '{"mailId":"M-1"}'


def test_a_mail_that_may_have_been_sent_is_in_doubt_and_not_sent_again(
    ses: Stubber, mails: IngestionRun
) -> None:
    ses.add_client_error("send_email", "InternalFailure", http_status_code=500)
    for _ in range(2):
        mails.deliver(CUSTOMER)
    assert len(mails.downstream.asked) == 1
    assert mails.record("E-1").state is State.IN_DOUBT
    assert [letter.reason for letter in mails.dead_letter_queue.letters] == ["in-doubt", "in-doubt"]


@pytest.mark.parametrize("code", named(NotApplied))
def test_a_mail_that_was_put_off_is_sent_by_the_next_try(
    ses: Stubber, mails: IngestionRun, code: str
) -> None:
    ses.add_client_error("send_email", code, http_status_code=429)
    ses.add_response("send_email", SENT)
    assert mails.deliver(CUSTOMER).output == {"reason": "done"}


@pytest.mark.parametrize("code", named(Rejected))
def test_a_mail_that_was_refused_for_good_has_failed(ses: Stubber, mails: IngestionRun, code: str) -> None:
    ses.add_client_error("send_email", code, http_status_code=400)
    mails.deliver(CUSTOMER)
    assert mails.record("E-1").state is State.FAILED
    assert [letter.reason for letter in mails.dead_letter_queue.letters] == ["rejected"]


@pytest.mark.parametrize("body", ['{"eventId": "E-1"}', '{"eventId": "E-1", "email": null}'])
def test_without_an_address_nothing_is_sent_and_the_event_has_failed(
    ses: Stubber, mails: IngestionRun, body: str
) -> None:
    mails.deliver(body)
    assert mails.record("E-1").state is State.FAILED


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (EndpointConnectionError, State.RELEASED),
        (ConnectTimeoutError, State.RELEASED),
        (ReadTimeoutError, State.IN_DOUBT),
    ],
)
def test_what_is_not_connected_sends_nothing_and_what_is_not_heard_may_have(
    ses: Stubber,
    mails: IngestionRun,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BotoCoreError],
    state: State,
) -> None:
    def send_email(**_: object) -> None:
        raise error(endpoint_url="https://email.test")

    monkeypatch.setattr(ses.client, "send_email", send_email)
    mails.deliver(CUSTOMER)
    assert mails.record("E-1").state is state
