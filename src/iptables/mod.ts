/**
 * Traffic capture: settings (a command line and an environment) in; rules in the kernel of a network namespace, their
 * text, or the proof that they work, out. `runIptables` has the subcommands of `kubectl mesh iptables`,
 * `runIstioIptables` is the program of Istio that injected pods start.
 */
export { runIptables, runIstioIptables } from "./run.ts";
export { type Flag, FLAG_LIST } from "./settings/flags.ts";
