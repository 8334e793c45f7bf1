"""From what became of each event to a line per operation and fault: did it fire, was one lost or doubled."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.chaos.campaign import AT_RANDOM, AtRandom, Campaign, Round, RoundName
from sandbox.demo.tally import Ending, Run, Told, seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`fired`: how often the fault came about, by deployment; everything else counts events.

    `failed` are those whose callers were told so.
    """

    operation: str
    fault: str
    fired: Mapping[str, int]
    events: int
    effects: int
    done: int
    dead_lettered: int
    in_doubt: int
    failed: int
    lost: int
    doubled: int
    violations: tuple[str, ...]

    @property
    def verdict(self) -> str:
        if self.lost or self.doubled or self.violations:
            return "failed"
        return "ok" if self.fired and all(self.fired.values()) else "never fired"

    def report(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "fired": sum(self.fired.values()),
            "fired_by_deployment": dict(self.fired),
            "violations": list(self.violations),
            "verdict": self.verdict,
        }


def verdict(
    campaigns: Mapping[str, Campaign[Any]],
    runs: Mapping[str, Run],
    fired: Mapping[tuple[str, RoundName], int],
    *,
    calls: Mapping[str, int],
    tried: Iterable[str],
) -> dict[str, Any]:
    """By deployment, the campaign over it and its run; `fired` by deployment and round.

    `calls`: how often each operation was called; one that is not `tried` makes the list of them old.
    """
    found = _rows(campaigns, runs, fired)
    stories = [story for run in runs.values() for story in run.stories]
    problems = [problem for run in runs.values() for problem in run.problems]
    problems += [f"{name} was called, and no round lets it fail" for name in sorted({*calls} - {*tried})]
    problems += [violation for story in stories for violation in story.violations]
    good = found and not problems and all(row.verdict == "ok" for row in found)
    return {
        "verdict": "ok" if good else "failed",
        "events": len(stories),
        "lost": sum(story.ending is Ending.LOST for story in stories),
        "doubled": sum(story.repeated > 1 for story in stories),
        "rounds": [row.report() for row in found],
        "calls": dict(sorted(calls.items())),
        "violations": problems,
    }


def seen_in_rounds(campaigns: Mapping[str, Campaign[Any]], runs: Mapping[str, Run]) -> dict[str, Any]:
    """What pictures are drawn from, by deployment; an event's kind is the round that it was drawn for."""
    drawn_for = {
        (deployment, event.id): ": ".join(each.name)
        for deployment, campaign in campaigns.items()
        for each in campaign.all_rounds
        for event in each.events
    }
    found = seen(runs)
    for event in found["each_event"]:
        event["kind"] = drawn_for.get((event["deployment"], event["event"]), event["kind"])
    return found


def _rows(
    campaigns: Mapping[str, Campaign[Any]],
    runs: Mapping[str, Run],
    fired: Mapping[tuple[str, RoundName], int],
) -> list[Row]:
    """The rounds of the same name over all deployments make one."""
    told = {(name, story.event): story for name, run in runs.items() for story in run.stories}
    rounds: defaultdict[RoundName, list[tuple[str, Round[Any] | AtRandom[Any]]]] = defaultdict(list)
    for deployment, campaign in campaigns.items():
        for each in campaign.all_rounds:
            rounds[each.name].append((deployment, each))
    return [
        _row(
            same[0][1].name,
            [told[deployment, event.id] for deployment, each in same for event in each.events],
            fired={deployment: fired[deployment, each.name] for deployment, each in same},
        )
        for same in sorted(rounds.values(), key=lambda same: same[0][1].name == AT_RANDOM)
    ]


def _row(name: RoundName, stories: Sequence[Told], *, fired: Mapping[str, int]) -> Row:
    endings = [story.ending for story in stories]
    return Row(
        operation=name[0],
        fault=name[1],
        fired=fired,
        events=len(stories),
        effects=sum(story.effects for story in stories),
        done=endings.count(Ending.DONE),
        dead_lettered=endings.count(Ending.DEAD_LETTERED),
        in_doubt=endings.count(Ending.IN_DOUBT),
        failed=endings.count(Ending.FAILED),
        lost=endings.count(Ending.LOST),
        doubled=sum(story.repeated > 1 for story in stories),
        violations=tuple(violation for story in stories for violation in story.violations),
    )
