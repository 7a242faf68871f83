import assert from "node:assert/strict";
import { containersOfProxyUser, initContainersWithoutNetwork, otherMeshSidecars, portConflicts } from "./conflicts.ts";
import type { Pod } from "./pod.ts";

const proxy = { name: "istio-proxy", ports: [{ containerPort: 15090 }], securityContext: { runAsUser: 1337 } };

function podOf(inits: readonly string[], hasNative = false): Pod {
  const initContainers = inits.map((name) =>
    name === "own-1337" ? { name, securityContext: { runAsUser: 1337 } } : { name }
  );
  return { spec: { initContainers, containers: hasNative ? [{ name: "app" }] : [{ name: "app" }, proxy] } };
}

const INITS: readonly [string, Pod, readonly string[]][] = [
  ["istio-init captures from its end", podOf(["a", "istio-init", "b"]), ["b"]],
  ["the CNI plugin captures from the start", podOf(["a", "istio-validation", "b"]), ["a", "b"]],
  ["a native sidecar runs before the rest", podOf(["istio-init", "a", "istio-proxy", "b"], true), ["a"]],
  ["the proxy's user is not captured", podOf(["istio-init", "own-1337"]), []],
  ["nothing captures", podOf(["a"]), []],
  ["no proxy runs", podOf(["istio-init", "a"], true), []],
];

for (const [name, pod, expected] of INITS) {
  Deno.test(`initContainersWithoutNetwork(): ${name}`, () => {
    assert.deepEqual(initContainersWithoutNetwork(pod), expected);
  });
}

Deno.test("containersOfProxyUser() counts the pod's user, and not the proxy", () => {
  const app = { name: "app" };
  const other = { name: "other", securityContext: { runAsUser: 1 } };
  const pod = { spec: { securityContext: { runAsUser: 1337 }, containers: [app, other, proxy] } };
  assert.deepEqual(containersOfProxyUser(pod), ["app"]);
});

Deno.test("portConflicts() names the application's ports on which the proxy listens", () => {
  const app = { name: "app", ports: [{ containerPort: 8080 }, { containerPort: 15001 }, { containerPort: 15020 }] };
  assert.deepEqual(portConflicts({ spec: { containers: [app, proxy] } }), [
    { port: 15001, container: "app", use: "captured outbound connections" },
    { port: 15020, container: "app", use: "the agent's merged metrics and probes" },
  ]);
});

Deno.test("otherMeshSidecars() finds sidecars of other meshes in both lists", () => {
  const pod = { spec: { initContainers: [{ name: "kuma-sidecar" }], containers: [proxy, { name: "linkerd-proxy" }] } };
  assert.deepEqual(otherMeshSidecars(pod), [
    { container: "kuma-sidecar", mesh: "Kuma" },
    { container: "linkerd-proxy", mesh: "Linkerd" },
  ]);
});
