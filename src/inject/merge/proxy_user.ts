/** Applies a custom UID of the proxy to istio-init, whose iptables rules exempt the proxy's traffic by UID. */
import { ANNOTATION, type MeshConfig } from "../../istio/mod.ts";
import { intAt, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { mapContainers, mapProxy, withKey } from "../pod/change.ts";
import { annotation, containerNamed, containersOf, findProxy, INIT, type Pod, VALIDATION } from "../pod/pod.ts";

/**
 * Applies `runAsUser` and `runAsGroup` of the user's proxy container (`user`) to the init container. With TPROXY, the proxy
 * must run as root.
 */
export function followProxyUser(pod: Pod, user: ValueMap | undefined, mesh: MeshConfig): Pod {
  const security = mapAt(user ?? {}, "securityContext");
  const uid = intAt(security, "runAsUser");
  const gid = intAt(security, "runAsGroup");
  const inits = containersOf(pod, "initContainers");
  const init = containerNamed(inits, INIT) ?? containerNamed(inits, VALIDATION);
  if ((uid === undefined && gid === undefined) || init === undefined) return pod;
  const tproxy = isTproxy(pod, mesh);
  const proxied = tproxy && uid !== undefined ? withRunAs(pod, { runAsUser: 0 }) : pod;
  return mapContainers(proxied, "initContainers", (container) => {
    if (container !== init) return container;
    const follows = !tproxy && textAt(container, "name") === VALIDATION;
    const secured = follows ? runAs(container, { runAsUser: uid, runAsGroup: gid }) : container;
    return uid === undefined || uid === 0 ? secured : withUserArgument(secured, uid);
  });
}

function isTproxy(pod: Pod, mesh: MeshConfig): boolean {
  return textAt(mapAt(mesh.data, "defaultConfig"), "interceptionMode") === "TPROXY" ||
    annotation(pod, ANNOTATION.interceptionMode) === "TPROXY";
}

type RunAs = Readonly<Partial<Record<"runAsUser" | "runAsGroup", number | undefined>>>;

function withRunAs(pod: Pod, ids: RunAs): Pod {
  return findProxy(pod) === undefined ? pod : mapProxy(pod, (proxy) => runAs(proxy, ids));
}

function runAs(container: ValueMap, ids: RunAs): ValueMap {
  let security = mapAt(container, "securityContext");
  for (const [key, id] of Object.entries(ids)) if (id !== undefined) security = withKey(security, key, id);
  return withKey(container, "securityContext", security);
}

/** Replaces the value of the argument `-u`. */
function withUserArgument(container: ValueMap, uid: number): ValueMap {
  const args = container["args"];
  const at = Array.isArray(args) ? args.indexOf("-u") : -1;
  if (!Array.isArray(args) || at < 0 || at + 1 >= args.length) return container;
  return withKey(container, "args", args.with(at + 1, String(uid)));
}
