/** The Deployment of `webhook manifests` starts `webhook serve` with flags that it knows. */
import assert from "node:assert/strict";
import { WEBHOOK_SERVE } from "../../src/cli/commands/webhook/serve.ts";
import { isMap, mapAt, mapsAt } from "../../src/base/value.ts";
import { webhookManifests } from "../../src/webhook/mod.ts";
import { objectsOf } from "../support/objects_of.ts";

const GROUPS = Object.values(await WEBHOOK_SERVE.flags());
const KNOWN = new Set(GROUPS.flatMap((group) => Object.values(group)).map(({ name = "" }) => name));

for (const [title, options] of Object.entries({ "files": {}, "a control plane": { fromCluster: {} } })) {
  Deno.test(`the manifests for the configuration of ${title} start webhook serve with its flags`, () => {
    const objects = objectsOf(webhookManifests({ image: "example.com/kubectl-mesh:1", ...options }));
    const deployment = objects.find(({ kind }) => kind === "Deployment") ?? {};
    const pod = mapAt(mapAt(mapAt(deployment, "spec"), "template"), "spec");
    const [container] = mapsAt(pod, "containers");
    assert(isMap(container) && Array.isArray(container["args"]));
    const [group, command, ...flags] = container["args"].map(String);
    assert.deepEqual([group, command], ["webhook", "serve"]);
    assert(flags.length > 5);
    assert.deepEqual(flags.filter((each) => !KNOWN.has(each.replace(/^--([^=]+)=?.*$/, "$1"))), []);
  });
}
