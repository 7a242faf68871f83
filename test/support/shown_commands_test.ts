import assert from "node:assert/strict";
import { shownCommands } from "./shown_commands.ts";

Deno.test("shownCommands() finds the commands of the program where a shell would start them", () => {
  const rows: readonly [string, string[][]][] = [
    ["kubectl mesh check -n a   # all\n$ kubectl mesh version", [["check", "-n", "a"], ["version"]]],
    ["set -e; kubectl mesh inject -f a.yaml | kubectl apply -f -", [["inject", "-f", "a.yaml"]]],
    ['eval "$(kubectl-mesh completion bash)"', [["completion", "bash"]]],
    ['see "kubectl mesh check --explain a"', [["check", "--explain", "a"]]],
    ["A=b plugin/kubectl-mesh agent 2>&1", [["agent"]]],
    ["kubectl mesh iptables generate -i '*' -b \"a b\" \\\n  -d $(id -u)", [[
      "iptables",
      "generate",
      "-i",
      "*",
      "-b",
      "a b",
      "-d",
      "$(id -u)",
    ]]],
    ["install dist/kubectl-mesh /usr/local/bin/\napt remove kubectl-mesh\nkubectl-mesh_1_linux.tar.gz", []],
    ["kubectl mesh", [[]]],
  ];
  for (const [code, expected] of rows) assert.deepEqual(shownCommands(code), expected, code);
});
