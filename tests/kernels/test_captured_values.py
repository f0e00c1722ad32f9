"""Which trial a result is of: the text of all that it calls, and every value that the compiler freezes into it."""

from __future__ import annotations

import json
import linecache
import os
import runpy
import subprocess
import sys
import threading
from enum import Enum
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from helpers.processes import CLEAN_ENVIRONMENT, FASTCUBE, only_cache, without_compile_news

import fastcube as fc
from fastcube.errors import StudyMismatchError
from fastcube.kernels.machine import captured_values, content
from fastcube.measure import fingerprint, registry
from fastcube.measure.fingerprint import hash_functions
from fastcube.running.work_units import StudyReference

STUDY = """
import fastcube as fc
{}

@fc.trial
def trial(key, t, params, out):
    out[0] = {}

STUDY = fc.trial_study("mine", "", [fc.Axis("a", "", int, 0, 9)], [fc.Output("x", "", 99)], trial, [{{"a": 1}}], trials=50)
"""

# what stands above the trial, what it gives, what lies elsewhere, before and after; what is named when it changed
CASES = {
    "a constant that is imported": ("from helper import WANT", "WANT", "WANT = {}", "mine.py: WANT"),
    "one of a module": ("import helper", "helper.WANT", "WANT = {}", "mine.py: helper.WANT"),
    "a function that is imported": (
        "from helper import want", "want(t)", "import fastcube as fc\n@fc.trial\ndef want(t):\n    return {}", "helper.py"),
    "a constant of such a function": (
        "from helper import want", "want(t)",
        "import fastcube as fc\nWANT = {}\n@fc.trial\ndef want(t):\n    return WANT", "helper.py, helper.py: WANT"),
    "one of a package": (
        "from folder.inner import want", "want(t)", "import fastcube as fc\n@fc.trial\ndef want(t):\n    return {}",
        "folder/inner.py"),
    "a number of a file": (
        "from pathlib import Path\nWANT = int(Path('want.txt').read_text())", "WANT", "{}", "mine.py: WANT"),
    "a table of a file": (
        "import numpy as np\nTABLE = np.loadtxt('want.txt', dtype=np.int64, ndmin=1)", "TABLE[t % 1]", "{}", "mine.py: TABLE"),
}  # a table, row by row # fmt: skip


