/** Single problems of connections, each of a Service with its name: what decides, and what heals it. */
import type { Decided } from "../../../../../src/explain/answer_schema.ts";
import { NAMESPACE } from "../objects.ts";
import { MeshAuthority } from "../authority.ts";
import { certify, type EndsMesh, type PodName } from "./ends_mesh.ts";
import { destinationRule, policy, type Resource, route, service, virtualService } from "./resources.ts";

/** The addresses of the pods. */
export type Addresses = Readonly<Record<PodName, string>>;

export interface Breakage {
  /** Who asks; by default pod `a`. */
  readonly from?: PodName | "plain";
  /** The port of the server that a client without a proxy asks. */
  readonly port?: number;
  /** Flags in place of `--to http://NAME.mesh:8080/`. */
  readonly asked?: readonly string[];
  /** What is created. */
  readonly make: (at: Addresses, name: string) => readonly Resource[];
  /** What is done after all pods have what was created. */
  readonly breaks?: (at: EndsMesh) => Promise<void>;
  readonly verdict: "refused" | "unknown" | "reaches";
  readonly says: RegExp;
  /** The resource, with the API: kind, name and field; `undefined`: none decides. */
  readonly decided: readonly [kind: string, name: string, field: string] | undefined;
  /** The same from Envoy's configuration alone, where it knows less: what it does not know is empty. */
  readonly alone?: readonly [kind: string, name: string, field: string];
  /** What the printed fix must say. */
  readonly fix: RegExp;
  /** Does what the fix says, if it is no command. */
  readonly heal?: (at: EndsMesh) => Promise<void>;
  /** What takes the obstacle of the test away, besides the fix. */
  readonly restore?: (at: EndsMesh) => Promise<void>;
  /** The flags that the fix asks for. */
  readonly healed?: readonly string[];
  /** The status that a request gets while it is broken; by default any but 200. */
  readonly status?: number;
}

const host = (name: string) => `${name}.${NAMESPACE}.svc.cluster.local`;
const plain = (name: string) => (at: Addresses) => service(name, { address: at.b });

