import assert from "node:assert/strict";
import { FLAG_LIST } from "./flags.ts";
import { helpText, MODES, overviewText } from "./help.ts";

Deno.test("helpText() has every flag and variable that is not hidden, and none that is", () => {
  const text = helpText("istio-iptables", "apply");
  assert.match(text, /^Usage: istio-iptables \[FLAGS\]$/m);
  for (const [name, { long, env = [], hidden }] of FLAG_LIST) {
    const word = long === "" ? `  ${env.join(", ")} ` : `--${long} `;
    assert.equal(text.includes(word), hidden !== true, name);
  }
});

Deno.test("helpText() tells short names, values, defaults and variables", () => {
  const text = helpText("istio-iptables", "apply");
  assert.match(text, /^ {2}-p, --envoy-port TEXT +Port .* \(default 15001\) \[ENVOY_PORT\]$/m);
  assert.match(text, /^ {6}--probe-timeout TIME +How .* \(default 5s\) \[PROBE_TIMEOUT\]$/m);
  assert.match(text, /^ {2}-n, --dry-run +Print /m);
});

Deno.test("overviewText() names the commands", () => {
  for (const mode of MODES) assert.match(overviewText("kubectl mesh iptables"), new RegExp(`^  ${mode} `, "m"));
});
