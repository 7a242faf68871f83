#!/bin/sh
# Stands in for iptables-save and ip6tables-save while the code cache is made (stand_ins.ts): prints what a pod holds
# whose traffic is captured. It asks no kernel and needs no other program. The working directory is the checkout.
case ${0##*/} in
  ip6*) text=ip6tables-save.txt ;;
  *) text=iptables-save.txt ;;
esac
while read -r line; do printf '%s\n' "$line"; done <"tools/compile/workload/iptables/$text"
