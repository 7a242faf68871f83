import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { allParts, type Part, type Snapshot } from "../snapshot/snapshot.ts";
import { podSummary } from "./pod_summary.ts";
import { POD_SUMMARY } from "./pod_summary_schema.ts";

const NOW = new Date("2026-01-02T03:04:05Z");

function snapshotOf(parts: Readonly<Record<string, unknown>>): Snapshot {
  const texts = Object.entries(parts).map(([name, value]): [string, Part] => [
    name,
    { text: typeof value === "string" ? value : JSON.stringify(value) },
  ]);
  return {
    pod: { namespace: "shop", name: "web" },
    time: NOW,
    origin: "",
    parts: allParts(new Map(texts)),
  };
}

function summaryOf(parts: Readonly<Record<string, unknown>>) {
  const summary = podSummary(snapshotOf(parts));
  POD_SUMMARY.parse(summary);
  return summary;
}

const TYPE = "type.googleapis.com/envoy.admin.v3.";

function podWith(spec: object, status: object = {}, annotations: object = {}) {
  return { metadata: { name: "web", namespace: "shop", annotations }, spec, status };
}

const PROXY = { name: "istio-proxy", image: "proxyv2:1" };

Deno.test("podSummary() of an empty snapshot is unknown in every part", () => {
  const { configuration, certificate, traffic, readiness, findings } = summaryOf({});
  assert.deepEqual(
    [configuration.synchronised, certificate.result, traffic.source, readiness.ready, findings],
    [null, "unknown", "unknown", null, []],
  );
});

Deno.test("podSummary() survives wrong types everywhere", () => {
  const wrong: readonly unknown[] = ["", "{", "[]", "null", "7", '{"configs":7}', {
    configs: [7, null, { "@type": 7 }],
  }];
  for (const value of wrong) {
    for (
      const name of [
        "config_dump.json",
        "pod.json",
        "server_info.json",
        "certs.json",
        "clusters.json",
        "stats.txt",
        "sockets.txt",
      ]
    ) {
      summaryOf({ [name]: value });
    }
  }
  summaryOf({
    "pod.json": {
      metadata: [],
      spec: { containers: "x", initContainers: [7, { name: 7, ports: [7, { containerPort: "x" }] }] },
      status: { conditions: {}, containerStatuses: [{ name: {}, state: [] }] },
    },
    "config_dump.json": {
      configs: [{
        "@type": `${TYPE}SecretsConfigDump`,
        dynamic_active_secrets: [{
          secret: { name: "default", tls_certificate: { certificate_chain: { inline_bytes: "%%" } } },
        }],
      }],
    },
    "server_info.json": { node: [], version: 7, uptime_current_epoch: {} },
  });
});

Deno.test("containers are in start order, with their states in words", () => {
  const spec = {
    initContainers: [{ name: "istio-init" }, { ...PROXY, restartPolicy: "Always" }, { name: "migrate" }],
    containers: [{ name: "web" }, { name: "slow" }],
  };
  const status = {
    initContainerStatuses: [
      { name: "istio-init", state: { terminated: { exitCode: 126 } } },
      { name: "istio-proxy", state: { running: { startedAt: "2026-01-02T01:00:00Z" } }, ready: true },
      {
        name: "migrate",
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { exitCode: 139 } },
        restartCount: 4,
      },
    ],
    containerStatuses: [
      { name: "web", state: { waiting: { reason: "ImagePullBackOff" } } },
      { name: "slow", state: { waiting: { reason: "PodInitializing" } } },
    ],
  };
  const { containers } = summaryOf({ "pod.json": podWith(spec, status) });
  assert.deepEqual(containers.map(({ name, kind, role, result, message }) => [name, kind, role, result, message]), [
    ["istio-init", "init", "capture", "error", "ended: exit code 126: the traffic is not captured"],
    ["istio-proxy", "sidecar", "proxy", "ok", "runs for 2h 4m"],
    [
      "migrate",
      "init",
      "application",
      "error",
      "waits: it exited repeatedly; the kubelet waits before the next start (CrashLoopBackOff); " +
      "exit code 139: ended by SIGSEGV: it crashed",
    ],
    ["web", "container", "application", "error", "waits: its image cannot be pulled (ImagePullBackOff)"],
    ["slow", "container", "application", "warning", "waits: the init containers have not finished (PodInitializing)"],
  ]);
});

