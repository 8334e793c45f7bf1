"""What GitHub and pre-commit do for this repository: the least they need, and what the Makefile does."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from stacks.settings.stage import STAGES

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
DEPLOYED = sorted(set(STAGES) - {"sandbox"})

every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


@cache
def read(path: Path) -> dict[Any, Any]:
    parsed = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(parsed, dict)
    return parsed


def workflow(name: str) -> dict[Any, Any]:
    return read(ROOT / ".github/workflows" / f"{name}.yml")


def triggers(parsed: dict[Any, Any]) -> dict[str, Any]:
    found = parsed[True]  # YAML 1.1, which knows `on` as a way to say true
    assert isinstance(found, dict)
    return found


def steps(parsed: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    for job in parsed["jobs"].values():
        yield from job["steps"]


def commands(parsed: dict[Any, Any]) -> list[str]:
    return [step["run"] for step in steps(parsed) if "run" in step]


def test_there_are_workflows_that_check_show_and_deploy() -> None:
    assert [path.stem for path in WORKFLOWS] == ["ci", "deploy", "diff"]


@every_workflow
def test_an_action_is_pinned_to_a_major_version(path: Path) -> None:
    used = [step["uses"] for step in steps(read(path)) if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"(actions|aws-actions)/[a-z-]+@v\d+", name)] == []


@every_workflow
def test_no_workflow_may_write_to_the_repository(path: Path) -> None:
    parsed = read(path)
    granted = [parsed["permissions"], *(job.get("permissions", {}) for job in parsed["jobs"].values())]
    assert {(name, level) for each in granted for name, level in each.items()} <= {
        ("contents", "read"),
        ("id-token", "write"),
    }


@every_workflow
def test_only_who_asks_aws_for_a_role_gets_a_token_for_it(path: Path) -> None:
    for job in read(path)["jobs"].values():
        asks = any(step.get("uses", "").startswith("aws-actions/") for step in job["steps"])
        assert asks is ("id-token" in job.get("permissions", {}))


@every_workflow
def test_credentials_are_roles_and_nothing_is_secret(path: Path) -> None:
    assert "secrets" not in path.read_text(encoding="utf-8").replace("without secrets", "")
    for step in steps(read(path)):
        if step.get("uses", "").startswith("aws-actions/configure-aws-credentials"):
            assert set(step["with"]) == {"role-to-assume", "aws-region"}


@every_workflow
def test_code_of_strangers_never_runs_with_the_rights_of_the_repository(path: Path) -> None:
    assert "pull_request_target" not in triggers(read(path))


@every_workflow
def test_nothing_that_others_may_write_becomes_part_of_a_command(path: Path) -> None:
    assert [command for command in commands(read(path)) if "${{" in command] == []


@every_workflow
def test_every_job_ends_by_itself_and_runs_of_one_branch_do_not_meet(path: Path) -> None:
    for job in read(path)["jobs"].values():
        assert job["timeout-minutes"] <= 60
        assert (job.get("concurrency") or read(path)["concurrency"])["group"]


@every_workflow
def test_every_target_of_make_that_is_called_exists(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make ([a-z-]+)", "\n".join(commands(read(path))), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_a_pull_request_is_shown_what_it_changes_in_each_stage_and_changes_nothing() -> None:
    parsed = workflow("diff")
    assert set(triggers(parsed)) == {"pull_request"}
    assert parsed["jobs"]["diff"]["strategy"]["matrix"]["stage"] == DEPLOYED
    called = re.findall(r"npx cdk (\S+) (.*?) 2>&1", "\n".join(commands(parsed)))
    assert called == [("diff", '--all --method=template --no-color -c "stage=$STAGE"')]


def test_a_pull_request_from_a_fork_gets_no_role() -> None:
    condition = workflow("diff")["jobs"]["diff"]["if"]
    assert "github.event.pull_request.head.repo.full_name == github.repository" in condition


def test_what_is_deployed_by_itself_is_dev_after_a_push_that_ci_has_passed() -> None:
    parsed = workflow("deploy")
    after = triggers(parsed)["workflow_run"]
    assert after == {"workflows": [workflow("ci")["name"]], "types": ["completed"], "branches": ["main"]}
    condition = parsed["jobs"]["deploy"]["if"]
    assert "workflow_run.conclusion == 'success'" in condition
    assert "workflow_run.event == 'push'" in condition
    assert parsed["jobs"]["deploy"]["environment"] == "${{ inputs.stage || 'dev' }}"
    checkout = next(steps(parsed))
    assert checkout["with"]["ref"] == "${{ github.event.workflow_run.head_sha || github.sha }}"


def test_a_stage_is_deployed_by_hand_under_its_environment_and_never_cut_off() -> None:
    parsed = workflow("deploy")
    assert triggers(parsed)["workflow_dispatch"]["inputs"]["stage"]["options"] == DEPLOYED
    assert parsed["jobs"]["deploy"]["concurrency"]["cancel-in-progress"] is False
    [deploy] = [command for command in commands(parsed) if "cdk" in command]
    assert 'npx cdk deploy --all --require-approval never -c "stage=$STAGE"' in deploy


def test_dependabot_sees_every_list_of_packages() -> None:
    updates = read(ROOT / ".github/dependabot.yml")["updates"]
    seen = {
        (update["package-ecosystem"], folder)
        for update in updates
        for folder in update.get("directories", [update.get("directory")])
    }
    lists = {("pip", path) for path in ROOT.glob("*/requirements.txt")} | {
        ("pip", path) for path in ROOT.glob("requirements*.txt")
    }
    lists |= {("npm", path) for path in ROOT.glob("package.json")}
    folders = {(kind, "/" + str(path.parent.relative_to(ROOT)).removeprefix(".")) for kind, path in lists}
    assert seen == folders | {("github-actions", "/")}


def test_a_commit_is_checked_as_make_lint_and_make_types_do_it() -> None:
    config = read(ROOT / ".pre-commit-config.yaml")
    [local] = config["repos"]
    stages = {stage for hook in local["hooks"] for stage in hook.get("stages", ["pre-commit"])}
    assert set(config["default_install_hook_types"]) == stages
    run = {hook["entry"].removeprefix("env PYTHONPATH=lambdas ").split()[0] for hook in local["hooks"]}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in run:
        name = command.removeprefix(".venv/bin/")
        assert re.search(rf"^\t@(PYTHONPATH=lambdas )?{name}\b", makefile, re.MULTILINE), name
    assert {name.removeprefix(".venv/bin/") for name in run} == {"ruff", "lint-imports", "mypy"}
