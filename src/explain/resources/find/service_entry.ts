/** Finds the ServiceEntry of a host outside of the cluster, for a missing port or for its endpoints. */
import { listAt, mapAt, textAt, textsAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding } from "../change.ts";
import type { MeshResources } from "../mesh_resources.ts";

const KIND = "ServiceEntry";

/** Finds the field that decided. `namespace` is the namespace of the ServiceEntry; empty: any namespace. */
export async function serviceEntry(
  resources: MeshResources,
  namespace: string,
  { host, port }: Extract<Search, { by: "host" }>,
): Promise<Finding | undefined> {
  const all = await resources.list(KIND, namespace);
  const object = all?.find((each) => textsAt(mapAt(each, "spec"), "hosts").some((own) => covers(own, host)));
  if (object === undefined || port === 0) return object && withoutEndpoints(object, host);
  const value = { number: port, name: `tcp-${port}`, protocol: "TCP" };
  const text = "add the port to FIELD, with its protocol";
  return finding(KIND, object, ["spec", "ports"], { text, op: "append", value });
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
    return finding(KIND, object, path, { text: "use a name in FIELD that DNS resolves" });
  }
  if (resolution !== "STATIC" || hasEndpoints) return finding(KIND, object, endpoints, { text: "correct FIELD" });
  const text = `set FIELD to DNS so that Envoy resolves "${host}", or add spec.endpoints`;
  return finding(KIND, object, ["spec", "resolution"], { text, op: "replace", value: "DNS" });
}
