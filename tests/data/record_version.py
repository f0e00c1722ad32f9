"""Record what a version promises to keep: python tests/data/record_version.py FOLDER

Run it once per release, on the tagged commit (``docs/releasing.md``).  It writes, for each study, a results file of the first of
two shards, and to ``promised.json`` the digests of the whole run and of a longer one, and the public names with their parameters.
"""

import json
import lzma
import sys
import tempfile
from pathlib import Path

import fastcube as fc

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers.promises import RUN, SHARDS, TRIALS, command_options, parameters_of, promised_points


def record_study(entry, folder, place):
    """Write the file of the first shard, and return the digests of the whole run and of twice as many trials."""
    study, point = entry["study"], entry["point"]
    path = place / "shard.h5"
    fc.run(study, output=path, trials=TRIALS, shard=(0, SHARDS), force=True, **RUN, **point)
    (folder / f"{study}.h5.xz").write_bytes(lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    return [fc.run(study, trials=trials, **RUN, **point).digest() for trials in (TRIALS, 2 * TRIALS)]


def main(folder):
    """Record the installed version into the folder."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as place:
        digests = {entry["study"]: record_study(entry, folder, Path(place)) for entry in promised_points()}
    promised = {
        "version": fc.__version__,
        "digests": digests,
        "python": {name: parameters_of(getattr(fc, name)) for name in sorted(fc.__all__)},
        "commands": command_options(),
    }
    (folder / "promised.json").write_text(json.dumps(promised) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
