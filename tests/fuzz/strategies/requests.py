"""Requests to the API of orders as API Gateway hands them over: of a REST API, or in payload format 1.0."""

import base64
from typing import Any

from hypothesis import strategies as st

from orders.idempotency_key import PATTERN
from tests.fuzz.strategies.texts import any_text, broken_texts, json_texts, json_values, objects_with, written

key_spellings = st.lists(st.booleans(), min_size=15, max_size=15).map(
    lambda uppers: "".join(
        letter.upper() if upper else letter for letter, upper in zip("idempotency-key", uppers, strict=True)
    )
)
legal_keys = st.sampled_from(["key-0001", "key-0002", "k" * 128]) | st.from_regex(PATTERN, fullmatch=True)
_header_values = st.one_of(
    legal_keys,
    legal_keys,
    legal_keys.map('"{}"'.format),
    st.lists(legal_keys, min_size=2).map(",".join),
    any_text,
)
_names = key_spellings | st.sampled_from(["Content-Type", "Host"]) | any_text
single_headers = st.none() | st.dictionaries(_names, st.none() | _header_values, max_size=3)
multiple_headers = st.none() | st.dictionaries(
    _names, st.none() | st.lists(_header_values, max_size=2), max_size=3
)


@st.composite
def headers_with(draw: st.DrawFn, keys: st.SearchStrategy[str]) -> dict[str, Any]:
    """Of a client that sends one good key, in either map or both."""
    name, value = draw(key_spellings), draw(keys | keys.map('"{}"'.format) | keys.map(" {}\t".format))
    single, multiple = {name: value, "Host": "orders.test"}, {name: [value], "Host": ["orders.test"]}
    return draw(
        st.sampled_from(
            [
                {"headers": single, "multiValueHeaders": multiple},
                {"headers": single, "multiValueHeaders": None},
                {"headers": None, "multiValueHeaders": multiple},
                {"headers": single},
            ]
        )
    )


any_headers = st.fixed_dictionaries(
    {}, optional={"headers": single_headers, "multiValueHeaders": multiple_headers}
)

orders: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "payment": st.fixed_dictionaries(
            {
                "amount": st.sampled_from(["19.90", "0.0001", "999999999999999"]),
                "currency": st.just("EUR"),
                "token": st.sampled_from(["tok_1", "t" * 128]),
            }
        ),
        "items": st.lists(
            st.fixed_dictionaries(
                {"sku": st.sampled_from(["SKU-1", "s" * 64]), "quantity": st.integers(1, 1_000)}
            ),
            min_size=1,
            max_size=3,
        ),
    }
)
_nearly = orders.flatmap(
    lambda order: objects_with({name: st.just(value) | json_values for name, value in order.items()})
)
_too_much = st.sampled_from(['{"items": [' + ",".join("1" * 101) + "]}", " " * 65_537, "[" * 60_000])
order_texts = st.one_of(
    orders.map(written), orders.map(written), _nearly, json_texts, broken_texts, _too_much
)


def carried(content: bytes, *, as_base64: bool) -> dict[str, Any]:
    """A body as API Gateway hands it over."""
    if as_base64:
        return {"body": base64.b64encode(content).decode(), "isBase64Encoded": True}
    return {"body": content.decode(errors="replace"), "isBase64Encoded": False}


sent_bodies = st.builds(
    carried,
    order_texts.map(lambda text: text.encode(errors="surrogatepass")) | st.binary(max_size=40),
    as_base64=st.booleans(),
)
# That may not be what it says it is.
any_bodies = sent_bodies | st.fixed_dictionaries(
    {"body": st.none() | any_text | order_texts, "isBase64Encoded": st.booleans()}
)


@st.composite
def posts(
    draw: st.DrawFn,
    contexts: st.SearchStrategy[dict[str, Any]],
    headers: st.SearchStrategy[dict[str, Any]],
    sent: st.SearchStrategy[dict[str, Any]],
) -> dict[str, Any]:
    """Of a REST API, or of an HTTP API in payload format 1.0."""
    path = draw(st.sampled_from(["/live/v1/orders", "/live/v1/orders/", "/v1/orders"]))
    return {
        **draw(st.sampled_from([{}, {"version": "1.0"}])),
        "resource": "/v1/orders",
        "httpMethod": "POST",
        "path": "/v1/orders",
        "pathParameters": None,
        "queryStringParameters": None,
        **draw(headers),
        "requestContext": {"path": path, "stage": "live", **draw(contexts)},
        **draw(sent),
    }


@st.composite
def gets(
    draw: st.DrawFn, contexts: st.SearchStrategy[dict[str, Any]], keys: st.SearchStrategy[str]
) -> dict[str, Any]:
    parameters = draw(st.none() | st.just({}) | keys.map(lambda key: {"key": key}) | st.just({"key": None}))
    return {
        "resource": "/v1/orders/{key}",
        "httpMethod": "GET",
        "pathParameters": parameters,
        **draw(any_headers),
        "requestContext": {"path": "/live/v1/orders/key", **draw(contexts)},
        "body": None,
        "isBase64Encoded": False,
    }
