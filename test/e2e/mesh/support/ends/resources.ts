/** Objects of the mesh: definitions of all kinds of Istio and of the Gateway API, and short forms of their objects. */
import { definition, type Made, NAMESPACE } from "../objects.ts";

/** The group and version of a kind, and its plural. */
const KINDS: Readonly<Record<string, readonly [apiVersion: string, plural: string]>> = {
  VirtualService: ["networking.istio.io/v1", "virtualservices"],
  DestinationRule: ["networking.istio.io/v1", "destinationrules"],
  ServiceEntry: ["networking.istio.io/v1", "serviceentries"],
  Sidecar: ["networking.istio.io/v1", "sidecars"],
  EnvoyFilter: ["networking.istio.io/v1alpha3", "envoyfilters"],
  PeerAuthentication: ["security.istio.io/v1", "peerauthentications"],
  AuthorizationPolicy: ["security.istio.io/v1", "authorizationpolicies"],
  RequestAuthentication: ["security.istio.io/v1", "requestauthentications"],
  Telemetry: ["telemetry.istio.io/v1", "telemetries"],
  Service: ["v1", "services"],
  EndpointSlice: ["discovery.k8s.io/v1", "endpointslices"],
};

/** An object of the pods' namespace. */
export interface Resource {
  readonly kind: string;
  readonly name: string;
  readonly spec: object;
}

/** Where an object is created, and its body. */
export function madeOf({ kind, name, spec }: Resource): Made {
  const [apiVersion = "", plural = ""] = KINDS[kind] ?? [];
  const group = apiVersion.includes("/") ? "apis" : "api";
  const body = kind === "EndpointSlice"
    ? { apiVersion, kind, metadata: { name, labels: { "kubernetes.io/service-name": name } }, ...spec }
    : { apiVersion, kind, metadata: { name }, spec };
  return { path: `/${group}/${apiVersion}/namespaces/${NAMESPACE}/${plural}`, body };
}

/** The CustomResourceDefinitions that a mesh lacks. They accept any content. */
export function definitions(): Made[] {
  const own = Object.entries(KINDS).filter(([kind, [apiVersion]]) =>
    apiVersion.includes("istio.io") && !["PeerAuthentication", "AuthorizationPolicy"].includes(kind)
  );
  return own.map(([kind, [apiVersion]]) => {
    const [group = "", version = ""] = apiVersion.split("/");
    return definition(kind, group, version === "v1" ? undefined : [version]);
  });
}

/** A Service with port 8080, and its EndpointSlice. */
export function service(
  name: string,
  { address, port = 8080, selector = { app: "b" }, portName = "http", ready = true }: {
    readonly address: string;
    readonly port?: number;
    readonly selector?: Readonly<Record<string, string>>;
    readonly portName?: string;
    readonly ready?: boolean;
  },
): Resource[] {
  const spec = { selector, ports: [{ name: portName, port: 8080, targetPort: port }] };
  return [
    { kind: "Service", name, spec },
    {
      kind: "EndpointSlice",
      name,
      spec: {
        addressType: "IPv4",
        endpoints: [{ addresses: [address], conditions: { ready, serving: ready, terminating: false } }],
        ports: [{ name: portName, port, protocol: "TCP" }],
      },
    },
  ];
}

/** A VirtualService for the Service of its name. */
export function virtualService(name: string, http: readonly object[]): Resource {
  return { kind: "VirtualService", name, spec: { hosts: [`${name}.${NAMESPACE}.svc.cluster.local`], http } };
}

/** A route to the Service, or to a subset of it. */
export function route(host: string, subset?: string): object {
  return { route: [{ destination: { host, ...subset === undefined ? {} : { subset } } }] };
}

export function destinationRule(name: string, spec: object): Resource {
  return { kind: "DestinationRule", name, spec: { host: `${name}.${NAMESPACE}.svc.cluster.local`, ...spec } };
}

/** A policy of the server's pod for one of its ports. */
export function policy(name: string, action: string, port: number, rule: object): Resource {
  const { to = [{}], ...more } = JSON.parse(JSON.stringify(rule));
  const operations = to.map((each: { operation?: object }) => ({
    operation: { ...each.operation, ports: [String(port)] },
  }));
  const spec = { selector: { matchLabels: { app: "b" } }, action, rules: [{ ...more, to: operations }] };
  return { kind: "AuthorizationPolicy", name, spec };
}
