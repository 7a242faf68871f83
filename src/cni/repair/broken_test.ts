import assert from "node:assert/strict";
import type { ValueMap } from "../../base/value.ts";
import { addressesOf, isOver, type State, stateOf } from "./broken.ts";

function podWith(status: ValueMap, metadata: ValueMap = {}) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", annotations: { "sidecar.istio.io/status": "{}" }, ...metadata },
    spec: { initContainers: [{ name: "istio-validation" }], containers: [{ name: "istio-proxy" }] },
    status,
  };
}

function validation(state: ValueMap, lastState: ValueMap = {}): ValueMap {
  return {
    podIP: "10.0.0.2",
    phase: "Pending",
    initContainerStatuses: [{ name: "istio-validation", state, lastState }],
  };
}

const ended = (exitCode: number) => ({ terminated: { exitCode } });

const CASES: readonly (readonly [what: string, status: ValueMap, expected: State])[] = [
  ["that crashes", validation({ waiting: {} }, ended(126)), "broken"],
  ["that runs again", validation({ running: {} }, ended(126)), "broken"],
  ["that failed and restarts nothing", { ...validation(ended(126)), phase: "Failed" }, "broken"],
  ["that is mended", validation(ended(0), ended(126)), "look"],
  ["whose validation failed for another reason", validation({ waiting: {} }, ended(1)), "look"],
  ["that starts", { phase: "Pending", podIP: "10.0.0.2" }, "look"],
  ["without an address yet", { phase: "Pending" }, "fine"],
  ["that has ended", { phase: "Succeeded", podIP: "10.0.0.2" }, "fine"],
];

for (const [what, status, expected] of CASES) {
  Deno.test(`a pod ${what}: ${expected}`, () => assert.equal(stateOf(podWith(status)), expected));
}

Deno.test("pods that are deleted or not captured need no repair", () => {
  const status = validation({ waiting: {} }, ended(126));
  assert.equal(stateOf(podWith(status, { deletionTimestamp: "2026-01-01T00:00:00Z" })), "fine");
  assert.equal(stateOf(podWith(status, { annotations: {} })), "fine");
});

Deno.test("addressesOf() has each address of the pod once; isOver() is true only for a finished pod", () => {
  const status = { phase: "Running", podIP: "10.0.0.2", podIPs: [{ ip: "10.0.0.2" }, { ip: "fd00::2" }] };
  assert.deepEqual(addressesOf(podWith(status)), ["10.0.0.2", "fd00::2"]);
  assert.equal(isOver(podWith(status)), false);
  assert.equal(isOver(podWith({ phase: "Failed" })), true);
});
