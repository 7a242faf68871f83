import assert from "node:assert/strict";
import { isMap, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { main } from "../../cli/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { captureOf } from "./capture_of.ts";

interface Parts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly proxy?: ValueMap;
  readonly spec?: ValueMap;
}

function podWith({ annotations, labels = {}, proxy = {}, spec = {} }: Parts = {}) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", annotations: { "sidecar.istio.io/status": "{}", ...annotations }, labels: { ...labels } },
    spec: { containers: [{ name: "app" }, { name: "istio-proxy", args: ["proxy", "sidecar"], ...proxy }], ...spec },
  };
}

function argumentsOf(parts: Parts): readonly string[] {
  const decision = captureOf(podWith(parts));
  return decision.captured ? decision.args : assert.fail(decision.reason);
}

const SKIPPED: readonly (readonly [what: string, parts: Parts, reason: string])[] = [
  ["no sidecar", { spec: { containers: [{ name: "app" }] } }, "it has no container istio-proxy"],
  [
    "istio-init",
    { spec: { ...podWith().spec, initContainers: [{ name: "istio-init" }] } },
    "its container istio-init applies the rules",
  ],
  ["a gateway", { proxy: { args: ["proxy", "router"] } }, "its proxy is a router"],
  [
    "gRPC without Envoy",
    { proxy: { env: [{ name: "DISABLE_ENVOY", value: "true" }] } },
    "DISABLE_ENVOY of istio-proxy is true",
  ],
  ["a label against injection", { labels: { "sidecar.istio.io/inject": "false" } }, "sidecar.istio.io/inject is false"],
  [
    "an annotation against injection",
    { annotations: { "sidecar.istio.io/inject": "F" } },
    "sidecar.istio.io/inject is false",
  ],
  [
    "mode NONE",
    { annotations: { "sidecar.istio.io/interceptionMode": "NONE" } },
    "sidecar.istio.io/interceptionMode is NONE",
  ],
  ["the node's network", { spec: { ...podWith().spec, hostNetwork: true } }, "it uses the host network"],
];

for (const [what, parts, reason] of SKIPPED) {
  Deno.test(`a pod with ${what} is not captured`, () => {
    assert.deepEqual(captureOf(podWith(parts)), { captured: false, reason });
  });
}

Deno.test("a pod without the status of an injection is not captured", () => {
  const { metadata, ...pod } = podWith();
  const reason = "it has no annotation sidecar.istio.io/status";
  assert.deepEqual(captureOf({ ...pod, metadata: { ...metadata, annotations: {} } }), { captured: false, reason });
});

Deno.test("the label wins over the annotation", () => {
  const annotations = { "sidecar.istio.io/inject": "false" };
  assert.ok(captureOf(podWith({ annotations, labels: { "sidecar.istio.io/inject": "true" } })).captured);
});

Deno.test("without annotations everything is captured, except the ports of the agent", () => {
  assert.equal(
    argumentsOf({}).join(" "),
    "-p 15001 -z 15006 -u 1337 -g 1337 -m REDIRECT -i * -x  -b * -q  -o 15020 -c  -k  -d 15020,15021,15090",
  );
});

Deno.test("annotations, users and variables of the proxy are settings", () => {
  const args = argumentsOf({
    annotations: {
      "traffic.sidecar.istio.io/excludeInboundPorts": "22, 15021,",
      "traffic.sidecar.istio.io/includeOutboundIPRanges": "10.0.0.0/8",
      "traffic.sidecar.istio.io/kubevirtInterfaces": "old0",
      "istio.io/reroute-virtual-interfaces": "new0",
    },
    proxy: {
      securityContext: { runAsUser: 2000, runAsGroup: 0 },
      env: [{ name: "ISTIO_META_DNS_CAPTURE", value: "true" }, { name: "ISTIO_DUAL_STACK", value: "false" }],
    },
  });
  assert.equal(
    args.join(" "),
    "-p 15001 -z 15006 -u 2000 -g 1337 -m REDIRECT -i 10.0.0.0/8 -x  -b * -q  -o 15020 -c  -k new0 " +
      "-d 22,15021,15020,15090 --redirect-dns --capture-all-dns",
  );
});

Deno.test("a native sidecar is captured", () => {
  const initContainers = [{ name: "istio-validation" }, { name: "istio-proxy", restartPolicy: "Always" }];
  assert.ok(captureOf(podWith({ spec: { initContainers, containers: [{ name: "app" }] } })).captured);
});

const ANNOTATIONS: readonly string[] = [
  "{}",
  '{traffic.sidecar.istio.io/includeInboundPorts: "80,443", traffic.sidecar.istio.io/excludeOutboundIPRanges: 10.1.0.0/16}',
  '{traffic.sidecar.istio.io/includeOutboundPorts: "5432", traffic.sidecar.istio.io/excludeInterfaces: net1}',
  "{sidecar.istio.io/interceptionMode: TPROXY, istio.io/reroute-virtual-interfaces: vnet0}",
];

for (const annotations of ANNOTATIONS) {
  Deno.test(`the plugin's settings are those that istio-validation proves: ${annotations}`, async () => {
    const stdin = `apiVersion: v1\nkind: Pod\nmetadata: {name: web, annotations: ${annotations}}\n` +
      "spec: {containers: [{name: app, image: app}]}\n";
    const world = fakeWorld({ args: ["inject", "-f", "-", "--cni"], stdin });
    assert.equal(await main(world), 0, world.said.stderr);
    const pod = parseYaml(world.said.stdout);
    assert.ok(isMap(pod));
    const decision = captureOf({ ...podWith(), ...pod, metadata: { name: "web", ...mapAt(pod, "metadata") } });
    assert.ok(decision.captured);
    const validation = mapsAt(mapAt(pod, "spec"), "initContainers").find((each) =>
      textAt(each, "name") === "istio-validation"
    );
    const proved = textsAt(validation ?? {}, "args");
    for (const flag of ["-p", "-z", "-u", "-m", "-i", "-x", "-b", "-q", "-k", "-c"]) {
      assert.equal(after(decision.args, flag), after(proved, flag), flag);
    }
    assert.match(after(decision.args, "-d"), /15020,15021,15090$/);
  });
}

/** The argument after a flag; `""` without the flag. */
function after(args: readonly string[], flag: string): string {
  return args.includes(flag) ? args[args.indexOf(flag) + 1] ?? "" : "";
}
