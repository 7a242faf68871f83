/**
 * The program answers to the names of the programs it replaces: by the name it is started by (a link to the binary) or,
 * failing that, by its first argument.
 *
 * | name or first argument                   | means                        |
 * |------------------------------------------|------------------------------|
 * | `istio-iptables`, `istio-iptables.sh`    | `pilot-agent istio-iptables` |
 * | `istio-clean-iptables`                   | the same, cleaning           |
 * | `pilot-agent`                            | that program's subcommands   |
 * | anything else                            | the plugin                   |
 */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  "pilot-agent": ["pilot-agent"],
  "istio-iptables": ["pilot-agent", "istio-iptables"],
  "istio-iptables.sh": ["pilot-agent", "istio-iptables"],
  "istio-clean-iptables": ["pilot-agent", "istio-clean-iptables"],
};

/** The words of the command line with the name that was used, if it means something, in front. */
export function commandLine(name: string, args: readonly string[]): readonly string[] {
  const byName = peer(name);
  if (byName !== undefined) return [...byName, ...args];
  const byArgument = peer(args[0] ?? "");
  return byArgument === undefined ? args : [...byArgument, ...args.slice(1)];
}

function peer(name: string): readonly string[] | undefined {
  return Object.hasOwn(PEERS, name) ? PEERS[name] : undefined;
}
