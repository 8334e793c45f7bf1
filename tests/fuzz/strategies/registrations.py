"""What the processor of registrations is invoked with, and documents as they may lie in S3."""

import json
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.strategies.texts import any_text, broken_texts, json_texts, json_values

# As seen from 2027-01-15: three due lately, one tomorrow, due for 29 days, for 30: too late; long past.
VALID_DATES = ["2027-01-14", "20270115", "2027-W02-5", "2027-01-16", "2026-12-17", "2026-12-16", "2001-01-01"]
VALID_IDS = ["REG-1", "REG-2", '["REG-1"]', "é 漢"]
valid = st.fixed_dictionaries(
    {"recordId": st.sampled_from(VALID_IDS), "effectiveDate": st.sampled_from(VALID_DATES)}
)
_nearly = st.one_of(
    st.builds(lambda entry, junk: {**entry, "recordId": junk}, valid, any_text | json_values),
    st.builds(lambda entry, junk: {**entry, "effectiveDate": junk}, valid, any_text | json_values),
    st.builds(lambda entry, junk: {**entry, "more": junk}, valid, json_values),
    valid.map(lambda entry: {"recordId": entry["recordId"]}),
)
entries = valid | _nearly


def _event(detail: Any, more: dict[str, Any]) -> dict[str, Any]:
    return {"detail-type": "RegistrationExpiry", "detail": detail, **more}


_more = st.fixed_dictionaries({}, optional={"id": any_text, "source": any_text, "version": st.just("0")})
_fields = ("source", "detail-type", "id", "detail")
events: st.SearchStrategy[Any] = st.one_of(
    st.builds(_event, valid, _more),
    st.builds(_event, entries | json_values, _more),
    st.fixed_dictionaries({}, optional=dict.fromkeys(_fields, any_text | json_values)),
    json_values,
)

_encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"])


def _encoded(text: str, encoding: str) -> bytes:
    return text.encode(encoding, errors="surrogatepass" if encoding.startswith("utf") else "replace")


documents: st.SearchStrategy[bytes] = st.one_of(
    st.builds(_encoded, st.lists(entries | json_values, max_size=6).map(json.dumps), _encodings),
    st.builds(_encoded, json_texts | broken_texts, _encodings),
    st.binary(max_size=60),
)
