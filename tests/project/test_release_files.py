"""Workflows, issue forms and hooks have the keys of their formats; version, revisions and Pythons agree in all files."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import fastcube as fc
from fastcube.cli import main
from fastcube.measure.study import GENERATOR
from fastcube.results import citing
from fastcube.results.writing import FORMAT_VERSION

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))

STEP_KEYS = {"name", "id", "uses", "with", "run", "env", "if"}
JOB_KEYS = {"name", "runs-on", "timeout-minutes", "needs", "environment", "permissions", "strategy", "steps"}


def load(path):
    """The content of a YAML file.  YAML 1.1 reads the key `on` as True."""
    content = yaml.safe_load(path.read_text())
    return {"on" if key is True else key: value for key, value in content.items()}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_have_the_keys_of_their_format(path):
    workflow = load(path)
    assert set(workflow) <= {"name", "on", "permissions", "concurrency", "jobs"}
    assert set(workflow["on"]) <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job) <= JOB_KEYS
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
        for step in job["steps"]:
            assert set(step) <= STEP_KEYS and ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v1)", step.get("uses", "a/b@v1"))


def commands_of(name):
    jobs = load(GITHUB / "workflows" / f"{name}.yml")["jobs"].values()
    return [step["run"] for job in jobs for step in job["steps"] if "run" in step]


def test_the_gate_runs_under_every_python():
    workflow = load(GITHUB / "workflows" / "gate.yml")
    named = [text.rpartition(" :: ")[2] for text in PROJECT["classifiers"] if re.search(r"Python :: 3\.", text)]
    assert workflow["jobs"]["gate"]["strategy"]["matrix"]["python"] == named
    assert set(workflow["on"]) == {"pull_request", "push"}
    assert commands_of("gate") == [".ci/run"]


def test_the_other_checks_run_by_night():
    assert "schedule" in load(GITHUB / "workflows" / "full.yml")["on"]
    assert commands_of("full") == [".ci/full"]


def test_a_release_compares_the_tag_and_needs_no_password():
    jobs = load(GITHUB / "workflows" / "release.yml")["jobs"]
    assert any('"$GITHUB_REF_NAME" = "v$version"' in command for command in commands_of("release"))
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text()


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.stem)
def test_issue_forms_have_the_keys_of_their_format(path):
    form = load(path)
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "body", "labels", "title"}
    names = [field["id"] for field in form["body"]]
    assert len(set(names)) == len(names)
    for field in form["body"]:
        assert field["type"] in {"textarea", "input"}
        assert {"label", "description"} <= set(field["attributes"]) <= {"label", "description", "render"}
        assert set(field) <= {"type", "id", "attributes", "validations"}


def test_hooks_run_the_linters_of_the_project():
    hooks = {hook["id"] for repo in load(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]}
    assert {"ruff-check", "ruff-format", "mypy"} <= hooks


def test_all_files_name_one_version(capsys):
    version = PROJECT["version"]
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.split() == ["fastcube", version]
    assert metadata.version("fastcube") == fc.__version__ == CITATION["version"] == version
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert re.search(rf"^## {re.escape(version)} - ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert f"$ fastcube cite\n{citing.software()}\n```" in (ROOT / "docs" / "references.md").read_text()


def test_the_changelog_names_all_revisions():
    text = (ROOT / "CHANGELOG.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)`[^|]* \| (\d+) \| .+ \|$", text.partition("\n### Revisions")[2], re.MULTILINE)
    highest = {name: max(int(revision) for row, revision in rows if row == name) for name, _ in rows}
    assert highest == {n: fc.study(n).revision for n in fc.study_names() if fc.study(n).revision > 1}
    assert f"Generator `{GENERATOR}`, results format {'.'.join(map(str, FORMAT_VERSION))}." in text
