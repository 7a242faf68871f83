import {
  type Endpoints,
  type EndpointSlice,
  isEndpoints,
  isEndpointSlice,
  isSecret,
  isService,
} from "../../core/kube/client/mod.ts";
import { isKnown, type Observed } from "./observed.ts";
import { listOf, objectOf, type Source } from "./source.ts";

/** A name in a namespace. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** The pods of a Service. */
export interface Backends {
  /** Ready addresses. */
  readonly ready: number;
  readonly notReady: number;
  /** Pod ports by the name of the Service port. */
  readonly ports: ReadonlyMap<string, number>;
}

/** Services, their pods, and Secrets, by name. */
export function serviceInventory(source: Source) {
  return {
    service: byName((name) => objectOf(source, ["api/v1", "services"], isService, name)),
    backends: byName((name) => backendsOf(source, name)),
    secret: byName((name) => objectOf(source, ["api/v1", "secrets"], isSecret, name)),
  };
}

/** A getter that asks at most once for each name. */
function byName<T>(ask: (name: Named) => Promise<T>): (name: Named) => Promise<T> {
  const answers = new Map<string, Promise<T>>();
  return (name) => {
    const key = `${name.namespace}/${name.name}`;
    const answer = answers.get(key) ?? ask(name);
    answers.set(key, answer);
    return answer;
  };
}

/** From EndpointSlices; before Kubernetes 1.21 from Endpoints. */
async function backendsOf(source: Source, name: Named): Promise<Observed<Backends>> {
  const query = { labelSelector: `kubernetes.io/service-name=${name.name}` };
  const listing = { isKind: isEndpointSlice, namespace: name.namespace, query };
  const slices = await listOf(source, "apis/discovery.k8s.io/v1", "endpointslices", listing);
  if (!isKnown(slices) || slices.value.length > 0) return isKnown(slices) ? { value: ofSlices(slices.value) } : slices;
  const endpoints = await objectOf(source, ["api/v1", "endpoints"], isEndpoints, name);
  return isKnown(endpoints) ? { value: ofEndpoints(endpoints.value) } : endpoints;
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
