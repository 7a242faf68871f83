import type { KubeObject } from "../../core/kube/client/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../core/value.ts";
import { isKnown, type Observed } from "./observed.ts";
import { listOf, objectOf, type Source } from "./source.ts";

/** A name in a namespace. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** What is behind a Service. */
export interface Backends {
  /** Addresses that are ready. */
  readonly ready: number;
  readonly notReady: number;
  /** Ports of the pods, by the name of the Service's port. */
  readonly ports: ReadonlyMap<string, number>;
}

/** Services, what is behind them, and Secrets: those that a webhook needs, by name. */
export function serviceInventory(source: Source) {
  return {
    service: byName((name) => objectOf(source, "api/v1", "services", name)),
    backends: byName((name) => backendsOf(source, name)),
    secret: byName((name) => objectOf(source, "api/v1", "secrets", name)),
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

/** From EndpointSlices; clusters before 1.21 have Endpoints alone. */
async function backendsOf(source: Source, name: Named): Promise<Observed<Backends>> {
  const query = { labelSelector: `kubernetes.io/service-name=${name.name}` };
  const slices = await listOf(source, "apis/discovery.k8s.io/v1", "endpointslices", { ...name, query });
  if (!isKnown(slices) || slices.value.length > 0) return isKnown(slices) ? { value: ofSlices(slices.value) } : slices;
  const endpoints = await objectOf(source, "api/v1", "endpoints", name);
  return isKnown(endpoints) ? { value: ofEndpoints(endpoints.value) } : endpoints;
}

function ofSlices(slices: readonly KubeObject[]): Backends {
  const endpoints = slices.flatMap((slice) => maps(slice["endpoints"]));
  const isReady = ({ conditions }: ValueMap) => !isMap(conditions) || conditions["ready"] !== false;
  const ready = endpoints.filter(isReady).length;
  return { ready, notReady: endpoints.length - ready, ports: portsOf(slices) };
}

function ofEndpoints(endpoints: KubeObject | undefined): Backends {
  const subsets = maps(endpoints?.["subsets"]);
  const count = (key: string) => subsets.flatMap((subset) => maps(subset[key])).length;
  return { ready: count("addresses"), notReady: count("notReadyAddresses"), ports: portsOf(subsets) };
}

function portsOf(holders: readonly { readonly [key: string]: Value }[]): ReadonlyMap<string, number> {
  const ports = holders.flatMap((holder) => maps(holder["ports"]));
  return new Map(ports.map(({ name, port }) => [typeof name === "string" ? name : "", Number(port)]));
}

function maps(value: Value | undefined): ValueMap[] {
  return isList(value) ? value.filter(isMap) : [];
}
