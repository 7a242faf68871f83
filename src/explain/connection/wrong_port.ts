/** A port that the Service at this address does not have: Envoy has no cluster for it. */
import type { EnvoyConfig } from "../envoy/config.ts";
import { isService, type KnownService, serviceAt, serviceText } from "../names/services.ts";
import { type Cause, causeOf } from "../resources/cause.ts";
import { refusing, type Step, unsure } from "./connection_path.ts";
import type { Asked } from "./endpoints.ts";
import type { Facts } from "./facts.ts";

/**
 * Replaces the station of a passthrough or BlackHole cluster; `undefined` if no service has the address, or if it has
 * the port. kube-proxy forwards such a connection nowhere; an endpoint of a headless service, and a host outside of
 * the cluster, may still listen.
 */
export function wrongPort(facts: Facts, config: EnvoyConfig, { name, original, direction }: Asked): Step | undefined {
  const { address, port } = original;
  if (direction !== "outbound" || address === undefined) return undefined;
  const service = serviceAt(config, facts.names, address);
  if (service === undefined || service.ports.includes(port)) return undefined;
  return withoutPort(facts, config, service, { name, address, port });
}

interface Place {
  readonly name: string;
  readonly address: string;
  readonly port: number;
}

function withoutPort(
  facts: Facts,
  config: EnvoyConfig,
  { host, ports }: KnownService,
  { name, address, port }: Place,
): Step {
  const what = serviceText(host, facts.domain);
  const has = ports.length === 1 ? `only the port ${ports[0]}` : `only the ports ${ports.join(", ")}`;
  const found = `the address ${address} belongs to ${what}, which has ${has}`;
  if (!isService(host, facts.domain)) {
    const namespace = config.cluster(`outbound|${ports[0]}||${host}`)?.namespace ?? "";
    const cause = { ...causeOf("ServiceEntry", "spec.ports", { by: "host", host, port }), namespace };
    return unsure("cluster", { name, message: `${found}; whether anything listens on ${port} is not known` }, cause);
  }
  const endpoints = endpointAddresses(config, host, ports);
  if (endpoints === undefined || endpoints.has(address)) {
    return unsure("cluster", { name, message: `${found}; whether a pod listens on ${port} is not known` });
  }
  const right = ports.length === 1 ? `port ${ports[0]}` : "one of its ports";
  const fix = `ask for ${right}, or add the port ${port} to spec.ports of ${what}`;
  const message = `${found}: nobody listens on ${port}`;
  return refusing("cluster", { name, message }, fix, serviceCause(host, "spec.ports"));
}

/** A field of the Service with this host. */
export function serviceCause(host: string, field: string): Cause {
  const [name = "", namespace = ""] = host.split(".");
  return { kind: "Service", namespace, name, field, search: { by: "name" } };
}

/** Addresses of a service's endpoints; `undefined` if the snapshot has none. */
function endpointAddresses(
  config: EnvoyConfig,
  host: string,
  ports: readonly number[],
): ReadonlySet<string> | undefined {
  const found = ports.flatMap((port) => {
    const name = `outbound|${port}||${host}`;
    const hosts = config.status(name)?.hosts ?? config.assignment(name)?.endpoints;
    return hosts === undefined
      ? []
      : [new Set(hosts.map(({ address }: { address: { address: string } }) => address.address))];
  });
  return found.length === 0 ? undefined : new Set(found.flatMap((addresses) => [...addresses]));
}
