import assert from "node:assert/strict";
import { argumentsOf } from "./names.ts";

const CASES: readonly [name: string, args: string[], expected: string[]][] = [
  ["kubectl-mesh", ["inject", "-f", "x"], ["inject", "-f", "x"]],
  ["anything", [], []],
  ["istio-iptables", ["-p", "15001"], ["istio-iptables", "-p", "15001"]],
  ["istio-iptables.sh", ["clean"], ["istio-iptables.sh", "clean"]],
  ["istio-clean-iptables", [], ["istio-clean-iptables"]],
  ["pilot-agent", ["istio-iptables", "-n"], ["pilot-agent", "istio-iptables", "-n"]],
  ["kubectl-mesh-kustomize", [], ["kustomize"]],
  ["kubectl_complete-mesh", ["inject", ""], ["__complete", "inject", ""]],
  ["constructor", ["toString"], ["toString"]],
];

for (const [name, args, expected] of CASES) {
  Deno.test(`argumentsOf() of ${name} ${args.join(" ")}`, () => assert.deepEqual(argumentsOf(name, args), expected));
}