@pytest.fixture
def run(tmp_path):
    """Run the study of a folder, helpers in another one; gives the exit status and the output."""
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere" / "folder").mkdir(parents=True)

    def call(*arguments):
        environment = {
            **CLEAN_ENVIRONMENT,
            "PYTHONPATH": str(tmp_path / "elsewhere"),
            **only_cache(tmp_path / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [*FASTCUBE, "run", "mine.py", "-o", "r.h5", "--progress", "none", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path / "here", env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, without_compile_news(done.stderr)

    return call


def write(case, folder):
    """Write the study; gives the file that it depends on, what that holds, and what is named when it changed."""
    above, gives, there, named = CASES[case]
    names = {"want.txt": "here/want.txt", "folder": "elsewhere/folder/inner.py"}
    place = folder / next((path for name, path in names.items() if name in above), "elsewhere/helper.py")
    (folder / "here" / "mine.py").write_text(STUDY.format(above, gives))
    return place, there, named


@pytest.mark.parametrize("case", CASES)
def test_what_changed_elsewhere_has_another_fingerprint(case, run, tmp_path, monkeypatch):
    """Read anew in this process, where nothing is compiled."""
    place, there, named = write(case, tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def read(text):
        place.write_text(text)
        linecache.clearcache()
        code = runpy.run_path("mine.py")["STUDY"].code
        for name in ("helper", "folder", "folder.inner"):
            sys.modules.pop(name, None)
        return code

    before = read(there.format(1))
    assert read(there.format(1) + "\n" * 2) == before
    after = read(there.format(2))
    changed = [name for name in before if before[name] != after[name]]
    assert all(name.endswith(part) for name, part in zip(changed, named.split(", "), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_what_changed_elsewhere_is_another_trial(case, run, tmp_path):
    place, there, named = write(case, tmp_path)
    place.write_text(there.format(1))
    assert run() == (0, "results in r.h5\n")
    place.write_text(there.format(1) + "\n" * 2)
    assert run("--trials", "60") == (0, "results in r.h5\n")
    place.write_text(there.format(2))
    code, said = run("--trials", "100")
    assert (code, said.count("\n")) == (2, 1)
    assert (
        f"r.h5 has other code of mine than this run: {named} changed; use another output, or remove that file" in said
    )
    assert run("--force") == (0, "results in r.h5\n")  # nor is the machine code of the first one kept for it
    assert fc.open_results(tmp_path / "here" / "r.h5").tallies[1,].counts["x_total"] == 100


@pytest.mark.slow
def test_a_value_that_each_process_draws_is_other_code_in_each(run, tmp_path):
    above = "import os\nWANT = int.from_bytes(os.urandom(4)) % 2**30"
    (tmp_path / "here" / "mine.py").write_text(STUDY.format(above, "WANT % 7"))
    assert run()[0] == 0
    code, said = run("--trials", "100")
    assert (code, "mine.py: WANT changed" in said) == (2, True)


# ---------------------------------------------------------------- every way in which a value gets in

LIBRARY = ModuleType("somewhere")


def made(closed, default=0):
    def inner(x):
        return x + LIBRARY.value + GLOBAL + len(closed)

    def trial(key, t, params, out, bonus=default):
        out[0] = inner(t) + bonus + sum(closed)

    return trial


GLOBAL = np.int64(3)
VALUES = [
    1,
    2,
    1.0,
    True,
    np.int64(1),
    np.int32(1),
    "1",
    (1, 2),
    (1, 3),
    np.arange(3),
    np.arange(3.0),
    np.arange(3)[::-1],
]


def test_every_value_that_is_frozen_counts(monkeypatch):
    monkeypatch.setattr(LIBRARY, "value", 1, raising=False)
    monkeypatch.setattr(LIBRARY, "unused", 1, raising=False)
    before = hash_functions(made((1, 2)))
    assert hash_functions(made((1, 2))) == before
    assert before != hash_functions(made((1, 3)))
    assert before != hash_functions(made((1, 2), 5))
    for name in ("GLOBAL", "LIBRARY.value"):
        monkeypatch.setattr(*((LIBRARY, "value") if "." in name else (sys.modules[__name__], name)), 4)
        changed = hash_functions(made((1, 2)))
        assert [key.rpartition("/")[2] for key in changed if changed[key] != before[key]] == [
            f"test_captured_values.py: {name}"
        ]
        before = changed
    monkeypatch.setattr(LIBRARY, "unused", 2)
    assert hash_functions(made((1, 2))) == before


def test_values_that_differ_have_other_fingerprints():
    assert len({json.dumps(hash_functions(made(value))) for value in VALUES}) == len(VALUES)


def enumeration(number, weight=lambda self: 1):
    return Enum("Colour", {"RED": number, "weight": weight})


def helper_class(rule, limit=5):
    return type("Rule", (), {"rule": rule, "limit": limit, "__module__": __name__})


def describe_captured(kind):
    """What a trial that closes over ``kind`` compiles in."""
    found = captured_values.iter_compiled_functions([made((kind,))], lambda module: module == __name__)
    return [(content.hash_bytecode(function.__code__), values) for function, values in found]


def test_an_enums_values_and_a_classs_methods_count():
    one, two = enumeration(1), enumeration(2)
    kinds = [one, two, enumeration(1, lambda self: 2), one.RED, two.RED]
    kinds += [helper_class(lambda self: 1), helper_class(lambda self: 2), helper_class(lambda self: 1, limit=6)]
    texts = {json.dumps(describe_captured(kind)) for kind in kinds for _ in range(2)}
    assert len(texts) == len(kinds)


def test_a_class_that_refers_to_itself_has_a_text():
    kind = helper_class(lambda self: 1)
    kind.parts = (kind, 1)
    assert captured_values.format_value(kind) == captured_values.format_value(kind)


@pytest.mark.slow
def test_fingerprints_are_the_same_in_every_process(tmp_path):
    text = (
        "import test_captured_values as t\n"
        "t.LIBRARY.value = {1, 'a', 'b'}\nprint(t.hash_functions(t.made((1, {'x', 'y', 'z'}))))"
    )
    said = set()
    for seed in "123":
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(map(str, Path(__file__).parents[:2])),
        }
        said.add(
            subprocess.run(
                [sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True
            ).stdout
        )
    assert len(said) == 1


def test_functions_without_a_file_have_a_text_too():
    def typed(text):
        exec(text, space := {"__name__": "__main__"})
        return hash_functions(space["trial"])

    one = typed("def trial(key, t, params, out):\n    out[0] = 1")
    assert list(one) == ["trial"]
    assert one == typed("def trial(key, t, params, out):\n    out[0] = 1  # as before")
    assert one != typed("def trial(key, t, params, out):\n    out[0] = 2")


@pytest.mark.parametrize("file", ["<string>", __file__])  # without a file nothing can be cached, with one it can
def test_a_trial_of_no_module_runs(file):
    exec(compile("def trial(key, t, params, out):\n    out[0] = t % 2", file, "exec"), space := {})
    assert space["trial"].__module__ is None
    axes, outputs = [fc.Axis("n", "dimension", int, 1, 4)], [fc.Output("odd", "the number of the trial is odd")]
    own = fc.trial_study("odd", "Odd trials", axes, outputs, fc.trial(space["trial"]), fc.product_grid(n=[2]))
    assert fc.run(own, trials=100).estimate("odd").value == 0.5


def test_installed_packages_say_themselves_when_they_change(monkeypatch):
    trial = fc.trial(made((1,)))
    monkeypatch.setattr(fingerprint, "is_user_module", lambda module: False)
    assert hash_functions(trial) == {}
    assert hash_functions(fc.study("unsafe-fraction").kernel) == {}


# ---------------------------------------------------------------- two studies of one name


def study(want, extra="", name="twin"):
    @fc.trial
    def trial(key, t, params, out):
        out[0] = want

    return fc.trial_study(
        name, "", [fc.Axis("a", "", int, 0, 9)], [fc.Output("x", "", 99)], trial, [{"a": 1}], trials=5000
    )


def reported(results):
    chosen = registry.study_of(results.study)
    return chosen.explain({"a": 1}, 0, 3).data["x"]


@pytest.mark.slow
def test_two_studies_of_one_name_keep_their_trial_replay_and_results(tmp_path):
    done = {}

    def run(want):
        output = tmp_path / f"{want}.h5"
        done[want] = [fc.run(study(want), trials=trials, output=output, workers=2) for trials in (4000, 40000)]

    threads = [threading.Thread(target=run, args=(want,)) for want in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for want in (1, 2):
        kept = fc.open_results(tmp_path / f"{want}.h5")
        for results in (*done[want], kept):
            (tally,) = results.tallies.values()
            assert tally.counts["x_total"] == want * tally.trials
            assert reported(results) == want
    with pytest.raises(StudyMismatchError, match="has other code of twin than this run"):
        fc.run(study(2), trials=50000, output=tmp_path / "1.h5")


@pytest.mark.slow
def test_a_name_means_what_is_installed_whatever_ran_before():
    fc.run(study(1, name="unsafe-fraction"), trials=10)
    assert fc.study("unsafe-fraction").title != ""


def test_a_worker_with_other_code_or_another_package_refuses(monkeypatch):
    sent = StudyReference.from_study(fc.study("unsafe-fraction"))
    assert sent.resolve() is fc.study("unsafe-fraction")
    with pytest.raises(StudyMismatchError, match=r"a worker on \S+ has other code of unsafe-fraction than the run"):
        sent._replace(mark="0" * 16).resolve()
    with pytest.raises(StudyMismatchError, match=r"a worker on \S+ has another fastcube, in "):
        sent._replace(package="0" * 16).resolve()
