import assert from "node:assert/strict";
import { object } from "../../../../test/support/kube/cluster.ts";
import { meshObjects, meshWebhooks } from "../../../../test/support/kube/mesh_webhooks.ts";
import { shownText } from "../../../../test/support/kube/shown.ts";
import { webhookEndpoints, webhookFinding, webhookService } from "../../../../test/support/kube/webhook_check.ts";
import { ApiError, type KubeObject } from "../../../kube/client/mod.ts";
import { mapAt, mapsAt, type Value, type ValueMap } from "../../../base/value.ts";

const NAME = "kubectl-mesh-webhook";

function made(kind: string): KubeObject {
  const found = meshObjects().find((each) => each.kind === kind);
  assert(found !== undefined);
  return found;
}

/** The Deployment of `webhook manifests` with other fields in its spec, and in its container. */
function deployment(spec: ValueMap = {}, container: ValueMap = {}, status: ValueMap = {}): KubeObject {
  const whole = made("Deployment");
  const own = mapAt({ ...whole }, "spec");
  const template = mapAt(own, "template");
  const pod = mapAt(template, "spec");
  const containers = mapsAt(pod, "containers").map((each) => ({ ...each, ...container }));
  return { ...whole, spec: { ...own, template: { ...template, spec: { ...pod, containers } }, ...spec }, status };
}

/** The Service of `webhook manifests`. */
function service(selector?: ValueMap, targetPort: Value = "https-webhook"): KubeObject {
  const whole = made("Service");
  const spec = mapAt({ ...whole }, "spec");
  const ports = [{ name: "https-webhook", port: 443, targetPort }];
  return { ...whole, spec: { ...spec, ports, ...selector && { selector } } };
}

/** A pod of the Deployment. */
function pod(status: ValueMap, labels = LABELS): KubeObject {
  const containers = [{ name: "webhook", image: "example.com/mesh:one" }];
  return object("v1", "Pod", `istio-system/${NAME}-1`, { metadata: { labels }, spec: { containers }, status });
}

const LABELS = mapAt(mapAt(mapAt({ ...made("Deployment") }, "spec"), "selector"), "matchLabels");

function withState(state: ValueMap, more: ValueMap = {}): KubeObject {
  return pod({ containerStatuses: [{ name: "webhook", ready: false, state, ...more }] });
}

async function endpoints(
  objects: readonly KubeObject[],
  { forbidden, states = ["waiting"] }: { forbidden?: RegExp; states?: readonly "waiting"[] } = {},
): Promise<string> {
  const all = [...meshWebhooks({ flags: FLAGS }), webhookEndpoints(states), ...objects];
  const options = forbidden === undefined ? { objects: all } : { objects: all, forbidden };
  return await shownText(await webhookFinding("webhook-endpoints", options));
}

const FLAGS = ["--image=example.com/mesh:1"];

const HEAD = `service/istio-system/${NAME}: has no ready pod: 1 not ready`;
const LOOKS = `
next: see its pods:
kubectl get pods -n istio-system
or: see which pods the Service selects:
kubectl describe service ${NAME} -n istio-system`;
const DESCRIBED = `see its status and events:
kubectl describe pod ${NAME}-1 -n istio-system`;
const RESTART = `or: restart it, if its log shows no other cause:
kubectl rollout restart deployment/${NAME} -n istio-system`;
const REFUSED = "exceeded quota: small, requested: pods=1, used: pods=3, limited: pods=3";

function unscheduled(message: string): ValueMap {
  return { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] };
}

