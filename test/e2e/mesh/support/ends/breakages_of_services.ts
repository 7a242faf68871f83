/** Routes, subsets, Services, endpoints and the application. */
import { NAMESPACE } from "../objects.ts";
import { type Breakage, host, plain } from "./breakage.ts";
import type { EndsMesh } from "./ends_mesh.ts";
import { destinationRule, type Resource, route, service, virtualService } from "./resources.ts";

/** Routes and subsets. */
export const ROUTES: Readonly<Record<string, Breakage>> = {
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
    fix: /set spec\.http\[0\]\.route\[0\]\.destination\.subset .*to "v1"/,
  },
  "host-missing": {
    make: (at, name) => [...plain(name)(at), virtualService(name, [route(host("host-mising"))])],
    verdict: "refused",
    says: /Envoy has no cluster outbound\|8080\|\|host-mising\.mesh/,
    decided: ["VirtualService", "host-missing", "spec.http[0].route[0].destination.host"],
    alone: ["VirtualService", "host-missing", "spec.http.route.destination.host"],
    fix: /set spec\..* to "host-missing\.mesh\.svc\.cluster\.local"/,
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
    says: /a fault aborts every request with status 418 \(FI\)/i,
    decided: ["VirtualService", "fault", "spec.http[0].fault"],
    alone: ["VirtualService", "fault", "spec.http.fault"],
    fix: /remove spec\.http\[0\]\.fault of VirtualService mesh\/fault/,
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
    fix: /add a route without conditions to spec\.http of VirtualService mesh\/no-route/,
    status: 404,
  },
  "own-answer": {
    make: (at, name) => [...plain(name)(at), virtualService(name, [{ directResponse: { status: 418 } }])],
    verdict: "refused",
    says: /Envoy itself returns 418/,
    decided: ["VirtualService", "own-answer", "spec.http[0].directResponse"],
    alone: ["VirtualService", "own-answer", "spec.http"],
    fix: /kubectl delete -n mesh virtualservice\/own-answer$/,
    status: 418,
  },
};

/** Services, endpoints, and the application. */
export const SERVICES: Readonly<Record<string, Breakage>> = {
  "wrong-port": {
    asked: ["--to", "http://wrong-port.mesh:9999/"],
    make: plain("wrong-port"),
    verdict: "refused",
    says: /belongs to the Service mesh\/wrong-port, which has only the port 8080: no process listens on port 9999/,
    decided: ["Service", "wrong-port", "spec.ports"],
    fix: /^connect to port 8080/,
    healed: ["--to", "http://wrong-port.mesh:8080/"],
    status: 0,
  },
  "pods-not-ready": {
    make: (at, name) => service(name, { address: at.b, ready: false }),
    verdict: "refused",
    says: /none of the 1 endpoints of outbound\|8080\|\|pods-not-ready.* is healthy \(.*the control plane reports/i,
    decided: undefined,
    fix: /check the pods behind the endpoints: their readiness/,
    heal: (at) => endpoints(at, "pods-not-ready", slice("pods-not-ready", { address: at.pods.b.address })),
    status: 503,
  },
  "pod-gone": {
    make: (_, name) => service(name, { address: "10.197.0.200" }),
    verdict: "unknown",
    says: /no pod in the namespace "mesh" has the address 10\.197\.0\.200: the pod was deleted/,
    decided: undefined,
    fix: /^$/,
    heal: (at) => endpoints(at, "pod-gone", slice("pod-gone", { address: at.pods.b.address })),
    status: 503,
  },
  "nothing-listens": {
    make: (at, name) => service(name, { address: at.b, port: 8097 }),
    verdict: "refused",
    says: /no process listens on port 8097, but on .*8080/i,
    decided: undefined,
    fix: /start the application on this port/,
    heal: ({ pods }) => pods.b.application.listen("8097"),
    status: 503,
  },
  "loopback": {
    make: (at, name) => service(name, { address: at.b, port: 8098 }),
    verdict: "refused",
    says: /listens only on 127\.0\.0\.1:8098/,
    decided: undefined,
    fix: /make the application listen on 0\.0\.0\.0/,
    heal: ({ pods: { b } }) => b.application.listen(`${b.address}:8098`),
    status: 503,
  },
  "tcp-name": {
    make: (at, name) => service(name, { address: at.b, portName: "tcp" }),
    verdict: "reaches",
    says: /the client's proxy sends TCP, but this chain reads HTTP: the two proxies read/,
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

/** Replaces the endpoints of a Service. */
async function endpoints({ api }: EndsMesh, name: string, [made]: readonly Resource[]): Promise<void> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices/${name}`;
  await api.patch(path, "merge", made?.spec ?? {});
}

const slice = (name: string, ...more: Parameters<typeof service> extends [string, infer O] ? [O] : never) =>
  service(name, ...more).slice(1);
