/** Restores the probes that injection pointed to the agent. */
import { isMap, mapAt, textAt, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import { PROBERS_ENV } from "../names.ts";
import { withAt, withKey, withSpecKey } from "../pod/change.ts";
import { type ContainerList, type Pod, specOf } from "../pod/pod.ts";
import { parseObject } from "../pod/status.ts";
import { HANDLERS } from "../postprocess/probes.ts";
import { type Evidence, isAdded, proxyVariable } from "./evidence.ts";
import type { Doubt } from "./step.ts";

/** Restores handlers from the agent's variable. A named port stays a number. */
export function probes(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const probers = parseObject(proxyVariable(evidence, PROBERS_ENV)) ?? {};
  const lists: readonly ContainerList[] = ["initContainers", "containers"];
  return lists.reduce((result, list) => {
    const before = specOf(result)[list];
    if (!Array.isArray(before)) return result;
    const after = before.map((container, index) => {
      if (!isMap(container) || isAdded(evidence, container)) return container;
      const done = restoredContainer(container, probers);
      doubts.push(...done.unknown.map((path) => ({ field: `spec.${list}[${index}].${path}`, message: UNKNOWN })));
      return done.container;
    });
    return after.every((item, index) => item === before[index]) ? result : withSpecKey(result, list, after);
  }, pod);
}

const UNKNOWN = "it asks the agent, and what it asked before is not known: write it again";

function restoredContainer(container: ValueMap, probers: ValueMap) {
  const unknown: string[] = [];
  let result = container;
  for (const { path, url } of HANDLERS) {
    const handler = valueAt(result, ...path);
    const name = url(textAt(container, "name"));
    if (!isMap(handler) || mapAt(handler, "httpGet")["path"] !== name) continue;
    const prober = probers[name];
    if (isMap(prober)) result = withAt(result, path, restoredHandler(handler, prober));
    else unknown.push(path.join("."));
  }
  return { container: result, unknown };
}

/** Releases up to 1.5 keep the action alone, without its kind. */
function restoredHandler(handler: ValueMap, prober: ValueMap): ValueMap {
  const { tcpSocket, grpc } = prober;
  if (isMap(tcpSocket)) return withAction(handler, "tcpSocket", tcpSocket);
  if (isMap(grpc)) return withAction(handler, "grpc", withoutNull(grpc, "service"));
  const action = isMap(prober["httpGet"]) ? prober["httpGet"] : prober;
  return withKey(handler, "httpGet", restoredRequest(mapAt(handler, "httpGet"), action));
}

function withAction(handler: ValueMap, kind: string, action: ValueMap): ValueMap {
  return withKey(withKey(handler, "httpGet", undefined), kind, action);
}

function withoutNull(map: ValueMap, key: string): ValueMap {
  return map[key] === null ? withKey(map, key, undefined) : map;
}

/** The fields of a request that injection rewrites. */
const REWRITTEN = ["path", "port", "scheme"];

function restoredRequest(request: ValueMap, original: ValueMap): ValueMap {
  return REWRITTEN.reduce<ValueMap>((result, key) => {
    const value: Value | undefined = original[key];
    return withKey(result, key, value === "" ? undefined : value);
  }, request);
}
