#!/bin/bash
# {{study}}: {{trials}} of each point in {{array}} shards, {{each}}.
# {{cost}}
#
# Compile once, then the array, then merge, as three jobs that wait for each other:
#     bash THIS_FILE
# The array alone:
#     sbatch THIS_FILE
# Some tasks again, as `fastcube status{{shared}}` advises; the partition into {{array}} shards stays:
#     sbatch --array={{again}} THIS_FILE
# The merge again, once those tasks are done; Slurm cancels it if a task of the array fails:
#     sbatch --array=0 THIS_FILE merge
#
#SBATCH --job-name={{name}}
#SBATCH --array=0-{{last_task}}{{throttle}}
#SBATCH {{resources}}
#SBATCH --time={{time}}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={{name}}-%A_%a.log
#SBATCH --signal=B:USR1@{{margin}}
#SBATCH {{directives}}

{{setup}}
{{driver}}

case $1 in
    "") ;;
    warmup)
        {{fastcube}} warmup {{warmups}} || exit
        exit ;;
    merge)
        shopt -s nullglob
        for name in {{outputs}}; do
            shards=({{shards}})
            {{fastcube}} status{{shared}} "${shards[@]}" || exit
            {{fastcube}} merge "${shards[@]}" -o "$name".h5 || exit
        done
        exit ;;
    *)
        echo "$0: the argument must be warmup, merge or absent, got $1" >&2
        exit 2 ;;
esac
if [ -z "$SLURM_ARRAY_TASK_ID" ]; then  # bash THIS_FILE
    warmup=$(sbatch --parsable --array=0 "$0" warmup) || exit
    array=$(sbatch --parsable --dependency=afterany:"${warmup%;*}" "$0") || exit
    merge=$(sbatch --parsable \
        --dependency=afterok:"${array%;*}" --kill-on-invalid-dep=yes --array=0 "$0" merge) || exit
    echo "submitted: $warmup compiles, $array counts, $merge merges"
    exit
fi

if [ "$SLURM_ARRAY_TASK_ID" -gt {{last_task}} ]; then  # its shards are those of another task, or there are none
    echo "$0: tasks are 0 to {{last_task}}, got $SLURM_ARRAY_TASK_ID; \`fastcube status{{shared}}\` names those to submit again" >&2
    exit 2
fi
shards=$(seq "$SLURM_ARRAY_TASK_ID" {{tasks}} {{last_shard}})
results=()
for shard in $shards; do results+=({{results}}); done
listen
for shard in $shards; do
    drive {{fastcube}} run {{study}} --shard "$shard/{{array}}"{{output}}{{options}} --progress lines
    [ $code -eq 0 ] || break
done
conclude "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
