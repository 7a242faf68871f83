import assert from "node:assert/strict";
import { BUILT_IN } from "../default/mod.ts";
import { newInjector } from "../injector.ts";
import { nativeByNodes, nativeNodes } from "./native.ts";

function nodes(...versions: readonly string[]) {
  return nativeNodes(versions.map((kubeletVersion, at) => ({
    metadata: { name: `n${at}` },
    status: { nodeInfo: { kubeletVersion } },
  })));
}

Deno.test("kubelets from 1.33 on run native sidecars; an unreadable version does not", () => {
  const of = (version: string) => nodes(version).all;
  for (const version of ["v1.33.0", "v1.34.2-gke.10", "v1.100.0"]) assert.equal(of(version), true, version);
  for (const version of ["v1.32.9", "v1.9.0", "", "v2", "unknown"]) assert.equal(of(version), false, version);
});

Deno.test("the pod's own node decides, else all nodes", () => {
  const mixed = nodes("v1.33.0", "v1.30.0");
  const rows = [
    ["always", mixed, "n0", true],
    ["always", mixed, "n1", false],
    ["always", mixed, "gone", false],
    ["always", mixed, "", false],
    ["if-any", nodes("v1.33.0"), "", true],
    ["if-any", nodes(), "", false],
    ["always", nodes(), "", true],
    ["always", undefined, "", false],
    ["never", nodes("v1.33.0"), "n0", false],
    ["always", nodes("v1.33.0"), "toString", true],
  ] as const;
  for (const [asked, known, nodeName, expected] of rows) {
    assert.equal(nativeByNodes(asked, known, nodeName), expected, `${asked} ${JSON.stringify(known)} ${nodeName}`);
  }
});

Deno.test("ENABLE_NATIVE_SIDECARS decides whether nodes decide; by default for templates with native sidecars", () => {
  const asked = (value: string | undefined, config: string, nativeSidecars?: boolean) => {
    const env = (name: string) => name === "ENABLE_NATIVE_SIDECARS" ? value : undefined;
    const source = { text: config, file: "config" };
    const now = () => new Date(0);
    const values = { text: BUILT_IN.values, file: "values" };
    return newInjector({ config: source, values, byHand: false, env, now, nativeSidecars }).nodesAsked;
  };
  const old = "metadata:\n  labels:\n    a: {{ .Spec.hostname }}\n";
  assert.equal(asked(undefined, BUILT_IN.config), "if-any");
  assert.equal(asked("", BUILT_IN.config), "if-any");
  assert.equal(asked(undefined, old), "never");
  assert.equal(asked("auto", old), "always");
  for (const value of ["true", "false", "perhaps"]) assert.equal(asked(value, BUILT_IN.config), "never", value);
  assert.equal(asked("auto", BUILT_IN.config, false), "never");
});