/** Replaces the endpoints of a Service. */
async function endpoints({ api }: EndsMesh, name: string, [made]: readonly Resource[]): Promise<void> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices/${name}`;
  await api.patch(path, "merge", made?.spec ?? {});
}

const slice = (name: string, ...more: Parameters<typeof service> extends [string, infer O] ? [O] : never) =>
  service(name, ...more).slice(1);

/** DestinationRules against the server's mode. */
const TLS: Readonly<Record<string, Breakage>> = {
  "tls-disabled": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, { trafficPolicy: { tls: { mode: "DISABLE" } } }),
    ],
    verdict: "refused",
    says: /STRICT.*the client speaks plain HTTP: the connection is closed/,
    decided: ["DestinationRule", "tls-disabled", "spec.trafficPolicy.tls"],
    fix: /take spec\.trafficPolicy\.tls of DestinationRule mesh\/tls-disabled away/,
  },
  "tls-disabled-subset": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, {
        subsets: [{ name: "v1", labels: { app: "b" }, trafficPolicy: { tls: { mode: "DISABLE" } } }],
      }),
      virtualService(name, [route(host(name), "v1")]),
    ],
    verdict: "refused",
    says: /STRICT.*the client speaks plain HTTP/,
    decided: ["DestinationRule", "tls-disabled-subset", "spec.subsets[0].trafficPolicy.tls"],
    alone: ["DestinationRule", "tls-disabled-subset", "spec.trafficPolicy.tls"],
    fix: /spec\.subsets\[0\]\.trafficPolicy\.tls/,
  },
  "tls-disabled-port": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, {
        trafficPolicy: { portLevelSettings: [{ port: { number: 8080 }, tls: { mode: "DISABLE" } }] },
      }),
    ],
    verdict: "refused",
    says: /STRICT.*the client speaks plain HTTP/,
    decided: ["DestinationRule", "tls-disabled-port", "spec.trafficPolicy.portLevelSettings[0].tls"],
    alone: ["DestinationRule", "tls-disabled-port", "spec.trafficPolicy.tls"],
    fix: /portLevelSettings\[0\]\.tls/,
  },
  "tls-mutual": {
    make: (at, name) => [
      ...service(name, { address: at.b, port: 8081 }),
      destinationRule(name, { trafficPolicy: { tls: { mode: "ISTIO_MUTUAL" } } }),
    ],
    verdict: "refused",
    says: /DISABLE.*the client speaks mutual TLS and HTTP: the connection is closed/,
    decided: ["DestinationRule", "tls-mutual", "spec.trafficPolicy.tls"],
    fix: /take spec\.trafficPolicy\.tls of DestinationRule mesh\/tls-mutual away/,
  },
  "tls-no-sidecar": {
    from: "plain",
    port: 8082,
    make: (at, name) => service(name, { address: at.b, port: 8082 }),
    verdict: "refused",
    says: /STRICT.*the client speaks plain/,
    decided: ["PeerAuthentication", "b", 'spec.portLevelMtls["8082"].mode'],
    alone: ["PeerAuthentication", "", "spec.mtls.mode"],
    fix: /set spec\.portLevelMtls\["8082"\]\.mode of PeerAuthentication mesh\/b to PERMISSIVE/,
  },
  "tls-names": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, {
        trafficPolicy: { tls: { mode: "ISTIO_MUTUAL", subjectAltNames: ["spiffe://x/ns/y/sa/z"] } },
      }),
    ],
    verdict: "refused",
    says:
      /^The server's certificate is for spiffe:\/\/cluster\.local\/ns\/mesh\/sa\/b, and the client expects spiffe:\/\/x/,
    decided: ["DestinationRule", "tls-names", "spec.trafficPolicy.tls"],
    fix: /spec\.trafficPolicy\.tls/,
  },
  "other-root": {
    from: "d",
    make: (at, name) => plain(name)(at),
    verdict: "refused",
    breaks: ({ pods }) => certify(pods.d, new MeshAuthority(), 1),
    says: /the certificates have no common root/i,
    decided: undefined,
    fix: /^give both control planes the same root/,
    heal: ({ mesh, pods }) => certify(pods.d, mesh.parts.root, 2),
  },
};

const as = (...principals: string[]) => ({ from: [{ source: { principals } }] });
const path = (name: string) => ({ operation: { paths: [name] } });

/** Policies against the client. */
const AUTHORIZATION: Readonly<Record<string, Breakage>> = {
  "deny": {
    make: (at, name) => [
      ...service(name, { address: at.b, port: 8083 }),
      policy(name, "DENY", 8083, as("cluster.local/ns/mesh/sa/a")),
    ],
    verdict: "refused",
    says: /AuthorizationPolicy mesh\/deny rule 0 denies it: 403/,
    decided: ["AuthorizationPolicy", "deny", "spec.rules[0]"],
    fix: /kubectl delete -n mesh authorizationpolicy\/deny$/,
    status: 403,
  },
  ...allowing("allow-other", 8084, as("cluster.local/ns/mesh/sa/other")),
  ...allowing("allow-namespace", 8085, { from: [{ source: { namespaces: ["shop"] } }] }),
  ...allowing("allow-trust-domain", 8086, as("old.local/ns/mesh/sa/a")),
  ...allowing("allow-path", 8087, { ...as("cluster.local/ns/mesh/sa/a"), to: [path("/api")] }),
  ...allowing("allow-token", 8088, { from: [{ source: { requestPrincipals: ["*"] } }] }),
  "token": {
    asked: ["--to", "http://token.mesh:8080/", "--header", `Authorization: Bearer ${token("https://other.example")}`],
    make: plain("token"),
    verdict: "refused",
    says: /^The issuer "https:\/\/other\.example" of the token is not known here: 401/,
    decided: ["RequestAuthentication", "b", "spec.jwtRules"],
    alone: ["RequestAuthentication", "", "spec.jwtRules"],
    fix: /^send no token or one of an issuer in spec\.jwtRules of RequestAuthentication mesh\/b/,
    healed: ["--to", "http://token.mesh:8080/"],
    status: 401,
  },
};

/** A policy that allows others at this port. */
function allowing(name: string, port: number, rule: object): Readonly<Record<string, Breakage>> {
  return {
    [name]: {
      make: (at) => [...service(name, { address: at.b, port }), policy(name, "ALLOW", port, rule)],
      verdict: "refused",
      says: /no ALLOW policy lets spiffe:\/\/cluster\.local\/ns\/mesh\/sa\/a in: 403/i,
      decided: ["AuthorizationPolicy", name, "spec.rules"],
      fix: new RegExp(`^add the client to spec\\.rules of AuthorizationPolicy mesh/${name}: kubectl patch`),
      status: 403,
    },
  };
}

/** A token without a valid signature. */
function token(iss: string): string {
  const part = (value: object) =>
    btoa(JSON.stringify(value)).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
  return `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss, sub: "x", exp: 4_000_000_000 })}.c2lnbmF0dXJl`;
}

/** Routes and subsets. */
const ROUTES: Readonly<Record<string, Breakage>> = {
  "subset-missing": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, { subsets: [{ name: "v1", labels: { app: "b" } }] }),
      virtualService(name, [route(host(name), "v2")]),
    ],
    verdict: "refused",
    says: /Envoy has no cluster outbound\|8080\|v2\|subset-missing\.mesh/,
    decided: ["VirtualService", "subset-missing", "spec.http[0].route[0].destination.subset"],
    alone: ["VirtualService", "subset-missing", "spec.http.route.destination.subset"],
    fix: /name "v1" in spec\.http\[0\]\.route\[0\]\.destination\.subset/,
  },
  "host-missing": {
    make: (at, name) => [...plain(name)(at), virtualService(name, [route(host("host-mising"))])],
    verdict: "refused",
    says: /Envoy has no cluster outbound\|8080\|\|host-mising\.mesh/,
    decided: ["VirtualService", "host-missing", "spec.http[0].route[0].destination.host"],
    alone: ["VirtualService", "host-missing", "spec.http.route.destination.host"],
    fix: /name "host-missing\.mesh\.svc\.cluster\.local" in/,
  },
  "subset-empty": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, { subsets: [{ name: "v2", labels: { version: "v2" } }] }),
      virtualService(name, [route(host(name), "v2")]),
    ],
    verdict: "refused",
    says: /outbound\|8080\|v2\|subset-empty.* has no endpoints: 503 UH/,
    decided: ["DestinationRule", "subset-empty", "spec.subsets[0].labels"],
    alone: ["DestinationRule", "subset-empty", "spec.subsets.labels"],
    fix: /\{"version":"v1"\}/,
    status: 503,
  },
  "fault": {
    make: (at, name) => [
      ...plain(name)(at),
      virtualService(name, [{
        fault: { abort: { httpStatus: 418, percentage: { value: 100 } } },
        ...route(host(name)),
      }]),
    ],
    verdict: "refused",
    says: /a fault answers every request with 418 \(FI\)/i,
    decided: ["VirtualService", "fault", "spec.http[0].fault"],
    alone: ["VirtualService", "fault", "spec.http.fault"],
    fix: /take spec\.http\[0\]\.fault of VirtualService mesh\/fault away/,
    status: 418,
  },
  "no-route": {
    make: (at, name) => [
      ...plain(name)(at),
      virtualService(name, [{ match: [{ uri: { prefix: "/api" } }], ...route(host(name)) }]),
    ],
    verdict: "refused",
    says: /no route of no-route\.mesh.* matches GET \/: 404 NR/i,
    decided: ["VirtualService", "no-route", "spec.http"],
    fix: /add to spec\.http of VirtualService mesh\/no-route a route without conditions/,
    status: 404,
  },
  "own-answer": {
    make: (at, name) => [...plain(name)(at), virtualService(name, [{ directResponse: { status: 418 } }])],
    verdict: "refused",
    says: /Envoy answers 418 itself/,
    decided: ["VirtualService", "own-answer", "spec.http[0].directResponse"],
    alone: ["VirtualService", "own-answer", "spec.http"],
    fix: /kubectl delete -n mesh virtualservice\/own-answer$/,
    status: 418,
  },
};

/** Services, endpoints, and the application. */
const SERVICES: Readonly<Record<string, Breakage>> = {
  "wrong-port": {
    asked: ["--to", "http://wrong-port.mesh:9999/"],
    make: plain("wrong-port"),
    verdict: "refused",
    says: /belongs to the Service mesh\/wrong-port, which has only the port 8080: nobody listens on 9999/,
    decided: ["Service", "wrong-port", "spec.ports"],
    fix: /^ask for port 8080/,
    healed: ["--to", "http://wrong-port.mesh:8080/"],
    status: 0,
  },
  "pods-not-ready": {
    make: (at, name) => service(name, { address: at.b, ready: false }),
    verdict: "refused",
    says: /none of the 1 endpoints of outbound\|8080\|\|pods-not-ready.* is healthy \(.*the control plane says/i,
    decided: undefined,
    fix: /look at the pods behind the endpoints: readiness/,
    heal: (at) => endpoints(at, "pods-not-ready", slice("pods-not-ready", { address: at.pods.b.address })),
    status: 503,
  },
  "pod-gone": {
    make: (_, name) => service(name, { address: "10.197.0.200" }),
    verdict: "unknown",
    says: /no pod in the namespace "mesh" has the address 10\.197\.0\.200: it is gone/,
    decided: undefined,
    fix: /^$/,
    heal: (at) => endpoints(at, "pod-gone", slice("pod-gone", { address: at.pods.b.address })),
    status: 503,
  },
  "nothing-listens": {
    make: (at, name) => service(name, { address: at.b, port: 8097 }),
    verdict: "refused",
    says: /nothing listens on port 8097, but on .*8080/i,
    decided: undefined,
    fix: /start the application on this port/,
    heal: ({ pods }) => pods.b.application.listen("8097"),
    status: 503,
  },
  "loopback": {
    make: (at, name) => service(name, { address: at.b, port: 8098 }),
    verdict: "refused",
    says: /listens on 127\.0\.0\.1:8098 alone/,
    decided: undefined,
    fix: /let the application listen on 0\.0\.0\.0/,
    heal: ({ pods: { b } }) => b.application.listen(`${b.address}:8098`),
    status: 503,
  },
  "tcp-name": {
    make: (at, name) => service(name, { address: at.b, portName: "tcp" }),
    verdict: "reaches",
    says: /the client's proxy sends TCP, and this chain reads HTTP: their port names differ/,
    decided: undefined,
    fix: /^$/,
    status: 200,
    async heal({ api }) {
      const ports = [{ name: "http", port: 8080, targetPort: 8080 }];
      await api.patch(`/api/v1/namespaces/${NAMESPACE}/services/tcp-name`, "merge", { spec: { ports } });
      const path = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices/tcp-name`;
      await api.patch(path, "merge", { ports: [{ name: "http", port: 8080, protocol: "TCP" }] });
    },
  },
};

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
    fix: /set spec\.resolution of ServiceEntry mesh\/entry-resolution to DNS.*or give it endpoints/,
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
    says: /Sidecar mesh\/c leaves out the Service mesh\/hidden$/,
    decided: ["Sidecar", "c", "spec.egress[0].hosts"],
    alone: ["Sidecar", "", "spec.egress.hosts"],
    fix: /add the Service mesh\/hidden to spec\.egress\[0\]\.hosts of Sidecar mesh\/c/,
    status: 0,
  },
  "ingress": {
    make: (at, name) => service(name, { address: at.c, selector: { app: "c" } }),
    verdict: "refused",
    says: /nothing listens on port 9999/i,
    decided: ["Sidecar", "c", "spec.ingress[0].defaultEndpoint"],
    alone: ["Sidecar", "c", "spec.ingress.defaultEndpoint"],
    fix: /let spec\.ingress\[0\]\.defaultEndpoint of Sidecar mesh\/c lead to where the application listens/,
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
    says: /a fault answers every request with 418 \(FI\)/i,
    decided: ["EnvoyFilter", "filter", "spec.configPatches[0]"],
    alone: ["EnvoyFilter", "", "spec.configPatches"],
    fix: /kubectl delete -n mesh envoyfilter\/filter$/,
    status: 418,
  },
  "stale": {
    from: "c",
    make: (at, name) => service(name, { address: at.b, port: 8092 }),
    async breaks({ api, pods: { c } }) {
      await c.options.network.namespace.shell(
        "iptables -I OUTPUT -p tcp --dport 15012 -j REJECT --reject-with tcp-reset",
      );
      const path = `/apis/security.istio.io/v1/namespaces/${NAMESPACE}/peerauthentications/b`;
      await api.patch(path, "merge", { spec: { portLevelMtls: { 8092: { mode: "DISABLE" } } } });
    },
    verdict: "refused",
    says: /DISABLE.*the client speaks mutual TLS.*; the client's configuration of .* is older than the server's of /,
    decided: ["PeerAuthentication", "b", 'spec.portLevelMtls["8092"].mode'],
    alone: ["PeerAuthentication", "", "spec.mtls.mode"],
    fix: /set spec\.portLevelMtls\["8092"\]\.mode of PeerAuthentication mesh\/b to PERMISSIVE/,
    async restore({ pods: { c } }) {
      await c.options.network.namespace.shell(`iptables -D ${BLOCKED}`);
    },
  },
};

/** The way to istiod. */
const BLOCKED = "OUTPUT -p tcp --dport 15012 -j REJECT --reject-with tcp-reset";

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

/** A key set in which no key signed any token. */
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
