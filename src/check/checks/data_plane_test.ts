import assert from "node:assert/strict";
import { clusterInventory } from "../../../test/support/kube/cluster.ts";
import { findingFor } from "../../../test/support/kube/finding.ts";
import { isPod, type KubeObject } from "../../kube/client/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import type { Finding } from "../check.ts";
import { podKeeper } from "../inventory/kept_fields.ts";
import { judgePods, POD_CHECKS } from "./data_plane.ts";

const RUNNING = { running: {} };
const NOW = new Date("2026-01-01T01:00:00Z");

interface PodCase {
  readonly resources?: ValueMap;
  readonly proxy?: ValueMap;
  readonly init?: ValueMap;
  readonly conditions?: ValueMap[];
  readonly phase?: string;
  readonly metadata?: ValueMap;
  readonly native?: boolean;
}

function podOf(
  { proxy = {}, init, conditions = [], phase = "Running", metadata = {}, native = false, resources }: PodCase,
) {
  const limits = { resources: resources ?? { limits: { memory: "128Mi" } } };
  const container = { name: "istio-proxy", image: "hub.test/proxyv2:1", ...limits };
  const app = { name: "app", image: "app" };
  const inits = init === undefined ? [] : [{ name: "istio-init", image: "hub.test/proxyv2:1" }];
  const status = { name: "istio-proxy", ready: true, restartCount: 0, state: RUNNING, ...proxy };
  const initStatus = init === undefined ? [] : [{ name: "istio-init", ...init }];
  const object: KubeObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "cart-1", namespace: "shop", ...metadata },
    spec: {
      initContainers: native ? [...inits, { ...container, restartPolicy: "Always" }] : inits,
      containers: native ? [app] : [app, container],
    },
    status: {
      phase,
      conditions,
      initContainerStatuses: native ? [...initStatus, status] : initStatus,
      containerStatuses: native ? [] : [{ name: "app", ready: false }, status],
    },
  };
  return object;
}

/** Returns the findings that are not `ok`, by id, for pods with only the kept fields. */
function findings(...cases: readonly PodCase[]): Record<string, Finding> {
  const pods = cases.map(podOf).map(podKeeper()).filter(isPod);
  const all = POD_CHECKS.map((check) => [check.id, judgePods(check, pods, NOW)] as const);
  return Object.fromEntries(all.filter(([, { result }]) => result !== "ok"));
}

/** Returns the findings as `id result: first line of the message`. */
function shown(...cases: readonly PodCase[]): string[] {
  return Object.entries(findings(...cases)).map(([id, { result, message = "" }]) =>
    `${id} ${result}: ${message.split("\n")[0]?.replace("pod/shop/cart-1: ", "")}`
  );
}

const waiting = (reason: string, message = "") => ({ ready: false, state: { waiting: { reason, message } } });
const ended = (exitCode: number, reason: string, message = "") => ({ terminated: { exitCode, reason, message } });

Deno.test("a ready proxy is ok, also as a native sidecar", () => {
  assert.deepEqual(findings({}, { native: true }, { init: { state: ended(0, "Completed") } }), {});
});

Deno.test("completed pods, terminating pods and pods without a proxy are ignored", () => {
  const gone = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, proxy: { ready: false } };
  const done = { phase: "Succeeded", proxy: { ready: false, state: ended(0, "Completed") } };
  assert.deepEqual([...new Set(shown(gone, done).map((line) => line.replace(/^\S+ /, "")))], [
    "skipped: no pod has a proxy",
  ]);
});