Deno.test("a native sidecar whose restartPolicy another webhook removed is a difference", () => {
  const written = JSON.stringify({
    initContainers: ["istio-init", "istio-proxy"],
    containers: [],
    volumes: ["istio-envoy"],
    revision: "a",
  });
  const spec = { initContainers: [PROXY], containers: [{ name: "istio-init" }] };
  const { differences, findings } = summaryOf({
    "pod.json": podWith(spec, {}, { "sidecar.istio.io/status": written }),
  });
  assert.deepEqual(differences.map(({ field, runs }) => [field, runs]), [
    ["spec.initContainers", "it is in spec.containers"],
    ["spec.volumes", "it is not in the pod"],
    [
      "spec.initContainers[istio-proxy].restartPolicy",
      "not set, because another webhook removed the field: the pod waits until the proxy exits",
    ],
  ]);
  assert.equal(findings.filter(({ id }) => id === "changed-after-injection").length, 3);
});

function dumpWith(secrets: object, more: readonly object[] = []) {
  return { configs: [{ "@type": `${TYPE}SecretsConfigDump`, ...secrets }, ...more] };
}

Deno.test("the certificate shows its signer, its end and what is wrong with it", () => {
  const { certificate, authority } = testCertificate();
  const secret = (pem: string) => ({ certificate_chain: { inline_bytes: btoa(pem) } });
  const dump = dumpWith({
    dynamic_active_secrets: [
      { secret: { name: "default", tls_certificate: secret(certificate) } },
      { secret: { name: "ROOTCA", validation_context: { trusted_ca: { inline_string: authority } } } },
    ],
  });
  const { certificate: read } = summaryOf({ "config_dump.json": dump });
  assert.equal(read.roots.length, 1);
  assert.equal(read.issuer, read.roots[0]?.subject);
  const cases: readonly [notBefore: string, notAfter: string, result: string, message: RegExp][] = [
    ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "ok", /^valid for 20h 55m$/],
    ["2026-01-01T03:04:05Z", "2026-01-02T03:34:05Z", "warning", /should have been renewed/],
    ["2026-01-01T03:04:05Z", "2026-01-02T03:04:00Z", "error", /^it expired 5s ago$/],
    ["2026-01-02T04:04:05Z", "2026-01-03T03:04:00Z", "error", /becomes valid in 1h: the clocks differ/],
  ];
  for (const [valid_from, expiration_time, result, message] of cases) {
    const chain = [{ subject_alt_names: [{ uri: "spiffe://a/ns/b/sa/c" }], valid_from, expiration_time }];
    const summary = summaryOf({ "certs.json": { certificates: [{ ca_cert: [], cert_chain: chain }] } });
    assert.equal(summary.certificate.result, result);
    assert.match(summary.certificate.message, message);
    assert.equal(summary.findings.length, result === "ok" ? 0 : 1);
  }
});

Deno.test("the summary names the certificate that Envoy waits for", () => {
  const dump = dumpWith({ dynamic_warming_secrets: [{ name: "default" }] });
  assert.equal(
    summaryOf({ "config_dump.json": dump }).certificate.message,
    "Envoy waits for its certificate (default)",
  );
});

const LISTENERS = { "@type": `${TYPE}ListenersConfigDump`, version_info: "2026-01-02T03:00:05Z/7" };
const ROUTES = { "@type": `${TYPE}RoutesConfigDump` };
const SECRETS = { "@type": `${TYPE}SecretsConfigDump` };
const CLUSTERS = { "@type": `${TYPE}ClustersConfigDump`, version_info: "2026-01-02T03:03:05Z/8" };

const CONFIGURATIONS: Readonly<Record<string, readonly [object, unknown, string | undefined, RegExp]>> = {
  "is synchronised": [
    {},
    "cluster.xds-grpc.upstream_rq_active: 1\n",
    "true ok",
    /^synchronised; the last change was 1m ago$/,
  ],
  "lost its control plane": [
    {},
    "control_plane.connected_state: 0\n",
    "false error",
    /^no connection to the control plane/,
  ],
  "lost its control plane, by the counter of newer Istio": [
    {},
    "cluster.xds-grpc;.upstream_rq_active: 0\n",
    "false error",
    /^no connection to the control plane/,
  ],
  "refused a listener": [
    { dynamic_listeners: [{ name: "l", error_state: { details: "bad \x1b[31m" } }] },
    "",
    "false error",
    /^Envoy rejected "l": bad/,
  ],
  "refused updates before": [
    {},
    "cluster.xds-grpc.upstream_rq_active: 1\nlistener_manager.lds.update_rejected: 3\n",
    "true warning",
    /rejected 3 updates of listeners since its start/,
  ],
  "waits for resources": [
    { dynamic_listeners: [{ name: "l", warming_state: {} }] },
    "",
    "false warning",
    /1 listeners wait for other resources/,
  ],
};

