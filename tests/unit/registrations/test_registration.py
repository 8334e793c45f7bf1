"""A registration's identity, what is read as one, and what time it is for it."""

import traceback
from datetime import UTC, datetime

import pytest

from registrations.model import LAST_LOOK, InvalidRegistration, When, parse
from tests.unit.registrations.desk import EVENT, KEY, LOOKBACK, REGISTRATION, registration

DUE_AT = int(datetime(2027, 1, 15, tzinfo=UTC).timestamp())


def test_its_id_and_its_effective_date_are_its_key() -> None:
    assert REGISTRATION.key == KEY.pk == "RegistrationExpiry:REG-1:2027-01-15"


@pytest.mark.parametrize(
    "other", [registration("REG-2"), registration("reg-1"), registration(effective_on="2027-01-16")], ids=str
)
def test_another_id_or_another_date_is_another_registration(other: object) -> None:
    assert other != REGISTRATION
    assert getattr(other, "key", None) != REGISTRATION.key


def test_an_id_that_looks_like_a_date_shares_no_key_with_another() -> None:
    odd = registration("REG-1:2027-01-15", "2027-01-16")
    assert odd.key != registration("REG-1", "2027-01-15").key
    assert odd.key.startswith("RegistrationExpiry:REG-1:2027-01-15:")


@pytest.mark.parametrize("date", ["2027-01-15", "20270115", "2027-W02-5"])
def test_a_date_in_another_form_is_the_same_registration(date: str) -> None:
    assert parse({"recordId": "REG-1", "effectiveDate": date}) == REGISTRATION


def test_it_describes_itself_as_it_is_read() -> None:
    assert REGISTRATION.described() == EVENT
    assert parse({**EVENT, "more": 1}) == REGISTRATION


NO_TEXT: list[object] = [None, "", " ", "\n", 7, 7.0, True, ["REG-1"], {}, "\ud800", "x" * 257]
NOT_FOR_SQS = ["REG\x00", "REG\x1b", "REG\n1", "\x7fREG", "REG\ufffe"]  # as attributes of a copy


@pytest.mark.parametrize("id", [*NO_TEXT, *NOT_FOR_SQS])
def test_what_is_no_id_is_refused_by_its_field(id: object) -> None:  # noqa: A002 - its name
    with pytest.raises(InvalidRegistration) as refused:
        parse({"recordId": id, "effectiveDate": "2027-01-15"})
    assert refused.value.field == "recordId"


def test_the_longest_id_is_one() -> None:
    assert parse({**EVENT, "recordId": "ü" * 256}).id == "ü" * 256


DATES = [None, "", 20270115, "15.01.2027", "2027-1-15", "2027-02-30", "2027-01-15T00:00:00", " 2027-01-15"]


@pytest.mark.parametrize("date", [*DATES, "2027", "0000-01-01", "1\N{FULLWIDTH DIGIT TWO}27-01-15", [], {}])
def test_what_is_no_date_is_refused_by_its_field(date: object) -> None:
    with pytest.raises(InvalidRegistration) as refused:
        parse({"recordId": "REG-1", "effectiveDate": date})
    assert refused.value.field == "effectiveDate"


@pytest.mark.parametrize("missing", EVENT)
def test_what_is_missing_is_named(missing: str) -> None:
    with pytest.raises(InvalidRegistration) as refused:
        parse({name: value for name, value in EVENT.items() if name != missing})
    assert refused.value.field == missing


@pytest.mark.parametrize("found", [None, "REG-1", 7, [], [EVENT]], ids=str)
def test_what_is_no_object_is_none(found: object) -> None:
    with pytest.raises(InvalidRegistration) as refused:
        parse(found)
    assert refused.value.field == "registration"


def test_a_refusal_does_not_quote_what_it_refuses() -> None:
    for wrong in ({**EVENT, "effectiveDate": "marker"}, {**EVENT, "recordId": ["marker"]}, "marker"):
        with pytest.raises(InvalidRegistration) as refused:
            parse(wrong)
        chain = traceback.format_exception(refused.value)
        assert "marker" not in "".join(line for line in chain if "test_registration" not in line)


@pytest.mark.parametrize(
    ("age", "when"),
    [
        (-10 * LOOKBACK, When.NOT_DUE),
        (-1, When.NOT_DUE),
        (0, When.DUE),
        (1, When.DUE),
        (LOOKBACK, When.DUE),
        (LOOKBACK + 1, When.TOO_LATE),
        (LOOKBACK + LAST_LOOK, When.TOO_LATE),
        (LOOKBACK + LAST_LOOK + 1, When.PAST),
        (10 * LOOKBACK, When.PAST),
    ],
)
def test_what_time_it_is_for_it(age: int, when: When) -> None:
    """From the start of its day in UTC."""
    assert REGISTRATION.due_at == DUE_AT
    assert REGISTRATION.when(DUE_AT + age, lookback=LOOKBACK) is when


def test_the_last_look_ends_an_hour_before_the_first_record_of_it_can_be_gone() -> None:
    """Retention is at least the lookback and a day."""
    assert LAST_LOOK == 86_400 - 3_600


@pytest.mark.parametrize("date", ["0001-01-01", "1970-01-01", "9999-12-31"])
def test_the_oldest_and_the_farthest_date_can_be_told(date: str) -> None:
    expected = When.NOT_DUE if date.startswith("9") else When.PAST
    assert registration(effective_on=date).when(DUE_AT, lookback=LOOKBACK) is expected
