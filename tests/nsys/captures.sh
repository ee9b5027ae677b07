#!/usr/bin/env bash
# Records OpenMP and Vulkan programs with a real nsys, without a GPU, and compares the reports of nsq with its own.
#
#   NSQ_TEST_NSYS=…/nsys tests/nsys/captures.sh [NSQ]
#
# OpenMP needs LLVM's runtime (libomp.so.5), whose tools interface nsys uses; Vulkan needs headers, a loader and a driver such as
# lavapipe. NSQ_TEST_LIBS names a folder that has them, if the system does not. What is missing is skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
nsq=$(realpath "${1:-target/release/nsq}")
nsys=${NSQ_TEST_NSYS:?names a real nsys}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
libs=${NSQ_TEST_LIBS:-}
flags=()
if [ -n "$libs" ]; then
  flags=(-L"$libs" -Wl,--allow-shlib-undefined)
  export LD_LIBRARY_PATH=$libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
differ=0 compared=0

# compare NAME TRACE REPORT…: records $folder/NAME and compares the reports, format by format.
compare() {
  local name=$1 trace=$2
  shift 2
  # nsys may wait for its daemon after the report is written.
  timeout 120 "$nsys" profile -t "$trace" -s none --cpuctxsw=none -o "$folder/$name" --force-overwrite true \
    "$folder/$name" >"$folder/$name.log" 2>&1 || true
  if [ ! -s "$folder/$name.nsys-rep" ]; then
    echo "skipped: nsys did not record $name: $(tail -n 1 "$folder/$name.log")"
    return
  fi
  "$nsys" export -q true --type sqlite -o "$folder/$name.sqlite" "$folder/$name.nsys-rep"
  local report format want have
  for report in "$@"; do
    for format in csv column json; do
      want=$(cd "$folder" && "$nsys" stats -q -f "$format" -r "$report" "$name.sqlite")
      have=$(cd "$folder" && "$nsq" stats -q -f "$format" -r "$report" "$name.sqlite")
      compared=$((compared + 1))
      if [ -z "$want" ]; then
        echo "$name $report $format: nsys prints nothing"
        differ=1
      elif [ "$want" != "$have" ]; then
        echo "$name $report $format differs:"
        diff <(echo "$want") <(echo "$have") | head -10
        differ=1
      fi
    done
  done
}

if cc -O1 -fopenmp -c -o "$folder/openmp.o" tests/nsys/openmp.c &&
  cc -o "$folder/openmp" "$folder/openmp.o" "${flags[@]}" -l:libomp.so.5 2>/dev/null; then
  compare openmp openmp openmp_sum
else
  echo 'skipped: no libomp.so.5'
fi
if cc -O1 ${NSQ_TEST_INCLUDE:+-I"$NSQ_TEST_INCLUDE"} -o "$folder/vulkan" tests/nsys/vulkan.c "${flags[@]}" -lvulkan 2>/dev/null &&
  "$folder/vulkan"; then
  compare vulkan vulkan,vulkan-annotations vulkan_api_sum vulkan_api_trace vulkan_marker_sum
else
  echo 'skipped: no Vulkan'
fi
echo "captures: $compared reports compared"
exit "$differ"
