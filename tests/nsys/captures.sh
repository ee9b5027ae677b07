#!/usr/bin/env bash
# Records small programs with a real nsys, without a GPU, and compares the reports and rules of nsq with its own.
#
#   NSQ_TEST_NSYS=…/nsys tests/nsys/captures.sh [NSQ]
#
# What is missing is skipped, and that is printed. All that it can use, by the names of Debian's packages:
# OpenMP   libomp5: LLVM's runtime, whose tools interface nsys uses
# Vulkan   libvulkan-dev and a driver, such as lavapipe of mesa-vulkan-drivers
# OpenGL   libgl-dev, libegl-dev, libx11-dev, a driver, such as llvmpipe of libgl1-mesa-dri, and a display or xvfb
# MPI      libopenmpi-dev and openmpi-bin, libmpich-dev and mpich
# Python   python3; for functions, the package nvtx from PyPI
# NSQ_TEST_LIBS names a folder of libraries, and NSQ_TEST_INCLUDE one of headers, if the system has neither.
set -euo pipefail
cd "$(dirname "$0")/../.."
nsq=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/debug/nsq}")
nsys=$(realpath "${NSQ_TEST_NSYS:?names a real nsys}")
sources=$PWD/tests/nsys
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
libs=${NSQ_TEST_LIBS:-}
flags=()
if [ -n "$libs" ]; then
  flags=(-L"$libs" '-Wl,--allow-shlib-undefined')
  export LD_LIBRARY_PATH=$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
differ=0 compared=0
# nsys brings its own.
sqlite=$(command -v sqlite3 || echo "$(dirname "$nsys")/sqlite3")

skipped() {
  echo "skipped: $*"
}

# record NAME OPTIONS COMMAND…: records a command and exports NAME.sqlite. OPTIONS are of `nsys profile`, between spaces.
record() {
  local name=$1 options=$2
  shift 2
  # nsys may wait for its daemon after the report is written. It keeps the sockets of its daemon in TMPDIR.
  # shellcheck disable=SC2086
  TMPDIR=$folder timeout 120 "$nsys" profile $options -s none --cpuctxsw=none -o "$name" --force-overwrite true \
    "$@" >"$name.log" 2>&1 || true
  if [ ! -s "$name.nsys-rep" ]; then
    skipped "nsys did not record $name: $(tail -n 1 "$name.log")"
    return 1
  fi
  "$nsys" export -q true --type sqlite -o "$name.sqlite" "$name.nsys-rep"
}

# same NAME WHAT WANTED GOT: compares two files.
same() {
  compared=$((compared + 1))
  if [ ! -s "$3" ]; then
    echo "$1 $2: nsys prints nothing"
    differ=1
  elif ! cmp -s "$3" "$4"; then
    echo "$1 $2 differs:"
    diff "$3" "$4" | head -10 || true
    differ=1
  fi
}

# reports NAME REPORT…: compares reports, format by format.
reports() {
  local name=$1 report format
  shift
  for report in "$@"; do
    for format in csv column json; do
      "$nsys" stats -q -f "$format" -r "$report" "$name.sqlite" >wanted || true
      "$nsq" stats -q -f "$format" -r "$report" "$name.sqlite" >got || true
      same "$name" "$report $format" wanted got
    done
  done
}

# rules NAME RULE…: compares the rows of expert rules. Their advice is in the words of nsq, and only people's formats have it.
rules() {
  local name=$1 rule format
  shift
  for rule in "$@"; do
    for format in csv json; do
      "$nsys" analyze -q -f "$format" -r "$rule" "$name.sqlite" >wanted || true
      "$nsq" analyze -q -f "$format" -r "$rule" "$name.sqlite" >got || true
      same "$name" "$rule $format" wanted got
    done
  done
}

openmp() {
  if ! cc -O1 -fopenmp -c -o openmp.o "$sources/openmp.c" 2>/dev/null ||
    ! cc -o openmp openmp.o "${flags[@]}" -l:libomp.so.5 2>/dev/null; then
    skipped 'no libomp.so.5'
    return
  fi
  record openmp '-t openmp' ./openmp || return 0
  reports openmp openmp_sum
}

vulkan() {
  if ! cc -O1 ${NSQ_TEST_INCLUDE:+-I"$NSQ_TEST_INCLUDE"} -o vulkan "$sources/vulkan.c" "${flags[@]}" -lvulkan 2>/dev/null ||
    ! ./vulkan; then
    skipped 'no Vulkan'
    return
  fi
  record vulkan '-t vulkan,vulkan-annotations' ./vulkan || return 0
  reports vulkan vulkan_api_sum vulkan_api_trace vulkan_marker_sum
}

