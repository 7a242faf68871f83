import assert from "node:assert/strict";
import { commandLine } from "./names.ts";

const CASES: readonly [name: string, args: string[], expected: string[]][] = [
  ["kubectl-mesh", ["inject", "-f", "x"], ["inject", "-f", "x"]],
  ["anything", [], []],
  ["istio-iptables", ["-p", "15001"], ["pilot-agent", "istio-iptables", "-p", "15001"]],
  ["istio-iptables.sh", ["clean"], ["pilot-agent", "istio-iptables", "clean"]],
  ["istio-clean-iptables", [], ["pilot-agent", "istio-clean-iptables"]],
  ["pilot-agent", ["istio-iptables", "-n"], ["pilot-agent", "istio-iptables", "-n"]],
  ["kubectl-mesh", ["istio-iptables", "-n"], ["pilot-agent", "istio-iptables", "-n"]],
  ["kubectl-mesh", ["pilot-agent", "istio-iptables"], ["pilot-agent", "istio-iptables"]],
  ["constructor", ["toString"], ["toString"]],
];

for (const [name, args, expected] of CASES) {
  Deno.test(`commandLine() of ${name} ${args.join(" ")}`, () => assert.deepEqual(commandLine(name, args), expected));
}
