"""A throw-away Slurm on this host: real daemons as root, on the loopback interface, in one folder, no systemd.

Two virtual nodes are two ``slurmd`` (Debian's build allows several on a host), so that one can be taken from the jobs
on it.  Partition ``work`` can be preempted by partition ``urgent``; a preempted job is requeued.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from helpers.processes import CLEAN_ENVIRONMENT

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
NODES = ("n1", "n2")
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# believe the processors stated below, however few there are
SlurmdParameters=config_overrides
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=10
MinJobAge=300
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory=1000
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory=1000
PartitionName=work Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=0
PartitionName=urgent Nodes=n1,n2 MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""


def why_unavailable():
    """Why no Slurm can be started here; None when one can."""
    if os.geteuid():
        return "a test Slurm needs root"
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    return f"no {', '.join(absent)}: apt-get install slurmctld slurmd slurm-client munge" if absent else None


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    """Daemons and commands; a with block starts and stops them."""

    def __init__(self):
        # not pytest's own folder: a Unix socket's path has at most 107 characters
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        self.environment = {**CLEAN_ENVIRONMENT, "PATH": PATH, "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(CONF.format(host=host, folder=self.folder, ports=_free_ports(3)))
        self.folder.chmod(0o755)
        for name in ("state", *(f"spool-{node}" for node in NODES)):
            (self.folder / name).mkdir(mode=0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        try:
            here = {
                "socket": "munge.socket",
                "pid-file": "munged.pid",
                "log-file": "munged.log",
                "seed-file": "munged.seed",
            }
            options = [f"--{option}={self.folder}/{name}" for option, name in here.items()]
            self.call("munged", "--force", f"--key-file={key}", *options)
            self.call("slurmctld", "-c")
            for node in NODES:
                self.call("slurmd", "-c", "-N", node)
            self.wait(
                lambda: (
                    len(self.call("sinfo", "-h", "-N", "-p", "work", "-t", "idle", "-o", "%N").split()) == len(NODES)
                )
            )
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Cancel the jobs, end the daemons by their process ids, remove the folder."""
        with contextlib.suppress(OSError, subprocess.SubprocessError, AssertionError):
            self.call("scancel", "--user=root", timeout=10)
            self.wait(lambda: not self.call("squeue", "-h", timeout=10), seconds=15)
        files = [*self.folder.glob("slurmd-*.pid"), self.folder / "slurmctld.pid", self.folder / "munged.pid"]
        for file in files:
            with contextlib.suppress(OSError, ValueError):
                # an orderly end of the controller takes seconds, to save a state that no test needs
                os.kill(int(file.read_text()), signal.SIGKILL if "ctld" in file.name else signal.SIGTERM)
        time.sleep(0.2)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, *command, cwd=None, timeout=60):
        """Output of a command that must succeed."""
        done = subprocess.run(
            command, capture_output=True, text=True, env=self.environment, timeout=timeout, check=False, cwd=cwd
        )
        assert done.returncode == 0, f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def wait(self, ready, seconds=60):
        """Wait until ``ready()``; a requeued job, which Slurm would hold for two minutes, is started soon meanwhile."""
        end = time.monotonic() + seconds
        since = {}
        while not ready():
            now = time.monotonic()
            assert now < end, f"waited in vain:\n{self.logs()}"
            for job in self.call("squeue", "-h", "-r", "-t", "PD", "-o", "%i").split():
                # not at once: in the second of its end a node takes the job for one that was cancelled
                if now - since.setdefault(job, now) > 3:
                    with contextlib.suppress(AssertionError):  # it may start by itself meanwhile
                        self.call("scontrol", "update", f"jobid={job}", "starttime=now")
            time.sleep(0.2)

    def logs(self):
        """The ends of the daemons' logs."""
        return "\n".join(f"{log}:\n{log.read_text()[-1000:]}" for log in self.folder.glob("*.log"))

    def job(self, name):
        """Return Slurm's description of a job, by field."""
        return dict(re.findall(r"(\w+)=(\S+)", self.call("scontrol", "show", "job", name)))

    def running(self, job):
        """Tasks of a job by the node they run on."""
        lines = self.call("squeue", "-h", "-r", "-j", job, "-t", "R", "-o", "%K %N").split("\n")
        return {int(line.split()[0]): line.split()[1] for line in lines if line.strip()}
