#!/bin/bash
# {{study}}: {{trials}} of each point on {{ranks}} MPI ranks, of which one drives.  Submit with: sbatch THIS_FILE
# {{cost}}
#SBATCH --job-name={{name}}
#SBATCH --ntasks={{ranks}}
#SBATCH {{resources}}
#SBATCH --time={{time}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={{name}}-%j.log
#SBATCH --signal=B:USR1@{{margin}}
#SBATCH {{directives}}

{{setup}}
{{driver}}

results=({{results}})
listen
drive {{fastcube}} warmup {{warmups}}; [ $code -eq 0 ] || conclude "$SLURM_JOB_ID"
drive mpiexec -n {{ranks}} {{python}} -P -m mpi4py.futures -m fastcube run {{study}}{{output}}{{options}} --engine mpi --progress lines
conclude "$SLURM_JOB_ID"
