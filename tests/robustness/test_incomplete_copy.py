"""A copy of the source tree without its symbolic links, as of a zip file or a file system without links."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastcube as fc

PACKAGE = Path(fc.__file__).parent


@pytest.mark.parametrize("lost", ["a text file", "nothing"])
@pytest.mark.parametrize("arguments", [["-m", "fastcube", "list"], ["-c", "import fastcube"]])
def test_a_copy_without_its_links_is_one_line(tmp_path, lost, arguments):
    copy = tmp_path / "fastcube"
    shutil.copytree(PACKAGE, copy, ignore=lambda folder, names: [n for n in names if (Path(folder) / n).is_symlink()])
    if lost == "a text file":
        (copy / "kernels").write_text("../kernels")
    done = subprocess.run([sys.executable, "-S", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    said = "this copy of fastcube lacks its symbolic links: use git clone, or pip install"
    if arguments[0] == "-m":
        assert (done.returncode, done.stderr) == (2, said + "\n")
    else:
        assert done.stderr.endswith(f"ImportError: {said}\n")
