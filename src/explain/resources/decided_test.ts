/** The deciding resource and its field, from Envoy's configuration alone, and with the API server. */
import assert from "node:assert/strict";
import { isMap, type Value, type ValueMap } from "../../base/value.ts";
import { type Cause, causeIn, causeOf, type Search, type Workload } from "./cause.ts";
import { type OpenAnswer, withApi, withoutApi } from "./decided.ts";
import type { MeshResources } from "./mesh_resources.ts";

const DB = "db.data.svc.cluster.local";
const WORKLOAD: Workload = { namespace: "shop", labels: { app: "web" }, root: "istio-system" };
const OWN = { matchLabels: { app: "web" } };
const OTHERS = { matchLabels: { app: "db" } };

interface Made {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly created?: string;
  readonly spec?: object;
  readonly labels?: object;
}

/** Returns an API server with these objects. Other kinds are unreadable. */
function having(objects: readonly Made[]): MeshResources {
  return {
    list(kind, namespace) {
      const own = objects.filter((each) =>
        each.kind === kind && (namespace === "" || (each.namespace ?? "shop") === namespace)
      );
      if (own.length === 0 && !objects.some((each) => each.kind === kind)) return Promise.resolve(undefined);
      return Promise.resolve(own.map(objectOf));
    },
  };
}

function objectOf(
  { kind, name, namespace = "shop", created = "2026-01-01T00:00:00Z", labels = {}, spec = {} }: Made,
): ValueMap {
  const value: Value = JSON.parse(
    JSON.stringify({ kind, metadata: { name, namespace, labels, creationTimestamp: created }, spec }),
  );
  return isMap(value) ? value : {};
}

function answered(cause: Cause): OpenAnswer {
  return {
    pod: "shop/a",
    direction: "outbound",
    verdict: "refused",
    reason: "Why",
    fix: "what Envoy knows",
    stations: [],
    clusters: [],
    endpoints: [],
    cause,
  };
}

