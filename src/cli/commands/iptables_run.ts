/** The entries of the room of traffic capture, in a chunk of their own: other commands do not load it. */
export { runIptables, runIstioIptables } from "../../iptables/mod.ts";
