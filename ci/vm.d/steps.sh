# shellcheck shell=bash
# The steps that ci/vm runs on the emulated system and on this host: what a step leaves, and the load that
# every launcher is measured with. Whoever sources this sets:
#
#   results    folder: every step leaves results/GROUP/NAME/ with the files command, expected, status, seconds
#              and output, and run.json where it measured
#   bin        folder of the built programs
#   settings   the folder of this file
#   options    an array of more options for every measurement
#   session    a function that sets the array `prefix` to what starts a command as user $1 within $2 seconds
#   delivered  a function that is called with one line for people after every step
#
# While a step runs, `child` is the process to end.
# shellcheck disable=SC2154  # those

group=
prefix=()
child=

# Runs a command to its end, whatever that is.
step() { # name, the exit statuses that are right ("0" or "0 1"), seconds it may take, user, command...
  local name=$1 expected=$2 seconds=$3 user=$4 status=0 verdict=ok start=$SECONDS
  shift 4
  local folder=$results/$group/$name
  mkdir -p "$folder"
  # The programs of an ordinary user write here.
  chmod 1777 "$folder"
  printf '%s\n' "$*" > "$folder/command"
  echo "$expected" > "$folder/expected"
  session "$user" "$seconds"
  timeout --kill-after=10 "$((seconds + 20))" "${prefix[@]}" "$@" > "$folder/output" 2>&1 < /dev/null &
  child=$!
  # A signal interrupts this, where it would have to wait for a plain call.
  wait "$child" || status=$?
  child=
  echo "$status" > "$folder/status"
  echo "$((SECONDS - start))" > "$folder/seconds"
  case " $expected " in *" $status "*) ;; *) verdict="FAILED: exit status $status" ;; esac
  delivered "$(printf '%-8s %-26s %4d s  %s' "$group" "$name" "$((SECONDS - start))" "$verdict")"
}

# The published load E1 on one launcher: 8 requests of 20 ms CPU every second.
e1() { # name, launcher or "", cpus, expected statuses, user, words before the command...
  local name=$1.$3 cpus=$3 expected=$4 user=$5 choice=()
  [ -z "$2" ] || choice=(--launcher "$2")
  shift 5
  step "$name" "$expected" 200 "$user" "$@" "$bin/throttletest" run "${choice[@]}" --cpus "$cpus" \
    --batch 8 --every 1s --duration 10s --warmup 2s --get '/burn?ms=20' "${options[@]}" \
    --json "$results/$group/$name/run.json" -- "$bin/burn_server" '--port={port}' --threads=8
}

# One row of the table: at half a CPU and at one. A launcher that must refuse is asked once.
row() { # launcher, runtime or "", expected statuses, user
  local launcher=$1 runtime=$2 expected=$3 user=$4 name=$1 cpus settings_of=()
  if [ -n "$runtime" ]; then
    name=$launcher-$runtime
    settings_of=(env "CONTAINERS_CONF=$settings/$launcher-$runtime.conf")
  fi
  for cpus in 0.5 1; do
    e1 "$name" "$launcher" "$cpus" "$expected" "$user" "${settings_of[@]}"
    [ "$expected" != 4 ] || break
  done
}