/** A name, the cause, the objects, `KIND NAMESPACE/NAME FIELD` from Envoy and with the API server, and the fix. */
const CASES: readonly (readonly [string, Cause, readonly Made[], string, string, RegExp])[] = [
  [
    "the mTLS mode of a port",
    mtls(8080),
    [
      { kind: "PeerAuthentication", name: "other", spec: { selector: OTHERS, mtls: { mode: "DISABLE" } } },
      {
        kind: "PeerAuthentication",
        name: "web",
        spec: { selector: OWN, mtls: { mode: "STRICT" }, portLevelMtls: { 8080: { mode: "DISABLE" } } },
      },
    ],
    "PeerAuthentication / spec.mtls.mode",
    'PeerAuthentication shop/web spec.portLevelMtls["8080"].mode',
    /kubectl patch -n shop peerauthentication\/web --type json -p '\[\{"op":"replace","path":"\/spec\/portLevelMtls\/8080\/mode","value":"PERMISSIVE"\}\]'$/,
  ],
  [
    "the mTLS mode of a port, for a client without a proxy: the answer's fix counts",
    { ...mtls(8080), keepsFix: true },
    [{ kind: "PeerAuthentication", name: "web", spec: { mtls: { mode: "STRICT" } } }],
    "PeerAuthentication / spec.mtls.mode",
    "PeerAuthentication shop/web spec.mtls.mode",
    /^what Envoy knows$/,
  ],
  [
    "the mTLS mode of a namespace, where the workload's is unset; the oldest counts",
    mtls(8080),
    [
      { kind: "PeerAuthentication", name: "web", spec: { selector: OWN, mtls: { mode: "UNSET" } } },
      {
        kind: "PeerAuthentication",
        name: "young",
        created: "2026-02-02T00:00:00Z",
        spec: { mtls: { mode: "DISABLE" } },
      },
      { kind: "PeerAuthentication", name: "old", spec: { mtls: { mode: "STRICT" } } },
    ],
    "PeerAuthentication / spec.mtls.mode",
    "PeerAuthentication shop/old spec.mtls.mode",
    /\/old/,
  ],
  [
    "the mTLS mode of the mesh",
    mtls(8080),
    [{ kind: "PeerAuthentication", namespace: "istio-system", name: "default", spec: { mtls: { mode: "STRICT" } } }],
    "PeerAuthentication / spec.mtls.mode",
    "PeerAuthentication istio-system/default spec.mtls.mode",
    /set spec\.mtls\.mode of PeerAuthentication istio-system\/default to PERMISSIVE/,
  ],
  [
    "no PeerAuthentication that may be read",
    mtls(8080),
    [],
    "PeerAuthentication / spec.mtls.mode",
    "PeerAuthentication / spec.mtls.mode",
    /^what Envoy knows$/,
  ],
  [
    "a DestinationRule without this part: the mode of the server decides",
    { ...rule("DestinationRule shop/web", policy("tls", "")), otherwise: mtls(8080) },
    [
      { kind: "DestinationRule", name: "web", spec: { trafficPolicy: { connectionPool: {} } } },
      { kind: "PeerAuthentication", name: "web", spec: { mtls: { mode: "STRICT" } } },
    ],
    "DestinationRule shop/web spec.trafficPolicy.tls",
    "PeerAuthentication shop/web spec.mtls.mode",
    /PERMISSIVE/,
  ],
  [
    "a limit of a subset's port",
    rule("DestinationRule shop/web", policy("connectionPool", "v1")),
    [{
      kind: "DestinationRule",
      name: "web",
      spec: {
        trafficPolicy: { connectionPool: {} },
        subsets: [{ name: "v0" }, {
          name: "v1",
          trafficPolicy: { portLevelSettings: [{ port: { number: 80 }, connectionPool: {} }] },
        }],
      },
    }],
    "DestinationRule shop/web spec.trafficPolicy.connectionPool",
    "DestinationRule shop/web spec.subsets[1].trafficPolicy.portLevelSettings[0].connectionPool",
    /raise or remove spec\.subsets\[1\]/,
  ],
  [
    "labels of a subset, where the pods differ: an editor",
    causeIn("DestinationRule shop/web", "DestinationRule", "spec.subsets.labels", { by: "labels", subset: "v2" }),
    [
      {
        kind: "DestinationRule",
        name: "web",
        spec: { host: "web", subsets: [{ name: "v2", labels: { version: "v2" } }] },
      },
      { kind: "Service", name: "web", spec: { selector: { app: "web" } } },
      { kind: "Pod", name: "a", labels: { app: "web", version: "v3" } },
      { kind: "Pod", name: "b", labels: { app: "web", version: "v4" } },
    ],
    "DestinationRule shop/web spec.subsets.labels",
    "DestinationRule shop/web spec.subsets[0].labels",
    /kubectl edit -n shop destinationrule\/web$/,
  ],
  [
    "a subset of a second route of TCP",
    causeIn("VirtualService shop/web", "VirtualService", "spec.http.route.destination.subset", {
      by: "destination",
      host: "web.shop.svc.cluster.local",
      subset: "v9",
      instead: "",
    }),
    [{
      kind: "VirtualService",
      name: "web",
      spec: {
        http: [{}],
        tcp: [{ route: [{ destination: { host: "web" } }, { destination: { host: "web", subset: "v9" } }] }],
      },
    }],
    "VirtualService shop/web spec.http.route.destination.subset",
    "VirtualService shop/web spec.tcp[0].route[1].destination.subset",
    /"op":"remove","path":"\/spec\/tcp\/0\/route\/1\/destination\/subset"/,
  ],
  [
    "a fault that may be of two rules",
    causeIn("VirtualService shop/web", "VirtualService", "spec.http.fault", { by: "route", what: "fault", host: "" }),
    [{ kind: "VirtualService", name: "web", spec: { http: [{ fault: {} }, { fault: {} }] } }],
    "VirtualService shop/web spec.http.fault",
    "VirtualService shop/web spec.http.fault",
    /^what Envoy knows$/,
  ],
  [
    "a redirect beside other rules",
    causeIn("VirtualService shop/web", "VirtualService", "spec.http", { by: "route", what: "answer", host: "" }),
    [{ kind: "VirtualService", name: "web", spec: { http: [{ route: [] }, { redirect: {} }] } }],
    "VirtualService shop/web spec.http",
    "VirtualService shop/web spec.http[1].redirect",
    /"op":"remove","path":"\/spec\/http\/1"/,
  ],
  [
    "a backend of an HTTPRoute",
    causeIn("HTTPRoute shop/web", "VirtualService", "spec.http", { by: "route", what: "answer", host: "" }),
    [
      {
        kind: "HTTPRoute",
        name: "web",
        spec: { rules: [{ backendRefs: [{ name: "web" }, { name: "webb", port: 80 }] }] },
      },
      { kind: "Service", name: "web" },
    ],
    "HTTPRoute shop/web spec.http",
    "HTTPRoute shop/web spec.rules[0].backendRefs[1].name",
    /set spec\.rules\[0\]\.backendRefs\[1\]\.name .*to "web": kubectl patch -n shop httproute\/web/,
  ],
  [
    "a policy without rules",
    causeIn("AuthorizationPolicy shop/none", "AuthorizationPolicy", "spec.rules", {
      by: "rules",
      action: "allow",
      rule: 0,
      principal: "cluster.local/ns/shop/sa/a",
    }),
    [{ kind: "AuthorizationPolicy", name: "none", spec: {} }],
    "AuthorizationPolicy shop/none spec.rules",
    "AuthorizationPolicy shop/none spec.rules",
    /"path":"\/spec\/rules","value":\[\{"from":\[\{"source":\{"principals":\["cluster\.local\/ns\/shop\/sa\/a"\]\}\}\]\}\]/,
  ],
  [
    "one of two rules that deny",
    causeIn("AuthorizationPolicy shop/deny", "AuthorizationPolicy", "spec.rules[1]", {
      by: "rules",
      action: "deny",
      rule: 1,
      principal: "",
    }),
    [{ kind: "AuthorizationPolicy", name: "deny", spec: { action: "DENY", rules: [{}, {}] } }],
    "AuthorizationPolicy shop/deny spec.rules[1]",
    "AuthorizationPolicy shop/deny spec.rules[1]",
    /"op":"remove","path":"\/spec\/rules\/1"/,
  ],
  [
    "the issuer of a token",
    causeOf("RequestAuthentication", "spec.jwtRules", { by: "token", workload: WORKLOAD, issuer: "b" }),
    [{
      kind: "RequestAuthentication",
      name: "jwt",
      spec: { selector: OWN, jwtRules: [{ issuer: "a" }, { issuer: "b" }] },
    }],
    "RequestAuthentication / spec.jwtRules",
    "RequestAuthentication shop/jwt spec.jwtRules[1]",
    /correct spec\.jwtRules\[1\]/,
  ],
  [
    "a wildcard host that no DNS has",
    {
      ...causeOf("ServiceEntry", "spec.endpoints", { by: "host", host: "api.example.com", port: 0 }),
      namespace: "shop",
    },
    [{ kind: "ServiceEntry", name: "api", spec: { hosts: ["*.example.com"], resolution: "DNS" } }],
    "ServiceEntry shop/ spec.endpoints",
    "ServiceEntry shop/api spec.hosts",
    /use a name in .* that DNS resolves/,
  ],
  [
    "a way out that is closed",
    causeOf("Sidecar", "spec.outboundTrafficPolicy.mode", { by: "egress", workload: WORKLOAD, hosts: [] }),
    [
      { kind: "Sidecar", name: "all", spec: { outboundTrafficPolicy: { mode: "ALLOW_ANY" } } },
      {
        kind: "Sidecar",
        name: "web",
        spec: { workloadSelector: { labels: { app: "web" } }, outboundTrafficPolicy: { mode: "REGISTRY_ONLY" } },
      },
    ],
    "nothing",
    "Sidecar shop/web spec.outboundTrafficPolicy.mode",
    /set spec\.outboundTrafficPolicy\.mode of Sidecar shop\/web to ALLOW_ANY/,
  ],
  [
    "a Service of another namespace, which the root's Sidecar leaves out",
    causeOf("Sidecar", "spec.egress.hosts", { by: "egress", workload: WORKLOAD, hosts: [DB] }),
    [
      { kind: "Sidecar", namespace: "istio-system", name: "default", spec: { egress: [{ hosts: ["./*"] }] } },
      { kind: "Service", namespace: "data", name: "db" },
    ],
    "nothing",
    "Sidecar istio-system/default spec.egress[0].hosts",
    /"value":"data\/db\.data\.svc\.cluster\.local"/,
  ],
  [
    "a Service that the Sidecar does not leave out",
    causeOf("Sidecar", "spec.egress.hosts", { by: "egress", workload: WORKLOAD, hosts: [DB] }),
    [
      { kind: "Sidecar", name: "default", spec: { egress: [{ hosts: ["data/*"] }] } },
      { kind: "Service", namespace: "data", name: "db" },
    ],
    "nothing",
    "nothing",
    /^what Envoy knows$/,
  ],
  [
    "a filter that an EnvoyFilter adds beside another",
    causeOf("EnvoyFilter", "spec.configPatches", { by: "text", workload: WORKLOAD, text: "acme.filters.http.audit" }),
    [{
      kind: "EnvoyFilter",
      namespace: "istio-system",
      name: "audit",
      spec: { configPatches: [{ patch: {} }, { patch: { value: { name: "acme.filters.http.audit" } } }] },
    }],
    "EnvoyFilter / spec.configPatches",
    "EnvoyFilter istio-system/audit spec.configPatches[1]",
    /"op":"remove","path":"\/spec\/configPatches\/1"/,
  ],
  [
    "an expression that Envoy refuses",
    causeOf("EnvoyFilter", "spec.configPatches", {
      by: "text",
      workload: WORKLOAD,
      text: "cannot parse 'response.code >='",
    }),
    [
      { kind: "EnvoyFilter", name: "other", spec: { configPatches: [{ patch: { value: { name: "a.b" } } }] } },
      { kind: "Telemetry", name: "logs", spec: { accessLogging: [{ filter: { expression: "response.code >=" } }] } },
    ],
    "EnvoyFilter / spec.configPatches",
    "Telemetry shop/logs spec.accessLogging[0].filter.expression",
    /kubectl delete -n shop telemetry\/logs$/,
  ],
  [
    "a host that a Gateway does not have",
    causeOf("Gateway", "spec.servers.hosts", { by: "server", workload: WORKLOAD, port: 80, host: "web.example.com" }),
    [
      {
        kind: "Gateway",
        name: "other",
        spec: { selector: { app: "edge" }, servers: [{ port: { number: 80 }, hosts: ["*"] }] },
      },
      {
        kind: "Gateway",
        namespace: "edge",
        name: "public",
        spec: { selector: { app: "web" }, servers: [{ port: { number: 80 }, hosts: ["edge/api.example.com"] }] },
      },
    ],
    "Gateway / spec.servers.hosts",
    "Gateway edge/public spec.servers[0].hosts",
    /kubectl patch -n edge gateways\.networking\.istio\.io\/public/,
  ],
];

