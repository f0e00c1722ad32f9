"""The job scripts that ``fastcube slurm`` prints: an array of shards, one MPI program, or a Dask scheduler with its workers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

#: Number of restarts after which a run that counted no trials is not requeued.
MOST_IDLE_RESTARTS = 3

_HEAD = """\
#!/bin/bash
{comment}
#SBATCH --job-name={name}
{resources}
#SBATCH --time={time}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={name}-{log}.log
#SBATCH --signal=B:USR1@{margin}
{directives}
"""

_ENVIRONMENT = """\
{setup}export OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 SLURM_EXPORT_ENV=ALL
# Compiled kernels: beside the outputs once they were compiled there, or where TMPDIR belongs to this job alone; else each node
# compiles once.
shared={shared}
if [ -z "$FASTCUBE_CACHE_DIR" ]; then
    case ${{TMPDIR:-/tmp}} in
        *"${{SLURM_JOB_ID:-none}}"* | *"${{SLURM_ARRAY_JOB_ID:-none}}"*) FASTCUBE_CACHE_DIR=$shared ;;
        *) FASTCUBE_CACHE_DIR=${{TMPDIR:-/tmp}}/fastcube-$(id -u) ;;
    esac
    if [ -d "$shared" ]; then FASTCUBE_CACHE_DIR=$shared; fi
fi
export FASTCUBE_CACHE_DIR
"""

_ARRAY_STEPS = """
if [ -z "$SLURM_ARRAY_TASK_ID" ]; then  # bash THIS_FILE: three jobs, each after the one before
    warmup=$(sbatch --parsable --array=0 "$0" warmup) || exit
    array=$(sbatch --parsable --dependency=afterany:"${{warmup%;*}}" "$0") || exit
    merge=$(sbatch --parsable \\
        --dependency=afterok:"${{array%;*}}" --kill-on-invalid-dep=yes --array=0 "$0" merge) || exit
    echo "submitted: $warmup compiles, $array counts, $merge merges"
    exit
fi
case $1 in
    warmup)
        export FASTCUBE_CACHE_DIR=$shared
{warmup}
        exit ;;
    merge)
        shopt -s nullglob
{merge}
        exit ;;
esac
"""

_DRIVER = """
progress() {{ for shard in $shards; do stat -c "%n %i %Y" {outputs}; done 2> /dev/null; }}
start=$(progress)
# At preemption and scancel Slurm sends TERM to the driver too: this shell must only outlive it, not end before it.
trap : TERM
# USR1 comes to this shell alone, {margin} s before the time limit; the driver then writes its checkpoint and exits 75.
trap 'stopping=1; kill -USR1 $driver 2> /dev/null' USR1
finish() {{
    driver=$1
    wait $driver; code=$?
    while kill -0 $driver 2> /dev/null; do wait $driver; code=$?; done  # a trapped signal ends wait early
    wait $driver 2> /dev/null; last=$?
    [ $last -ne 127 ] && code=$last
}}
"""

_LOOP = """\
for shard in $shards; do
    if [ -n "$stopping" ]; then code=75; break; fi
    {run} &
    finish $!
    [ $code -eq 0 ] || break
done
"""

_END = """\
# 75: work remains, without an error.  138: USR1 came before the driver listened.  No other status is requeued, so that a job
# that scancel ended does not start again.
then="" restart=${{SLURM_RESTART_COUNT:-0}}
case $code in 75 | 138)
    if [ "$(progress)" = "$start" ] && [ "$restart" -ge {most_idle} ]; then
        then=", no progress after $restart restarts, not requeued: give it more --time"
    else
        then=", requeued"
    fi ;;
esac
echo "$(date +%FT%T)  end of job {job} on $(hostname -s), restart $restart: exit $code after $SECONDS s$then" >&2
if [ "$then" = ", requeued" ]; then scontrol requeue "{job}"; fi
exit $code
"""

_DASK = """
scheduler=$PWD/{name}-$SLURM_JOB_ID.json
{python} -P -m dask scheduler --port 0 --no-dashboard --scheduler-file "$scheduler" &
helpers=$!
srun --ntasks={ranks} --cpus-per-task={cpus} {python} -P -m dask worker --scheduler-file "$scheduler" \\
    --nthreads {cpus} --nworkers 1 --no-dashboard --memory-limit 0 --death-timeout 60 --local-directory "${{TMPDIR:-/tmp}}" &
