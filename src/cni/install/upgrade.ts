/** Whether the plugin stays when its installer ends. */
import { errorText } from "../../base/errors.ts";
import { ApiError, type KubeApi } from "../../kube/client/mod.ts";
import { mapAt } from "../../base/value.ts";

/** The decision, and its reason for the log. */
export interface Staying {
  readonly stays: boolean;
  readonly reason: string;
}

/** Without rights, the installation has been deleted: its roles go first. */
const WITHOUT_RIGHTS = [401, 403];

/**
 * The plugin stays if the DaemonSet does, as in an upgrade: the next installer takes over, and no pod starts uncaptured in
 * between. It stays too if nobody can say.
 */
export async function stayingOf(api: KubeApi, namespace: string, daemonSet: string): Promise<Staying> {
  const name = `the DaemonSet "${namespace}/${daemonSet}"`;
  try {
    const found = await api.get(`/apis/apps/v1/namespaces/${namespace}/daemonsets/${daemonSet}`);
    if (found === undefined) return { stays: false, reason: `${name} is gone` };
    if (mapAt(found, "metadata")["deletionTimestamp"] !== undefined) {
      return { stays: false, reason: `${name} is being deleted` };
    }
    return { stays: true, reason: `${name} starts its next pod here` };
  } catch (error) {
    const isRefused = error instanceof ApiError && WITHOUT_RIGHTS.includes(error.status ?? 0);
    return isRefused
      ? { stays: false, reason: "the rights of this installation are gone" }
      : { stays: true, reason: `the API server does not say whether ${name} is still there: ${errorText(error)}` };
  }
}
