/** The commands that a link to the binary with one of these names runs: the programs that this one replaces. */
const COMMANDS: Readonly<Record<string, string>> = {
  "pilot-agent": "pilot-agent",
  "istio-iptables": "istio-iptables",
  "istio-iptables.sh": "istio-iptables.sh",
  "istio-clean-iptables": "istio-clean-iptables",
  // Container runtimes call a plugin by the name in its configuration, without arguments.
  "mesh-cni": "mesh-cni",
  // Not every kustomize gives a function arguments.
  "kubectl-mesh-kustomize": "kustomize",
  "kubectl_complete-mesh": "__complete",
};

/** The arguments, after the command that the program's name stands for. */
export function argumentsOf(name: string, args: readonly string[]): readonly string[] {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command === undefined ? args : [command, ...args];
}
