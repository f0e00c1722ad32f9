"""What pyproject.toml cannot state: folders that install inside ``fastcube``, files of the sdist, and README with absolute links.

``audit/`` is a distribution of its own, with its own pyproject.toml.
"""

import os
import re
import subprocess
import tomllib
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


def read_readme():
    """Return README with links into the repository at this version's tag, because a package index has no other files."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    address = f"{project['urls']['Repository']}/{{}}/v{project['version']}/"
    text = Path("README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^]]*\]\()(?!\w+:)", rf"\1{address.format('raw')}", text)
    return re.sub(r"(\]\()(?!\w+:|#)", rf"\1{address.format('blob')}", text)


package_folders = find_package_folders()
setup(
    packages=list(package_folders),
    package_dir=package_folders,
    long_description=read_readme(),
    long_description_content_type="text/markdown",
    cmdclass={"sdist": TrackedSdist},
)