function mtls(port: number): Cause {
  return causeOf("PeerAuthentication", "spec.mtls.mode", { by: "mtls", workload: WORKLOAD, port });
}

function policy(part: "tls" | "connectionPool", subset: string): Search {
  return { by: "policy", part, port: 80, subset };
}

function rule(origin: string, search: Search): Cause {
  return causeIn(origin, "DestinationRule", `spec.trafficPolicy.${search.by === "policy" ? search.part : ""}`, search);
}

for (const [name, cause, objects, alone, whole, fix] of CASES) {
  Deno.test(`what decided: ${name}`, async () => {
    const text = ({ decided }: { decided?: Cause | OpenAnswer["decided"] }) =>
      decided === undefined ? "nothing" : `${decided.kind} ${decided.namespace}/${decided.name} ${decided.field}`;
    assert.equal(text(withoutApi(answered(cause))), alone);
    const answer = await withApi(answered(cause), having(objects));
    assert.equal(text(answer), whole);
    assert.match(answer.fix, fix);
    assert.equal("cause" in answer, false);
  });
}

Deno.test("what decided: nothing did", async () => {
  const { cause: _, ...answer } = answered(mtls(80));
  assert.equal((await withApi(answer, having([]))).decided, undefined);
  const closed = causeOf("Sidecar", "spec.outboundTrafficPolicy.mode", { by: "egress", workload: WORKLOAD, hosts: [] });
  assert.equal((await withApi(answered(closed), having([]))).decided, undefined);
});
