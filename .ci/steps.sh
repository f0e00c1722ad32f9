# Steps that `.ci/run` (the gate before a merge) and `.ci/full` (all the rest) share.  Source it from the checkout.
#
# Everything runs in a fresh clone in a temporary folder, with fresh environments and an empty kernel cache.  `step TITLE FUNCTION`
# runs one step; the minutes of all steps are printed at the end.
set -euo pipefail

root=$(git rev-parse --show-toplevel)
place=$(mktemp -d)
export XDG_CACHE_HOME="$place/cache" MPLCONFIGDIR="$place/matplotlib"
unset FASTCUBE_CACHE_DIR PYTHONDONTWRITEBYTECODE PYTHONPATH VIRTUAL_ENV
# The papers' texts, where they stand beside the checkout: no tracked text may have nine words in a row of theirs.
if [ -d "$root/../shared/papers" ]; then export FASTCUBE_PAPERS="$root/../shared/papers"; fi

# ---- the list of steps and their minutes -----------------------------------------------------------------------------------

minutes=""   # a line per step
failed=""    # titles of the steps that failed

# CPU seconds of all child processes so far, from the second line that `times` prints ("1m2.345s 0m6.789s").
cpu_seconds() {
  times > "$place/times"
  awk 'NR == 2 {for (i = 1; i <= 2; i++) {split($i, part, /[ms]/); total += 60 * part[1] + part[2]}; printf "%d", total}' "$place/times"
}

minutes_line() {
  awk -v wall="$1" -v cpu="$2" -v title="$3" 'BEGIN {printf "%7.1f %7.1f   %s", wall / 60, cpu / 60, title}'
}

# Run a step; the steps after one that failed run too, so that one run shows all failures.
step() {
  local begin=$SECONDS cpu status
  cpu_seconds > "$place/cpu"
  cpu=$(cat "$place/cpu")
  printf '\n== %s\n' "$1"
  set +e
  (set -e; "${@:2}")
  status=$?
  set -e
  cpu_seconds > "$place/cpu"
  minutes+=$(minutes_line $((SECONDS - begin)) $(($(cat "$place/cpu") - cpu)) "$1")
  if [ "$status" != 0 ]; then
    failed+="$1 (status $status)"$'\n'
    minutes+="   FAILED"
  fi
  minutes+=$'\n'
}

# Print the minutes of each step; the exit status is 1 where a step failed.
finish() {
  local status=$?
  cpu_seconds > "$place/cpu"
  printf '\nminutes     CPU   step\n%s%s\n' "$minutes" "$(minutes_line "$SECONDS" "$(cat "$place/cpu")" "all")"
  rm -rf "$place"
  if [ -n "$failed" ]; then
    printf '\nfailed:\n%s' "$failed"
    status=1
  fi
  exit "$status"
}
trap finish EXIT

# ---- preparation -----------------------------------------------------------------------------------------------------------

clone() {
  git clone -q "$root" "$place/clone"
  cd "$place/clone"
}

# A command as the README prints it: the body of its first, second, ... ```sh block.
readme_command() {
  awk -v wanted="$1" '/^```sh$/ {block++; inside=1; next} /^```$/ {inside=0} inside && block == wanted' README.md
}

# Install the clone with extras into .venv, which is made where it is missing; with a second argument also the audit with those.
install() {
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/pip install -q -e ".[$1]" ${2:+-e "./audit[$2]"}
}

# Install Debian packages where this machine lets us; the tests that need them say that they are skipped.
debian_packages() {
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" > /dev/null ||
      echo "cannot be installed here: $*; the tests that need them will say that they are skipped"
  fi
}

# pytest in the clone, on two processes, with the reasons of skipped tests and its closing lines.
tests() { .venv/bin/pytest -q -rs -n 2 --dist loadfile "$@"; }

# ---- steps of the gate -----------------------------------------------------------------------------------------------------

readme_first_command() {
  local begin=$SECONDS
  readme_command 1
  bash -c "$(readme_command 1)"
  local took=$((SECONDS - begin))
  [ "$took" -le 60 ] || echo "warning: took $took s, which is more than a first figure should take on 2 free cores"
  test -s fig8.png && test -s fig8.h5
}

