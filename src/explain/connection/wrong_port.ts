/** Explains a connection to a port that the Service at this address does not have. Envoy has no cluster for the port. */
import type { EnvoyConfig } from "../envoy/config.ts";
import { isService, type KnownService, serviceAt, serviceText } from "../names/services.ts";
import { type Cause, causeOf } from "../resources/cause.ts";
import { refusing, type Step, unsure } from "./connection_path.ts";
import type { Asked } from "./endpoints.ts";
import type { Facts } from "./facts.ts";

/**
 * Returns the step to use in place of a passthrough or BlackHole cluster, if the service at the address does not have
 * the port; else `undefined`. kube-proxy drops such a connection. An endpoint of a headless service, or a host outside
 * of the cluster, can still listen on the port.
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
    return unsure(
      "cluster",
      { name, message: `${found}; it is unknown whether a process listens on port ${port}` },
      cause,
    );
  }
  const endpoints = endpointAddresses(config, host, ports);
  if (endpoints === undefined || endpoints.has(address)) {
    return unsure("cluster", { name, message: `${found}; it is unknown whether a pod listens on port ${port}` });
  }
  const right = ports.length === 1 ? `port ${ports[0]}` : "one of its ports";
  const fix = `connect to ${right}, or add the port ${port} to spec.ports of ${what}`;
  const message = `${found}: no process listens on port ${port}`;
  return refusing("cluster", { name, message }, fix, serviceCause(host, "spec.ports"));
}

/** Returns a cause that names a field of the Service with this host. */
export function serviceCause(host: string, field: string): Cause {
  const [name = "", namespace = ""] = host.split(".");
  return { kind: "Service", namespace, name, field, search: { by: "name" } };
}

/** Returns the addresses of a service's endpoints; `undefined` if the snapshot does not contain them. */
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
