/** Decides whether the plugin stays when its installer exits. */
import { apiPath } from "../../kube/api_path.ts";
import { errorText } from "../../base/errors.ts";
import { ApiError, type KubeApi } from "../../kube/client/mod.ts";
import { mapAt } from "../../base/value.ts";

/**
 * HTTP statuses for missing permissions. An uninstall deletes the roles before the installer exits, so these statuses
 * mean that the installation was deleted.
 */
const WITHOUT_RIGHTS = [401, 403];

/**
 * Keeps the plugin if the DaemonSet still exists, as in an upgrade: the next installer takes over, and pods that start
 * in between are captured. `reason` is for the log. Also keeps the plugin if the API server does not give an answer.
 */
export async function stayingOf(api: KubeApi, namespace: string, daemonSet: string) {
  const name = `the DaemonSet "${namespace}/${daemonSet}"`;
  try {
    const found = await api.get(apiPath("apis/apps/v1", "daemonsets", namespace, daemonSet));
    if (found === undefined) return { stays: false, reason: `${name} no longer exists` };
    if (mapAt(found, "metadata")["deletionTimestamp"] !== undefined) {
      return { stays: false, reason: `${name} is being deleted` };
    }
    return { stays: true, reason: `${name} will start its next pod on this node` };
  } catch (error) {
    const isRefused = error instanceof ApiError && WITHOUT_RIGHTS.includes(error.status ?? 0);
    return isRefused
      ? { stays: false, reason: "the permissions of this installation no longer exist" }
      : { stays: true, reason: `cannot read ${name}: ${errorText(error)}` };
  }
}
