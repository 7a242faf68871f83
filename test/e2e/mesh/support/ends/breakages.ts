/** Breakages of connections, each with a Service of its own name. */
import type { Decided } from "../../../../../src/explain/answer_schema.ts";
import { NAMESPACE } from "../objects.ts";
import { type Breakage, host, plain } from "./breakage.ts";
import { AUTHORIZATION, TLS } from "./breakages_of_policies.ts";
import { ROUTES, SERVICES } from "./breakages_of_services.ts";
import { type Resource, service } from "./resources.ts";

const entry = (name: string, spec: object): Resource => ({
  kind: "ServiceEntry",
  name,
  spec: {
    hosts: [`${name}.example`],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [{ number: 8080, name: "http", protocol: "HTTP" }],
    ...spec,
  },
});

/** ServiceEntries, Sidecars, and what writes Envoy's configuration. */
const OTHERS: Readonly<Record<string, Breakage>> = {
  "entry-port": {
    asked: ["--to", "10.99.0.5:8089"],
    make: (at, name) => [
      entry(name, {
        addresses: ["10.99.0.5"],
        endpoints: [{ address: at.b, labels: { "security.istio.io/tlsMode": "istio" } }],
      }),
    ],
    verdict: "unknown",
    says: /10\.99\.0\.5 belongs to the host "entry-port\.example", which has only the port 8080/,
    decided: ["ServiceEntry", "entry-port", "spec.ports"],
    alone: ["ServiceEntry", "", "spec.ports"],
    fix: /add the port to spec\.ports of ServiceEntry mesh\/entry-port/,
    status: 0,
  },
  "entry-resolution": {
    asked: ["--to", "http://entry-resolution.example:8080/"],
    make: (_, name) => [entry(name, { addresses: ["10.99.0.6"] })],
    verdict: "refused",
    says: /outbound\|8080\|\|entry-resolution\.example has no endpoints: 503 UH/,
    decided: ["ServiceEntry", "entry-resolution", "spec.resolution"],
    alone: ["ServiceEntry", "", "spec.endpoints"],
    fix: /set spec\.resolution of ServiceEntry mesh\/entry-resolution to DNS .*or add spec\.endpoints/,
    async heal({ api, pods }) {
      const path = `/apis/networking.istio.io/v1/namespaces/${NAMESPACE}/serviceentries/entry-resolution`;
      const labels = { "security.istio.io/tlsMode": "istio" };
      await api.patch(path, "merge", { spec: { endpoints: [{ address: pods.b.address, labels }] } });
    },
    status: 503,
  },
  "hidden": {
    from: "c",
    make: plain("hidden"),
    verdict: "unknown",
    says: /Sidecar mesh\/c does not include the Service mesh\/hidden$/,
    decided: ["Sidecar", "c", "spec.egress[0].hosts"],
    alone: ["Sidecar", "", "spec.egress.hosts"],
    fix: /add the Service mesh\/hidden to spec\.egress\[0\]\.hosts of Sidecar mesh\/c/,
    status: 0,
  },
  "ingress": {
    make: (at, name) => service(name, { address: at.c, selector: { app: "c" } }),
    verdict: "refused",
    says: /no process listens on port 9999/i,
    decided: ["Sidecar", "c", "spec.ingress[0].defaultEndpoint"],
    alone: ["Sidecar", "c", "spec.ingress.defaultEndpoint"],
    fix: /set spec\.ingress\[0\]\.defaultEndpoint of Sidecar mesh\/c to the address and port of the application/,
    status: 503,
  },
  "filter": {
    make: (at, name) => [
      ...service(name, { address: at.b, port: 8090 }),
      {
        kind: "EnvoyFilter",
        name,
        spec: {
          workloadSelector: { labels: { app: "b" } },
          configPatches: [{
            applyTo: "HTTP_FILTER",
            match: {
              context: "SIDECAR_INBOUND",
              listener: {
                portNumber: 8090,
                filterChain: { filter: { name: "envoy.filters.network.http_connection_manager" } },
              },
            },
            patch: { operation: "INSERT_FIRST", value: FAULT },
          }],
        },
      },
    ],
    verdict: "refused",
    says: /a fault aborts every request with status 418 \(FI\)/i,
    decided: ["EnvoyFilter", "filter", "spec.configPatches[0]"],
    alone: ["EnvoyFilter", "", "spec.configPatches"],
    fix: /kubectl delete -n mesh envoyfilter\/filter$/,
    status: 418,
  },
  "stale": {
    from: "c",
    make: (at, name) => service(name, { address: at.b, port: 8092 }),
    async breaks({ api, pods: { c } }) {
      // Also blocks what istiod sends on the open connection.
      await c.options.network.namespace.shell(`iptables -I ${UNHEARD}; iptables -I ${BLOCKED}`);
      const path = `/apis/security.istio.io/v1/namespaces/${NAMESPACE}/peerauthentications/b`;
      await api.patch(path, "merge", { spec: { portLevelMtls: { 8092: { mode: "DISABLE" } } } });
    },
    verdict: "refused",
    says: /DISABLE.*the client uses mutual TLS.*; the client's configuration of .* is older than the server's of /,
    decided: ["PeerAuthentication", "b", 'spec.portLevelMtls["8092"].mode'],
    alone: ["PeerAuthentication", "", "spec.mtls.mode"],
    fix: /set spec\.portLevelMtls\["8092"\]\.mode of PeerAuthentication mesh\/b to PERMISSIVE/,
    async restore({ pods: { c } }) {
      await c.options.network.namespace.shell(`iptables -D ${BLOCKED}; iptables -D ${UNHEARD}`);
    },
  },
};

