/** Finds the ServiceEntry of a host outside of the cluster, or the Gateway that opens a port on a gateway's pods. */
import { intAt, listAt, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path } from "../change.ts";
import { type MeshResources, selects } from "../mesh_resources.ts";

/** Finds the ServiceEntry, in this namespace (empty: in any), and its field for a missing port or missing endpoints. */
export async function serviceEntry(
  resources: MeshResources,
  namespace: string,
  { host, port }: Extract<Search, { by: "host" }>,
): Promise<Finding | undefined> {
  const all = await resources.list("ServiceEntry", namespace);
  const object = all?.find((each) => textsAt(mapAt(each, "spec"), "hosts").some((own) => covers(own, host)));
  if (object === undefined || port === 0) return object && withoutEndpoints(object, host);
  const value = { number: port, name: `tcp-${port}`, protocol: "TCP" };
  const text = "add the port to FIELD, with its protocol";
  return finding(object, ["spec", "ports"], { text, op: "append", value });
}

/** Whether a host of a resource, such as `*.example.com`, matches a name. */
export function covers(own: string, name: string): boolean {
  return own === name || own === "*" || own.startsWith("*.") && name.endsWith(own.slice(1));
}

/** Finds the reason for missing endpoints: STATIC needs endpoints, and DNS needs a name that resolves. */
function withoutEndpoints(object: ValueMap, host: string): Finding {
  const spec = mapAt(object, "spec");
  const resolution = textAt(spec, "resolution");
  const endpoints = ["spec", "endpoints"];
  const hasEndpoints = listAt(spec, "endpoints").length > 0;
  if (resolution.startsWith("DNS")) {
    const path = hasEndpoints ? endpoints : ["spec", "hosts"];
    return finding(object, path, { text: "use a name in FIELD that DNS resolves" });
  }
  if (resolution !== "STATIC" || hasEndpoints) {
    return finding(object, endpoints, { text: "correct FIELD" });
  }
  const text = `set FIELD to DNS so that Envoy resolves "${host}", or add spec.endpoints`;
  return finding(object, ["spec", "resolution"], { text, op: "replace", value: "DNS" });
}

/** Searches the Gateways of all namespaces. Gateways select pods by labels (Istio's default scope). */
export async function gatewayServer(
  resources: MeshResources,
  { workload, port, host }: Extract<Search, { by: "server" }>,
): Promise<Finding | undefined> {
  const all = await resources.list("Gateway", "") ?? [];
  const own = all.filter((each) => selects(each, workload.labels));
  for (const object of own) {
    const servers = mapsAt(mapAt(object, "spec"), "servers");
    const at = servers.findIndex((each) => intAt(mapAt(each, "port"), "number") === port);
    const server = servers[at];
    if (server === undefined) continue;
    const path: Path = ["spec", "servers", at, "hosts"];
    const isKnown = textsAt(server, "hosts").some((each) => covers(each.split("/").at(-1) ?? "", host));
    if (isKnown) return undefined;
    return finding(object, path, { text: `add "${host}" to FIELD`, op: "append", value: host });
  }
  const [first] = own;
  return first && finding(first, ["spec", "servers"], { text: `add a server for port ${port} to FIELD` });
}
