import {
  type Endpoints,
  type EndpointSlice,
  isEndpoints,
  isEndpointSlice,
  isPod,
  isSecret,
  isService,
  type KubeObject,
} from "../../kube/client/mod.ts";
import { podKeeper, serviceKeeper } from "./kept_fields.ts";
import { isKnown, mapKnown, type Observed, once, oncePerKey } from "./observed.ts";
import { PAGE_OF_PODS } from "./resources.ts";
import { listOf, objectOf, type Place, type Source } from "./source.ts";

export interface Backends {
  readonly ready: number;
  readonly notReady: number;
  /** Pod ports by the name of their Service port. */
  readonly ports: ReadonlyMap<string, number>;
}

/** Returns getters of Services, their endpoints, and Secrets. */
export function serviceInventory(source: Source) {
  return {
    service: byName((name) => objectOf(source, ["api/v1", "services"], isService, name)),
    services: once(() =>
      listOf(source, "api/v1", "services", {
        isKind: isService,
        namespace: source.scope.namespace,
        query: { limit: "500" },
        keep: serviceKeeper(),
      })
    ),
    backends: byName((name) => backendsOf(source, name)),
    /** The Deployments of a namespace, with all fields. */
    deploymentsIn: oncePerKey((namespace: string) =>
      listOf(source, "apis/apps/v1", "deployments", { isKind: isDeployment, namespace })
    ),
    /** All pods of a namespace. Does not read pods outside of `--namespace`, because only advice needs them. */
    podsIn: oncePerKey((namespace: string) => {
      const { namespace: chosen = namespace } = source.scope;
      return chosen === namespace
        ? listOf(source, "api/v1", "pods", { isKind: isPod, namespace, query: PAGE_OF_PODS, keep: podKeeper() })
        : Promise.resolve({ failed: "pods of other namespaces are not read" });
    }),
    secret: byName((name) => objectOf(source, ["api/v1", "secrets"], isSecret, name)),
  };
}

const isDeployment = (object: KubeObject): object is KubeObject => object.kind === "Deployment";

function byName<T>(ask: (name: Place) => Promise<T>): (name: Place) => Promise<T> {
  return oncePerKey(ask, ({ namespace, name }) => `${namespace}/${name}`);
}

/** Reads the endpoints of a Service from EndpointSlices, or from Endpoints before Kubernetes 1.21. */
async function backendsOf(source: Source, name: Place): Promise<Observed<Backends>> {
  const query = { labelSelector: `kubernetes.io/service-name=${name.name}` };
  const listing = { isKind: isEndpointSlice, namespace: name.namespace, query };
  const slices = await listOf(source, "apis/discovery.k8s.io/v1", "endpointslices", listing);
  if (!isKnown(slices)) return slices;
  if (slices.value.length > 0) return { value: ofSlices(slices.value) };
  return mapKnown(await objectOf(source, ["api/v1", "endpoints"], isEndpoints, name), ofEndpoints);
}

function ofSlices(slices: readonly EndpointSlice[]): Backends {
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false).length;
  return { ready, notReady: endpoints.length - ready, ports: portsOf(slices) };
}

function ofEndpoints({ subsets = [] }: Partial<Endpoints> = {}): Backends {
  const count = (key: "addresses" | "notReadyAddresses") => subsets.flatMap((subset) => subset[key] ?? []).length;
  return { ready: count("addresses"), notReady: count("notReadyAddresses"), ports: portsOf(subsets) };
}

interface WithPorts {
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
}

function portsOf(holders: readonly WithPorts[]): ReadonlyMap<string, number> {
  const ports = holders.flatMap((holder) => holder.ports ?? []);
  return new Map(ports.map(({ name = "", port }) => [name, Number(port)]));
}
