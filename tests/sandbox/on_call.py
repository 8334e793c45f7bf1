"""A person on call: knows docs/operations.md, and types its commands."""

import json
from typing import Any

from typer.testing import CliRunner

from ops.commands import app
from tests import runbook

_BLANKS = {
    "event": runbook.EVENT,
    "registration": runbook.REGISTRATION,
    "message": runbook.MESSAGE,
    "keys": runbook.KEYS,
}
_ASKING = ({"resolve"}, {"release"}, {"dlq", "redrive"}, {"dlq", "discard"})


class OnCall:
    """At one stack of the sandbox."""

    def __init__(self, endpoint: str, stack: str) -> None:
        self._where = ("--endpoint-url", endpoint, "--stack", stack, "--json")

    def types(self, start: str, **blanks: str) -> Any:
        """What the page's command that begins so answers; `blanks` go by the names above."""
        put = {_BLANKS[blank]: filling for blank, filling in blanks.items()}
        words = runbook.words(runbook.line(start), {**put, runbook.STAGE: "sandbox"})
        agreed = ["--yes"] if any(verb <= set(words[:2]) for verb in _ASKING) else []
        result = CliRunner().invoke(app, [*words, *self._where, *agreed])
        assert result.exit_code == 0, f"{words}: {result.output}"
        return json.loads(result.stdout)
