/** Builds the commands that remove the webhook from a cluster and restore the replaced Istio objects. */
import { mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { FLAGS_ANNOTATION } from "../../istio/annotations/installation.ts";
import { configurationNames, DEFAULT_REVISION, type Plan } from "./options.ts";
import { type TakeOver, takeOversOf } from "./take_over.ts";

const CONFIGURATION = "mutatingwebhookconfiguration";

/** JSONPath template that prints labels and webhooks as a merge patch, without fields that only the API server sets. */
const AS_PATCH = `'{"{"}"metadata":{"{"}"labels":{.metadata.labels}{"}"},"webhooks":{.webhooks}{"}"}'`;

/**
 * Returns a shell script. It removes the webhook configurations first, because the configurations would reject pods if
 * the server were gone. It exits at the first error, so that the webhook keeps serving until Istio's configuration is
 * restored.
 */
export function undoCommands(plan: Plan, objects: readonly ValueMap[]): string {
  const takeOvers = takeOversOf(plan);
  const replaced = takeOvers.filter(({ isControlPlanes }) => isControlPlanes);
  return [
    "# Removes the webhook from the cluster. Read this script, then pipe it to sh.",
    "set -e",
    ...replaced.map(({ name }) =>
      `[ -f ${name}.json ] || { echo "error: ${name}.json is missing; nothing is changed" >&2; exit 1; }`
    ),
    ...replaced.flatMap(restored),
    ...configurationNames(plan).filter((name) => !replaced.some((each) => each.name === name))
      .flatMap((name) => removed(name, takeOvers.find((each) => each.name === name))),
    "",
    "# The API server no longer calls the webhook",
    ...deletions(objects),
    ...replaced.length === 0 ? [] : caBundle(plan),
    "",
  ].join("\n");
}

function restored({ name, owner }: TakeOver): string[] {
  return [
    "",
    `# Restores "${name}" for ${owner}. Before the webhook replaced it, this command saved the file:`,
    `#   kubectl get ${CONFIGURATION} ${name} -o jsonpath=${AS_PATCH} > ${name}.json`,
    `# Without the file, remove the line with "-f ${name}.json" above, and replace the next three commands`,
    "# with the command that installed Istio",
    `kubectl label ${CONFIGURATION} ${name} app.kubernetes.io/name-`,
    `kubectl annotate ${CONFIGURATION} ${name} ${FLAGS_ANNOTATION}-`,
    `kubectl patch ${CONFIGURATION} ${name} --type=merge --patch-file=${name}.json`,
  ];
}

function removed(name: string, tag: TakeOver | undefined): string[] {
  return [
    "",
    ...tag === undefined ? [] : [`# If this was ${tag.owner} before, set the tag again with "istioctl tag set"`],
    `kubectl delete ${CONFIGURATION} ${name} --ignore-not-found`,
  ];
}

/** Returns one delete command for each namespace, and one for cluster-scoped objects. */
function deletions(objects: readonly ValueMap[]): string[] {
  const others = objects.filter(({ kind }) => kind !== "MutatingWebhookConfiguration").map((object) => {
    const metadata = mapAt(object, "metadata");
    return {
      namespace: textAt(metadata, "namespace"),
      name: `${textAt(object, "kind").toLowerCase()}/${textAt(metadata, "name")}`,
    };
  });
  return [...new Set(others.map(({ namespace }) => namespace))].map((namespace) => {
    const names = others.filter((each) => each.namespace === namespace).map(({ name }) => name);
    const place = namespace === "" ? [] : ["-n", namespace];
    return ["kubectl delete --ignore-not-found", ...place, ...names.toReversed()].join(" ");
  });
}

function caBundle({ revision, cluster }: Plan): string[] {
  const deployment = revision === DEFAULT_REVISION ? "istiod" : `istiod-${revision}`;
  const namespace = cluster?.namespace ?? "istio-system";
  return [
    "",
    "# Lets istiod write its caBundle again",
    `kubectl set env deployment/${deployment} -n ${namespace} INJECTION_WEBHOOK_CONFIG_NAME-`,
  ];
}
