"""`make chaos`: each AWS operation that the functions use fails in every way; no event is lost or doubled."""

import sandbox.demo  # noqa: F401 - makes the deployed code importable, as the demos need it