/** Arguments of iptables that block the connection to istiod. */
const BLOCKED = "OUTPUT -p tcp --dport 15012 -j REJECT --reject-with tcp-reset";
const UNHEARD = "INPUT -p tcp --sport 15012 -j DROP";

const FAULT = {
  name: "envoy.filters.http.fault",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault",
    abort: { http_status: 418, percentage: { numerator: 100 } },
  },
};

/** All breakages by name. */
export const BREAKAGES: Readonly<Record<string, Breakage>> = {
  ...TLS,
  ...AUTHORIZATION,
  ...ROUTES,
  ...SERVICES,
  ...OTHERS,
};

/** What several breakages need: the modes and policies of the server's pod, and the Sidecar of `c`. */
export function common(): readonly Resource[] {
  const selector = { matchLabels: { app: "b" } };
  const own = Object.keys(BREAKAGES).filter((name) => name !== "hidden" && name !== "ingress");
  return [
    {
      kind: "PeerAuthentication",
      name: "b",
      spec: {
        selector,
        mtls: { mode: "UNSET" },
        portLevelMtls: { 8081: { mode: "DISABLE" }, 8082: { mode: "STRICT" }, 8092: { mode: "STRICT" } },
      },
    },
    {
      kind: "RequestAuthentication",
      name: "b",
      spec: { selector, jwtRules: [{ issuer: "https://own.example", jwks: JWKS }] },
    },
    {
      kind: "AuthorizationPolicy",
      name: "rest",
      spec: {
        selector,
        rules: [{ to: [{ operation: { notPorts: ["8084", "8085", "8086", "8087", "8088"] } }] }],
      },
    },
    {
      kind: "Sidecar",
      name: "c",
      spec: {
        workloadSelector: { labels: { app: "c" } },
        ingress: [{ port: { number: 8080, protocol: "HTTP", name: "http" }, defaultEndpoint: "127.0.0.1:9999" }],
        egress: [{ hosts: own.map((name) => `./${host(name)}`) }],
      },
    },
  ];
}

/** A key set whose key has signed none of the tokens. */
const JWKS = JSON.stringify({
  keys: [{
    kty: "RSA",
    alg: "RS256",
    kid: "1",
    e: "AQAB",
    n: `${"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}`,
  }],
});

/** Namespace and name as an answer has them. Envoy has the namespace of a ServiceEntry, and not its name. */
export function expected([kind, name, field]: readonly [string, string, string]): Decided {
  return { kind, namespace: name === "" && kind !== "ServiceEntry" ? "" : NAMESPACE, name, field };
}
