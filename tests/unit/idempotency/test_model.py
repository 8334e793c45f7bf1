"""Keys and the partitions of the operators' index."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from idempotency.model import Key, Record, State, attention

texts = st.text('a/:"\\, []', max_size=6)


@given(st.tuples(texts, texts), st.tuples(texts, texts))
def test_two_keys_have_two_digests(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Also where the joined texts would be equal."""
    digests = {Key(pk=pk, sk=sk).digest() for pk, sk in (one, other)}
    assert len(digests) == len({one, other})


def test_an_outage_spreads_over_sixteen_partitions() -> None:
    partitions = Counter(attention(Key(pk=f"charge:{n}", sk="x"), State.FAILED) for n in range(1_600))
    assert partitions.keys() == {f"FAILED#{n}" for n in range(16)}
    assert max(partitions.values()) < 200


def test_only_what_needs_a_person_has_attention() -> None:
    with_attention = {
        state
        for state in State
        if Record(
            key=Key(pk="a", sk="b"),
            owner="o",
            attempt=1,
            state=state,
            lease_until=1,
            expires_at=2,
            updated_at=0,
        ).attention
    }
    assert with_attention == {State.FAILED, State.IN_DOUBT, State.RELEASED}