# The engine stands without the audit: its default tests pass where the audit is not installed.
engine_alone() {
  install plot,test
  ! .venv/bin/python -c "import fastcube_audit" 2> /dev/null
  tests tests
}

# The default tests of both distributions, as the README runs them.
readme_second_command() {
  readme_command 2
  bash -c "$(readme_command 2)"
}

linters_and_types() {
  install lint
  .venv/bin/ruff check .
  .venv/bin/ruff format --check .
  .venv/bin/mypy
  .venv/bin/mypy --config-file audit/pyproject.toml
}

kernel_tests() { tests tests audit/tests -m "kernels and not (slow or exhaustive or mpi or dask or slurm or browser)"; }

mpi_dask_slurm() {
  install mpi,dask
  debian_packages slurmctld slurmd slurm-client munge
  .venv/bin/pytest -q -rs -m "(mpi or dask or slurm) and not exhaustive"
}

# Both distributions of today's commit: sdists, and wheels that are built from the sdists.
build_distributions() {
  .venv/bin/pip install -q build twine
  PYTHON=.venv/bin/python .ci/build "$place/dist"
}

# A study, a user's own study file and a user's own package, with the wheel alone; then a claim, with the wheel of the audit.
wheel_from_an_empty_folder() {
  build_distributions
  python3 -m venv "$place/wheel"
  "$place/wheel/bin/pip" install -q "$place"/dist/fastcube-[0-9]*.whl pytest 'setuptools>=77'
  mkdir "$place/empty"
  (
    cd "$place/empty"
    PATH="$place/wheel/bin:$PATH"
    fastcube run unsafe-fraction --set n=5 --trials 1e4 --progress none
    fastcube info unsafe-fraction.h5
    fastcube new mine
    pytest -q test_mine.py
    fastcube run mine.py --trials 1e4 --progress none
    fastcube new pack --package
    pip install -q --no-deps --no-build-isolation ./pack
    fastcube list | grep '^pack '
    pytest -q pack/tests
    fastcube run pack --trials 1e4 --progress none
    if fastcube claims 2> said; then exit 1; fi
    grep 'fastcube claims needs fastcube-audit: in a checkout' said
    pip install -q --no-deps "$place"/dist/fastcube_audit-*.whl
    fastcube --help | grep '^Commands of fastcube-audit'
    fastcube claims lee_hayes theorem-3 --quick
    pip check
  )
}

# The site with warnings as errors, without network where this machine can cut it off; the gallery's scripts run.  Then its pages.
site() {
  install docs,test test
  local offline=()
  if unshare -rn true 2> /dev/null; then offline=(unshare -rn); fi
  "${offline[@]}" .venv/bin/sphinx-build -W --keep-going -n -q docs "$place/site"
  test -s "$place/site/gallery/lee_hayes.html"
  FASTCUBE_SITE="$place/site" .venv/bin/pytest -q -rs tests/project/test_built_site.py
}

# ---- steps of .ci/full -----------------------------------------------------------------------------------------------------

# At most 8 minutes.  One point per process, since its points differ by a hundred in cost.
two_kernels_on_the_same_trials() {
  install plot,test test
  .venv/bin/pytest -q -rs -n 2 -m slow tests/kernels/test_many_trials.py
}

slow_tests() {
  tests tests audit/tests -m "slow and not (exhaustive or mpi or dask or slurm or browser)" --ignore tests/kernels/test_many_trials.py
}

# One test per process at a time: the mutants of all kernels are in one file.
exhaustive_tests() { .venv/bin/pytest -q -rs -n 2 -m exhaustive tests audit/tests; }

