import assert from "node:assert/strict";
import { ApiError, type KubeObject, type Pod } from "../../../core/kube/client/mod.ts";
import { fakeWorld } from "../../../core/world/mod.ts";
import type { ValueMap } from "../../../core/value.ts";
import { ephemeralRules } from "./ephemeral.ts";

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "shop" },
  spec: { containers: [] },
};

/** A pod whose ephemeral container has these states, one after the other. */
async function rulesWith(states: readonly ValueMap[], { pod = POD, refusal }: { pod?: Pod; refusal?: ApiError } = {}) {
  const done: unknown[] = [];
  const left = [...states];
  let name = "";
  const api = {
    patch: (path: string, _type: string, body: object) => {
      done.push(path, body);
      name = /"name":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? "";
      return refusal === undefined ? Promise.resolve(objectWith({})) : Promise.reject(refusal);
    },
    get: () => Promise.resolve(objectWith(left.length > 1 ? left.shift() ?? {} : left[0] ?? {})),
  };
  function objectWith(state: ValueMap): KubeObject {
    const status = { ephemeralContainerStatuses: [{ name, state }] };
    return { apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, status };
  }
  const said: string[] = [];
  const parts = await ephemeralRules(
    {
      api,
      clock: fakeWorld().clock,
      ask: (container, questions) =>
        Promise.resolve(questions.map(({ part, command }) => [part, { text: `${container}: ${command.join(" ")}` }])),
      say: (text) => said.push(text),
    },
    pod,
    "proxyv2:1",
  );
  return { parts: Object.fromEntries(parts), done, said: said.join("") };
}

const RUNS = { running: { startedAt: "2026-01-02T03:04:05Z" } };

Deno.test("ephemeralRules() says what it does, waits for the container and reads the rules in it", async () => {
  const { parts, done, said } = await rulesWith([{}, { waiting: { reason: "ContainerCreating" } }, RUNS]);
  assert.equal(parts["rules.iptables"]?.text, "kubectl-mesh-rules-1: iptables-save -c");
  assert.match(
    said,
    /^Adding the ephemeral container "kubectl-mesh-rules-1" to pod "shop\/web": image "proxyv2:1", user 0, NET_ADMIN/,
  );
  assert.equal(done[0], "/api/v1/namespaces/shop/pods/web/ephemeralcontainers");
  assert.match(JSON.stringify(done[1]), /"capabilities":\{"add":\["NET_ADMIN","NET_RAW"\],"drop":\["ALL"\]\}/);
});

Deno.test("ephemeralRules() takes a name that the pod does not have", async () => {
  const pod: Pod = { ...POD, spec: { containers: [], ephemeralContainers: [{ name: "kubectl-mesh-rules-1" }] } };
  assert.match((await rulesWith([RUNS], { pod })).said, /"kubectl-mesh-rules-2"/);
});

const FAILURES: Readonly<
  Record<string, readonly [states: ValueMap[], refusal: ApiError | undefined, absent: string, message: RegExp]>
> = {
  "without the right": [
    [],
    new ApiError('pods "web" is forbidden', { status: 403 }),
    "forbidden",
    /no ephemeral container: pods "web" is forbidden/,
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
    /has ended at once/,
  ],
  "with a slow kubelet": [[{}], undefined, "not-running", /did not start within 60 seconds/],
};

for (const [name, [states, refusal, absent, message]] of Object.entries(FAILURES)) {
  Deno.test(`ephemeralRules() ${name}`, async () => {
    const { parts } = await rulesWith(states, refusal === undefined ? {} : { refusal });
    for (const part of ["rules.iptables", "rules.ip6tables"]) {
      assert.equal(parts[part]?.absent, absent);
      assert.match(parts[part]?.message ?? "", message);
    }
  });
}
