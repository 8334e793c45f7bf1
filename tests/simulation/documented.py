"""Puts what a run found into docs/proof.md, between the marks that stand there for it."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from bench.documented import DOCS, put, table
from tests.simulation.runs import SEEDS

PROOF = DOCS / "proof.md"


_TELLING = (  # of what a schedule can come across
    *("takeover", "takeover of a task", "second effect", "effect repeated under its key"),
    *("effect of a late worker", "completion refused", "new life", "new life of a key"),
    *("execution stopped", "execution redriven", "redrive", "healed start", "key removed"),
)


def write(report: Mapping[str, Any]) -> None:
    """Sections of which the report has nothing stay as they are."""
    put(PROOF, dict(_tables(report)))
    if mutants := report.get("mutants"):
        found = {each["mutant"]: {name: each[name] for name in ("workload", "seed")} for each in mutants}
        SEEDS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def in_words(mutant: str) -> str:
    return mutant.replace("_", " ")


def _tables(report: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if found := report.get("schedules"):
        rows = [
            (workload, f"{each['schedules']:,}", f"{each['steps']:,}", _most_seen(each["seen"]), _none(each))
            for workload, each in found.items()
        ]
        yield "schedules", table(("workload", "schedules", "steps", "among them", "violations"), rows)
    if scopes := report.get("scopes"):
        told = sorted(scopes, key=lambda each: (each["scope"], each["semantics"]))
        yield (
            "scopes",
            table(
                ("scope", "semantics", "states", "schedules"),
                [
                    (
                        each["scope"],
                        each["semantics"],
                        f"{each['explored']['states']:,}",
                        f"{each['explored']['schedules']:,}",
                    )
                    for each in told
                ],
            ),
        )
    if mutants := report.get("mutants"):
        caught = [
            (in_words(each["mutant"]), each["workload"], str(each["seed"]), _example(each["invariant"]))
            for each in sorted(mutants, key=lambda each: (each["workload"], each["mutant"]))
        ]
        yield "mutants", table(("fault", "found in", "by seed", "because"), caught)


def _most_seen(seen: Mapping[str, int]) -> str:
    return ", ".join(f"{what}: {seen[what]:,}" for what in _TELLING if what in seen)


def _none(found: Mapping[str, Any]) -> str:
    return "0" if found["violation"] is None else "1"


def _example(invariant: str | None) -> str:
    """Short, and without what a table in Markdown would take for its own."""
    text = (invariant or "nothing").replace("|", "/")
    text = re.sub(r"machine:([0-9a-f]{12})[0-9a-f]*", r"\1", text)
    text = re.sub(r", lease until.*", "", text)
    return text if len(text) <= 110 else text[:107] + "…"
