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

# Whoever reaches a Dask scheduler can run code as you, so scheduler, workers and driver talk by TLS, with a key of this job.
tls=$(mktemp -d "$PWD"/{{name}}-tls-XXXXXX) || exit
scheduler=$tls/scheduler.json
trap 'kill $helpers 2> /dev/null; rm -rf "$tls"' EXIT
openssl req -x509 -newkey rsa:3072 -nodes -days 365 -keyout "$tls"/key -out "$tls"/cert -config /dev/stdin 2> "$tls"/log << END ||
[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = fastcube
[extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, digitalSignature, keyEncipherment
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
END
    { cat "$tls"/log >&2; echo "$0: openssl must make a key for the connections of Dask" >&2; exit 2; }
export DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME=tls DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$tls/cert
for role in SCHEDULER WORKER CLIENT; do
    export DASK_DISTRIBUTED__COMM__TLS__${role}__KEY="$tls"/key DASK_DISTRIBUTED__COMM__TLS__${role}__CERT="$tls"/cert
done
{{python}} -P -m dask scheduler --port 0 --no-dashboard --scheduler-file "$scheduler" &
helpers=$!
srun --ntasks={{ranks}} --cpus-per-task={{cpus}} {{python}} -P -m dask worker --scheduler-file "$scheduler" \
    --nthreads {{cpus}} --nworkers 1 --no-dashboard --memory-limit 0 --death-timeout 60 --local-directory "${TMPDIR:-/tmp}" &
helpers="$helpers $!"
for second in $(seq 120); do [ -s "$scheduler" ] || sleep 1; done
drive {{fastcube}} run {{study}}{{output}}{{options}} --engine dask:"$scheduler" --progress lines
conclude "$SLURM_JOB_ID"
