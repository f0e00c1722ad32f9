"""Every public function and every block has an example, which runs and prints the shown output."""

import doctest
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import fastcube as fc

PAGE = Path(__file__).parents[2] / "docs/api/blocks.rst"
PUBLIC = {name: getattr(fc, name) for name in fc.__all__ if name not in ("__version__", "blocks")}
FUNCTIONS = [name for name, given in PUBLIC.items() if inspect.isfunction(given)]
EXAMPLES = {
    name: test
    for name, given in PUBLIC.items()
    if (test := doctest.DocTestParser().get_doctest(inspect.getdoc(given) or "", {}, name, None, None)).examples
}
#: Examples that compile kernels for many seconds.
SLOW = {
    "reliability",
    "tolerance",
    "diameter",
    "eccentricity",
    "exact_broadcast",
    "exact_gather",
    "exact_routing",
    "exact_survival",
    "exact_trees",
    "family",
    "fault_sets",
    "trial_study",
}


def run(test):
    said = []
    test.globs = {"fc": fc, "np": np, "__name__": "examples"}
    # else it looks for -v in pytest's own command line
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)


def test_every_public_function_has_an_example():
    assert len(FUNCTIONS) > 45
    assert not set(FUNCTIONS) - set(EXAMPLES)
    showing = {name for name, test in EXAMPLES.items() if any(example.want for example in test.examples)}
    assert showing == set(EXAMPLES)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in sorted(EXAMPLES)])
def test_examples_print_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(EXAMPLES[name])


def blocks_page():
    text = PAGE.read_text()
    return text, doctest.DocTestParser().get_doctest(text, {}, "blocks", str(PAGE), 0)


def test_every_block_is_described_and_in_an_example():
    text, test = blocks_page()
    code = "\n".join(example.source for example in test.examples)
    assert not [name for name in fc.blocks.__all__ if not re.search(rf"``[^`]*\b{name}\b[^`]*``", text)]
    assert not [name for name in fc.blocks.__all__ if not re.search(rf"\bfc\.blocks\.{name}\b", code)]


@pytest.mark.slow
def test_examples_of_blocks_print_what_they_show():
    run(blocks_page()[1])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_can_be_read(name):
    assert not re.search(r"<lambda>| at 0x|<object", str(inspect.signature(PUBLIC[name])))


def test_help_lists_the_parameters_of_what_makes_a_study():
    for made in (fc.trial_study, fc.Output, fc.Axis, fc.run):
        names = [n for n in inspect.signature(made).parameters if n != "return"]
        section = inspect.getdoc(made).split("Parameters\n----------\n")[1]
        listed = {
            n.strip(" *")
            for line in re.findall(r"^(\*{0,2}\w[\w, *]*?)(?: :.*)?$", section, re.MULTILINE)
            for n in line.split(",")
        }
        assert set(names) <= listed | {"axes"}, (made, set(names) - listed)
