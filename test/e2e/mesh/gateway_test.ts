/** A gateway in a real istiod's mesh: the template `gateway` of the built-in configuration, and `agent` as a router. */
import assert from "node:assert/strict";
import { type TestCertificate, testCertificate } from "../../support/tls/certificates.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { AGENTS } from "./support/agents.ts";
import type { RunningPod } from "./support/kubelet/kubelet.ts";
import { missing, RealMesh } from "./support/mesh.ts";
import { definition, type Made, NAMESPACE } from "./support/objects.ts";

const NETWORKING = "networking.istio.io";
const HOST = "web.example";
const PORT = 8443;
const SECRET = "web-cert";

for (const agent of AGENTS) {
  testWhen(needsCluster() ?? missing ?? needsProgram("curl"), `gateway: ${agent.name} as a router`, async (t) => {
    await using mesh = await RealMesh.create({ agent });
    await using _pair = await mesh.readyPair({ name: "web" });
    const first = testCertificate(10n, HOST);
    for (const { path, body } of objects(first)) {
      await until(() => mesh.parts.api.create(path, body).then(() => true, () => false), () => `no object at ${path}`);
    }
    await using gateway = await mesh.injected(POD);
    await gateway.startReady();
    await t.step("a request arrives over TLS of the Secret and mutual TLS of the mesh", async () => {
      const { status, body } = await answered(mesh, gateway, first);
      assert.equal(status, 200);
      assert.match(body, new RegExp(`spiffe://cluster.local/ns/${NAMESPACE}/sa/edge`));
    });
    await t.step("the Secret's next certificate is served", async () => {
      const next = testCertificate(20n, HOST);
      await mesh.parts.api.patch(`${namespaced("", "v1", "secrets")}/${SECRET}`, "merge", { data: dataOf(next) });
      assert.equal((await answered(mesh, gateway, next)).status, 200);
    });
    await t.step("a path without a VirtualService is not found", async () => {
      assert.equal((await asked(mesh, gateway, { path: "/other" })).status, 404);
    });
  });
}

/** The gateway's answer as soon as it serves a certificate of this authority. */
async function answered(mesh: RealMesh, gateway: RunningPod, { authority }: TestCertificate) {
  const file = await Deno.makeTempFile({ prefix: "mesh-gateway-" });
  try {
    await Deno.writeTextFile(file, authority);
    let last = { status: 0, body: "" };
    await until(async () => {
      last = await asked(mesh, gateway, { path: "/headers", authority: file });
      return last.status === 200;
    }, () => `The gateway answers ${last.status} ${last.body}:\n${gateway.proxy.text.slice(-4000)}`);
    return last;
  } finally {
    await Deno.remove(file);
  }
}

/** One request from the machine; the status is 0 without an answer. `authority`: a file with the roots to trust. */
async function asked(
  mesh: RealMesh,
  { address }: RunningPod,
  { path, authority }: { readonly path: string; readonly authority?: string },
) {
  const trust = authority === undefined ? ["--insecure"] : ["--cacert", authority];
  const { stdout } = await mesh.parts.network.machine.run("curl", [
    ...["--silent", "--max-time", "5", "--write-out", "\n%{http_code}", ...trust],
    ...["--resolve", `${HOST}:${PORT}:${address}`, `https://${HOST}:${PORT}${path}`],
  ]);
  const lines = stdout.split("\n");
  return { status: Number(lines.at(-1)), body: lines.slice(0, -1).join("\n") };
}

function namespaced(group: string, version: string, plural: string): string {
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}/namespaces/${NAMESPACE}/${plural}`;
}

function dataOf({ certificate, key }: TestCertificate) {
  return { "tls.crt": btoa(certificate), "tls.key": btoa(key) };
}

const POD: Made = {
  path: namespaced("", "v1", "pods"),
  body: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "edge",
      namespace: NAMESPACE,
      labels: { istio: "edge" },
      annotations: { "inject.istio.io/templates": "gateway" },
    },
    spec: {
      serviceAccountName: "edge",
      automountServiceAccountToken: false,
      nodeName: "machine",
      containers: [{ name: "istio-proxy", image: "auto", ports: [{ containerPort: PORT }] }],
    },
  },
};

type Kind = readonly [group: string, kind: string, plural: string];

const RBAC = "rbac.authorization.k8s.io";

function made([group, kind, plural]: Kind, name: string, more: object): Made {
  const apiVersion = group === "" ? "v1" : `${group}/v1`;
  return { path: namespaced(group, "v1", plural), body: { apiVersion, kind, metadata: { name }, ...more } };
}

/** The account of the gateway may read Secrets: istiod asks the API server before it sends one. */
const RIGHTS: readonly Made[] = [
  made(["", "ServiceAccount", "serviceaccounts"], "edge", {}),
  made([RBAC, "Role", "roles"], "edge", {
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "watch", "list"] }],
  }),
  made([RBAC, "RoleBinding", "rolebindings"], "edge", {
    roleRef: { apiGroup: RBAC, kind: "Role", name: "edge" },
    subjects: [{ kind: "ServiceAccount", name: "edge", namespace: NAMESPACE }],
  }),
];

const ROUTES: readonly Made[] = [
  made([NETWORKING, "Gateway", "gateways"], "edge", {
    spec: {
      selector: { istio: "edge" },
      servers: [{
        port: { number: PORT, name: "https", protocol: "HTTPS" },
        tls: { mode: "SIMPLE", credentialName: SECRET },
        hosts: [HOST],
      }],
    },
  }),
  made([NETWORKING, "VirtualService", "virtualservices"], "edge", {
    spec: {
      hosts: [HOST],
      gateways: ["edge"],
      http: [{
        match: [{ uri: { exact: "/headers" } }],
        route: [{ destination: { host: `web.${NAMESPACE}.svc.cluster.local`, port: { number: 8080 } } }],
      }],
    },
  }),
];

function objects(certificate: TestCertificate): readonly Made[] {
  return [
    ...["Gateway", "VirtualService"].map((kind) => definition(kind, NETWORKING)),
    made(["", "Secret", "secrets"], SECRET, { type: "kubernetes.io/tls", data: dataOf(certificate) }),
    ...RIGHTS,
    ...ROUTES,
  ];
}
