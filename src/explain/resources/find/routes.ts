/** Finds the field of a VirtualService or an HTTPRoute that decides the destination of a request. */
import { closest } from "../../../base/text/mod.ts";
import { isList, isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path, removal } from "../change.ts";
import { type MeshResources, nameOf } from "../mesh_resources.ts";

type Destination = Extract<Search, { by: "destination" }>;

/** Finds the route of a VirtualService whose destination (host or subset) does not exist. */
export function destination(object: ValueMap, { host, subset, instead }: Destination): Finding | undefined {
  const { namespace } = nameOf(object);
  for (const part of ["http", "tls", "tcp"]) {
    for (const [at, rule] of mapsAt(mapAt(object, "spec"), part).entries()) {
      const index = mapsAt(rule, "route").findIndex((each) => {
        const own = mapAt(each, "destination");
        return isHost(textAt(own, "host"), host, namespace) && textAt(own, "subset") === subset;
      });
      if (index < 0) continue;
      const own: Path = ["spec", part, at, "route", index, "destination"];
      if (subset === "") return other(object, [...own, "host"], instead);
      const path: Path = [...own, "subset"];
      if (instead !== "") return other(object, path, instead);
      const text = "remove FIELD, or add this subset to a DestinationRule";
      return finding(object, path, { text, op: "remove" });
    }
  }
  return undefined;
}

/** Finds the first missing backend in a Gateway API route. A route with a missing backend returns 500. */
export async function missingBackend(resources: MeshResources, object: ValueMap): Promise<Finding | undefined> {
  for (const [at, rule] of mapsAt(mapAt(object, "spec"), "rules").entries()) {
    for (const [index, backend] of mapsAt(rule, "backendRefs").entries()) {
      const services = await resources.list("Service", textAt(backend, "namespace") || nameOf(object).namespace);
      const names = services?.map((each) => nameOf(each).name);
      const name = textAt(backend, "name");
      if (names === undefined || names.includes(name)) continue;
      return other(object, ["spec", "rules", at, "backendRefs", index, "name"], closest(name, names) ?? "");
    }
  }
  return undefined;
}

function other(object: ValueMap, path: Path, instead: string): Finding {
  if (instead === "") return finding(object, path, { text: "set FIELD to an existing name" });
  return finding(object, path, { text: `set FIELD to "${instead}"`, op: "replace", value: instead });
}

/** Whether a host in a resource, such as `web`, `web.shop` or `web.shop.svc.cluster.local`, means this full name. */
function isHost(given: string, host: string, namespace: string): boolean {
  return given === host ||
    host.startsWith(`${given}.`) && (given.includes(".") || host.startsWith(`${given}.${namespace}.`));
}

const PARTS = { fault: ["fault"], answer: ["directResponse", "redirect"] } as const;

/** Finds the fault, direct response or redirect that Envoy applied, or the routes if no route matches the request. */
export function ownAnswer(object: ValueMap, { what, host }: Extract<Search, { by: "route" }>): Finding | undefined {
  const rules = mapsAt(mapAt(object, "spec"), "http");
  if (what === "missing") return missing(object, rules, host);
  const found = rules.flatMap((rule, at): Path[] =>
    PARTS[what].flatMap((part): Path[] => isMap(rule[part]) ? [["spec", "http", at, part]] : [])
  );
  const [path] = found;
  // If several rules have such a part, Envoy does not show which one applied.
  if (path === undefined || found.length > 1) return undefined;
  if (what === "fault") return finding(object, path, { text: "remove FIELD", op: "remove" });
  const own = removal(object, path.slice(0, 3), "remove FIELD");
  return { ...own, field: `${own.field}.${path[3]}` };
}

/** Suggests appending a route without conditions, to the destination of the first route or else to the host. */
function missing(object: ValueMap, rules: readonly ValueMap[], host: string): Finding {
  const [route] = rules.map((rule) => rule["route"]).filter(isList);
  const value = { route: route ?? [{ destination: { host } }] };
  const text = "add a route without conditions to FIELD";
  return finding(object, ["spec", "http"], { text, op: "append", value });
}