const BROKEN: readonly (readonly [name: string, pod: PodCase, shown: readonly string[]])[] = [
  ["an image that is not there", {
    proxy: waiting("ImagePullBackOff", 'Back-off pulling image "hub.test/proxyv2:1"'),
  }, [
    'proxy-image error: istio-proxy cannot pull the image "hub.test/proxyv2:1": ImagePullBackOff: ' +
    'Back-off pulling image "hub.test/proxyv2:1"',
  ]],
  ["an image that the init container lacks", {
    init: waiting("ErrImagePull"),
    proxy: waiting("PodInitializing"),
  }, ['proxy-image error: istio-init cannot pull the image "hub.test/proxyv2:1": ErrImagePull']],
  ["an init container that fails", {
    init: { ...waiting("CrashLoopBackOff"), restartCount: 4, lastState: ended(2, "Error", "iptables: no chain\n") },
    proxy: waiting("PodInitializing"),
  }, ["proxy-init error: istio-init ended with 2: iptables: no chain"]],
  ["a capture that the CNI plugin did not make", {
    init: { state: ended(126, "Error") },
    proxy: waiting("PodInitializing"),
  }, [
    "proxy-init error: istio-init ended with 126: the traffic is not captured: the CNI plugin did not run for this pod",
  ]],
  ["a proxy whose program cannot be executed", {
    proxy: { ...waiting("CrashLoopBackOff"), lastState: ended(126, "Error") },
  }, [
    "proxy-ready error: istio-proxy waits: CrashLoopBackOff, it ended with 126: its program cannot be executed",
  ]],
  ["a volume that is not there", {
    proxy: waiting("CreateContainerConfigError", 'configmap "istio-ca-root-cert" not found'),
  }, [
    "proxy-ready error: istio-proxy does not start: CreateContainerConfigError: " +
    'configmap "istio-ca-root-cert" not found',
  ]],
  ["a proxy that is not ready", { proxy: { ready: false } }, [
    "proxy-ready error: istio-proxy runs but is not ready",
  ]],
  ["a proxy without a report of the kubelet", { proxy: { ready: false, state: {} } }, [
    "proxy-ready error: the kubelet reports no status of istio-proxy",
  ]],
  ["a proxy that has ended", { proxy: { ready: false, state: ended(1, "Error") } }, [
    "proxy-ready error: istio-proxy does not run, it ended with 1",
  ]],
  ["a native proxy that is not ready", { native: true, proxy: { ready: false } }, [
    "proxy-ready error: istio-proxy runs but is not ready",
  ]],
  ["a proxy that crashes", {
    proxy: { ...waiting("CrashLoopBackOff"), restartCount: 5, lastState: ended(255, "Error", "no token") },
  }, [
    "proxy-ready error: istio-proxy waits: CrashLoopBackOff, it ended with 255: no token",
    "proxy-restarts warning: istio-proxy restarted 5 times, the last time it ended with 255: no token",
  ]],
  ["a proxy that was killed for its memory", {
    proxy: { restartCount: 2, lastState: ended(137, "OOMKilled") },
  }, ["proxy-memory warning: istio-proxy was OOM-killed with a limit of 128Mi, restarts: 2"]],
  ["a proxy that was started again once", {
    proxy: { restartCount: 1, lastState: ended(139, "Error") },
  }, ["proxy-restarts warning: istio-proxy restarted once, the last time it ended with 139: a segmentation fault"]],
  ["a pod without a node", {
    phase: "Pending",
    proxy: { ready: false, state: {} },
    conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/3 nodes: cpu" }],
  }, ["proxy-scheduled error: Unschedulable: 0/3 nodes: cpu"]],
];

Deno.test("a proxy that was killed for its memory gets twice as much, and keeps its other resources", () => {
  const metadata = {
    generateName: "cart-5d4-",
    labels: { "pod-template-hash": "5d4" },
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "cart-5d4", controller: true }],
  };
  const killed = { restartCount: 1, lastState: ended(137, "OOMKilled") };
  const resources = { requests: { cpu: "100m", memory: "64Mi" }, limits: { cpu: "2", memory: "1Gi" } };
  const { "proxy-memory": found } = findings({ metadata, proxy: killed, resources });
  const [advice] = found?.fixes?.[0]?.alternatives ?? [];
  const patch = {
    "sidecar.istio.io/proxyCPU": "100m",
    "sidecar.istio.io/proxyMemory": "64Mi",
    "sidecar.istio.io/proxyCPULimit": "2",
    "sidecar.istio.io/proxyMemoryLimit": "2Gi",
  };
  const whole = { spec: { template: { metadata: { annotations: patch } } } };
  assert.deepEqual(advice?.steps.map(({ command }) => command), [
    `kubectl patch deployment/cart -n shop --type=merge -p '${JSON.stringify(whole)}'`,
  ]);
  const { "proxy-memory": unlimited } = findings({ metadata, proxy: killed, resources: {} });
  assert.deepEqual(unlimited?.fixes?.[0]?.alternatives.flatMap(({ steps }) => steps), []);
});

