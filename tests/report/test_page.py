"""The page: what was found stands in it as text, and nothing is loaded, or run, that is not its own."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from sandbox.demo.tally import Ending
from sandbox.report.page import page
from tests.report import fabricated
from tests.report.fabricated import story

HOSTILE = """<script>alert("1")</script><b title='x'>&amp;"""


class Read(HTMLParser):
    """The elements with their attributes, and the text outside of styles and scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.own: dict[str, str] = {}
        self._within = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._within = tag

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the overridden method's
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within in ("style", "script"):
            self.own[self._within] = data
        else:
            self.text += data

    def values(self, *names: str) -> list[str]:
        return [str(attrs[name]) for _, attrs in self.elements for name in names if name in attrs]


def hostile() -> str:
    found = fabricated.orders(story(HOSTILE, HOSTILE, reasons=(HOSTILE,), state=HOSTILE))
    found["violations"] = [HOSTILE]
    found["each_event"][0] |= {
        "violations": [HOSTILE],
        "deployment": HOSTILE,
        "moments": [{"at": 0.0, "what": "delivery", "told": HOSTILE}],
    }
    definition = {"StartAt": HOSTILE, "States": {HOSTILE: {"Type": "Task", "Comment": HOSTILE, "End": True}}}
    found["workflow"] = {
        "": {
            "by": HOSTILE,
            "definition": definition,
            "steps": [{"from": "(start)", "to": HOSTILE, "times": 1}],
        }
    }
    return page(HOSTILE, [found])


def test_whatever_a_run_found_stands_in_the_page_as_text() -> None:
    read = Read(hostile())

    assert [tag for tag, _ in read.elements].count("script") == 1
    assert "b" not in [tag for tag, _ in read.elements]
    assert read.text.count(HOSTILE) >= 9
    assert HOSTILE in read.values("data-kind", "data-deployment")


@pytest.mark.parametrize("report", [fabricated.ingestion(), fabricated.orders(), fabricated.chaos()])
def test_nothing_is_loaded_from_anywhere(report: dict[str, object]) -> None:
    read = Read(page("report", [report]))

    assert not read.values("src", "srcset", "action", "style", "onclick", "data")
    assert all(link.startswith(("#", "data:")) for link in read.values("href"))
    assert "url(" not in read.own["style"]
    assert "@import" not in read.own["style"]


def test_the_policy_lets_only_the_page_s_own_style_and_script_through() -> None:
    read = Read(page("report", [fabricated.orders()]))
    policy = next(content for content in read.values("content") if "default-src" in content)

    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for name, text in read.own.items():
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_a_broken_promise_is_said_first_with_what_broke_it() -> None:
    lost = story("O-7", "accepted", effects=0, state=None)
    read = Read(page("report", [fabricated.orders(story("O-1", "accepted"), lost)]))

    assert (
        read.text.index("✗ failed") < read.text.index("O-7 (accepted): lost") < read.text.index("Every event")
    )
    assert "✓ ok" not in read.text


def test_each_event_has_a_story_that_its_links_lead_to() -> None:
    found = fabricated.ingestion(40)
    read = Read(page("report", [found, fabricated.orders()]))
    anchors = read.values("id")

    assert len(anchors) == len(set(anchors))
    assert {link[1:] for link in read.values("href") if link.startswith("#")} <= set(anchors)
    assert [attrs["data-ending"] for _, attrs in read.elements if "data-ending" in attrs] == [
        *(event["ending"] for event in found["each_event"]),
        Ending.DONE,
    ]


def test_chaos_shows_each_operation_under_each_fault() -> None:
    text = re.sub(r"\s+", " ", Read(page("report", [fabricated.chaos()])).text)

    assert "Every operation under every fault" in text
    assert "UpdateItem (claim)✗failed 8✓ok 8✓ok 8" in text
    assert "SendMessage (dead letter)∅never fired 0" in text