const ROWS: readonly (readonly [what: string, objects: readonly KubeObject[], shown: string])[] = [
  ["no Deployment", [service()], LOOKS],
  [
    "pods without a problem",
    [service(), deployment(), pod({ containerStatuses: [{ name: "webhook", ready: true }] })],
    LOOKS,
  ],
  [
    "no replicas",
    [service(), deployment({ replicas: 0 })],
    `: its Deployment "${NAME}" has 0 replicas
fix: scale it to one replica:
kubectl scale deployment/${NAME} -n istio-system --replicas=1`,
  ],
  ["pods of another controller are selected", [service({ app: "other" }), deployment()], LOOKS],
  ["the Service has no selector", [service({}), deployment()], LOOKS],
  [
    "refused pods",
    [
      service(),
      deployment({}, {}, { conditions: [{ type: "ReplicaFailure", status: "True", message: REFUSED }] }),
    ],
    `: the API server refuses the pods of its Deployment "${NAME}": ${REFUSED}
next: see its status and events:
kubectl describe deployment ${NAME} -n istio-system
or: raise the quota by 2 of pods for two of its pods:
kubectl patch resourcequota/small -n istio-system --type=merge -p '{"spec":{"hard":{"pods":"5"}}}'`,
  ],
  [
    "no node fits",
    [service(), deployment(), pod(unscheduled("0/1 nodes are available: 1 Insufficient cpu."))],
    `: its pod "${NAME}-1": Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.
fix: lower its requests to cpu 10m, as in Istio's demo profile:
kubectl patch deployment/${NAME} -n istio-system --type=strategic -p '${
      JSON.stringify({
        spec: { template: { spec: { containers: [{ name: "webhook", resources: { requests: { cpu: "10m" } } }] } } },
      })
    }'
or: free resources on the nodes
or: ${DESCRIBED}`,
  ],
  [
    "no node fits, and nothing to lower",
    [
      service(),
      deployment({}, { resources: { requests: { cpu: "10m" } } }),
      pod(unscheduled("1 Insufficient cpu, 1 had a taint.")),
    ],
    `: its pod "${NAME}-1": Unschedulable: 1 Insufficient cpu, 1 had a taint.
fix: free resources on the nodes
or: ${DESCRIBED}`,
  ],
  [
    "an image that is not there",
    [service(), deployment(), withState({ waiting: { reason: "ImagePullBackOff", message: "not found" } })],
    `: its pod "${NAME}-1" cannot pull the image "example.com/mesh:one": ImagePullBackOff: not found
fix: correct the image of its container "webhook":
kubectl edit deployment/${NAME} -n istio-system
or: give its service account imagePullSecrets for the registry, or give the nodes network access to the registry
or: ${DESCRIBED}`,
  ],
  [
    "a crash",
    [
      service(),
      deployment(),
      withState({ waiting: { reason: "CrashLoopBackOff" } }, {
        lastState: { terminated: { exitCode: 2, reason: "Error" } },
      }),
    ],
    `: the container "webhook" of its pod "${NAME}-1" waits: CrashLoopBackOff, it ended with 2
next: see its log:
kubectl logs -n istio-system ${NAME}-1 -c webhook --previous
or: ${DESCRIBED}
${RESTART}`,
  ],
  [
    "it runs and is not ready",
    [service(), deployment(), withState({ running: {} })],
    `: the container "webhook" of its pod "${NAME}-1" runs but is not ready
next: see its log:
kubectl logs -n istio-system ${NAME}-1 -c webhook
or: ${DESCRIBED}
${RESTART}`,
  ],
];

for (const [what, objects, shown] of ROWS) {
  Deno.test(`no pod is ready: ${what}`, async () => assert.equal(await endpoints(objects), `${HEAD}${shown}`));
}

const NONE = `service/istio-system/${NAME}: has no pods`;
const SELECT = `
fix: select the pods of this Deployment:
kubectl patch service/${NAME} -n istio-system --type=merge -p '${
  JSON.stringify({ spec: { selector: { tier: null, ...LABELS } } })
}'`;
const AGAIN = `: no Deployment creates pods that it selects
fix: recreate the object with the flags of its installation:
kubectl mesh webhook manifests --image=example.com/mesh:1 --only Deployment | kubectl apply -f -`;
const OTHER = { ...deployment(), metadata: { name: "injector", namespace: "istio-system" } };

const WITHOUT: readonly (readonly [what: string, objects: readonly KubeObject[], shown: string])[] = [
  [
    "another selector",
    [service({ ...LABELS, tier: "a" }), deployment()],
    `: it selects tier=a, but the pods of the Deployment "${NAME}" do not have these labels${SELECT}`,
  ],
  ["a Deployment of another name is selected", [service(), OTHER, deployment({ template: {} })], LOOKS],
  ["the Deployment is gone", [service()], AGAIN],
  ["the Deployment is gone, and nothing is selected", [service({})], LOOKS],
  ["the Deployment is there", [service(), deployment()], LOOKS],
];

for (const [what, objects, shown] of WITHOUT) {
  Deno.test(`there is no pod: ${what}`, async () =>
    assert.equal(await endpoints(objects, { states: [] }), `${NONE}${shown}`));
}

