"""What pyproject.toml cannot state: the folders that install inside ``fastcube``, and the files of the sdist.

``audit/`` is a distribution of its own, with its own pyproject.toml.
"""

import os
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.sdist import sdist

#: Where each package lies.  Top-level folders install inside fastcube, so that no general name lands in site-packages;
#: the links fastcube/kernels, fastcube/studies, ... make a checkout look alike.
FOLDERS = {
    "fastcube": "fastcube",
    "fastcube.kernels": "kernels",
    "fastcube.studies": "studies",
    "fastcube.data": "data",
    "fastcube.readings": "docs/readings",
}


class TrackedSdist(sdist):
    """An sdist of the files that git tracks, without links and the audit.  Outside a checkout setuptools chooses the files."""

    def make_distribution(self):
        """Replace the list of files by the tracked files."""
        if Path(".git").exists():
            names = subprocess.run(
                ["git", "ls-files", "-z", ":!audit"], check=True, capture_output=True, text=True
            ).stdout
            self.filelist.files = [
                name for name in names.split("\0") if Path(name).is_file() and not Path(name).is_symlink()
            ]
        super().make_distribution()


def find_package_folders():
    """Return the folder of every package; links are not followed."""
    folders = {}
    for package, top in FOLDERS.items():
        for folder, _, files in os.walk(top):
            if folder == top or "__init__.py" in files:
                folders[".".join([package, *Path(folder).relative_to(top).parts])] = folder
    return folders


package_folders = find_package_folders()
setup(packages=list(package_folders), package_dir=package_folders, cmdclass={"sdist": TrackedSdist})
