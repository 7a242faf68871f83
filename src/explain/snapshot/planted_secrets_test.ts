/** No secret of any shape, in any field of an archive, stays in the archive. */
import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { parseYaml, toYaml } from "../../yaml/mod.ts";
import type { Value, ValueMap } from "../../base/value.ts";
import { manifestText } from "./manifest.ts";
import { withoutSecrets } from "./redact.ts";
import { absentPart, allParts, type Part, PART_NAMES, type PartName } from "./snapshot.ts";

const { key, certificate } = testCertificate();

/** Random characters, the same in each run. */
class Characters {
  #state = 27;
  some(count: number, of: string): string {
    return Array.from({ length: count }, () => of[this.#next() % of.length]).join("");
  }
  #next(): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state >>> 8;
  }
}

const DIGITS = "0123456789";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const WORD = UPPER + LOWER + DIGITS;
const random = new Characters();
const some = (count: number, of = WORD) => random.some(count, of);

/** A field with a secret that its name or its form shows. The archive must not contain `secret`. */
interface Planted {
  readonly field: string;
  readonly text: string;
  readonly secret: string;
}

const SECRET_FIELDS = [
  ...["DB_PASSWORD", "TOKEN", "accessToken", "api_key", "client_secret", "dd_api_key", "AWS_SECRET_ACCESS_KEY"],
  ...[
    "auth_password",
    "passphrase",
    "signing-key",
    "x-api-key",
    "credential",
    "sessionToken",
    "db-passwd",
    "PGPASSWORD",
  ],
  ...["encryptionKey", "hmac_secret", "MY_KEY", "oauth", "MYSQL_PWD"],
];

/** Secrets that only the field's name shows. The value is a simple password. */
const NAMED: readonly (() => Planted)[] = SECRET_FIELDS.map((field) => () => {
  const secret = `sword${some(3, LOWER)}-${some(2, DIGITS)}`;
  return { field, text: secret, secret };
});

const plain = (text: string): Planted => ({ field: "notes", text, secret: text });

/** Secrets that their form shows. */
const FORMED: readonly (() => Planted)[] = [
  () => ({ field: "notes", text: key, secret: key.split("\n")[2] ?? "" }),
  () => plain(btoa(key)),
  () => plain(`eyJ${some(20)}.eyJ${some(40)}.${some(43)}`),
  () => ({ ...plain(some(12)), text: `Bearer ${some(12)}` }),
  () => plain(`AKIA${some(16, UPPER)}`),
  () => plain(`ghp_${some(36)}`),
  () => plain(`github_pat_${some(40)}`),
  () => plain(`xoxb-${some(12, DIGITS)}-${some(24)}`),
  () => plain(`AIza${some(35)}`),
  () => plain(`ya29.${some(40)}`),
  () => plain(`GOCSPX-${some(28)}`),
  () => plain(`sk_live_${some(24)}`),
  () => plain(`glpat-${some(20)}`),
  () => plain(`npm_${some(36)}`),
  () => plain(`SG.${some(22)}.${some(43)}`),
  () => plain(`hvs.${some(24)}`),
  () => plain(some(64, "0123456789abcdef")),
  () => plain(some(40)),
  () => plain(`${some(43)}=`),
  () => plain(some(32, LOWER + DIGITS)),
  () => plain(some(32, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
  () => within(some(10), (secret) => `https://admin:${secret}@db.example.com/x`),
  () => within(some(10), (secret) => `root:${secret}@tcp(db:3306)/shop`),
  () => within(some(10), (secret) => `/login?next=a&token=${secret}&x=1`),
];

function within(secret: string, text: (secret: string) => string): Planted {
  return { field: "notes", text: text(secret), secret };
}

/** Returns a part of the archive that contains the secret. */
type Place = (planted: Planted) => readonly [PartName, Value];

const map = ({ field, text }: Planted): ValueMap => ({ [field]: text });
const node = (metadata: ValueMap): ValueMap => ({ configs: [{ bootstrap: { node: { id: "sidecar~1", metadata } } }] });
const filter = (typed: ValueMap): ValueMap => ({
  configs: [{
    dynamic_listeners: [{ active_state: { listener: { filter_chains: [{ filters: [{ typed_config: typed }] }] } } }],
  }],
});
const pod = (spec: ValueMap, metadata: ValueMap = {}): ValueMap => ({ metadata: { name: "web", ...metadata }, spec });
const proxy = (container: ValueMap): ValueMap => pod({ containers: [{ name: "istio-proxy", ...container }] });

/** Parts with named values. */
const PLACES: Readonly<Record<string, Place>> = {
  "metadata of the node": (p) => ["config_dump.json", node(map(p))],
  "PROXY_CONFIG of the node": (p) => ["config_dump.json", node({ PROXY_CONFIG: { proxyMetadata: map(p) } })],
  "PROXY_CONFIG as JSON": (
    p,
  ) => ["config_dump.json", node({ PROXY_CONFIG: JSON.stringify({ proxyMetadata: map(p) }) })],
  "config_yaml of the command line": (p) => [
    "server_info.json",
    { command_line_options: { config_yaml: toYaml({ admin: { list: [map(p)] } }) } },
  ],
  "configuration of Wasm as JSON": (
    p,
  ) => ["config_dump.json", filter({ config: { configuration: { value: JSON.stringify(map(p)) } } })],
  "configuration of Wasm in base64": (p) => [
    "config_dump.json",
    filter({ config: { configuration: { value: btoa(JSON.stringify({ plugin: map(p) })) } } }),
  ],
  "variables of Wasm": (p) => ["config_dump.json", filter({ environment_variables: { key_values: map(p) } })],
  "code of Lua": (
    { text },
  ) => ["config_dump.json", filter({ default_source_code: { inline_string: `x = "${text}"` } })],
  "old code of Lua": ({ text }) => ["config_dump.json", filter({ inline_code: `local x = [[${text}]]` })],
  "code of Wasm": (
    { text },
  ) => ["config_dump.json", filter({ vm_config: { code: { local: { inline_bytes: btoa(text) } } } })],
  "a header to add": (
    { field, text },
  ) => ["config_dump.json", filter({ headers: [{ header: { key: field, value: text } }] })],
  "a matched header": (
    { field, text },
  ) => ["config_dump.json", filter({ headers: [{ name: field, string_match: { exact: text } }] })],
  "a matched query parameter": (
    { field, text },
  ) => ["config_dump.json", filter({ query_parameters: [{ name: field, string_match: { exact: text } }] })],
  "a data source": ({ field, text }) => ["config_dump.json", filter({ [field]: { inline_string: text } })],
  "a path of a route": (
    { field, text },
  ) => ["config_dump.json", filter({ match: { path: `/a?${field}=${encodeURI(text)}` } })],
  "metadata of a cluster": (
    p,
  ) => ["clusters.json", { cluster_statuses: [{ name: "outbound|80||a", metadata: map(p) }] }],
  "arguments of the proxy": ({ field, text }) => ["pod.json", proxy({ args: [`--${field}`, text] })],
  "an argument of the proxy": ({ field, text }) => ["pod.json", proxy({ args: [`--${field}=${text}`] })],
  "a variable of the proxy": ({ field, text }) => ["pod.json", proxy({ env: [{ name: field, value: text }] })],
  "a variable of the proxy as JSON": (
    p,
  ) => ["pod.json", proxy({ env: [{ name: "PROXY_CONFIG", value: JSON.stringify({ tracing: map(p) }) }] })],
  "a variable of the application": (
    { text },
  ) => ["pod.json", pod({ containers: [{ name: "app", env: [{ name: "A", value: text }] }] })],
  "a command of the application": (
    { text },
  ) => ["pod.json", pod({ containers: [{ name: "app", command: ["sh", "-c", text] }] })],
  "a hook of the application": (
    { text },
  ) => ["pod.json", pod({ containers: [{ name: "app", lifecycle: { preStop: { exec: { command: [text] } } } }] })],
  "a probe of the application": (
    { text },
  ) => ["pod.json", pod({ initContainers: [{ name: "app", startupProbe: { exec: { command: [text] } } }] })],
  "an annotation of Istio as YAML": (
    p,
  ) => ["pod.json", pod({}, { annotations: { "proxy.istio.io/config": toYaml({ proxyMetadata: map(p) }) } })],
  "an annotation of others": ({ text }) => ["pod.json", pod({}, { annotations: { "vault.example/x": text } })],
  "an annotation of others in the node": (
    { text },
  ) => ["config_dump.json", node({ ANNOTATIONS: { "vault.example/x": text } })],
  "the applied pod": (
    { text },
  ) => ["pod.json", pod({}, { annotations: { "kubectl.kubernetes.io/last-applied-configuration": text } })],
  "attributes of a volume": (p) => ["pod.json", pod({ volumes: [{ name: "v", csi: { volumeAttributes: map(p) } }] })],
  "a message of a container": ({ field, text }) => ["pod.json", { status: { message: `exit: ${field}=${text}` } }],
  "the server's address": (
    { field, text },
  ) => ["listeners.json", { listener_statuses: [{ name: `x ${field}: ${text}` }] }],
  "ztunnel's dump": (p) => ["ztunnel.json", { workloads: [map(p)] }],
  "the name table": (p) => ["name_table.json", { table: map(p) }],
  "an event": ({ field, text }) => ["events.json", { events: [{ message: `failed: ${field}=${text}` }] }],
  "certificates": (p) => ["certs.json", { certificates: [map(p)] }],
};

/** Parts that are plain text. */
const TEXTS: readonly PartName[] = ["ready.txt", "agent_ready.txt", "proxy.log", "proxy_previous.log", "init.log"];
/** Texts from the kernel and Envoy's counters, in which an address can look random. */
const NUMBERS: readonly PartName[] = ["stats.txt", "sockets.txt", "rules.iptables", "rules.ip6tables", "rules.nft"];
const RANDOM = /^[a-f0-9]{64}$|^[A-Za-z0-9]{32,44}=?$/;

/** The files of an archive, as one text. */
function archiveOf(parts: ReadonlyMap<PartName, Part>): string {
  const safe = [...parts].map(([name, part]) => [name, withoutSecrets(name, part.text ?? "")] as const);
  const snapshot = {
    pod: { namespace: "shop", name: "web" },
    time: new Date(0),
    origin: "pod/web",
    parts: allParts(parts),
  };
  const removed = new Map(safe.map(([name, part]) => [name, part.removed]));
  return manifestText(snapshot, { program: "1", removed }) + safe.map(([, { text }]) => text).join("");
}

function isLeft(parts: ReadonlyMap<PartName, Part>, { secret }: Planted): boolean {
  const text = archiveOf(parts);
  const isListed = /"redacted": \{\n\s+"[a-z_0-9.]+": \{\n\s+"count": \d+,\n\s+"values": \[\n\s+\{\n\s+"path": "[/"]/;
  return text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)) ||
    !text.includes("[redacted]") || !isListed.test(text);
}

/** A name for messages, the secret, and the file that contains the secret. */
type Case = readonly [string, Planted, ReadonlyMap<PartName, Part>];

const CASES: readonly Case[] = [
  ...Object.entries(PLACES).flatMap(([place, make]) =>
    [...NAMED, ...FORMED].map((shape): Case => {
      const planted = shape();
      const [part, value] = make(planted);
      return [place, planted, new Map([[part, { text: JSON.stringify(value) }]])];
    })
  ),
  ...[...TEXTS, ...NUMBERS].flatMap((part) =>
    [...(TEXTS.includes(part) ? NAMED : []), ...FORMED].map((shape): Case => {
      const planted = shape();
      const { field, text } = planted;
      return [
        part,
        planted,
        new Map([[part, { text: `a 1\n${field === "notes" ? text : `${field}=${text}`}\nb 2\n` }]]),
      ];
    })
  ),
];

Deno.test("200 secrets of 40 shapes, in every place that an archive has: none is in the archive", () => {
  assert.ok(NAMED.length + FORMED.length >= 40);
  // Texts from the kernel and Envoy's counters have no names, and contain addresses that look random.
  const cases = CASES.filter(([part, { secret, text }]) =>
    !NUMBERS.some((each) => each === part) || !(RANDOM.test(secret) || text.includes("?"))
  );
  assert.ok(cases.length >= 1500, String(cases.length));
  const left = cases.filter(([, planted, parts]) => isLeft(parts, planted));
  assert.deepEqual(left.map(([place, { field, text }]) => `${place}: ${field}: ${text}`), []);
  const parts = new Set(cases.flatMap(([, , files]) => [...files.keys()]));
  assert.deepEqual(PART_NAMES.filter((name) => !parts.has(name)), []);
});

Deno.test("the message of an absent part has no secret", () => {
  const message = "cannot connect: password=swordfish-17";
  const text = archiveOf(
    new Map<PartName, Part>([["certs.json", absentPart("no-answer", message)]]),
  );
  assert.equal(text.includes("swordfish"), false);
});

/** Values that `explain` reads, and that are not secrets. */
const KEPT: readonly string[] = [
  ...["outbound|9080|v1|reviews.default.svc.cluster.local", "inbound|8080||", "PassthroughCluster", "BlackHoleCluster"],
  ...[
    "outbound_.9080_._.token-service.default.svc.cluster.local",
    "spiffe://cluster.local/ns/default/sa/auth-secret-reader",
  ],
  ...["2026-01-02T02:50:11Z/41", "sidecar~10.244.1.17~web-6c9f8d5b7c-x2k4p.shop~shop.svc.cluster.local"],
  ...["type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"],
  ...["docker.io/istio/proxyv2@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"],
  ...["containerd://4f1c2a9be0d3857f6a1b4c8d9e0f2a3b5c7d8e9f0a1b2c3d4e5f60718293a4b5"],
  ...[
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "/apis/networking.istio.io/v1/namespaces/shop/virtual-service/key-server",
  ],
  ...["a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6-1234567890.eu-central-1.elb.amazonaws.com", "istio-ca", "keepalive"],
  ...["[ECDHE-ECDSA-AES256-GCM-SHA384|ECDHE-RSA-AES256-GCM-SHA384]", "InboundPassthroughClusterIpv4"],
  ...["https://reviews.shop.svc.cluster.local:8443/api?page=2", "^/api/(v[0-9]+)/[^/]+/items$", "%REQ(AUTHORIZATION)%"],
  ...["$(TOKEN)", certificate, btoa(certificate)],
];

Deno.test("names, identities, hashes, certificates and placeholders stay", () => {
  const values = {
    list: [...KEPT],
    serial_number: "8d3b1c5f7a9e2b4d6f8a0c1e3b5d7f90",
    topologyKey: "kubernetes.io/hostname",
  };
  const more = {
    volumes: [{ secret: { secretName: "web-tls" } }, {
      projected: { sources: [{ serviceAccountToken: { audience: "istio-ca" } }] },
    }],
    imagePullSecrets: [{ name: "registry" }],
    env: [{ name: "T", valueFrom: { secretKeyRef: { name: "web", key: "password" } } }],
    rate: { token_bucket: { max_tokens: 5, tokens_per_fill: 5, fill_interval: "1s" } },
    sds: { tls_certificate_sds_secret_configs: [{ name: "default", sds_config: { resource_api_version: "V3" } }] },
    jwks: { keys: [{ kty: "RSA", n: "x7qKj2L9pWm4Rv8TzB1cYd3FgH5sN6aQ", e: "AQAB" }] },
    match: { metadata_key: { key: "envoy.filters.http.rbac", path: [{ key: "shadow_effective_policy_id" }] } },
    runtime: { runtime_key: "upstream.use_retry", default_value: true },
  };
  const text = archiveOf(new Map([["config_dump.json", { text: JSON.stringify({ values, more }) }]]));
  assert.equal(text.includes("[redacted]"), false, text.match(/.{80}\[redacted\].{20}/)?.[0]);
  assert.ok(text.includes(JSON.stringify({ values, more })));
});

Deno.test("code is replaced, and the manifest has the code's path and hash", () => {
  const code = "function envoy_on_request(h) end";
  const dump = {
    filters: [{ default_source_code: { inline_string: code } }, { code: { remote: { sha256: "0a1b" } } }],
  };
  const text = archiveOf(new Map([["config_dump.json", { text: JSON.stringify(dump) }]]));
  assert.match(text, /"path": "\/filters\/0\/default_source_code\/inline_string",\s+"sha256": "[0-9a-f]{64}"/);
  assert.ok(text.includes('"sha256":"0a1b"') && !text.includes("envoy_on_request"));
});

Deno.test("the path of a secret continues into JSON or YAML within a text, and the text keeps its form", () => {
  const value = toYaml({ proxyMetadata: { DB_PASSWORD: "swordfish", OTHER: "kept" } });
  const text = archiveOf(
    new Map([["pod.json", { text: JSON.stringify(proxy({ env: [{ name: "PROXY_CONFIG", value }] })) }]]),
  );
  assert.match(text, /"path": "\/spec\/containers\/0\/env\/0\/value\/proxyMetadata\/DB_PASSWORD"/);
  const [, held = ""] = /"value":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  assert.equal(
    JSON.stringify(parseYaml(JSON.parse(held))),
    '{"proxyMetadata":{"DB_PASSWORD":"[redacted]","OTHER":"kept"}}',
  );
});