Deno.test("there is no pod: without the right to get Deployments no command changes anything", async () => {
  assert.equal(await endpoints([service()], { states: [], forbidden: /deployments/ }), `${NONE}${LOOKS}`);
});

Deno.test("no pod is ready: pods of other Deployments are ignored, and a Deployment is found by its labels", async () => {
  const other = pod(unscheduled("1 Insufficient cpu."), { app: "other" });
  assert.equal(await endpoints([service(), deployment(), other]), `${HEAD}${LOOKS}`);
  const whole = deployment({ replicas: 0 });
  const renamed = { ...whole, metadata: { ...whole.metadata, name: "injector" } };
  assert.match(
    await endpoints([service(), renamed]),
    /: its Deployment "injector" has 0 replicas\nfix: .*\n.* scale deployment\/injector /,
  );
});

Deno.test("no pod is ready: without the right to get Deployments or pods the commands only read", async () => {
  const broken = [service(), deployment({ replicas: 0 }), withState({ running: {} })];
  assert.equal(await endpoints(broken, { forbidden: /deployments/ }), `${HEAD}${LOOKS}`);
  assert.match(await endpoints(broken, { forbidden: /\/pods$/ }), /scale deployment/);
  assert.equal(
    await endpoints([service(), deployment(), withState({ running: {} })], { forbidden: /\/pods$/ }),
    `${HEAD}${LOOKS}`,
  );
});

const CALL = 'failed calling webhook "namespace.sidecar-injector.istio.io": failed to call webhook: dial tcp ' +
  "10.0.0.1:15010: connect: connection refused";

/** Returns the report about a refused connection. */
async function refused(objects: readonly KubeObject[]): Promise<string> {
  const shop = object("v1", "Namespace", "shop", { metadata: { labels: { "istio-injection": "enabled" } } });
  const all = [...meshWebhooks(), shop, webhookEndpoints(["ready"]), ...objects];
  const dryRun = () => {
    throw new ApiError(`Internal error occurred: ${CALL}`, { status: 500 });
  };
  return (await shownText(await webhookFinding("webhook-reachable", { objects: all, dryRun }))).split("\n").slice(2)
    .join("\n");
}

function led(targetPort: Value): string {
  const patch = JSON.stringify({ spec: { ports: [{ port: 443, targetPort: 15017 }] } });
  return `fix: change the targetPort of port 443 of the Service from ${targetPort} to 15017:
kubectl patch service/${NAME} -n istio-system --type=strategic -p '${patch}'
or: see its log:
kubectl logs -n istio-system deployment/${NAME}`;
}

const LOG = `next: see its log:
kubectl logs -n istio-system deployment/${NAME}`;

const PORTS: readonly (readonly [what: string, objects: readonly KubeObject[], shown: string])[] = [
  ["not a port of the Deployment", [service(undefined, 15010), deployment()], led(15010)],
  ["a name that no port has", [service(undefined, "https"), deployment()], led("https")],
  ["a port of the Deployment", [service(undefined, 15017), deployment()], `${LOG}\n${RESTART}`],
  ["the name of a port of the Deployment", [service(), deployment()], `${LOG}\n${RESTART}`],
  [
    "a number, and the Deployment declares no ports",
    [service(undefined, 15010), deployment({}, { ports: [] })],
    `${LOG}\n${RESTART}`,
  ],
  ["a number, and there is no Deployment", [service(undefined, 15010)], LOG],
];

for (const [what, objects, shown] of PORTS) {
  Deno.test(`the connection is refused, and the target port of the Service is ${what}`, async () =>
    assert.equal(await refused(objects), shown));
}

Deno.test("the fix for pods without the Service's named port is a new targetPort", async () => {
  const shown = await shownText(
    await webhookFinding("webhook-endpoints", {
      objects: [...meshWebhooks(), service(undefined, "https"), deployment(), webhookEndpoints(["ready"], "metrics")],
    }),
  );
  assert.match(
    shown,
    /do not have the target port of port 443\nfix: change the targetPort of port 443 of the Service from https to 15017:/,
  );
});

Deno.test("a Service that webhookService makes has no Deployment", async () => {
  assert.equal(await endpoints([webhookService(), deployment({ replicas: 1 })]), `${HEAD}${LOOKS}`);
});
