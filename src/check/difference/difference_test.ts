import assert from "node:assert/strict";
import { clusterApi, object } from "../../../test/support/kube/cluster.ts";
import { ManualClock } from "../../../test/support/manual_clock.ts";
import { BUILT_IN } from "../../inject/mod.ts";
import { differenceOf, type Side } from "./difference.ts";
import { fileSide, revisionSide, type SideOptions } from "./sides.ts";

const CLOCK = new ManualClock(0);
const OPTIONS: SideOptions = {
  clock: CLOCK,
  given: { values: { text: BUILT_IN.values, file: "values" }, mesh: undefined },
  nativeSidecars: false,
};

async function side(name: string, change: (config: string) => string = (config) => config): Promise<Side> {
  const config = { text: change(BUILT_IN.config), file: name };
  return await fileSide(name, { config, revision: undefined }, OPTIONS);
}

async function changed(a: Side, b: Side): Promise<readonly string[]> {
  const { pods, missing } = await differenceOf([a, b], [], "default");
  assert.deepEqual([pods.length, missing], [5, []]);
  return pods.filter(({ before, after }) => before !== after).map(({ name }) => name);
}

Deno.test("the same configuration makes the same samples", async () => {
  assert.deepEqual(await changed(await side("a"), await side("b")), []);
});

Deno.test("a change of a template changes injected pods, but no pod on the host network", async () => {
  const b = await side("b", (config) => config.replace("--proxyLogLevel=", "--proxyLogLevel=x"));
  assert.deepEqual(await changed(await side("a"), b), [
    "pod/plain",
    "deployment.apps/probes",
    "job.batch/job",
    "deployment.apps/annotations",
  ]);
});

Deno.test("a changed policy changes only the pod that does not request injection, and the difference says why", async () => {
  const b = await side("b", (config) => config.replace(/^policy: enabled$/m, "policy: disabled"));
  assert.deepEqual(await changed(await side("a"), b), ["pod/plain"]);
  const { pods } = await differenceOf([b, b], [], "default");
  assert.match(pods[0]?.after ?? "", /^# not injected: the configuration's policy is "disabled"/);
  assert.match(pods[3]?.after ?? "", /^# not injected: pod uses the host network\n/);
});

Deno.test("a revision of a cluster by its webhooks, or by its ConfigMaps where these cannot be read", async () => {
  const data = { config: BUILT_IN.config, values: BUILT_IN.values };
  const objects = [
    object("v1", "ConfigMap", "istio-system/istio-sidecar-injector-canary", { data }),
    object("v1", "ConfigMap", "istio-system/istio-canary", { data: { mesh: "" } }),
  ];
  const scope = { namespace: undefined, istioNamespace: "istio-system", revision: undefined };
  const of = (revision: string, forbidden?: RegExp) => {
    const api = clusterApi({ objects, ...forbidden === undefined ? {} : { forbidden } });
    return revisionSide(`rev:${revision}`, revision, { api, clock: CLOCK, scope }, OPTIONS);
  };
  assert.equal((await changed(await side("a"), await of("canary", /mutating/))).length, 4);
  await assert.rejects(of("canary"), /No webhook serves the revision "canary"/);
  await assert.rejects(of("next", /mutating/), /The ConfigMap "istio-sidecar-injector-next" does not exist/);
});

Deno.test("a file that is no snapshot has no revisions", async () => {
  const config = { text: BUILT_IN.config, file: "a" };
  await assert.rejects(fileSide("a@x", { config, revision: "x" }, OPTIONS), /"a" is not a snapshot/);
});
