/** Finds the Gateway that opens a port on a gateway's pods. */
import { intAt, mapAt, mapsAt, textsAt } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path } from "../change.ts";
import { type MeshResources, selects } from "../mesh_resources.ts";
import { covers } from "./service_entry.ts";

const KIND = "Gateway";

/** Searches the Gateways of all namespaces. Gateways select pods by labels (Istio's default scope). */
export async function gatewayServer(
  resources: MeshResources,
  { workload, port, host }: Extract<Search, { by: "server" }>,
): Promise<Finding | undefined> {
  const all = await resources.list(KIND, "") ?? [];
  const own = all.filter((each) => selects(each, workload.labels));
  for (const object of own) {
    const servers = mapsAt(mapAt(object, "spec"), "servers");
    const at = servers.findIndex((each) => intAt(mapAt(each, "port"), "number") === port);
    const server = servers[at];
    if (server === undefined) continue;
    const path: Path = ["spec", "servers", at, "hosts"];
    const isKnown = textsAt(server, "hosts").some((each) => covers(each.split("/").at(-1) ?? "", host));
    if (isKnown) return undefined;
    return finding(KIND, object, path, { text: `add "${host}" to FIELD`, op: "append", value: host });
  }
  const [first] = own;
  return first && finding(KIND, first, ["spec", "servers"], { text: `add a server for port ${port} to FIELD` });
}
