/** The commands that remove the webhook from a cluster, and restore what it replaced. */
import { mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { FLAGS_ANNOTATION } from "../../istio/annotations/installation.ts";
import { configurationNames, DEFAULT_REVISION, type Plan } from "./options.ts";
import { type TakeOver, takeOversOf } from "./take_over.ts";

const CONFIGURATION = "mutatingwebhookconfiguration";

/** Labels and webhooks of a configuration as a merge patch: without the fields that only the API server sets. */
const AS_PATCH = `'{"{"}"metadata":{"{"}"labels":{.metadata.labels}{"}"},"webhooks":{.webhooks}{"}"}'`;

/**
 * A shell script. The webhook configurations come first: without a server they would refuse pods. It ends at the first
 * error, so that the webhook serves until Istio has its configuration again.
 */
export function undoCommands(plan: Plan, objects: readonly ValueMap[]): string {
  const takeOvers = takeOversOf(plan);
  const replaced = takeOvers.filter(({ isControlPlanes }) => isControlPlanes);
  return [
    "# Takes the webhook out of the cluster. Read it, then pipe it to sh.",
    "set -e",
    ...replaced.flatMap(restored),
    ...configurationNames(plan).filter((name) => !replaced.some((each) => each.name === name))
      .flatMap((name) => removed(name, takeOvers.find((each) => each.name === name))),
    "",
    "# Nothing calls the webhook any more",
    ...deletions(objects),
    ...replaced.length === 0 ? [] : caBundle(plan),
    "",
  ].join("\n");
}

function restored({ name, owner }: TakeOver): string[] {
  return [
    "",
    `# "${name}" belongs to ${owner} again. The file was saved before the take-over by:`,
    `#   kubectl get ${CONFIGURATION} ${name} -o jsonpath=${AS_PATCH} > ${name}.json`,
    "# Without the file, put the command that installed Istio in place of the next three",
    `kubectl label ${CONFIGURATION} ${name} app.kubernetes.io/name-`,
    `kubectl annotate ${CONFIGURATION} ${name} ${FLAGS_ANNOTATION}-`,
    `kubectl patch ${CONFIGURATION} ${name} --type=merge --patch-file=${name}.json`,
  ];
}

function removed(name: string, tag: TakeOver | undefined): string[] {
  return [
    "",
    ...tag === undefined ? [] : [`# If it was ${tag.owner} before, set the tag again with "istioctl tag set"`],
    `kubectl delete ${CONFIGURATION} ${name} --ignore-not-found`,
  ];
}

/** One command for each namespace, and one for objects without a namespace. */
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
    "# istiod writes its caBundle again",
    `kubectl set env deployment/${deployment} -n ${namespace} INJECTION_WEBHOOK_CONFIG_NAME-`,
  ];
}
