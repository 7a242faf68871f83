/** Finds the Gateway that opens a port on a gateway's pods. */
import { intAt, mapAt, mapsAt, textsAt } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path, pointerOf } from "../change.ts";
import { type MeshResources, selectorOf } from "../mesh_resources.ts";
import { covers } from "./service_entry.ts";

const KIND = "Gateway";

/** Searches the Gateways of all namespaces. Gateways select pods by labels (Istio's default scope). */
export async function gatewayServer(
  resources: MeshResources,
  { workload, port, host }: Extract<Search, { by: "server" }>,
): Promise<Finding | undefined> {
  const all = await resources.list(KIND, "");
  if (typeof all === "string") return undefined;
  const own = all.filter((each) =>
    Object.entries(selectorOf(each)).every(([key, value]) => workload.labels[key] === value)
  );
  for (const object of own) {
    const servers = mapsAt(mapAt(object, "spec"), "servers");
    const at = servers.findIndex((each) => intAt(mapAt(each, "port"), "number") === port);
    const server = servers[at];
    if (server === undefined) continue;
    const path: Path = ["spec", "servers", at, "hosts"];
    const isKnown = textsAt(server, "hosts").some((each) => covers(each.split("/").at(-1) ?? "", host));
    if (isKnown) return undefined;
    const patch = { op: "add", path: `${pointerOf(path)}/-`, value: host } as const;
    return finding(KIND, object, { path, text: `add "${host}" to FIELD`, patch });
  }
  const [first] = own;
  if (first === undefined) return undefined;
  return finding(KIND, first, { path: ["spec", "servers"], text: `add a server for port ${port} to FIELD` });
}
