/** client-node is large: it is loaded for a user with OIDC, and never in a pod. */
import assert from "node:assert/strict";
import { importsOf } from "./arrows.ts";
import { loadedWith } from "./reached.ts";
import { filesBelow, read } from "./source.ts";

const ONLY = "src/kube/client/from_kubeconfig.ts";
const SOURCES = filesBelow("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));
const IMPORTS = SOURCES.flatMap((path) => importsOf(path, read(path)));

Deno.test("one file imports the code of client-node, and one imports that file, lazily", () => {
  const code = /^(?:import|export)\s(?!type\b)[^;]*?"@kubernetes\/client-node|\bimport\(\s*"@kubernetes\/client-node/m;
  assert.deepEqual(SOURCES.filter((path) => code.test(read(path))), [ONLY]);
  assert.deepEqual(IMPORTS.filter(({ to }) => to === ONLY), [
    { from: "src/kube/client/connect.ts", to: ONLY, how: "lazy" },
  ]);
});

/** All files that a file may load, also by `import()`. */
function reachable(start: string): ReadonlySet<string> {
  const found = new Set([start]);
  for (const each of found) {
    for (const { from, to, how } of IMPORTS) if (from === each && how !== "type") found.add(to);
  }
  return found;
}

Deno.test("agent, wait and iptables cannot reach client-node; inject and the webhook load it only by connect()", () => {
  for (const command of ["agent", "wait", "iptables"]) {
    assert.ok(!reachable(`src/${command}/mod.ts`).has(ONLY), command);
  }
  for (const command of ["inject", "webhook", "check", "cli"]) {
    assert.ok(!loadedWith(`src/${command}/mod.ts`).has(ONLY), command);
  }
  assert.ok(reachable("src/webhook/mod.ts").has(ONLY));
});
