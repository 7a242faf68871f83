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

function withoutPort(
  facts: Facts,
  config: EnvoyConfig,
  { host, ports }: KnownService,
  { name, address, port }: Readonly<Record<"name" | "address", string>> & { readonly port: number },
): Step {
  const what = serviceText(host, facts.domain);
  const [only, ...others] = ports;
  const has = others.length === 0 ? `only the port ${only}` : `only the ports ${ports.join(", ")}`;
  const found = `the address ${address} belongs to ${what}, which has ${has}`;
  if (!isService(host, facts.domain)) {
    const namespace = config.cluster(`outbound|${only}||${host}`)?.namespace ?? "";
    const cause = { ...causeOf("ServiceEntry", "spec.ports", { by: "host", host, port }), namespace };
    const message = `${found}; it is unknown whether a process listens on port ${port}`;
    return unsure("cluster", { name, message }, cause);
  }
  const known = ports.map((each) => endpointsOf(config, `outbound|${each}||${host}`)).filter((each) =>
    each !== undefined
  );
  if (known.length === 0 || known.flat().includes(address)) {
    return unsure("cluster", { name, message: `${found}; it is unknown whether a pod listens on port ${port}` });
  }
  const right = others.length === 0 ? `port ${only}` : "one of its ports";
  const fix = `connect to ${right}, or add the port ${port} to spec.ports of ${what}`;
  const message = `${found}: no process listens on port ${port}`;
  return refusing("cluster", { name, message }, fix, serviceCause(host, "spec.ports"));
}

/** Returns a cause that names a field of the Service with this host. */
export function serviceCause(host: string, field: string): Cause {
  const [name = "", namespace = ""] = host.split(".");
  return { kind: "Service", namespace, name, field, search: { by: "name" } };
}

/** Returns the endpoints' addresses of a cluster; `undefined` if the snapshot does not contain them. */
function endpointsOf(config: EnvoyConfig, cluster: string): readonly string[] | undefined {
  const { hosts } = config.status(cluster) ?? {};
  return (hosts ?? config.assignment(cluster)?.endpoints)?.map(({ address }) => address.address);
}