for (const [name, [listeners, stats, expected, message]] of Object.entries(CONFIGURATIONS)) {
  Deno.test(`an Envoy that ${name}`, () => {
    const { configuration } = summaryOf({
      "config_dump.json": dumpWith({}, [{ ...LISTENERS, ...listeners }, CLUSTERS]),
      "stats.txt": stats,
    });
    assert.equal(`${configuration.synchronised} ${configuration.result}`, expected);
    assert.match(configuration.message, message);
  });
}

Deno.test("refused updates of routes and secrets whose names have dots", () => {
  const { configuration: { types } } = summaryOf({
    "config_dump.json": dumpWith({}, [LISTENERS, CLUSTERS, ROUTES, SECRETS]),
    "stats.txt": "http.outbound_80.rds.web.shop.svc_80.update_rejected: 2\nhttp.a.rds.80.update_rejected: 1\n" +
      "listener.0.0.0.0_15006.sds.file-root_/etc/ca.pem.update_rejected: 4\nhttp.a.rds.80.update_success: 9\n",
  });
  const refused = types.map(({ type, rejections }) => `${type} ${rejections}`);
  assert.deepEqual(refused, ["listeners null", "routes 3", "clusters null", "secrets 4"]);
});

Deno.test("an Envoy that never got a configuration", () => {
  const empty = [{ ...LISTENERS, version_info: "", dynamic_listeners: [] }, {
    ...CLUSTERS,
    version_info: "",
    dynamic_active_clusters: [],
  }];
  const { configuration } = summaryOf({ "config_dump.json": dumpWith({}, empty) });
  assert.equal(configuration.message, "Envoy has no configuration from a control plane");
  const waiting = summaryOf({
    "config_dump.json": dumpWith({}, empty),
    "server_info.json": { state: "PRE_INITIALIZING" },
  });
  assert.match(waiting.configuration.message, /waits for its first configuration/);
});

const SOCKETS = "   0: 00000000:1F90 00000000:0000 0A 0\n   1: 0100007F:2382 00000000:0000 0A 0\n";

Deno.test("ports show whether they are captured, and whether a process listens where Envoy connects", () => {
  const ports = [8080, 9090, 9100, 7].map((containerPort) => ({ containerPort }));
  const args = [
    "istio-iptables",
    "-p",
    "15001",
    "-z",
    "15006",
    "-u",
    "1337",
    "-b",
    "*",
    "-d",
    "9100",
    "-i",
    "*",
    "-o",
    "3306",
  ];
  const spec = {
    initContainers: [{ name: "istio-init", args }],
    containers: [PROXY, { name: "web", ports: [...ports, { containerPort: 53, protocol: "UDP" }] }],
  };
  const { traffic, findings } = summaryOf({
    "pod.json": podWith(spec, { podIP: "10.1.0.9" }),
    "sockets.txt": SOCKETS,
  });
  assert.deepEqual([traffic.source, traffic.mode], ["planned", "REDIRECT"]);
  assert.deepEqual(traffic.ports.map(({ port, path, listens }) => [port, path, listens]), [
    [7, "captured", "no"],
    [53, "bypasses", "unknown"],
    [8080, "captured", "yes"],
    [9090, "captured", "loopback"],
    [9100, "bypasses", "no"],
  ]);
  assert.deepEqual(
    traffic.lanes.filter(({ path }) => path === "bypasses").map(({ direction, what }) => `${direction} ${what}`),
    [
      "inbound TCP port 9100",
      "inbound UDP",
      "outbound TCP port 3306",
      "outbound user 1337",
      "outbound UDP",
    ],
  );
  assert.equal(findings.find(({ id }) => id === "port")?.fix, "make the application listen on 0.0.0.0:9090");
});

