/** Finds the ServiceEntry of a host outside of the cluster, for a missing port or for its endpoints. */
import { listAt, mapAt, textAt, textsAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path } from "../change.ts";
import type { MeshResources } from "../mesh_resources.ts";

const KIND = "ServiceEntry";

/** `namespace`: where it is; empty: in any. */
export async function serviceEntry(
  resources: MeshResources,
  namespace: string,
  { host, port }: Extract<Search, { by: "host" }>,
): Promise<Finding | undefined> {
  const all = await resources.list(KIND, namespace);
  if (typeof all === "string") return undefined;
  const object = all.find((each) => textsAt(mapAt(each, "spec"), "hosts").some((own) => covers(own, host)));
  if (object === undefined) return undefined;
  if (port !== 0) {
    const value = { number: port, name: `tcp-${port}`, protocol: "TCP" };
    const patch = { op: "add", path: "/spec/ports/-", value } as const;
    return finding(KIND, object, { path: ["spec", "ports"], text: "add the port to FIELD, with its protocol", patch });
  }
  return withoutEndpoints(object, host);
}

/** Whether a host of the resource, such as `*.example.com`, covers a name. */
export function covers(own: string, name: string): boolean {
  return own === name || own === "*" || own.startsWith("*.") && name.endsWith(own.slice(1));
}

/** STATIC needs endpoints, DNS a name that resolves. */
function withoutEndpoints(object: ValueMap, host: string): Finding {
  const spec = mapAt(object, "spec");
  const resolution = textAt(spec, "resolution");
  if (resolution.startsWith("DNS")) {
    const path: Path = listAt(spec, "endpoints").length > 0 ? ["spec", "endpoints"] : ["spec", "hosts"];
    return finding(KIND, object, { path, text: "give FIELD a name that DNS resolves" });
  }
  if (resolution === "STATIC" && listAt(spec, "endpoints").length === 0) {
    const patch = { op: "replace", path: "/spec/resolution", value: "DNS" } as const;
    const text = `set FIELD to DNS, with which Envoy resolves "${host}", or give it endpoints`;
    return finding(KIND, object, { path: ["spec", "resolution"], text, patch });
  }
  return finding(KIND, object, { path: ["spec", "endpoints"], text: "correct FIELD" });
}
