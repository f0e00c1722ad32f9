"""The conda recipe and the container have the requirements and the version of pyproject.toml."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLES = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = TABLES["project"]
RECIPE = (ROOT / "recipe" / "recipe.yaml").read_text()


def asked(section):
    """The requirements of a section of the recipe, without blanks."""
    block = re.search(rf"^  {section}:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)[1]
    return {line.strip(" -").replace(" ", "") for line in block.splitlines()}


def test_the_recipe_asks_for_what_the_project_does():
    assert asked("run") == {*PROJECT["dependencies"], "python" + PROJECT["requires-python"]}
    assert asked("host") == {*TABLES["build-system"]["requires"], "python" + PROJECT["requires-python"], "pip"}
    assert f'version: "{PROJECT["version"]}"' in RECIPE
    assert PROJECT["description"] in RECIPE
    assert f"license: {PROJECT['license']}" in RECIPE
    ((name, target),) = PROJECT["scripts"].items()
    assert f"- {name} = {target}" in RECIPE


def test_recipe_and_container_are_tried_by_the_same_commands():
    container = (ROOT / "recipe" / "fastcube.def").read_text()
    commands = [line.strip() for line in container.partition("%test\n")[2].partition("\n\n")[0].splitlines()[1:]]
    assert commands == re.findall(r"- (fastcube .* .*)$", RECIPE.partition("- script:")[2], re.MULTILINE)
