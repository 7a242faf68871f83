# shellcheck shell=bash
# What both demos share: they say what happens, run commands, and show both; on a terminal in colour, with pauses that a key ends.

fast=${fast:-}
# Seconds to read what stands above.
PAUSE=${DEMO_PAUSE:-4}

fail() {
  printf 'error: %s\n' "$1" >&2
  exit "${2:-1}"
}

# Comments are blue, commands bold, marks green, yellow and red.
paint() {
  if [ -t 1 ] && [ -z "${color_is_off:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    sed -E -e $'s/^# .*/\e[34m&\e[0m/; s/^\\$ .*/\e[1m&\e[0m/; s/√/\e[32m&\e[0m/g; s/‼/\e[33m&\e[0m/g; s/×/\e[31m&\e[0m/g'
  else
    cat
  fi
}

# Time to read, if somebody looks.
pause() {
  local rest
  if [ -n "$fast" ] || ! [ -t 0 ] || ! [ -t 1 ]; then return; fi
  read -rsn 1 -t "$PAUSE" || return 0
  # The keys of arrows send more than one character.
  read -rsn 8 -t 0.05 rest || :
}

say() {
  pause
  { printf '\n' && printf '# %s\n' "$@"; } | paint
}

# Runs a command until its output matches: most changes take a moment.
until_says() {
  local end=$((SECONDS + 180))
  until output=$(eval "$2" 2>&1 3>&- 4<&-); [[ $output =~ $1 ]]; do
    still_possible || exit 1
    ((SECONDS < end)) || fail "\"$2\" never says \"$1\", but: $output"
    sleep 0.2
  done
}

# A demo whose servers may end says whether they still run.
still_possible() { :; }

# Shows a command and its output.
run() {
  printf '$ %s\n' "$2" | paint
  until_says "$1" "$2"
  printf '%s\n' "$output" | paint
}

# The command below the first "fix:" of what was shown last.
advice() { sed -n '/^ *fix: /{n;s/^ *//p;q}' <<<"$output"; }

# Commands write into this script, which adds the colours.
color_is_off=${NO_COLOR:-}
export NO_COLOR=1