Deno.test("hostNetwork and a pod without a proxy are findings", () => {
  const { traffic, findings } = summaryOf({
    "pod.json": podWith({ hostNetwork: true, containers: [{ name: "web" }] }),
  });
  assert.match(traffic.message, /host's network/);
  assert.deepEqual(findings.map(({ id }) => id), ["no-proxy", "not-captured"]);
  assert.match(findings[0]?.fix ?? "", /kubectl mesh check injection pod\/\S+ -n \S+$/);
});

Deno.test("an ephemeral container that is not ready or has ended is not a problem of the pod", () => {
  const spec = { containers: [PROXY], ephemeralContainers: [{ name: "kubectl-mesh-probe-1" }, { name: "debugger" }] };
  const ephemeralContainerStatuses = [
    { name: "kubectl-mesh-probe-1", ready: false, state: { terminated: { exitCode: 143 } } },
    { name: "debugger", ready: false, state: { running: { startedAt: "2026-01-02T03:00:00Z" } } },
  ];
  const status = {
    containerStatuses: [{ name: "istio-proxy", ready: true, state: { running: {} } }],
    ephemeralContainerStatuses,
  };
  const { containers, findings } = summaryOf({ "pod.json": podWith(spec, status) });
  assert.deepEqual(containers.map(({ result, message }) => `${result}: ${message}`).slice(1), [
    "ok: ended: exit code 143: ended by SIGTERM, as requested",
    "ok: runs for 4m 5s",
  ]);
  assert.deepEqual(findings, []);
});

Deno.test("readiness comes from the pod's status, not from words in a message", () => {
  const since = { running: { startedAt: "2026-01-02T01:00:00Z" } };
  const ended = { terminated: { exitCode: 1, reason: "not ready" } };
  const { readiness, containers } = summaryOf({
    "pod.json": podWith({ containers: [PROXY, { name: "app" }, { name: "late" }] }, {
      conditions: [{ type: "Ready", status: "False" }],
      containerStatuses: [
        { name: "istio-proxy", state: since, ready: true },
        { name: "app", state: since, ready: true, restartCount: 1, lastState: ended },
        { name: "late", state: since, ready: false },
      ],
    }),
  });
  assert.deepEqual(containers.map(({ ready }) => ready), [true, true, false]);
  assert.equal(readiness.message, "late is not ready: the application's own probe fails, not the proxy's");
});

const UNREADY_POD = podWith({ containers: [{ ...PROXY }] }, {
  conditions: [{ type: "Ready", status: "False" }],
  containerStatuses: [{ name: "istio-proxy", state: { running: { startedAt: "2026-01-02T01:00:00Z" } }, ready: false }],
});
const READY_POD = podWith({ containers: [] }, { conditions: [{ type: "Ready", status: "True" }] });
const STAGES =
  "503: [+]admin ok: Envoy's admin interface responds\n[-]config failed: istiod refuses: no token\nnot ready\n";
const WITHOUT = "cluster_manager.cds.update_success: 0\nlistener_manager.lds.update_success: 0\n";
const WAITING = "config not received from XDS server (is Istiod running?): cds updates: 0 successful, 0 rejected";

/** The agent's answer, Envoy's counters and the pod; then whether the pod is ready, and the reason. */
const READINESS: Readonly<
  Record<string, readonly [parts: object, ready: boolean | null, result: string, why: RegExp]>
> = {
  "by our agent's stages": [
    { "agent_ready.txt": STAGES, "pod.json": UNREADY_POD },
    false,
    "error",
    /^the agent returns 503 on port 15020: istiod refuses: no token$/,
  ],
  "by stages in one line": [
    { "agent_ready.txt": STAGES.replaceAll("\n", " "), "pod.json": UNREADY_POD },
    false,
    "error",
    /: istiod refuses: no token$/,
  ],
  "by the counters where Istio's agent has no reason": [
    { "agent_ready.txt": "503: ", "stats.txt": WITHOUT, "pod.json": UNREADY_POD },
    false,
    "error",
    new RegExp(`15020: ${RegExp.escape(WAITING)}`),
  ],
  "by the counters alone": [{ "stats.txt": WITHOUT, "pod.json": UNREADY_POD }, false, "error", /^config not received/],
  "of an agent without this path": [
    { "agent_ready.txt": "404 page not found", "pod.json": UNREADY_POD },
    false,
    "error",
    /istio-proxy is not ready$/,
  ],
  "of a pod that was ready when it was last asked": [
    { "agent_ready.txt": STAGES, "pod.json": READY_POD },
    true,
    "warning",
    /^the pod is ready, but its proxy is not ready: the agent returns 503/,
  ],
  "of a pod that is ready": [
    { "agent_ready.txt": "[+]admin ok: x\nready\n", "pod.json": READY_POD },
    true,
    "ok",
    /^ready$/,
  ],
  "without the pod": [{ "agent_ready.txt": STAGES }, null, "warning", /no token$/],
};

for (
  const [answer, isOwn] of [[STAGES, true], ["503: [-]running failed: it ends\nnot ready\n", true], [
    "",
    false,
  ]] as const
) {
  Deno.test(`an agent that answers ${JSON.stringify(answer.slice(0, 16))} is ${isOwn ? "" : "not "}this program's`, () => {
    assert.equal(summaryOf({ "agent_ready.txt": answer }).configuration.isOwnAgent, isOwn);
  });
}

for (const [name, [parts, ready, result, why]] of Object.entries(READINESS)) {
  Deno.test(`readiness ${name}`, () => {
    const { readiness, findings } = summaryOf({ ...parts });
    assert.deepEqual([readiness.ready, readiness.result], [ready, result]);
    assert.match(readiness.message, why);
    assert.equal(findings.some(({ id }) => id === "not-ready"), ready !== null && result !== "ok");
  });
}
