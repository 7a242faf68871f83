import assert from "node:assert/strict";
import { type ManifestOptions, webhookManifests, webhookTakeOvers, webhookUndo } from "./mod.ts";

type Row = readonly [what: string, options: Partial<ManifestOptions>, controlPlanes: string[], tags: string[]];

const INJECTOR = "istio-sidecar-injector";

const ROWS: readonly Row[] = [
  ["the default revision", {}, [INJECTOR], []],
  ["another revision", { revision: "mesh" }, [], []],
  ["the configuration of a revision's control plane", { revision: "canary", fromCluster: {} }, [
    `${INJECTOR}-canary`,
  ], []],
  [
    "the configuration of another control plane",
    {
      revision: "mesh",
      fromCluster: { injectConfigMapName: INJECTOR, meshConfigMapName: "istio" },
    },
    [],
    [],
  ],
  ["the tag default", { revision: "mesh", tags: ["default"] }, ["istio-revision-tag-default"], []],
  ["another tag", { revision: "mesh", tags: ["prod"] }, [], ["istio-revision-tag-prod"]],
];

for (const [what, options, controlPlanes, tags] of ROWS) {
  Deno.test(`replaced objects: ${what}`, () => {
    const found = webhookTakeOvers({ image: "mesh:1", ...options });
    const names = (isControlPlanes: boolean) =>
      found.filter((each) => each.isControlPlanes === isControlPlanes).map(({ name }) => name);
    assert.deepEqual([names(true), names(false)], [controlPlanes, tags]);
  });
}

for (const [what, options] of ROWS) {
  Deno.test(`--undo names every object, webhook configurations first: ${what}`, () => {
    const all = { image: "mesh:1", namespace: "mesh", ...options };
    const script = webhookUndo(all);
    const [configurations = "", others = ""] = script.split("# The API server no longer calls the webhook\n");
    const names = webhookManifests(all).split(/^---\n/m).map((text) => ({
      kind: /^kind: (.*)$/m.exec(text)?.[1]?.toLowerCase() ?? "",
      name: /^metadata:\n(?: .*\n)*? {2}name: (.*)$/m.exec(text)?.[1] ?? "",
    }));
    for (const { kind, name } of names) {
      if (kind === "mutatingwebhookconfiguration") {
        assert.match(configurations, new RegExp(`^kubectl .* ${name} `, "m"));
      } else assert.ok(` ${others.replaceAll("\n", " ")} `.includes(` ${kind}/${name} `), `${kind}/${name}`);
    }
    assert.match(others, / secret\/kubectl-mesh-webhook\S*-certificates /);
  });
}
