/**
 * OpenShift's ranges of user ids. Source: OpenShift, "Managing security context constraints": `restricted-v2` admits
 * users of the namespace's range only (istio #61791).
 */
import { intAt, mapAt, textAt } from "../../../core/value.ts";
import { containersOf } from "../../../inject/mod.ts";
import type { SidecarNamespace } from "../../inventory/sidecars.ts";

const RANGE = "openshift.io/sa.scc.uid-range";

/** The containers of the sidecar whose user is outside the range of the namespace, as a clause. */
export function outsideRange({ namespace, sidecar }: SidecarNamespace): string | undefined {
  const text = namespace.metadata.annotations?.[RANGE];
  const range = text === undefined ? undefined : rangeOf(text);
  if (range === undefined) return undefined;
  const outside = [...containersOf(sidecar, "initContainers"), ...containersOf(sidecar, "containers")].flatMap(
    (each) => {
      const user = intAt(mapAt(each, "securityContext"), "runAsUser");
      const isInside = user === undefined || (user >= range.first && user <= range.last);
      return isInside ? [] : [`container "${textAt(each, "name")}" runs as ${user}`];
    },
  );
  return outside.length === 0 ? undefined : `its range of users is ${text}, and ${outside.join(", ")}`;
}

/** `1000650000/10000` (first and size), or `1000650000-1000659999`. */
function rangeOf(text: string): { readonly first: number; readonly last: number } | undefined {
  const [, first = "", kind = "", second = ""] = /^(\d+)([/-])(\d+)$/.exec(text) ?? [];
  if (kind === "") return undefined;
  return { first: Number(first), last: kind === "/" ? Number(first) + Number(second) - 1 : Number(second) };
}
