/**
 * The program answers to the names of the programs it replaces: a link to the binary with such a name is the hidden
 * command of that name.
 */
const COMMANDS: Readonly<Record<string, string>> = {
  "pilot-agent": "pilot-agent",
  "istio-iptables": "istio-iptables",
  "istio-iptables.sh": "istio-iptables",
  "istio-clean-iptables": "istio-clean-iptables",
  // Not every kustomize gives a function arguments.
  "kubectl-mesh-kustomize": "kustomize",
  "kubectl_complete-mesh": "__complete",
};

/** The arguments with the command that the program's name stands for in front. */
export function argumentsOf(name: string, args: readonly string[]): readonly string[] {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return command === undefined ? args : [command, ...args];
}
