/** Restores the probes that injection redirected to the agent. */
import { intAt, isMap, mapAt, mapsAt, textAt, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import { withAt, withKey, withReplaced, withSpecKey } from "../pod/change.ts";
import { type ContainerList, type Pod, PROBERS_ENV, specOf } from "../pod/pod.ts";
import { parseObject } from "../pod/status.ts";
import { HANDLERS } from "../postprocess/probes.ts";
import { type Doubt, type Evidence, isAdded, proxyVariable } from "./evidence.ts";

/** Restores handlers from the agent's variable. Port names are not restored: the variable contains numbers. */
export function probes(pod: Pod, evidence: Evidence, doubts: Doubt[]): Pod {
  const probers = parseObject(proxyVariable(evidence, PROBERS_ENV)) ?? {};
  const lists: readonly ContainerList[] = ["initContainers", "containers"];
  return lists.reduce((result, list) => {
    const before = specOf(result)[list];
    if (!Array.isArray(before)) return result;
    const after = before.map((container, index) => {
      if (!isMap(container) || isAdded(evidence, list, container)) return container;
      const doubt = (path: string, message: string) =>
        doubts.push({ field: `spec.${list}[${index}].${path}`, message });
      return restoredContainer(container, probers, doubt);
    });
    return after.every((item, index) => item === before[index]) ? result : withSpecKey(result, list, after);
  }, pod);
}

const UNKNOWN = "points to the agent, and the original handler is unknown; write the handler again";

/** Restores the handlers of a container. Calls `doubt` with the path of each field whose original is unknown. */
function restoredContainer(
  container: ValueMap,
  probers: ValueMap,
  doubt: (path: string, message: string) => void,
): ValueMap {
  return HANDLERS.reduce((result, { path, url }) => {
    const handler = valueAt(result, ...path);
    const name = url(textAt(container, "name"));
    if (!isMap(handler) || mapAt(handler, "httpGet")["path"] !== name) return result;
    const prober = probers[name];
    if (!isMap(prober)) {
      doubt(path.join("."), UNKNOWN);
      return result;
    }
    const restored = restoredHandler(handler, prober);
    for (const kind of ["httpGet", "tcpSocket"]) {
      const port = intAt(mapAt(restored, kind), "port");
      const named = portName(port, container);
      const message = `stays ${port}, but may have been the port's name "${named}" before injection`;
      if (named !== "") doubt([...path, kind, "port"].join("."), message);
    }
    return withAt(result, path, restored);
  }, container);
}

/** The name of a port in the container's ports; `""` if the port has no name or occurs more than once. */
function portName(port: number | undefined, container: ValueMap): string {
  const [only, ...others] = mapsAt(container, "ports").filter((each) => intAt(each, "containerPort") === port);
  return port === undefined || only === undefined || others.length > 0 ? "" : textAt(only, "name");
}

/** Restores one handler. Releases up to 1.5 record only the HTTP action, without the key `httpGet`. */
function restoredHandler(handler: ValueMap, prober: ValueMap): ValueMap {
  const { tcpSocket, grpc } = prober;
  if (isMap(tcpSocket)) return withReplaced(handler, "httpGet", "tcpSocket", withoutZero(tcpSocket, "port"));
  if (isMap(grpc)) return withReplaced(handler, "httpGet", "grpc", withoutZero(grpc, "service"));
  const action = isMap(prober["httpGet"]) ? prober["httpGet"] : prober;
  return withKey(handler, "httpGet", restoredRequest(mapAt(handler, "httpGet"), action));
}

/** Removes a port of 0 or a service of null, which Go writes for a missing field. */
function withoutZero(map: ValueMap, key: string): ValueMap {
  return map[key] === null || Number(map[key]) === 0 ? withKey(map, key, undefined) : map;
}

const REWRITTEN = ["path", "port", "scheme"];

function restoredRequest(request: ValueMap, original: ValueMap): ValueMap {
  return REWRITTEN.reduce<ValueMap>((result, key) => {
    const value: Value | undefined = original[key];
    // If the user did not write a port, injection appended it as the last field.
    const isMissing = value === "" || (key === "port" && value === 0 && Object.keys(request).at(-1) === "port");
    return withKey(result, key, isMissing ? undefined : value);
  }, request);
}
