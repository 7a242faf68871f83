/** Argo CD's Application of an object, and the command that makes it leave fields alone. */
import type { KubeObject } from "../../../kube/client/mod.ts";
import { sameValue } from "../../../base/values/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import { type Advice, harmless } from "../../advice/advice.ts";
import { kubectl } from "../../advice/commands.ts";
import { type Facts, forAdvice } from "../../facts.ts";

/**
 * Argo CD sets this annotation on the objects that it compares with a manifest, but not on pods that controllers
 * create.
 */
export const TRACKED = "argocd.argoproj.io/tracking-id";
const INSTANCE = "app.kubernetes.io/instance";
const RESPECT = "RespectIgnoreDifferences";

/** Fields of a kind, as `jq` paths. */
export interface LeftAlone {
  readonly group: string;
  readonly kind: string;
  readonly jqPathExpressions: readonly string[];
}

/**
 * Patches the Application of an object; none if it is not known. A merge patch replaces lists, so it repeats what they
 * have (Argo CD, "Resource Tracking", "Diffing Customization").
 */
export async function applicationPatched(
  metadata: ValueMap,
  fields: LeftAlone,
  facts: Facts,
): Promise<readonly Advice[]> {
  const { name, namespace } = applicationOf(metadata);
  const all = name === "" ? [] : await forAdvice(facts.applications(name)) ?? [];
  const [application, ...others] = all.filter((each) => namespace === "" || each.metadata.namespace === namespace);
  if (application === undefined || others.length > 0) return [];
  const { namespace: home = "" } = application.metadata;
  const words = [`applications.argoproj.io/${name}`, "-n", home, "--type=merge", "-p"];
  return [harmless(`let the Application "${name}" leave them alone`, "webhook", {
    command: kubectl("patch", ...words, JSON.stringify({ spec: changed(application, fields) })),
    needs: [{ verb: "patch", group: "argoproj.io", resource: "applications", namespace: home, name }],
  })];
}

/** The mark is `APP:GROUP/KIND:NAMESPACE/NAME`; an Application outside of Argo CD's namespace is `NAMESPACE_APP`. */
function applicationOf(metadata: ValueMap): { readonly name: string; readonly namespace: string } {
  const [mark = ""] = textAt(mapAt(metadata, "annotations"), TRACKED).split(":");
  const parts = (mark === "" ? textAt(mapAt(metadata, "labels"), INSTANCE) : mark).split("_");
  return { name: parts.at(-1) ?? "", namespace: parts.length > 1 ? parts[0] ?? "" : "" };
}

function changed(application: KubeObject, { jqPathExpressions, ...of }: LeftAlone): ValueMap {
  const spec = mapAt(application, "spec");
  const own = { ...of, jqPathExpressions: [...jqPathExpressions] };
  const { syncOptions } = mapAt(spec, "syncPolicy");
  const options = Array.isArray(syncOptions) ? syncOptions : [];
  return {
    ignoreDifferences: [...mapsAt(spec, "ignoreDifferences").filter((each) => !sameValue(each, own)), own],
    syncPolicy: { syncOptions: [...options.filter((each) => !String(each).startsWith(RESPECT)), `${RESPECT}=true`] },
  };
}
