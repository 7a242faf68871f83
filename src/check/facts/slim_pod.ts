import type { KubeObject } from "../../core/kube/client/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../core/value.ts";

/** What no check reads of live pods, and most of what they are made of. */
const UNREAD = {
  metadata: new Set(["managedFields"]),
  spec: new Set(["volumes", "tolerations", "affinity", "topologySpreadConstraints"]),
  container: new Set([
    "args",
    "command",
    "env",
    "envFrom",
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "volumeDevices",
    "volumeMounts",
  ]),
  status: new Set(["hostIP", "hostIPs", "podIP", "podIPs", "resourceClaimStatuses", "startTime"]),
  containerStatus: new Set(["allocatedResources", "containerID", "image", "imageID", "resources", "volumeMounts"]),
};

const CONTAINERS = ["containers", "initContainers", "ephemeralContainers"];
const STATUSES = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/** A pod without what no check reads: thousands of whole ones take hundreds of megabytes. */
export function slimPod(pod: KubeObject): KubeObject {
  const { apiVersion, kind, metadata, spec, status } = pod;
  const { name, namespace, ...others } = metadata;
  const named = namespace === undefined ? { name } : { namespace, name };
  return {
    apiVersion,
    kind,
    metadata: { ...without(others, UNREAD.metadata), ...named },
    ...(isMap(spec) ? { spec: slimLists(without(spec, UNREAD.spec), CONTAINERS, UNREAD.container) } : {}),
    ...(isMap(status) ? { status: slimLists(without(status, UNREAD.status), STATUSES, UNREAD.containerStatus) } : {}),
  };
}

function slimLists(map: ValueMap, keys: readonly string[], unread: ReadonlySet<string>): ValueMap {
  const slim = keys.flatMap((key) => {
    const list = map[key];
    return isList(list) ? [[key, list.map((each) => isMap(each) ? without(each, unread) : each)] as const] : [];
  });
  return { ...map, ...Object.fromEntries(slim) };
}

function without(map: Readonly<Record<string, Value>>, unread: ReadonlySet<string>): ValueMap {
  // V8 keeps the shape of such objects once, and that of each without a prototype by itself.
  return Object.fromEntries(Object.entries(map).filter(([key]) => !unread.has(key)));
}
