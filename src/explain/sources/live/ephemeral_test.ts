import assert from "node:assert/strict";
import { ApiError, type HeldRequest, type KubeObject, type Pod } from "../../../kube/client/mod.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import type { ValueMap } from "../../../base/value.ts";
import { type Guest, probeGuest, rulesGuest, SLEEPS, startGuest } from "./ephemeral.ts";

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop" },
  spec: { containers: [] },
};

interface Setting {
  readonly pod?: Pod;
  readonly refusal?: ApiError;
  readonly guest?: Guest;
}

/** A pod whose ephemeral container has these states, one after the other. */
async function startedWith(
  states: readonly ValueMap[],
  { pod = POD, refusal, guest = rulesGuest("proxyv2:1") }: Setting = {},
) {
  const done: unknown[] = [];
  const left = [...states];
  let name = "";
  const api = {
    patch: (path: string, _type: string, body: object) => {
      done.push(path, body);
      name = /"name":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? "";
      return refusal === undefined ? Promise.resolve(objectWith({})) : Promise.reject(refusal);
    },
    hold: ({ container, command }: HeldRequest) => (done.push([container, ...command]), Promise.resolve(true)),
    get: () => Promise.resolve(objectWith(left.length > 1 ? left.shift() ?? {} : left[0] ?? {})),
  };
  function objectWith(state: ValueMap): KubeObject {
    const status = { ephemeralContainerStatuses: [{ name, state }] };
    return { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, status };
  }
  const said: string[] = [];
  const found = await startGuest({ api, clock: fakeWorld().clock, say: (text) => said.push(text) }, pod, guest);
  return { found, done, said: said.join("") };
}

const RUNS = { running: { startedAt: "2026-01-02T03:04:05Z" } };

Deno.test("startGuest() announces the container, and waits until it runs", async () => {
  const { found, done, said } = await startedWith([{}, { waiting: { reason: "ContainerCreating" } }, RUNS]);
  assert.equal(found, "kubectl-mesh-rules-1");
  assert.match(
    said,
    /^Adding the ephemeral container "kubectl-mesh-rules-1" to pod "shop\/web": image "proxyv2:1", user 0, capabilities NET_ADMIN/,
  );
  assert.equal(done[0], "/api/v1/namespaces/shop/pods/web/ephemeralcontainers");
  assert.match(JSON.stringify(done[1]), /"capabilities":\{"add":\["NET_ADMIN","NET_RAW"\],"drop":\["ALL"\]\}/);
  assert.match(JSON.stringify(done[2]), /^\["kubectl-mesh-rules-1","sh","-c","cat; .*kubectl-mesh-guest/);
});

Deno.test("startGuest() adds a sender of probes without any capability", async () => {
  const guest = probeGuest("curl:8", SLEEPS, { uid: 1000, gid: 2000 });
  const { found, done, said } = await startedWith([RUNS], { guest });
  assert.equal(found, "kubectl-mesh-probe-1");
  assert.match(
    said,
    /image "curl:8", user 1000, no capabilities, to send the request; it exits with this command, at the latest after 60/,
  );
  assert.match(
    JSON.stringify(done[1]),
    /"runAsUser":1000,"runAsGroup":2000,"runAsNonRoot":true,"capabilities":\{"drop"/,
  );
});

Deno.test("startGuest() uses an unused container name", async () => {
  const pod: Pod = { ...POD, spec: { containers: [], ephemeralContainers: [{ name: "kubectl-mesh-rules-1" }] } };
  assert.equal((await startedWith([RUNS], { pod })).found, "kubectl-mesh-rules-2");
});

const FAILURES: Readonly<
  Record<string, readonly [states: ValueMap[], refusal: ApiError | undefined, absent: string, message: RegExp]>
> = {
  "without the right": [
    [],
    new ApiError('pods "web" is forbidden', { status: 403 }),
    "forbidden",
    /the ephemeral container cannot be added: pods "web" is forbidden/,
  ],
  "with a server that has none": [[], new ApiError("not found", { status: 404 }), "no-answer", /not found/],
  "without the image": [
    [{ waiting: { reason: "ImagePullBackOff" } }],
    undefined,
    "not-running",
    /does not start: ImagePullBackOff/,
  ],
  "without pilot-agent in the image": [
    [{ terminated: { exitCode: 127 } }],
    undefined,
    "not-running",
    /exited immediately/,
  ],
  "with a slow kubelet": [
    [{}],
    undefined,
    "not-running",
    /did not start within 15 seconds; it stays in the pod's list/,
  ],
};

for (const [name, [states, refusal, absent, message]] of Object.entries(FAILURES)) {
  Deno.test(`startGuest() ${name}`, async () => {
    const { found } = await startedWith(states, refusal === undefined ? {} : { refusal });
    assert.ok(typeof found !== "string");
    assert.equal(found.absent, absent);
    assert.match(found.message, message);
  });
}

Deno.test("startGuest() adds no container to a pod that does not run, because it could not be removed", async () => {
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, status: { phase: "Pending" } };
  const { found, done, said } = await startedWith([RUNS], { pod });
  assert.ok(typeof found !== "string");
  assert.equal(found.message, "no ephemeral container can start: the pod is Pending");
  assert.deepEqual([done, said], [[], ""]);
});
