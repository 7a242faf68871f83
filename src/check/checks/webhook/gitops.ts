/** Finds GitOps controllers that overwrite the control plane's fields (argo-cd #25447), or compare injected pods. */
import type { KubeObject, MutatingWebhookConfiguration, Pod } from "../../../kube/client/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import { findProxy } from "../../../inject/mod.ts";
import { sameValue } from "../../../base/values/mod.ts";
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import { kubectl } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { type Facts, forAdvice, inEach } from "../../facts.ts";
import { injectorWebhooks } from "../../inventory/injector_webhooks.ts";
import { isAlive } from "../../inventory/live_pods.ts";
import { findingOf, type Problem } from "../findings.ts";
import { isOfIstio } from "./validation.ts";

/** A kind, and the fields that the control plane writes. */
interface Written {
  readonly kind: string;
  /** The paths of the fields in the format of managedFields: names with the prefix `f:`. */
  readonly fields: readonly (readonly string[])[];
  readonly names: string;
}

const BUNDLE = ["f:clientConfig", "f:caBundle"];
const MUTATING: Written = { kind: "MutatingWebhookConfiguration", fields: [BUNDLE], names: "caBundle" };
/** istiod sets failurePolicy to Fail when it is ready (Istio, pkg/webhooks/validation/controller). */
const VALIDATING: Written = {
  kind: "ValidatingWebhookConfiguration",
  fields: [BUNDLE, ["f:failurePolicy"]],
  names: "caBundle and failurePolicy",
};

/** Field managers of GitOps controllers, and the fix for each controller. */
const TOOLS: readonly {
  readonly manager: RegExp;
  readonly name: string;
  readonly fix: (written: Written, metadata: ValueMap, facts: Facts) => Promise<readonly Advice[]> | readonly Advice[];
}[] = [
  {
    manager: /^argocd-/,
    name: "Argo CD",
    fix: async ({ kind, fields }, metadata, facts) => {
      const group = "admissionregistration.k8s.io";
      const paths = fields.map((path) => `.webhooks[]?.${path.map((each) => each.replace("f:", "")).join(".")}`);
      const text = paths.map((path) => `"${path}"`).join(", ");
      return [
        ...await applicationPatched(metadata, { group, kind, jqPathExpressions: paths }, facts),
        byHand(
          `set in its Application: ignoreDifferences: [{group: ${group}, kind: ${kind}, jqPathExpressions: [${text}]}], ` +
            "and syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}",
          "webhook",
        ),
      ];
    },
  },
  {
    manager: /^(kustomize|helm)-controller$/,
    name: "Flux",
    fix: ({ names }) => [
      byHand(
        `remove ${names} from the manifest: server-side apply does not change fields that the manifest does not set`,
        "webhook",
      ),
    ],
  },
];

/**
 * Reports GitOps controllers that own fields that the control plane writes, because each sync overwrites these fields.
 * The API server records the owners of fields.
 */
export async function bundleIsUnmanaged(facts: Facts): Promise<Finding> {
  const sources = [
    async () => {
      const configurations = await facts.mutatingWebhooks();
      const own = new Set(injectorWebhooks(configurations).map(({ configuration }) => configuration));
      const all = configurations.filter(({ metadata }) => own.has(metadata.name));
      return await inEach(all, (each) => overwritten(each, MUTATING, facts));
    },
    async () => {
      const all = (await facts.validatingWebhooks()).filter(isOfIstio);
      return await inEach(all, (each) => overwritten(each, VALIDATING, facts));
    },
    async () => (await facts.pods()).flatMap(comparedPod),
  ];
  return findingOf(await inEach(sources, (find) => find()));
}

async function overwritten(
  configuration: KubeObject | MutatingWebhookConfiguration,
  written: Written,
  facts: Facts,
): Promise<readonly Problem[]> {
  const managers = ownersOf(configuration, written.fields);
  const tool = TOOLS.find(({ manager }) => managers.some((name) => manager.test(name)));
  if (tool === undefined) return [];
  const breaks = written === MUTATING
    ? "each sync breaks injection"
    : "each sync breaks the validation of Istio's resources";
  return [{
    object: `${written.kind.toLowerCase()}/${configuration.metadata.name}`,
    result: "warning",
    message: `both ${tool.name} and the control plane set its ${written.names}: ${breaks}`,
    advice: await tool.fix(written, { ...configuration.metadata }, facts),
  }];
}

/**
 * Reports an injected pod that Argo CD compares with its manifest. Only Argo CD's server-side diff ignores changes by
 * mutating webhooks (Argo CD, "Diff Strategies").
 */
function comparedPod(pod: Pod): readonly Problem[] {
  const { annotations, ownerReferences = [], namespace = "", name } = pod.metadata;
  if (annotations?.[TRACKED] === undefined || ownerReferences.length > 0) return [];
  if (!isAlive(pod) || findProxy(pod) === undefined) return [];
  return [{
    object: `pod/${namespace}/${name}`,
    result: "warning",
    message: "Argo CD compares the pod with its manifest, which has no sidecar, so they never match",
    advice: [
      byHand("add the annotation argocd.argoproj.io/compare-options: ServerSideDiff=true to its manifest", "workload"),
    ],
  }];
}

function ownersOf(
  { metadata }: KubeObject | MutatingWebhookConfiguration,
  fields: Written["fields"],
): readonly string[] {
  const isOwner = (entry: ValueMap) => {
    const webhooks = Object.values(mapAt(mapAt(entry, "fieldsV1"), "f:webhooks")).filter(isMap);
    return webhooks.some((webhook) => fields.some((path) => hasPath(webhook, path)));
  };
  return mapsAt({ ...metadata }, "managedFields").filter(isOwner).map((entry) => textAt(entry, "manager"));
}

function hasPath(map: ValueMap, [first = "", ...rest]: readonly string[]): boolean {
  return rest.length === 0 ? first in map : hasPath(mapAt(map, first), rest);
}

/** Argo CD sets this annotation on objects that it compares with a manifest, but not on pods of controllers. */
const TRACKED = "argocd.argoproj.io/tracking-id";
const INSTANCE = "app.kubernetes.io/instance";
const RESPECT = "RespectIgnoreDifferences";

/** Fields of a kind that Argo CD should ignore, as `jq` paths. */
interface LeftAlone {
  readonly group: string;
  readonly kind: string;
  readonly jqPathExpressions: readonly string[];
}

/**
 * Advice to make an Application ignore fields (Argo CD, "Diffing Customization"). A merge patch replaces lists, so the
 * patch repeats the existing items.
 */
async function applicationPatched(
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
