export OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 SLURM_EXPORT_ENV=ALL
# Compiled kernels are in the folder that the user has chosen, else beside the results, for warm-up and tasks alike.
[ -n "$FASTCUBE_CACHE_DIR" ] || FASTCUBE_CACHE_DIR={{cache}}
export FASTCUBE_CACHE_DIR

# State of the results files, which differs after a checkpoint with new trials.
progress() { stat -c "%n %i %Y" "${results[@]}" 2> /dev/null; }

# Take signals, before the first call of drive.
listen() {
    start=$(progress)
    # At preemption and scancel Slurm sends TERM to the driver too: this shell must only outlive it, not end before it.
    trap : TERM
    # USR1 comes to this shell alone, {{margin}} s before the time limit; the driver then writes its checkpoint and exits 75.
    trap 'stopping=1; kill -USR1 $driver 2> /dev/null' USR1
}

# Run a command that gets the signals of this shell; leave its exit status in $code.
drive() {
    if [ -n "$stopping" ]; then code=75; return; fi
    "$@" < /dev/null &
    driver=$!
    if [ -n "$stopping" ]; then kill -USR1 $driver; fi  # it came before this shell knew the driver
    wait $driver; code=$?
    while kill -0 $driver 2> /dev/null; do wait $driver; code=$?; done  # a trapped signal ends wait early
    wait $driver 2> /dev/null; last=$?
    [ $last -ne 127 ] && code=$last
}

# Print how a job ended, requeue it if work remains, and exit.
# 75: work remains, without an error.  138: USR1 came before the driver listened.  No other status is requeued, so that a job
# that scancel ended does not start again.
conclude() {
    then="" restart=${SLURM_RESTART_COUNT:-0}
    case $code in 75 | 138)
        if [ "$(progress)" = "$start" ] && [ "$restart" -ge {{most_idle}} ]; then
            then=", no progress after $restart restarts, not requeued: give it more --time"
        else
            then=", requeued"
        fi ;;
    esac
    echo "$(date +%FT%T)  end of job $1 on $(hostname -s), restart $restart: exit $code after $SECONDS s$then" >&2
    if [ "$then" = ", requeued" ]; then scontrol requeue "$1"; fi
    exit $code
}
