import assert from "node:assert/strict";
import { mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { objectsOf } from "../../../test/support/objects_of.ts";
import { CNI_INSTALL } from "../../cli/commands/cni/install.ts";
import { type ManifestOptions, webhookManifests } from "./mod.ts";

const CNI = { image: "registry.example/mesh:1", configuration: { cni: true } };

function cniObjects(options: Partial<ManifestOptions> = {}): ValueMap[] {
  return objectsOf(webhookManifests({ ...CNI, ...options })).filter((object) =>
    textAt(mapAt(object, "metadata"), "name").startsWith("mesh-cni")
  );
}

Deno.test("with --cni the DaemonSet of the plugin comes with its rights and settings, before the webhook is called", () => {
  const kinds = cniObjects().map((object) => textAt(object, "kind"));
  assert.deepEqual(kinds, [
    ...["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "ConfigMap", "DaemonSet"],
  ]);
  assert.ok(!webhookManifests({ image: CNI.image }).includes("mesh-cni"));
});

const RIGHTS: readonly (readonly [repair: "fix" | "delete" | "label", more: readonly string[]])[] = [
  ["fix", []],
  ["delete", ["pods: delete"]],
  ["label", ["pods/status: patch"]],
];

for (const [cniRepair, more] of RIGHTS) {
  Deno.test(`--cni-repair ${cniRepair} grants what it needs, and no more`, () => {
    const role = cniObjects({ cniRepair }).find((object) => object["kind"] === "ClusterRole") ?? {};
    const rights = mapsAt(role, "rules").map((rule) => `${textsAt(rule, "resources")}: ${textsAt(rule, "verbs")}`);
    assert.deepEqual(rights, ["pods: get,list,watch", "events: create", ...more]);
  });
}

Deno.test("--cni-taint is a variable of the installer, and a right on nodes", () => {
  const text = webhookManifests({ ...CNI, cniTaint: "cni.istio.io/not-ready" });
  assert.match(text, /NODE_TAINT: cni\.istio\.io\/not-ready/);
  assert.match(text, /- nodes\n\s+verbs:\n\s+- get\n\s+- patch\n/);
  assert.throws(() => webhookManifests({ ...CNI, cniTaint: "a b" }), /Invalid value "a b" for "--cni-taint"/);
});

Deno.test("on OpenShift the plugin is a network of Multus, in other folders", () => {
  const text = webhookManifests({ ...CNI, platform: "openshift" });
  for (
    const part of ["NetworkAttachmentDefinition", "/host/etc/cni/multus/net.d", "spc_t", "securitycontextconstraints"]
  ) {
    assert.ok(text.includes(part), part);
  }
  const settings = mapAt(
    cniObjects({ platform: "openshift" }).find((object) => object["kind"] === "ConfigMap") ?? {},
    "data",
  );
  assert.equal(settings["CHAINED_CNI_PLUGIN"], "false");
});

Deno.test("the ConfigMap has variables that the installer reads", async () => {
  const known = Object.values(await CNI_INSTALL.flags()).flatMap((group) => Object.values(group)).flatMap((
    { env = [] },
  ) => env);
  const settings = mapAt(cniObjects().find((object) => object["kind"] === "ConfigMap") ?? {}, "data");
  assert.deepEqual(Object.keys(settings).filter((name) => !known.includes(name)), []);
});