/** The output of commands in the proxy's container; `undefined` if exec is forbidden. */
const ASKED: Readonly<Record<string, readonly [pod: PodCase, stdout: string | undefined, expected: string]>> = {
  "a ready proxy is not asked": [{}, "", "ok "],
  "a proxy that does not run is not asked": [{ proxy: waiting("CrashLoopBackOff") }, "", "ok "],
  "a proxy that does not answer": [
    { proxy: { ready: false } },
    "",
    "error pod/shop/cart-1: Envoy does not accept connections: it has not started, or it has exited",
  ],
  "a proxy that has all": [
    { proxy: { ready: false } },
    '{"configs":[{"@type":"a.ListenersConfigDump","version_info":"2026-01-01T00:00:00Z/1"}]}',
    "ok ",
  ],
  "a proxy that refused a listener": [
    { proxy: { ready: false } },
    '{"configs":[{"@type":"a.ListenersConfigDump","dynamic_listeners":[{"name":"l","error_state":{"details":"bad port"}}]}]}',
    'error pod/shop/cart-1: configuration: Envoy rejected "l": bad port',
  ],
  "nobody may ask": [
    { proxy: { ready: false } },
    undefined,
    'unknown cannot tell: needs get and create on pods/exec in the namespace "shop"',
  ],
};

for (const [name, [pod, stdout, expected]] of Object.entries(ASKED)) {
  Deno.test(`proxy-synchronised: ${name}`, async () => {
    const inventory = clusterInventory({
      objects: [podOf(pod)],
      ...stdout === undefined ? { forbidden: /exec$/ } : {},
      exec: () => ({
        code: stdout === "" ? 1 : 0,
        stdout: new TextEncoder().encode(stdout),
        stderr: stdout === "" ? "connection refused" : "",
      }),
    });
    const { result, message = "" } = await findingFor("proxy-synchronised", inventory);
    assert.equal(`${result} ${message}`, expected);
  });
}

for (const [name, pod, expected] of BROKEN) {
  Deno.test(`data-plane: ${name}`, () => assert.deepEqual(shown(pod), expected));
}

Deno.test("a termination message keeps its end, and shows control characters as text", () => {
  const message = `${"x".repeat(5000)}\n\x1b[31mthe cause\x07`;
  const [line = ""] = shown({ proxy: { restartCount: 1, lastState: ended(1, "Error", message) } });
  assert.match(line, /: \.\.\.x+;\s+\\u001b\[31mthe cause\\u0007$/);
  assert.ok(line.length < 450, line);
});

Deno.test("the message has ten lines, the objects name all pods", () => {
  const cases = Array.from({ length: 30 }, (_, index) => ({
    metadata: { name: `cart-${index}` },
    proxy: { ready: false },
  }));
  const { message = "", objects } = findings(...cases)["proxy-ready"] ?? {};
  assert.equal(message.split("\n").length, 11);
  assert.match(message, /\nand 20 more$/);
  assert.equal(objects?.length, 30);
});

Deno.test("without the right to list pods the result is unknown", async () => {
  for (const check of POD_CHECKS) {
    assert.deepEqual(await findingFor(check.id, clusterInventory({ forbidden: /pods$/ })), {
      result: "unknown",
      message: "cannot tell: needs list on pods",
      missingRight: "list on pods",
    });
  }
});

Deno.test("a proxy that waits too long for init containers is not ready; the init container is named", () => {
  const proxy = waiting("PodInitializing");
  const at = (creationTimestamp: string) => ({ metadata: { creationTimestamp } });
  const running = { state: RUNNING };
  assert.deepEqual(shown({ proxy, init: running, ...at("2026-01-01T00:58:00Z") }), []);
  assert.deepEqual(shown({ proxy, init: running, ...at("2026-01-01T00:00:00Z") }), [
    'proxy-ready error: istio-proxy waits for 60 minutes: the init container "istio-init" has not finished',
  ]);
  const failed = { state: ended(1, "Error") };
  assert.deepEqual(shown({ proxy, init: failed, ...at("2026-01-01T00:00:00Z") }), [
    "proxy-init error: istio-init ended with 1",
  ]);
});

Deno.test('a proxy with the image "auto" was not injected: hub and tag are not to blame', () => {
  const { spec, ...rest } = podOf({ proxy: waiting("ErrImagePull", "no such image") });
  const text = JSON.stringify(spec).replace("hub.test/proxyv2:1", "auto");
  const pods = [{ ...rest, spec: JSON.parse(text) }].map(podKeeper()).filter(isPod);
  const check = POD_CHECKS.find(({ id }) => id === "proxy-image");
  assert(check !== undefined);
  const { message = "" } = judgePods(check, pods, NOW);
  assert.match(
    message,
    /^pod\/shop\/cart-1: istio-proxy has the image "auto", which injection replaces, but the pod is not injected/,
  );
});
