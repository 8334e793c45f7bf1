"""The shipped source of registrations: what is read of a document in S3."""

import io
import json
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from registrations.document import Document, UnreadableDocument
from tests.unit.aws import refusal
from tests.unit.registrations.desk import EVENT, REGISTRATION, registration


@dataclass
class Bucket:
    """S3 as far as GetObject of one object."""

    content: bytes = b""
    raises: Exception | None = None

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        assert (Bucket, Key) == ("registrations", "due.json")
        if self.raises:
            raise self.raises
        return {"Body": io.BytesIO(self.content)}


def _document(content: object) -> Document:
    written = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Document(Bucket(written), "registrations", "due.json")


def test_registrations_are_read_in_their_order() -> None:
    two = {"recordId": "REG-2", "effectiveDate": "2026-03-01"}
    assert _document([two, EVENT]).read() == ([registration("REG-2", "2026-03-01"), REGISTRATION], [])


def test_an_empty_list_has_none() -> None:
    assert _document([]).read() == ([], [])


def test_one_that_is_listed_twice_is_one_whatever_its_date_looks_like() -> None:
    other = {**EVENT, "effectiveDate": "20270115", "more": 1}
    assert _document([EVENT, other, EVENT]).read() == ([REGISTRATION], [])


def test_the_same_id_on_another_date_is_another() -> None:
    found, _ = _document([EVENT, {**EVENT, "effectiveDate": "2028-01-15"}]).read()
    assert [each.effective_on.year for each in found] == [2027, 2028]


def test_bad_entries_are_named_by_place_and_field_and_leave_the_others_alone() -> None:
    bad = [{"recordId": ""}, "REG-3", {**EVENT, "effectiveDate": "soon"}]
    found, invalid = _document([bad[0], EVENT, bad[1], bad[2]]).read()
    assert found == [REGISTRATION]
    assert [each.field for each in invalid] == ["recordId", "registration", "effectiveDate"]
    for each, place in zip(invalid, ("entry 1", "entry 3", "entry 4"), strict=True):
        assert place in str(each)
        assert "soon" not in str(each)


@pytest.mark.parametrize(
    "content",
    [b"", b"no json", b"[", b'[{"recordId": 1},]', b"\xff\xfe\xfa", b"[" * 100_000],
    ids=["empty", "text", "half", "comma", "bytes", "deep"],
)
def test_what_is_no_json_is_unreadable(content: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=r"s3://registrations/due\.json: is no JSON"):
        _document(content).read()


@pytest.mark.parametrize("content", [None, {}, {"registrations": [EVENT]}, "REG-1", 7], ids=str)
def test_what_is_no_list_is_unreadable(content: object) -> None:
    with pytest.raises(UnreadableDocument, match="is no list"):
        _document(content).read()


def test_a_mark_at_its_start_does_not_matter() -> None:
    """As editors on Windows write it."""
    assert _document(b"\xef\xbb\xbf" + json.dumps([EVENT]).encode()).read() == ([REGISTRATION], [])


@pytest.mark.parametrize("code", ["NoSuchKey", "AccessDenied", "NoSuchBucket"])
def test_a_document_that_s3_does_not_hand_out_is_unreadable_and_says_why(code: str) -> None:
    document = Document(Bucket(raises=refusal(code, "GetObject")), "registrations", "due.json")
    with pytest.raises(UnreadableDocument, match=code):
        document.read()


def test_an_s3_that_cannot_be_reached_is_raised() -> None:
    document = Document(
        Bucket(raises=EndpointConnectionError(endpoint_url="https://s3.invalid")), "registrations", "due.json"
    )
    with pytest.raises(EndpointConnectionError):
        document.read()
