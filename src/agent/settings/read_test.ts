import assert from "node:assert/strict";
import { MeshError, UsageError } from "../../base/errors.ts";
import { isMap } from "../../base/value.ts";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { readSettings } from "./read.ts";

const POD = { POD_NAME: "web-1", POD_NAMESPACE: "shop", INSTANCE_IP: "10.0.0.5" };
const INTERFACES = [{ name: "eth0", family: "IPv4" as const, address: "10.0.0.5" }];

interface Given extends FakeWorldOptions {
  readonly words?: string;
  readonly name?: "agent" | "pilot-agent";
}

function read({ words = "", name = "agent", env = {}, ...rest }: Given = {}) {
  const world = fakeWorld({ interfaces: INTERFACES, env: { ...POD, ...env }, ...rest });
  return readSettings(world, words.split(" ").filter((word) => word !== ""), { name });
}

async function problem(given: Given, type: typeof MeshError = MeshError): Promise<string> {
  try {
    await read(given);
  } catch (error) {
    assert.ok(error instanceof type, String(error));
    return error.message;
  }
  return assert.fail("it was accepted");
}

Deno.test("readSettings: a pod without configuration is a sidecar with Istio's defaults", async () => {
  const settings = await read();
  assert.equal(settings.role, "sidecar");
  assert.equal(settings.node.id, "sidecar~10.0.0.5~web-1.shop~shop.svc.cluster.local");
  assert.deepEqual(settings.ports, {
    admin: 15000,
    status: 15020,
    envoyStatus: 15021,
    prometheus: 15090,
    secureMetrics: 0,
    secureMergedMetrics: 0,
  });
  assert.deepEqual(settings.drain, {
    duration: 5000,
    exitOnZero: false,
    minimum: 5000,
    maximum: 3_600_000,
    drainSeconds: 45,
    parentShutdownSeconds: 60,
  });
  assert.equal(settings.envoy.binaryPath, "/usr/local/bin/envoy");
  assert.deepEqual([settings.restart, settings.watch, settings.envoy.hotRestart], ["never", false, false]);
  assert.deepEqual([settings.probes.probers.size, settings.metrics.scrapeTargets], [0, []]);
  assert.deepEqual(settings.warnings, []);
});

Deno.test("readSettings: later sources win: mesh file, PROXY_CONFIG, annotation; metadata merge by key", async () => {
  const { proxy, drain } = await read({
    env: { PROXY_CONFIG: "{drainDuration: 12s, statusPort: 15120, proxyMetadata: {B: '2'}}" },
    files: {
      "./etc/istio/config/mesh":
        "defaultConfig:\n  drainDuration: 11s\n  proxyAdminPort: 15100\n  proxyMetadata: {A: '1'}\n",
      "./etc/istio/pod/annotations": 'proxy.istio.io/config="statusPort: 15220\\nproxyMetadata: {C: \\"3\\"}"\n',
    },
  });
  assert.deepEqual([drain.drainSeconds, proxy.proxyAdminPort, proxy.statusPort], [12, 15100, 15220]);
  assert.deepEqual({ ...proxy.proxyMetadata }, { A: "1", B: "2", C: "3" });
});

Deno.test("readSettings: snake_case keys, durations of any unit, unknown fields", async () => {
  const { drain, proxy } = await read({
    env: { PROXY_CONFIG: "drain_duration: 1m\nproxy_admin_port: 1\nnew_field: x" },
  });
  assert.deepEqual([drain.drainSeconds, proxy.proxyAdminPort], [60, 1]);
});

