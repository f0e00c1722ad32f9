"""Studies and families go to other processes by the name under which those find them."""

import copy
import pickle
import subprocess
import sys

import pytest
from helpers.processes import CLEAN_ENVIRONMENT

import fastcube as fc
from fastcube.errors import StudyMismatchError

OWN = """
import multiprocessing, sys
import fastcube as fc

@fc.blocks.block
def step(v, d, n):
    return v ^ (1 << d) if d < n else v ^ ((1 << n) - 1)

MINE = fc.custom_network("mine", "Opposite nodes linked", step=step, slots=lambda n: n + 1, sizes=lambda n: n >= 2)

@fc.trial
def trial(key, t, params, out):
    out[0] = t % 2

ODD = fc.trial_study("odd", "Odd", [fc.Axis("a", "any", int, 0, 9)], [fc.Output("odd", "odd")], trial, [{"a": 1}])

def name_of(thing):
    return thing.name

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(name_of, [MINE, ODD, fc.study("survival"), fc.network_families()["crossed"], fc.network(MINE, 4).family]))
"""


def test_a_spawned_process_finds_them(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    done = subprocess.run(
        [sys.executable, "own.py"], cwd=tmp_path, env=CLEAN_ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "['mine', 'odd', 'survival', 'crossed', 'mine']\n", done.stderr


def test_all_installed():
    things = [*map(fc.study, fc.study_names()), *fc.network_families().values()]
    assert [pickle.loads(pickle.dumps(thing)) is thing for thing in things] == [True] * len(things)
    assert all(copy.copy(thing) is copy.deepcopy(thing) is thing for thing in things)


def test_a_study_of_a_file(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    study = fc.study(str(file))
    text = pickle.dumps(study)
    assert pickle.loads(text) is study
    mark = study.mark().encode()
    with pytest.raises(StudyMismatchError, match="odd has other code in this process"):
        pickle.loads(text.replace(mark, mark[::-1]))


def test_one_that_no_process_finds_is_refused():
    step = fc.network_families()["crossed"].step
    with pytest.raises(pickle.PicklingError, match=r"^Family here must be a global of a module to be pickled"):
        pickle.dumps(fc.custom_network("here", "here", step=step, slots=lambda n: n))
