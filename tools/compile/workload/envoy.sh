#!/bin/sh
# Stands in for Envoy while the code cache is made: it ends at once, as an Envoy that was told to.
exit 0
