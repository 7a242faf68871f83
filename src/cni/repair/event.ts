/** Writes events of pods, which `kubectl describe` shows. */
import { textAt } from "../../base/value.ts";
import type { KubeApi, KubeObject } from "../../kube/client/mod.ts";
import type { World } from "../../platform/mod.ts";

/** Maximum length of an event message that the API server accepts. */
const MAX_MESSAGE = 1024;

/** Writes an event about a pod. Ignores failures, because the log contains the same text. */
export async function writeEvent(
  { api, world }: { readonly api: KubeApi; readonly world: World },
  pod: KubeObject,
  reason: string,
  message: string,
): Promise<void> {
  const { namespace = "", name } = pod.metadata;
  const now = world.clock.now().toISOString();
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { generateName: `${name.slice(0, 200)}.`, namespace },
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name, uid: textAt(pod.metadata, "uid") },
    ...{ type: "Warning", reason, message: message.slice(0, MAX_MESSAGE), source: { component: "cni-repair" } },
    ...{ firstTimestamp: now, lastTimestamp: now, count: 1 },
  };
  await api.create(`/api/v1/namespaces/${namespace}/events`, event).catch(() => {});
}
