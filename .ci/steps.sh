# shellcheck shell=bash
# Counts the steps and suites of .ci/run, and keeps what failed: a log is long, and its last lines name each failure.

passed=0 failed=0 skipped=0
failures=() late=()
ci_folder=$(mktemp -d)
trap 'rm -rf "$ci_folder"' EXIT

# Runs a command; its output is also in the file "log".
logged() {
  printf '\n##### %s (%ss)\n' "$name" "$SECONDS"
  "$@" 2>&1 | tee "$ci_folder/log"
  return "${PIPESTATUS[0]}"
}

# Steps that are no suite of tests count as one test each.
step() {
  local name=$1
  shift
  if logged "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$name")
    { printf '\n##### %s\n' "$name" && tail -n 60 "$ci_folder/log"; } >>"$ci_folder/errors"
  fi
}

# Runs tests and adds up the counts of their last line; a run without that line is a failure.
suite() {
  local name=$1 status=0 counts p=0 f=1 s=0 test found=0
  shift
  logged "$@" || status=$?
  counts=$(tail -n 1 "$ci_folder/log" | sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p')
  if [ -n "$counts" ]; then read -r p f s <<<"$counts"; fi
  if [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  while read -r test; do late+=("$name: $test"); done < <(grep -E '^[0-9]+ not run: out of time' "$ci_folder/log")
  if [ "$f" -eq 0 ]; then return; fi
  printf '\n##### %s\n' "$name" >>"$ci_folder/errors"
  # See summary() in tools/test/report.ts: the errors, the skipped tests, the names, the counts.
  awk '/^=== Failed: /{on=1} /^(Skipped:$|[0-9]+ not run: |FAILED [^|])/{on=0} on' "$ci_folder/log" >"$ci_folder/sections"
  if ! [ -s "$ci_folder/sections" ]; then tail -n 60 "$ci_folder/log" >"$ci_folder/sections"; fi
  cat "$ci_folder/sections" >>"$ci_folder/errors"
  while read -r test; do
    found=1
    failures+=("$name: $test")
  done < <(sed -nE 's/^FAILED ([^|])/\1/p' "$ci_folder/log")
  if [ "$found" -eq 0 ]; then failures+=("$name: $f failed"); fi
}

# Prints what failed, what had no time, and the counts as the last line.
finish() {
  local failure test
  printf '\n'
  if [ -e "$ci_folder/errors" ]; then cat "$ci_folder/errors" && printf '\n'; fi
  for failure in "${failures[@]+"${failures[@]}"}"; do printf 'FAILED %s\n' "$failure"; done
  for test in "${late[@]+"${late[@]}"}"; do printf '%s\n' "$test"; done
  printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ]
}
