/** Sets the taint that keeps pods off a node until the plugin is installed. */
import { apiPath } from "../../kube/api_path.ts";
import { ConflictError, type KubeApi } from "../../kube/client/mod.ts";
import { mapAt, mapsAt, textAt } from "../../base/value.ts";

const MAX_TRIES = 5;

/** Adds or removes a taint of the node. Returns false if this changes nothing. Rejects with an `ApiError`. */
export async function setTaint(api: KubeApi, node: string, key: string, wanted: boolean): Promise<boolean> {
  const path = apiPath("api/v1", "nodes", undefined, node);
  for (let attempt = 1;; attempt++) {
    const object = await api.get(path);
    const taints = object === undefined ? [] : mapsAt(mapAt(object, "spec"), "taints");
    const others = taints.filter((taint) => textAt(taint, "key") !== key);
    if (object === undefined || wanted === others.length < taints.length) return false;
    // The patch replaces the whole list. With the resource version, the patch fails if another client has changed the
    // node in the meantime.
    const { resourceVersion } = object.metadata;
    const spec = { taints: wanted ? [...others, { key, effect: "NoSchedule" }] : others };
    try {
      await api.patch(path, "merge", { metadata: { resourceVersion }, spec });
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === MAX_TRIES) throw error;
    }
  }
}
