#!/bin/sh
# Stands in for iptables-restore and ip6tables-restore while the code cache is made (stand_ins.ts): reads its input, and
# changes nothing.
while read -r _; do :; done
