/** Commands by program name: a link to the binary with one of these names replaces another program. */
const COMMANDS: Readonly<Record<string, string>> = {
  "pilot-agent": "pilot-agent",
  "istio-iptables": "istio-iptables",
  "istio-iptables.sh": "istio-iptables.sh",
  "istio-clean-iptables": "istio-clean-iptables",
  // Container runtimes call a plugin by the name in its configuration, without arguments.
  "mesh-cni": "mesh-cni",
  // Some releases of kustomize pass no arguments to a function.
  "kubectl-mesh-kustomize": "kustomize",
  "kubectl_complete-mesh": "__complete",
};

/** Returns the arguments, preceded by the command that the program's name selects. */
export function argumentsOf(name: string, args: readonly string[]): readonly string[] {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command === undefined ? args : [command, ...args];
}