Deno.test("readSettings: concurrency by flag, configuration, CPU limit, in this order", async () => {
  const threads = async (given: Given) => (await read(given)).envoy.concurrency;
  assert.equal(
    await threads({ words: "--concurrency 3", env: { PROXY_CONFIG: "concurrency: 2", ISTIO_CPU_LIMIT: "1" } }),
    3,
  );
  assert.equal(await threads({ env: { PROXY_CONFIG: "concurrency: 2", ISTIO_CPU_LIMIT: "1" } }), 2);
  assert.equal(await threads({ env: { PROXY_CONFIG: "concurrency: 0", ISTIO_CPU_LIMIT: "1" } }), 0);
  assert.equal(await threads({ env: { PROXY_CONFIG: "concurrency: -1" } }), 0);
  assert.equal(await threads({ env: { ISTIO_CPU_LIMIT: "1" } }), 1);
});

Deno.test("readSettings: flags of Istio 1.0 to 1.5 apply without PROXY_CONFIG", async () => {
  const words =
    "--discoveryAddress old:15010 --drainDuration 1m0s --parentShutdownDuration 90s --zipkinAddress z:9411 " +
    "--serviceCluster a.b --statusPort 16020 --controlPlaneAuthPolicy NONE --envoyMetricsServiceAddress m:1";
  const old = await read({ words });
  assert.equal(old.proxy.discoveryAddress, "old:15010");
  assert.deepEqual([old.drain.drainSeconds, old.drain.parentShutdownSeconds], [60, 90]);
  assert.deepEqual([old.node.cluster, old.ports.status], ["a.b", 16020]);
  assert.equal(JSON.stringify(old.proxyConfig.data["tracing"]), '{"zipkin":{"address":"z:9411"}}');
  assert.equal(JSON.stringify(old.proxyConfig.data["envoyMetricsService"]), '{"address":"m:1"}');
  const today = await read({ words, env: { PROXY_CONFIG: "{}" } });
  assert.equal(today.proxy.discoveryAddress, "istiod.istio-system.svc:15012");
  assert.equal(today.ports.status, 15020);
  assert.match(today.warnings.join(), /^Ignored because PROXY_CONFIG is set: .*--discoveryAddress/);
});

Deno.test("readSettings: tracers of the old flags, LightStep first", async () => {
  const tracing = async (words: string) => JSON.stringify((await read({ words })).proxyConfig.data["tracing"]);
  const lightstep = "--lightstepAddress l:1 --lightstepAccessToken t --lightstepSecure --lightstepCacertPath /ca";
  assert.equal(
    await tracing(`${lightstep} --zipkinAddress z:1`),
    '{"lightstep":{"address":"l:1","accessToken":"t"},"tlsSettings":{"mode":"SIMPLE","caCertificates":"/ca"}}',
  );
  assert.equal(await tracing("--datadogAgentAddress d:1"), '{"datadog":{"address":"d:1"}}');
  assert.equal(await tracing('--envoyAccessLogService {"address":"a:1"}'), undefined);
});

Deno.test("readSettings: id, address and platform of the old flags", async () => {
  const id = async (words: string) => (await read({ words })).node.id;
  assert.equal(await id("--id x --ip 10.9.9.9 --domain d"), "sidecar~10.9.9.9~x~d");
  assert.equal(await id("--serviceregistry Consul"), "sidecar~10.0.0.5~10.0.0.5.service.consul~service.consul");
  assert.equal(await id("--serviceregistry Mock"), "sidecar~10.0.0.5~10.0.0.5~");
  assert.equal(await id("--serviceregistry Kubernetes router"), "router~10.0.0.5~web-1.shop~shop.svc.cluster.local");
});

Deno.test("readSettings: the drain time of 1.1 to 1.8 applies if nothing else is set", async () => {
  const env = { TERMINATION_DRAIN_DURATION_SECONDS: "20" };
  assert.equal((await read({ env })).drain.duration, 20_000);
  const both = { ...env, PROXY_CONFIG: "terminationDrainDuration: 7.5s" };
  assert.equal((await read({ env: both })).drain.duration, 7500);
});

