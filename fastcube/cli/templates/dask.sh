#!/bin/bash
# {{study}}: {{trials}} of each point on {{ranks}} Dask workers.  Submit with: sbatch THIS_FILE
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

scheduler=$PWD/{{name}}-$SLURM_JOB_ID.json
{{python}} -P -m dask scheduler --port 0 --no-dashboard --scheduler-file "$scheduler" &
helpers=$!
srun --ntasks={{ranks}} --cpus-per-task={{cpus}} {{python}} -P -m dask worker --scheduler-file "$scheduler" \
    --nthreads {{cpus}} --nworkers 1 --no-dashboard --memory-limit 0 --death-timeout 60 --local-directory "${TMPDIR:-/tmp}" &
helpers="$helpers $!"
trap 'kill $helpers 2> /dev/null; rm -f "$scheduler"' EXIT
for second in $(seq 120); do [ -s "$scheduler" ] || sleep 1; done
drive {{fastcube}} run {{study}}{{output}}{{options}} --engine dask:"$scheduler" --progress lines
conclude "$SLURM_JOB_ID"
