"""A child of the sandbox that does not do its work is reported with the end of its log."""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandbox import process_table
from sandbox.process_group import ProcessGroup, SandboxError, free_ports

Launch = Callable[[str], ProcessGroup]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    launched = []

    def python(code: str) -> ProcessGroup:
        group = ProcessGroup(
            name="the child",
            command=[sys.executable, "-c", code],
            environment={"ONLY": "this"},
            directory=tmp_path,
            log=tmp_path / "log",
        )
        launched.append(group)
        return group

    yield python
    for group in launched:
        group.kill()


def test_a_child_sees_only_the_environment_it_is_given(
    launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "the-user's")
    child = launch("import os; assert os.environ['ONLY'] == 'this'; assert 'AWS_PROFILE' not in os.environ")
    child.wait_until_ended(seconds=10)


def test_a_bad_end_shows_the_log(launch: Launch) -> None:
    with pytest.raises(SandboxError, match=r"(?s)the child ended with status 3.*no such table"):
        launch("import sys; print('no such table'); sys.exit(3)").wait_until_ended(seconds=10)


def test_an_end_before_it_is_ready_shows_the_log(launch: Launch) -> None:
    with pytest.raises(SandboxError, match=r"(?s)ended with status 1 before it was ready.*port in use"):
        launch("import sys; sys.exit('port in use')").wait_until_healthy("http://127.0.0.1:1/", seconds=10)


def test_waiting_is_bounded(launch: Launch) -> None:
    child = launch("import time; time.sleep(60)")
    with pytest.raises(SandboxError, match=r"was not ready after 0\.2 s"):
        child.wait_until_healthy("http://127.0.0.1:1/", seconds=0.2)
    with pytest.raises(SandboxError, match=r"did not end within 0\.2 s"):
        child.wait_until_ended(seconds=0.2)


def test_killing_ends_the_children_of_the_child_too(launch: Launch, tmp_path: Path) -> None:
    child = launch(
        "import subprocess, sys, time;"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "open('started', 'w').close(); time.sleep(60)"
    )
    while not (tmp_path / "started").exists():
        time.sleep(0.02)
    assert len(process_table.members(child.pid)) == 3  # with the lifeline

    child.kill()

    assert not process_table.members(child.pid)


def test_free_ports_differ() -> None:
    assert len(set(free_ports(20))) == 20