Deno.test("readSettings: annotations for discovery and status port apply after the check", async () => {
  const annotations = (text: string) => ({ files: { "./etc/istio/pod/annotations": text } });
  const settings = await read(
    annotations('sidecar.istio.io/discoveryAddress="d:1"\nstatus.sidecar.istio.io/port="16020"\n'),
  );
  assert.deepEqual([settings.proxy.discoveryAddress, settings.ports.status], ["d:1", 16020]);
  assert.match(await problem(annotations('sidecar.istio.io/discoveryAddress="d"\n')), /discoveryAddress.* has no port/);
  const bad = await read(annotations('status.sidecar.istio.io/port="x"\n'));
  assert.deepEqual([bad.ports.status, bad.warnings.length], [15020, 1]);
});

Deno.test("readSettings: statsd is resolved, IPv4 first, and left out on failure", async () => {
  const env = { PROXY_CONFIG: "statsdUdpAddress: statsd.test:8125" };
  const statsd = async (hosts: Record<string, string[]>) => (await read({ env, hosts })).proxy.statsdUdpAddress;
  assert.equal(await statsd({ "statsd.test": ["fd00::1", "10.1.1.1"] }), "10.1.1.1:8125");
  assert.equal(await statsd({ "statsd.test": ["fd00::1"] }), "[fd00::1]:8125");
  assert.equal(await statsd({}), "");
  assert.match((await read({ env })).warnings.join(), /"statsd\.test:8125" has no address/);
  const wrong = { "10.1.1.1": /has no port/, "10.1.1.1:x": /to statsd: the port of "10\.1\.1\.1:x": "x" is not a/ };
  for (const [text, warning] of Object.entries(wrong)) {
    const { proxy, warnings } = await read({ env: { PROXY_CONFIG: `statsdUdpAddress: "${text}"` } });
    assert.equal(proxy.statsdUdpAddress, "");
    assert.match(warnings.join(), warning);
  }
});

Deno.test("readSettings: all problems are reported at once", async () => {
  const message = await problem({
    env: {
      PROXY_CONFIG: "{discoveryAddress: noport, drainDuration: 1.5s, proxyAdminPort: 0}",
      ISTIO_META_DNS_CAPTURE: "maybe",
      ISTIO_META_POD_PORTS: "{",
      ISTIO_PROMETHEUS_ANNOTATIONS: "",
      WORKLOAD_IDENTITY_SOCKET_FILE: "../socket",
    },
  });
  const named = ["discoveryAddress", "drainDuration", "proxyAdminPort", "DNS_CAPTURE", "POD_PORTS"];
  for (const part of [...named, "ISTIO_PROMETHEUS_ANNOTATIONS", "WORKLOAD_IDENTITY_SOCKET_FILE"]) {
    assert.ok(message.includes(`"${part}"`), `${part}: ${message}`);
  }
});

Deno.test("readSettings: invalid configurations name their source", async () => {
  assert.match(await problem({ env: { PROXY_CONFIG: "a: [" } }), /^PROXY_CONFIG: document 1, line 1/);
  const yes = "proxyMetadata:\n  ISTIO_META_M: n\n";
  assert.match(
    await problem({ env: { PROXY_CONFIG: yes } }),
    /PROXY_CONFIG: document 1, line 2.*must be a string, not the boolean/,
  );
  assert.match(
    await problem({ files: { "./m": "defaultConfig: 3" }, words: "--meshConfig ./m" }),
    /^\.\/m: document 1, line 1/,
  );
  const annotated = { "./etc/istio/pod/annotations": 'proxy.istio.io/config="[]"' };
  assert.match(await problem({ files: annotated }), /^annotation proxy\.istio\.io\/config/);
  assert.match(await problem({ words: "--envoyMetricsService [1]" }), /command line.*envoyMetricsService/);
});

