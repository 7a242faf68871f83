#!/bin/sh
# Stands in for Envoy while the code cache is made: it ends as an Envoy that was told to, after the agent has reaped an
# orphan that lived longer than the agent's timers of a second. Otherwise chance decides which functions run before the
# end, and are cached.
orphan=$(sh -c 'sleep 2 >/dev/null & echo $!')
tries=0
while kill -0 "$orphan" 2>/dev/null && [ "$tries" -lt 100 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
exit 0
