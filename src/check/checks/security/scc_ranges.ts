/** Checks users of sidecars on OpenShift. The SCC `restricted-v2` admits only the namespace's users (istio #61791). */
import { intAt, mapAt, textAt } from "../../../base/value.ts";
import type { Namespace } from "../../../kube/client/mod.ts";
import { allContainers, type Pod } from "../../../inject/mod.ts";
import { type Advice, byHand, harmless, loosening } from "../../advice/advice.ts";
import { edit } from "../../advice/commands.ts";
import { isKnown } from "../../inventory/mod.ts";
import { namedIn } from "../findings.ts";
import type { SidecarNamespace } from "../../inventory/sidecars.ts";

const RANGE = "openshift.io/sa.scc.uid-range";

export function hasRange({ metadata }: Namespace): boolean {
  return metadata.annotations?.[RANGE] !== undefined;
}

/** Describes the injected containers whose user is outside the namespace's range; `undefined` if all are inside. */
export function outsideRange({ namespace, sidecar }: SidecarNamespace): string | undefined {
  const text = namespace.metadata.annotations?.[RANGE];
  const range = text === undefined ? undefined : rangeOf(text);
  if (range === undefined) return undefined;
  const outside = usersOf(sidecar).flatMap(({ name, user }) => {
    const isInside = user >= range.first && user <= range.last;
    return isInside ? [] : [`container "${name}" runs as ${user}`];
  });
  return outside.length === 0 ? undefined : `its user ID range is ${text}, but ${outside.join(", ")}`;
}

/** Parses `1000650000/10000` (first user ID and size) or `1000650000-1000659999`. */
function rangeOf(text: string): { readonly first: number; readonly last: number } | undefined {
  const [, first = "", kind = "", second = ""] = /^(\d+)([/-])(\d+)$/.exec(text) ?? [];
  if (kind === "") return undefined;
  return { first: Number(first), last: kind === "/" ? Number(first) + Number(second) - 1 : Number(second) };
}

function usersOf(sidecar: Pod): readonly { readonly name: string; readonly user: number }[] {
  return allContainers(sidecar).flatMap((each) => {
    const user = intAt(mapAt(each, "securityContext"), "runAsUser");
    return user === undefined ? [] : [{ name: textAt(each, "name"), user }];
  });
}

/**
 * Advice to admit the users. The SCC `nonroot-v2` admits any user except root. `privileged` also admits init containers
 * that change iptables rules.
 */
export function rangeAdvice({ name, sidecar, plane }: SidecarNamespace): readonly Advice[] {
  const needsRoot = usersOf(sidecar).some(({ user }) => user === 0);
  const scc = needsRoot ? "privileged" : "nonroot-v2";
  return [
    ...needsRoot ? [byHand("let the CNI plugin capture traffic, so that no container runs as root", "mesh")] : [],
    plane === undefined || !isKnown(plane.texts) ? BY_PROFILE : onOpenShift(plane.texts.value.injectorRef),
    loosening("grant an SCC to the service accounts", "namespace", {
      command: `oc adm policy add-scc-to-group ${scc} system:serviceaccounts:${name}`,
      needs: [{ verb: "create", group: "rbac.authorization.k8s.io", resource: "rolebindings", namespace: name }],
    }),
  ];
}

const BY_PROFILE = byHand("install Istio with the profile openshift, whose sidecars use the range", "mesh");

/** The values that the profile "openshift" sets (Istio, "Platform-specific prerequisites" and GetProxyIDs). */
function onOpenShift(injectorRef: string): Advice {
  const change = 'set "global.platform: openshift" in its key "values", so that sidecars use the range';
  return harmless(change, "mesh", edit(namedIn(injectorRef)));
}
