/** Finds the Argo CD Application of an object, and the command that makes it ignore fields. */
import type { KubeObject } from "../../../kube/client/mod.ts";
import { sameValue } from "../../../base/values/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import { type Advice, harmless } from "../../advice/advice.ts";
import { kubectl } from "../../advice/commands.ts";
import { type Facts, forAdvice } from "../../facts.ts";

/** Argo CD sets this annotation on objects that it compares with a manifest, but not on pods of controllers. */
export const TRACKED = "argocd.argoproj.io/tracking-id";
const INSTANCE = "app.kubernetes.io/instance";
const RESPECT = "RespectIgnoreDifferences";

/** Fields of a kind that Argo CD should ignore, as `jq` paths. */
export interface LeftAlone {
  readonly group: string;
  readonly kind: string;
  readonly jqPathExpressions: readonly string[];
}

/**
 * Returns advice to patch the Application of an object, or an empty list if the Application is unknown. A merge patch
 * replaces lists, so it repeats their existing items (Argo CD, "Resource Tracking", "Diffing Customization").
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
  return [harmless(`make the Application "${name}" ignore these fields`, "webhook", {
    command: kubectl("patch", ...words, JSON.stringify({ spec: changed(application, fields) })),
    needs: [{ verb: "patch", group: "argoproj.io", resource: "applications", namespace: home, name }],
  })];
}

/** Parses the tracking id `APP:GROUP/KIND:NAMESPACE/NAME`. APP may be `NAMESPACE_APP`. */
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
