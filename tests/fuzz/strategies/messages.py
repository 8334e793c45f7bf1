"""Records as Lambda hands them over from SQS, and some that it would not."""

import base64
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.fates import REFUSED_CHARACTERS
from tests.fuzz.strategies.texts import broken_texts, json_texts, json_values
from tests.unit.ingestion.messages import binary, message, text


def as_sqs_takes(anything: str) -> str:
    """SQS refuses an empty body, and some characters."""
    return REFUSED_CHARACTERS.sub("\ufffd", anything) or " "


def bodies(own: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Often of the workload's `own` form; now and then a body near one of the limits of size."""
    large = st.tuples(own, st.sampled_from([219_000, 220_000, 262_144, 1_048_000])).map(
        lambda padded: padded[0] + " " * (padded[1] - len(padded[0]))
    )
    return st.one_of(own, own, own, own, json_texts, broken_texts, own | large).map(as_sqs_takes)


_sqs_texts = st.text(min_size=1, max_size=20).map(as_sqs_takes)
_labels = st.sampled_from(["", ".int", ".é", ".custom"])
_attributes = st.one_of(
    st.builds(text, _sqs_texts, _labels.map("String".__add__)),
    st.builds(text, st.integers().map(str), _labels.map("Number".__add__)),
    st.binary(min_size=1, max_size=20).map(lambda content: binary(base64.b64encode(content).decode())),
)
_attribute_names = st.sampled_from(["firstSeenAt", "reason", "eventKey", "tenant"]) | st.from_regex(
    r"[A-Za-z0-9_]([A-Za-z0-9_.-]{0,8}[A-Za-z0-9_])?", fullmatch=True
).filter(lambda name: not name.lower().startswith(("aws.", "amazon.")) and ".." not in name)


def records(own: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    """As Lambda hands them over; the ids of a batch may be the same."""
    return st.builds(
        message,
        bodies(own),
        message_id=st.sampled_from(["m-1", "m-2", "m-3", "m-4"]),
        attributes=st.dictionaries(_attribute_names, _attributes, max_size=10),
        receive_count=st.integers(1, 6),
        sent_at=st.integers(0, 10**13).map(str),
    )


@st.composite
def malformed(draw: st.DrawFn, own: st.SearchStrategy[str]) -> dict[str, Any]:
    """What Lambda would not hand over: something is missing, or anything else. The id is there."""
    record = draw(records(own))
    part: dict[str, Any] = draw(st.sampled_from([record, record, record["attributes"]]))
    name = draw(st.sampled_from(sorted(part.keys() - {"messageId"})))
    if draw(st.booleans()):
        del part[name]
    else:
        part[name] = draw(json_values)
    return record


def batches(
    own: st.SearchStrategy[str], *, malformed_too: bool = False
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Some messages may be in it twice."""
    either = records(own) | malformed(own) if malformed_too else records(own)
    return st.lists(either, min_size=1, max_size=5).map(_one_body_each)


def _one_body_each(batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Deliveries of one message are alike, but for their receipt."""
    first: dict[str, dict[str, Any]] = {}
    for record in batch:
        first.setdefault(record["messageId"], record)
    return [{**first[record["messageId"]], "receiptHandle": record.get("receiptHandle")} for record in batch]