Deno.test("readSettings: a wrong command line is a usage error, with all other problems", async () => {
  const words = "--nosuch ingress extra --restart always --log-level loud";
  const message = await problem({ words, env: { PROXY_CONFIG: "a: [" } }, UsageError);
  for (const part of ['"--nosuch"', '"ingress"', '"extra"', '"always"', '"loud"', "PROXY_CONFIG"]) {
    assert.ok(message.includes(part), `${part}: ${message}`);
  }
});

Deno.test("readSettings: pilot-agent ignores unknown flags and extra arguments, but not an unknown role", async () => {
  const { role, warnings } = await read({ name: "pilot-agent", words: "--nosuch router extra" });
  assert.deepEqual([role, warnings.length], ["router", 2]);
  assert.match(await problem({ name: "pilot-agent", words: "ingress" }), /Unknown role "ingress"/);
});

Deno.test("readSettings: application metrics are for sidecars", async () => {
  const env = { ISTIO_PROMETHEUS_ANNOTATIONS: '{"scrape":"true","port":"15020"}', PROXY_CONFIG: "statusPort: 16020" };
  const { scrapeTargets } = (await read({ env: { ISTIO_PROMETHEUS_ANNOTATIONS: '{"port":"8080"}' } })).metrics;
  assert.deepEqual(scrapeTargets, [{ port: 8080, path: "/metrics" }]);
  assert.match(await problem({ env }), /^"ISTIO_PROMETHEUS_ANNOTATIONS": the port "15020" is reserved/);
  assert.deepEqual((await read({ env, words: "router" })).metrics.scrapeTargets, []);
  assert.equal((await read({ env: { ISTIO_PROMETHEUS_ANNOTATIONS: "" }, words: "router" })).role, "router");
});

Deno.test("readSettings: invalid probes and metrics are reported with all other problems", async () => {
  const env = { ISTIO_KUBE_APP_PROBERS: '{"/x":{}}', ISTIO_PROMETHEUS_ANNOTATIONS: "{", PROXY_CONFIG: "statusPort: 0" };
  const message = await problem({ env });
  for (
    const part of [
      '"ISTIO_KUBE_APP_PROBERS": "/x"',
      '"ISTIO_PROMETHEUS_ANNOTATIONS": not a JSON object',
      '"statusPort"',
    ]
  ) {
    assert.ok(message.includes(part), `${part}: ${message}`);
  }
});

Deno.test("readSettings: any explicit terminationDrainDuration counts as chosen, also the default value", async () => {
  const isChosen = async (given: Given) => (await read(given)).drain.maximum < 3_600_000;
  const mesh = (seconds: number) => ({
    "./etc/istio/config/mesh": `defaultConfig: {terminationDrainDuration: ${seconds}s}`,
  });
  assert.equal(await isChosen({ env: { PROXY_CONFIG: "drainDuration: 9s" } }), false);
  assert.equal(await isChosen({ env: { PROXY_CONFIG: "terminationDrainDuration: 5s" } }), true);
  assert.equal(await isChosen({ env: { TERMINATION_DRAIN_DURATION_SECONDS: "5" } }), true);
  assert.deepEqual([await isChosen({ files: mesh(5) }), await isChosen({ files: mesh(6) })], [false, true]);
  const annotations = { "./etc/istio/pod/annotations": 'proxy.istio.io/config="terminationDrainDuration: 5s"\n' };
  assert.equal(await isChosen({ files: annotations }), true);
});

Deno.test("readSettings: the maximum drain time by flag and variable", async () => {
  const longest = async (given: Given) => (await read(given)).drain.maximum;
  const env = { MAXIMUM_DRAIN_DURATION: "90s" };
  assert.equal(await longest({ env }), 90_000);
  assert.equal(await longest({ env, words: "--maximum-drain-duration 2m" }), 120_000);
  assert.equal(await longest({ env, words: "--maximum-drain-duration 0s" }), 3_600_000);
  assert.match(await problem({ words: "--maximum-drain-duration -1s" }, UsageError), /it must be at least 0ms/);
});