helpers="$helpers $!"
trap 'kill $helpers 2> /dev/null; rm -f "$scheduler"' EXIT
for second in $(seq 120); do [ -s "$scheduler" ] || sleep 1; done
"""


@dataclass
class WarmUp:
    """A study whose kernels are compiled in advance, with the options of its points."""

    study: str
    points: str


@dataclass
class Job:
    """The content of a job script.  All texts but ``directives`` and ``setup`` are quoted for the shell where they are used.

    Attributes
    ----------
    run : str
        Options of ``fastcube run`` after the study, without shard and output.
    outputs : list of str
        Results files without ``.h5``, not yet quoted; a shard's file gets ``-I``.
    names_output : bool
        Whether ``-o`` is given.  The runs of a sweep have separate outputs.
    """

    study: str
    name: str
    trials: str
    run: str
    outputs: list[str]
    names_output: bool
    warm_ups: list[WarmUp]
    python: str
    time: str
    margin: int
    cpus: int | None
    memory: str
    directives: list[str] = field(default_factory=list)
    setup: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    @property
    def fastcube(self) -> str:
        """The command that starts fastcube without importing anything from the working folder."""
        return f"{self.python} -P -m fastcube"

    def format_head(self, comments: list[str], resources: list[str], log: str) -> str:
        """Return the lines that sbatch reads."""
        wanted = [*resources, *([f"--cpus-per-task={self.cpus}"] if self.cpus else []), self.memory]
        return _HEAD.format(
            comment="\n".join(f"# {line}" for line in (*comments, *self.comments)),
            name=self.name,
            resources="\n".join(f"#SBATCH {option}" for option in wanted),
            time=self.time,
            log=log,
            margin=self.margin,
            directives="".join(f"#SBATCH {option}\n" for option in self.directives),
        )

    def format_environment(self) -> str:
        """Return the lines that set modules, threads and the cache folder."""
        folder = Path(self.outputs[0]).parent / "fastcube-cache"
        place = shlex.quote(str(folder))
        shared = place if folder.is_absolute() else f'"$PWD"/{place}'
        return _ENVIRONMENT.format(setup="".join(f"{line}\n" for line in self.setup), shared=shared)

    def format_warm_up(self) -> list[str]:
        """Return the commands that compile all kernels."""
        return [f"{self.fastcube} warmup {one.study}{one.points}" for one in self.warm_ups]

    def format_end(self, job: str) -> str:
        """Return the lines that requeue the job, print how it ended, and exit."""
        return _END.format(job=job, most_idle=MOST_IDLE_RESTARTS)


def array_script(job: Job, array: int, tasks: int, max_running: int | None) -> str:
    """Return the script of an array of ``tasks`` tasks that share ``array`` shards, with its warm-up and its merge."""
    each = "one task each" if tasks == array else f"{tasks} tasks"
    throttle = "" if max_running is None else f"%{max_running}"
    again = f"sbatch --array={','.join(map(str, sorted({tasks // 2, tasks - 1})))} THIS_FILE"
    head = job.format_head(
        [
            f"{job.study}: {job.trials} of each point in {array} shards, {each}.",
            "  bash THIS_FILE                  compile once, then the array, then merge: three jobs that wait for each other",
            "  sbatch THIS_FILE                the array alone",
            f"  {again:<32}these tasks again; the partition into {array} shards stays",
        ],
        [f"--array=0-{tasks - 1}{throttle}"],
        "%A_%a",
    )
    shard = '"$SLURM_ARRAY_TASK_ID"' if tasks == array else '"$shard"'
    whole = f'"{shard[1:-1]}/{array}"'
    output = f" -o {shlex.quote(job.outputs[0])}-{shard}.h5" if job.names_output else ""
    run = f"{job.fastcube} run {job.study} --shard {whole}{output}{job.run} --progress lines"
    shards = "$SLURM_ARRAY_TASK_ID" if tasks == array else f'$(seq "$SLURM_ARRAY_TASK_ID" {tasks} {array - 1})'
    numbers = ["[0-9]" * digits for digits in range(1, len(str(array - 1)) + 1)]
    merge = []
    for name in map(shlex.quote, job.outputs):
        files = " ".join(f"{name}-{number}.h5" for number in numbers)
        merge += [f"{job.fastcube} status {files}", f"{job.fastcube} merge {files} -o {name}.h5"]
    steps = _ARRAY_STEPS.format(
        warmup="\n".join(f"        {line} || exit" for line in job.format_warm_up()),
        merge="\n".join(f"        {line} || exit" for line in merge),
    )
    outputs = " ".join(f'{shlex.quote(name)}-"$shard".h5' for name in job.outputs)
    driver = f"\nshards={shards}" + _DRIVER.format(outputs=outputs, margin=job.margin)
    end = job.format_end("${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID")
    return head + job.format_environment() + steps + driver + _LOOP.format(run=run) + end


def _one_driver(job: Job, engine: str, comment: str, ranks: int, before: str, launch: str) -> str:
    head = job.format_head([f"{comment}  Submit with: sbatch THIS_FILE"], [f"--ntasks={ranks}"], "%j")
    environment = job.format_environment() + "export FASTCUBE_CACHE_DIR=$shared\n"
    outputs = " ".join(f"{shlex.quote(name)}.h5" for name in job.outputs)
    driver = "\nshards=all" + _DRIVER.format(outputs=outputs, margin=job.margin)
    warm_up = "".join(f"{line} &\nfinish $!\n" for line in job.format_warm_up())
    output = f" -o {shlex.quote(job.outputs[0])}.h5" if job.names_output else ""
    run = f"{launch} run {job.study}{output}{job.run} --engine {engine} --progress lines"
    steps = f'{warm_up}if [ -n "$stopping" ]; then code=75; else\n    {run} &\n    finish $!\nfi\n'
    return head + environment + driver + before + steps + job.format_end("$SLURM_JOB_ID")


def mpi_script(job: Job, ranks: int) -> str:
    """Return the script of one MPI program: rank 0 drives, the others compute."""
    launch = f"mpiexec -n {ranks} {job.python} -P -m mpi4py.futures -m fastcube"
    comment = f"{job.study}: {job.trials} of each point on {ranks} MPI ranks, of which one drives."
    return _one_driver(job, "mpi", comment, ranks, "", launch)


def dask_script(job: Job, ranks: int) -> str:
    """Return the script of a driver, a Dask scheduler and its workers in one allocation."""
    before = _DASK.format(name=job.name, python=job.python, ranks=ranks, cpus=job.cpus or 1)
    comment = f"{job.study}: {job.trials} of each point on {ranks} Dask workers."
    return _one_driver(job, 'dask:"$scheduler"', comment, ranks, before, job.fastcube)
