import assert from "node:assert/strict";
import { goJson } from "../../golang/go_json.ts";
import { GoInt, GoStruct, type GoValue, typeTag } from "../../golang/go_value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { decode } from "../decode/decode.ts";
import { goView } from "./view.ts";

const POD = `
metadata: {name: web, namespace: ns, labels: {app: web}, creationTimestamp: "2026-01-02T03:04:05Z"}
spec:
  serviceAccount: old
  automountServiceAccountToken: false
  containers:
  - name: app
    ports: [{containerPort: 8080}]
    resources: {limits: {cpu: 2000m}}
    livenessProbe: {httpGet: {port: http}}
    readinessProbe: {tcpSocket: {port: 80}}
    securityContext: {runAsUser: 0}
`;

function pod(): GoStruct {
  return goView(decode(parseYaml(POD), "Pod").value, "Pod");
}

/** Follows a path of Go field names and list indexes. */
function follow(start: GoValue, path: string): GoValue | undefined {
  return path.split(".").reduce<GoValue | undefined>((value, name) => {
    if (value instanceof GoStruct) return value.get(name);
    return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  }, start);
}

Deno.test("goView: fields by Go names, embedded and promoted ones, and methods of ObjectMeta", () => {
  const view = pod();
  assert.equal(follow(view, "ObjectMeta.Name"), "web");
  assert.equal(follow(view, "Name"), "web");
  assert.equal(follow(view, "GetNamespace"), "ns");
  assert.equal(follow(view, "ObjectMeta.GetLabels.app"), "web");
  assert.equal(follow(view, "Spec.DeprecatedServiceAccount"), "old");
  assert.equal(follow(view, "Spec.Nope"), undefined);
  assert.deepEqual(follow(view, "Spec.Containers.0.Ports.0.ContainerPort"), new GoInt(8080n, "int32"));
  const probe = follow(view, "Spec.Containers.0.LivenessProbe");
  assert(probe instanceof GoStruct);
  assert.deepEqual(probe.fieldNames().slice(0, 2), ["ProbeHandler", "InitialDelaySeconds"]);
  assert.equal(follow(probe, "HTTPGet.Port.StrVal"), "http");
  assert.equal(follow(probe, "ProbeHandler.HTTPGet.Port.String"), "http");
  assert.equal(probe.goType, "*v1.Probe");
});

Deno.test("goView: absent fields are the zero value of their type, nil pointers are nil", () => {
  const view = pod();
  assert.equal(follow(view, "Spec.NodeName"), "");
  assert.equal(follow(view, "Spec.HostNetwork"), false);
  assert.deepEqual(follow(view, "Spec.Volumes"), []);
  assert.equal(goJson(follow(view, "Spec.Volumes") ?? null), "null");
  assert.deepEqual(Object.keys(Object(follow(view, "Spec.NodeSelector"))), []);
  assert.deepEqual(follow(view, "ObjectMeta.Generation"), new GoInt(0n, "int64"));
  const context = follow(view, "Spec.SecurityContext");
  assert(context instanceof GoStruct && context.isNil);
  assert.equal(goJson(context), "null");
  const status = follow(view, "Status");
  assert(status instanceof GoStruct && !status.isNil);
});

Deno.test("goView: pointers to scalars are true and print their target", () => {
  const view = pod();
  const zero = follow(view, "Spec.Containers.0.SecurityContext.RunAsUser");
  assert(zero instanceof GoStruct);
  assert.deepEqual([zero.isNil, zero.text(), zero.goType], [false, "0", "*int64"]);
  const no = follow(view, "Spec.AutomountServiceAccountToken");
  assert(no instanceof GoStruct);
  assert.deepEqual([no.isNil, no.text()], [false, "false"]);
  const absent = follow(view, "Spec.Priority");
  assert(absent instanceof GoStruct && absent.isNil);
});

Deno.test("goView: quantities, times and int-or-strings have their texts and methods", () => {
  const view = pod();
  const cpu = follow(view, "Spec.Containers.0.Resources.Limits.cpu");
  assert(cpu instanceof GoStruct);
  assert.equal(cpu.text(), "2");
  assert.deepEqual(cpu.get("MilliValue"), new GoInt(2000n, "int64"));
  const created = follow(view, "CreationTimestamp");
  assert(created instanceof GoStruct);
  assert.deepEqual([created.text(), created.get("IsZero")], ["2026-01-02 03:04:05 +0000 UTC", false]);
  const deleted = follow(view, "Spec.Containers.0.ReadinessProbe.TCPSocket.Port");
  assert(deleted instanceof GoStruct);
  assert.deepEqual([deleted.get("IntValue"), deleted.get("IntVal")], [80n, new GoInt(80n, "int32")]);
});

Deno.test("goView: JSON of a struct is Go's: declaration order, always written fields", () => {
  assert.equal(
    goJson(follow(pod(), "Spec.Containers") ?? null),
    `[{"name":"app","ports":[{"containerPort":8080}],"resources":{"limits":{"cpu":"2"}},"livenessProbe":{"httpGet":{"port":"http"}},` +
      `"readinessProbe":{"tcpSocket":{"port":80}},"securityContext":{"runAsUser":0}}]`,
  );
});

Deno.test("goView: labels are a map of strings even if absent: a missing key is the empty string", () => {
  for (const metadata of [{ name: "web" }, { labels: { app: "web" } }]) {
    const labels = goView(decode(metadata, "ObjectMeta").value, "ObjectMeta").get("Labels");
    assert.ok(typeof labels === "object" && labels !== null && !Array.isArray(labels));
    assert.equal(typeTag(labels as Record<string, GoValue>), "map[string]string");
  }
});
