/** Corrects the user that OpenShift assigns to a proxy container in the user's pod. */
import { intAt, mapAt } from "../../base/value.ts";
import { containersOf, findProxy, mapProxy, type Pod, withKey } from "../../inject/mod.ts";

/**
 * Removes the user and group that OpenShift assigned to a proxy container in the user's pod, if an application
 * container has the same user. With the proxy's user, the application's traffic would not be captured. Source: Istio's
 * isSidecarUserMatchingAppUser.
 */
export function withoutAssignedUser(pod: Pod): Pod {
  const proxy = findProxy(pod);
  const user = proxy === undefined ? undefined : userOf(proxy);
  if (user === undefined) return pod;
  const applications = containersOf(pod, "containers").filter((container) => container["name"] !== proxy?.["name"]);
  if (!applications.some((container) => userOf(container) === user)) return pod;
  return mapProxy(pod, (container) => {
    const security = mapAt(container, "securityContext");
    const bare = withKey(withKey(security, "runAsUser", undefined), "runAsGroup", undefined);
    return withKey(container, "securityContext", bare);
  });
}

function userOf(container: Pod): number | undefined {
  return intAt(mapAt(container, "securityContext"), "runAsUser");
}