# Also prints the lines that the default tests run, per folder; nothing is required of them.  Kernels run compiled, which coverage
# cannot see.
oldest_dependencies() {
  .venv/bin/pip install -q uv
  .venv/bin/uv venv -q --python "$(command -v python3)" "$place/oldest"
  .venv/bin/uv pip install -q --python "$place/oldest/bin/python" --resolution lowest-direct -e '.[plot,test]' -e './audit[test]'
  .venv/bin/uv pip install -q --python "$place/oldest/bin/python" pytest-cov
  COVERAGE_FILE="$place/coverage" "$place/oldest/bin/pytest" -q -rs -n 2 --dist loadfile tests audit/tests \
    --cov=fastcube --cov=fastcube_audit --cov-report=json:"$place/coverage.json"
  .venv/bin/python - "$place/coverage.json" << 'END'
import collections, json, pathlib, sys

folders = collections.defaultdict(lambda: [0, 0])
for name, file in json.loads(pathlib.Path(sys.argv[1]).read_text())["files"].items():
    for i, key in enumerate(("covered_lines", "num_statements")):
        folders[str(pathlib.Path(name).parent)][i] += file["summary"][key]
for folder, (covered, lines) in sorted(folders.items()):
    print(f"{100 * covered / max(lines, 1):5.1f}%  {covered:5} of {lines:5} lines  {folder}")
END
}

# The quick report, the same again from its cache to the same bytes, and in a browser.
report() {
  install browser report,browser
  debian_packages chromium fonts-dejavu-core
  local begin=$SECONDS
  .venv/bin/fastcube reproduce --quick -o "$place/report" --progress lines
  local took=$((SECONDS - begin))
  [ "$took" -le 300 ] || echo "warning: took $took s; the report promises 5 minutes on 2 free cores with a warm cache"
  find "$place/report" -type f -exec sha256sum {} + | sort > "$place/before"
  .venv/bin/fastcube reproduce --quick -o "$place/report" --progress none
  find "$place/report" -type f -exec sha256sum {} + | sort | diff "$place/before" -
  FASTCUBE_REPORT="$place/report" .venv/bin/pytest -q -rs -n 2 -m browser audit/tests/test_report*.py
}

site_in_a_browser() {
  site
  FASTCUBE_SITE="$place/site" .venv/bin/pytest -q -rs -m browser tests/project/test_site_browser.py
  .venv/bin/python docs/sheets.py "$place/sheets"
}

dualcube_beside_its_reference() { .venv/bin/python benchmarks/dualcube_twin.py; }

# A report, which requires nothing: points at which another kernel is faster than the chosen one, with this processor's vectors
# and without AVX-512.
slow_choices_of_kernels() {
  NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES="" .venv/bin/python benchmarks/dispatch.py > "$place/without_avx512" &
  .venv/bin/python benchmarks/dispatch.py
  wait $!
  cat "$place/without_avx512"
}

# The same commit built again, at another time and in another folder.
the_same_bytes_again() {
  PYTHON=.venv/bin/python .ci/build "$place/again"
  diff -r "$place/dist" "$place/again"
}

tests_from_the_sdist() {
  mkdir "$place/sdist"
  tar -xzf "$place"/dist/fastcube-[0-9]*.tar.gz -C "$place/sdist" --strip-components=1
  python3 -m venv "$place/unpacked"
  (
    cd "$place/sdist"
    "$place/unpacked/bin/pip" install -q -e '.[test]'
    "$place/unpacked/bin/pytest" -q tests/*/test_{architecture,layout,packaging,results,site,tally}.py
  )
}

# A Python that works of this version: on PATH (where a shim of pyenv's need not work) or among pyenv's.
find_python() {
  local python
  for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/"bin/python$1"; do
    if "$python" -c '' 2> /dev/null; then echo "$python" && return; fi
  done
}

digest() { "$1/bin/fastcube" info "$2" | awk '$1 == "digest" {print $2}'; }

# The wheel gives the same digest under the other versions that the classifiers name.
other_pythons() {
  local expected own version python found
  expected=$(digest "$place/wheel" "$place/empty/unsafe-fraction.h5")
  own=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  for version in $(sed -n 's/.*Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml); do
    if [ "$version" = "$own" ]; then continue; fi
    python=$(find_python "$version")
    if [ -z "$python" ]; then echo "Python $version: not found here" && continue; fi
    "$python" -m venv "$place/$version"
    "$place/$version/bin/pip" install -q "$place"/dist/fastcube-[0-9]*.whl
    "$place/$version/bin/fastcube" run unsafe-fraction --set n=5 --trials 1e4 -o "$place/$version.h5" --progress none > /dev/null
    found=$(digest "$place/$version" "$place/$version.h5")
    echo "Python $version ($python): digest $found"
    [ "$found" = "$expected" ] || { echo "but $expected under $own" && return 1; }
  done
}