Deno.test("readSettings: templates by variable, flag and configuration", async () => {
  const template = async (given: Given) => (await read(given)).envoy.templateFile;
  const env = { PROXY_CONFIG: "proxyBootstrapTemplatePath: p" };
  assert.equal(await template({ env: { ...env, ISTIO_BOOTSTRAP: "v" }, words: "--templateFile f" }), "v");
  assert.equal(await template({ env, words: "--templateFile f" }), "f");
  assert.equal(await template({ env }), "p");
});

Deno.test("readSettings: the node shows the template that a flag names, unless none is rendered", async () => {
  const templateOf = async (given: Given) => {
    const config = (await read(given)).node.metadata["PROXY_CONFIG"];
    return isMap(config) ? config["proxyBootstrapTemplatePath"] : undefined;
  };
  assert.equal(await templateOf({ words: "--templateFile f" }), "f");
  assert.equal(await templateOf({}), undefined);
  assert.equal(
    await templateOf({ words: "--templateFile f", env: { PROXY_CONFIG: "customConfigFile: c" } }),
    undefined,
  );
});

Deno.test("readSettings: the bootstrap override is compact JSON; an unreadable one is ignored", async () => {
  const override = async (text: string | undefined, hostIp: string) => {
    const files: Record<string, string> = text === undefined ? {} : { "o.yaml": text };
    const settings = await read({ env: { ISTIO_BOOTSTRAP_OVERRIDE: "o.yaml", HOST_IP: hostIp }, files });
    return [settings.envoy.bootstrapOverride, settings.warnings.length];
  };
  assert.deepEqual(await override('b: "$(HOST_IP):1"\na: 1\n', "10.1.1.1"), ['{"a":1,"b":"10.1.1.1:1"}', 0]);
  assert.deepEqual(await override('["$(HOST_IP)", "[$(HOST_IP)]:1"]', "fd00::1"), ['["[fd00::1]","[fd00::1]:1"]', 0]);
  assert.deepEqual(await override("a: [", ""), ["", 1]);
  assert.deepEqual(await override(undefined, ""), ["", 1]);
});

Deno.test("readSettings: a configured identity socket must exist", async () => {
  const env = { WORKLOAD_IDENTITY_SOCKET_FILE: "other" };
  assert.match(await problem({ env }), /"WORKLOAD_IDENTITY_SOCKET_FILE" names a socket that does not exist/);
  const path = "./var/run/secrets/workload-spiffe-uds/other";
  const { bootstrap, node } = await read({ env, files: { [path]: "" }, sockets: [path] });
  assert.ok(bootstrap.hasCustomSds);
  assert.equal(node.metadata["file-credential"], "true");
});

Deno.test("readSettings: at a hot restart the agent's own socket is not another program's", async () => {
  const world = fakeWorld({ sockets: ["./var/run/secrets/workload-spiffe-uds/socket"] });
  const before = await readSettings(fakeWorld(), [], { name: "agent" });
  const { bootstrap, node } = await readSettings(world, [], { name: "agent", before });
  assert.equal(bootstrap.hasCustomSds, false);
  assert.equal(node.metadata["file-credential"], undefined);
  assert.ok((await readSettings(world, [], { name: "agent" })).bootstrap.hasCustomSds);
});

Deno.test("readSettings: hot restart and restart flags", async () => {
  const settings = await read({ words: "--watch --restart on-failure --base-id 7" });
  assert.deepEqual([settings.watch, settings.envoy.hotRestart, settings.restart, settings.envoy.baseId], [
    true,
    true,
    "on-failure",
    7,
  ]);
  assert.equal((await read({ words: "--hot-restart" })).envoy.hotRestart, true);
});