# opengl NAME [ARGUMENT]: the program draws in a window, or with an argument off screen.
opengl() {
  local name=$1 draw
  shift
  draw=(./opengl "$@")
  if [ $# = 0 ] && [ -z "${DISPLAY:-}" ]; then
    command -v xvfb-run >/dev/null || { skipped "$name: no display and no xvfb-run"; return; }
    draw=(xvfb-run -a "${draw[@]}")
  fi
  if ! cc -O1 -o opengl "$sources/opengl.c" -lGL -lEGL -lX11 2>/dev/null ||
    ! timeout 60 "${draw[@]}" >"$name.log" 2>&1; then
    skipped "$name: no OpenGL"
    return
  fi
  record "$name" '-t opengl,opengl-annotations,osrt' "${draw[@]}" || return 0
  reports "$name" opengl_khr_range_sum opengl_khr_gpu_range_sum osrt_sum
  # There is more than a millisecond between frames.
  rules "$name" gpu_gaps:gap=1 gpu_time_util
}

# mpi IMPLEMENTATION OPTIONS: one report of both ranks.
mpi() {
  local name=$1 options=$2
  mpicc."$name" -O1 -o "$name" "$sources/mpi.c" 2>/dev/null || { skipped "$name: no mpicc.$name"; return; }
  # shellcheck disable=SC2086
  timeout 60 mpirun."$name" $options -n 2 "./$name" >"$name.log" 2>&1 ||
    { skipped "mpirun.$name: $(grep . "$name.log" | tail -n 1)"; return; }
  # shellcheck disable=SC2086
  record "$name" "-t mpi,osrt --mpi-impl=$name" mpirun."$name" $options -n 2 "./$name" || return 0
  reports "$name" mpi_event_trace osrt_sum
  # nsys has mpi_event_sum and mpi_msg_size_sum since versions after 2023.4: what the program does says what they have.
  calls | LC_ALL=C sort >wanted
  "$nsq" run "$name.sqlite" -q mpi_event_sum -f csv | awk -F, 'NR > 1 {print $10, $3}' | LC_ALL=C sort >got
  same "$name" 'calls of mpi_event_sum' wanted got
  bytes >wanted
  "$nsq" run "$name.sqlite" -q mpi_msg_size_sum -f csv | awk -F, '$8 == "p2p" {print $9, $2, $1}' | LC_ALL=C sort >got
  same "$name" 'messages of mpi_msg_size_sum' wanted got
  command -v "$sqlite" >/dev/null || { skipped "$name: no sqlite3, to add up durations"; return; }
  "$sqlite" -separator ' ' "$name.sqlite" 'SELECT value, sum(lasts) FROM (
      SELECT textId, "end" - start AS lasts FROM MPI_P2P_EVENTS
      UNION ALL SELECT textId, "end" - start FROM MPI_COLLECTIVES_EVENTS
      UNION ALL SELECT textId, "end" - start FROM MPI_OTHER_EVENTS
      UNION ALL SELECT textId, "end" - start FROM
        (SELECT DISTINCT textId, start, "end", globalTid FROM MPI_START_WAIT_EVENTS)
    ) JOIN StringIds ON id = textId GROUP BY value' | LC_ALL=C sort >wanted
  "$nsq" run "$name.sqlite" -q mpi_event_sum -f csv | awk -F, 'NR > 1 {print $10, $2}' | LC_ALL=C sort >got
  same "$name" 'durations of mpi_event_sum' wanted got
}

# How often the ranks of mpi.c call each function.
calls() {
  local collective
  for collective in Allgather Allreduce Barrier Bcast Reduce Waitall; do
    echo "MPI_$collective $((5 * 2))"
  done
  printf '%s\n' 'MPI_Finalize 2' 'MPI_Init 2' "MPI_Irecv $((5 * 6))" "MPI_Isend $((5 * 4))" 'MPI_Recv 5' \
    "MPI_Send $((5 + 5 * 2))" "MPI_Sendrecv $((5 * 4))" "MPI_Wait $((5 * 4))"
}

# Messages of mpi.c and their bytes. A call of MPI_Sendrecv that receives what it does not send has two messages.
bytes() {
  local steps=$((8 * (16 + 128 + 1024 + 8192 + 65536)))
  printf '%s\n' "MPI_Irecv 30 $((2 * (steps + 5 * 8 * (3 + 5))))" "MPI_Isend 20 $((2 * (steps + 5 * 8 * 3)))" \
    "MPI_Recv 5 $steps" "MPI_Send 15 $((steps + 2 * 5 * 8 * 5))" \
    "MPI_Sendrecv 30 $((2 * 5 * 4 * (7 + 7 + 8)))"
}

# Threads that compete for the interpreter, and annotated functions.
python() {
  local python
  python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || { skipped 'no python3'; return; }
  cat >work.py <<'PYTHON'
import threading

def part(count):
    return sum(number * number for number in range(count))

def busy(steps):
    return [part(2000 * step) for step in range(steps)]
PYTHON
  cat >threads.py <<'PYTHON'
import work

threads = [work.threading.Thread(target=work.busy, args=(steps,)) for steps in (20, 30)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
PYTHON
  record python_gil '-t python-gil' "$python" threads.py &&
    reports python_gil nvtx_sum nvtx_pushpop_sum nvtx_pushpop_trace
  "$python" -c 'import nvtx' 2>/dev/null || { skipped 'Python functions: no package nvtx'; return; }
  echo '[{"module": "work", "functions": ["busy", "part"]}]' >functions.json
  record python_functions '-t nvtx --python-nvtx-annotations=functions.json' "$python" threads.py || return 0
  reports python_functions nvtx_sum nvtx_pushpop_sum nvtx_pushpop_trace
}

openmp
vulkan
opengl opengl_window
opengl opengl_off_screen off-screen
mpi openmpi "--oversubscribe$([ "$(id -u)" != 0 ] || echo ' --allow-run-as-root')"
mpi mpich ''
python
echo "captures: $compared comparisons"
exit "$differ"