Deno.test("readSettings: FIPS limits Envoy's ciphers, FIPS 140-2 also the version of TLS", async () => {
  for (const [policy, isTls12Only] of [["fips-140-2", true], ["fips-140-3", false]] as const) {
    const { envoy, bootstrap, warnings } = await read({ env: { COMPLIANCE_POLICY: policy } });
    assert.match(envoy.environment["GRPC_SSL_CIPHER_SUITES"] ?? "", /^ECDHE-ECDSA-AES128-GCM-SHA256:/, policy);
    assert.equal(bootstrap.isTls12Only, isTls12Only, policy);
    assert.deepEqual(warnings, [], policy);
  }
});

Deno.test("readSettings: an unknown compliance policy is a warning", async () => {
  const { envoy, bootstrap, warnings } = await read({ env: { COMPLIANCE_POLICY: "pqc" } });
  assert.deepEqual([envoy.environment, bootstrap.isTls12Only], [{}, false]);
  assert.deepEqual(warnings, [
    '"COMPLIANCE_POLICY" is "pqc", which is unknown: use fips-140-2 or fips-140-3',
  ]);
});

Deno.test("readSettings: Stackdriver needs a project", async () => {
  const env = { PROXY_CONFIG: "tracing: {stackdriver: {}}" };
  assert.match(await problem({ env }), /Stackdriver needs a project/);
  const platform = { ISTIO_METAJSON_P: '{"PLATFORM_METADATA":{"gcp_project":"p"}}' };
  assert.equal((await read({ env: { ...env, ...platform } })).role, "sidecar");
});

Deno.test("readSettings: metadata discovery is off without delta xDS, with a warning", async () => {
  const settings = await read({ env: { PEER_METADATA_DISCOVERY: "true", ISTIO_DELTA_XDS: "false" } });
  assert.deepEqual([settings.bootstrap.metadataDiscovery, settings.warnings.length], [false, 1]);
});

Deno.test("readSettings: a status port of 0 in an old command line is ignored", async () => {
  const { ports, warnings } = await read({ words: "--statusPort 0" });
  assert.deepEqual([ports.status, warnings.length], [15020, 1]);
});

Deno.test("readSettings: unreadable pod files are warnings", async () => {
  const files = {
    "./etc/istio/pod/labels": "app=web\n",
    "./etc/istio/pod/annotations": new Uint8Array([0x61, 0x3d, 0xff]),
  };
  const { warnings, node } = await read({ files });
  assert.deepEqual([warnings.length, node.labels.size, node.annotations.size], [2, 0, 0]);
});

Deno.test("readSettings: a setting without effect causes a warning with advice, unless the value is pilot-agent's default", async () => {
  const env = { CLOUD_PLATFORM: "gcp", GCP_ZONE: "a", XDS_AUTH_PROVIDER: "gcp", PROXY_CONFIG_XDS_AGENT: "true" };
  const { warnings } = await read({ env, words: "--log_caller=all --vklog=9 --stsPort=15463 --profiling=false" });
  assert.deepEqual(warnings.map((each) => /^"([^"]+)"/.exec(each)?.[1]).toSorted(), [
    "--log_caller",
    "--profiling",
    "--stsPort",
    "--vklog",
    "CLOUD_PLATFORM",
    "GCP_ZONE",
    "PROXY_CONFIG_XDS_AGENT",
    "XDS_AUTH_PROVIDER",
  ]);
  assert.ok(warnings.includes(
    '"PROXY_CONFIG_XDS_AGENT" has no effect: the agent reads its configuration at startup: restart the agent after a change, ' +
      "or use --watch",
  ));
  const defaults = { CLOUD_PLATFORM: "none", CREDENTIAL_IDENTITY_PROVIDER: "GoogleComputeEngine", GCP_ZONE: "" };
  const words = "--log_target=stdout --log_stacktrace_level=default:none --profiling=true --vklog=0 --stsPort=0";
  assert.deepEqual((await read({ env: { ...defaults, PROXY_CONFIG_XDS_AGENT: "false" }, words })).warnings, []);
});
