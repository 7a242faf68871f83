/** The category namespaces: checks injection labels against the revisions that webhooks serve. */
import type { Namespace as StoredNamespace, Pod } from "../../kube/client/mod.ts";
import { closest } from "../../base/text/mod.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import type { ValueMap } from "../../base/value.ts";
import { findProxy, type Owner } from "../../inject/mod.ts";
import type { CheckRow, Finding } from "../check.ts";
import { type Facts, forAdvice, inEach, known } from "../facts.ts";
import { anySends, type InjectorWebhook, labelsOfObject, namespaceLabels } from "../inventory/injector_webhooks.ts";
import { type Advice, byHand, harmless } from "../advice/advice.ts";
import { type LabelChange, labelNamespace, refOf, removeString } from "../advice/commands.ts";
import { type Enrolment, relabelled } from "../advice/enrolment.ts";
import { ownProxies } from "../injection/own_proxy.ts";
import { changePod } from "../injection/workload_advice.ts";
import { targetOfOwner } from "../injection/target.ts";
import { isChosen } from "../inventory/mod.ts";
import { isAlive } from "../inventory/live_pods.ts";
import { isWithoutSidecars } from "../inventory/sidecars.ts";
import {
  INJECTION_VALUES,
  isServed,
  labelsText,
  labelText,
  nearMisses,
  servedLabels,
} from "../inventory/served_labels.ts";
import { findingOf, fixesBy, type Problem } from "./findings.ts";
import { selectorsAgain } from "./webhook/again.ts";
import { discovered, ofInjected, pullSecrets, rootCertificate } from "./namespace_control_plane.ts";

interface Namespace {
  readonly name: string;
  readonly object: string;
  readonly labels: ValueMap;
  readonly injection: string | undefined;
  readonly revision: string | undefined;
  readonly isSystem: boolean;
  /** The known data that decides the risk of changing labels. */
  readonly enrolment: Enrolment;
  /** Advice for a namespace that all webhooks exclude: make a webhook select it. */
  readonly reinstall: readonly Advice[];
}

export const NAMESPACE_CHECKS: readonly CheckRow[] = [
  { id: "namespace-label-values", title: "namespace injection labels are spelled correctly", run: eachOf(spelling) },
  {
    id: "namespace-one-label",
    title: "no namespace has both istio-injection and istio.io/rev",
    run: eachOf(bothLabels),
  },
  { id: "namespace-one-mode", title: "no namespace has both sidecars and ambient mode", run: eachOf(bothModes) },
  { id: "namespace-discovered", title: "the control plane discovers injected namespaces", run: ofInjected(discovered) },
  {
    id: "namespace-root-cert",
    title: "injected namespaces have the root certificate of the mesh",
    run: ofInjected(rootCertificate),
  },
  {
    id: "namespace-pull-secrets",
    title: "injected namespaces have the pull secrets of the proxy",
    run: ofInjected(pullSecrets),
  },
  { id: "namespace-revision-served", title: "namespace revisions are served by a webhook", run: revisionsServed },
  { id: "namespace-labelled", title: "namespaces with injected pods are labeled for injection", run: unlabelled },
  { id: "namespace-pod-revisions", title: "pods name the same revision as their namespace", run: podRevisions },
];

/** Returns a check that judges each namespace in the scope. */
function eachOf(judge: (namespace: Namespace) => readonly Problem[]): (facts: Facts) => Promise<Finding> {
  return async (facts) => {
    const all = inScope(facts, await facts.namespaces());
    if (all.length === 0 && facts.scope.selector !== undefined) return NONE_CHOSEN;
    if (all.flatMap(judge).length === 0) return findingOf([]);
    return findingOf((await forTheirAdvice(all, facts)).flatMap(judge));
  };
}

async function revisionsServed(facts: Facts): Promise<Finding> {
  const injectors = await facts.injectors();
  if (injectors.length === 0) return NO_WEBHOOK;
  return await eachOf((namespace) => unserved(namespace, injectors))(facts);
}

const NO_WEBHOOK: Finding = { result: "skipped", message: "the cluster has no injection webhook" };

/** The finding if `--selector` matches no namespace. A check without any namespace must not pass. */
const NONE_CHOSEN: Finding = { result: "skipped", message: "no namespace has the labels of --selector" };

/** Adds the webhooks and pods that decide the risk of changing labels. Only advice needs them. */
async function forTheirAdvice(all: readonly Namespace[], facts: Facts): Promise<readonly Namespace[]> {
  const [webhooks, pods] = await Promise.all([forAdvice(facts.injectors()), forAdvice(facts.pods())]);
  const own = facts.scope.selector === undefined ? pods : undefined;
  const isNobody = servedLabels(webhooks ?? [], SOME).length === 0;
  const reinstall = [...isNobody ? await selectorsAgain(facts) : [], REINSTALL];
  return all.map((each) => ({ ...each, reinstall, enrolment: { ...each.enrolment, webhooks, pods: own } }));
}

function inScope({ scope }: Pick<Facts, "scope">, namespaces: readonly StoredNamespace[]): readonly Namespace[] {
  return namespaces
    .filter((each) => isChosen(labelsOfObject(each), scope.selector))
    .filter(({ metadata }) => scope.namespace === undefined || metadata.name === scope.namespace)
    .map((namespace) => {
      const labels = labelsOfObject(namespace);
      const { name } = namespace.metadata;
      return {
        name,
        object: `namespace/${name}`,
        labels,
        injection: labelText(labels, LABEL.injection),
        revision: labelText(labels, LABEL.revision),
        isSystem: isWithoutSidecars(name, scope),
        enrolment: { name, labels, webhooks: undefined, pods: undefined },
        reinstall: [REINSTALL],
      };
    });
}

/** Returns a change to the first injection label that a webhook serves; `undefined` if no label is served. */
function servedLabel({ name, enrolment }: Namespace): LabelChange | undefined {
  const [label] = servedLabels(enrolment.webhooks ?? [], name);
  return label === undefined ? undefined : { [LABEL.injection]: undefined, [LABEL.revision]: undefined, ...label };
}

/** Reports invalid values, which disable injection even for labeled pods, and misspelled keys, which have no effect. */
function spelling(namespace: Namespace): readonly Problem[] {
  const { object, labels, injection } = namespace;
  const problems: Problem[] = [];
  if (injection !== undefined && !INJECTION_VALUES.includes(injection)) {
    const message = `the label ${LABEL.injection}="${injection}" is neither "enabled" nor "disabled", ` +
      "so no pod is injected";
    problems.push({ object, result: "error", message, advice: correctedValue(namespace, injection) });
  }
  for (const { key, meant, message } of nearMisses(labels)) {
    problems.push({ object, result: "warning", message, advice: correctedKey(namespace, key, meant) });
  }
  return problems;
}

function correctedValue(namespace: Namespace, injection: string): readonly Advice[] {
  const isOff = meantValue(injection) === "disabled";
  const removal = relabelled(namespace.enrolment, "remove the label", { [LABEL.injection]: undefined });
  if (isOff) return [relabelled(namespace.enrolment, "correct the label", { [LABEL.injection]: "disabled" }), removal];
  const served = servedLabel(namespace);
  if (served === undefined || namespace.isSystem) return [removal];
  const change = served[LABEL.injection] === undefined ? "use a revision that a webhook serves" : "correct the label";
  const corrected = relabelled(namespace.enrolment, change, served);
  return corrected.risk === "none" ? [corrected] : [removal, corrected];
}

function correctedKey(namespace: Namespace, key: string, meant: string): readonly Advice[] {
  const text = labelText(namespace.labels, key) ?? "";
  const value = meant === LABEL.injection ? meantValue(text) : text;
  const isUseful = value === "disabled" ||
    isServed(namespace.enrolment.webhooks ?? [], namespace.name, { [meant]: value });
  return [
    relabelled(namespace.enrolment, "remove the label", { [key]: undefined }),
    ...isUseful ? [relabelled(namespace.enrolment, `use ${meant}`, { [key]: undefined, [meant]: value })] : [],
  ];
}

const OFF = ["disable", "false", "off", "no"];

function meantValue(text: string): string {
  const word = text.toLowerCase();
  return OFF.includes(word) || closest(word, ["disabled"]) !== undefined ? "disabled" : "enabled";
}

/** Reports both labels, because `istio-injection` takes precedence over `istio.io/rev` (Istio, "Canary Upgrades"). */
function bothLabels(namespace: Namespace): readonly Problem[] {
  const { object, injection, revision } = namespace;
  if (injection === undefined || revision === undefined) return [];
  const advice = [
    relabelled(namespace.enrolment, `remove ${LABEL.revision}`, { [LABEL.revision]: undefined }),
    relabelled(namespace.enrolment, `remove ${LABEL.injection}`, { [LABEL.injection]: undefined }),
  ];
  const message = `${LABEL.injection}=${injection} takes precedence, so ${LABEL.revision}=${revision} has no effect`;
  return [{ object, result: "warning", message, advice }];
}

/** Reports both modes, because ztunnel ignores pods with a sidecar (Istio ambient mode, "Add workloads to the mesh"). */
function bothModes(namespace: Namespace): readonly Problem[] {
  const { object, labels, injection, revision } = namespace;
  const isInjected = injection === "enabled" || (injection === undefined && revision !== undefined);
  if (labelText(labels, LABEL.dataplaneMode) !== "ambient" || !isInjected) return [];
  const own = injection === undefined ? LABEL.revision : LABEL.injection;
  const message = `it has ${own} and ${LABEL.dataplaneMode}=ambient: pods with a sidecar stay out of ambient mode`;
  const advice = [
    withoutAmbient(namespace),
    relabelled(namespace.enrolment, `stop using sidecars: remove ${own}`, { [own]: undefined }),
  ];
  return [{ object, result: "warning", message, advice }];
}

/** Advice to remove the ambient label, with the risk that pods without a sidecar leave the mesh. */
function withoutAmbient(namespace: Namespace): Advice {
  const advice = relabelled(namespace.enrolment, "stop using ambient mode", { [LABEL.dataplaneMode]: undefined });
  return mayHavePod(namespace, (pod) => findProxy(pod) === undefined) ? { ...advice, risk: "takes-out" } : advice;
}

/**
 * Advice to remove a label that no webhook serves. This is risky for pods with a proxy: without the label, they lose the
 * proxy when they are recreated, even if a webhook serves the label again.
 */
function withoutUnserved(namespace: Namespace, key: string): Advice {
  const isLosing = !namespace.isSystem && mayHavePod(namespace, (pod) => findProxy(pod) !== undefined);
  const advice = relabelled(namespace.enrolment, "remove the label", { [key]: undefined });
  return isLosing ? { ...advice, risk: "takes-out" } : advice;
}

/** Whether `isSo` is true for a live pod of the namespace. Returns true if the pods are unknown. */
function mayHavePod({ name, enrolment: { pods } }: Namespace, isSo: (pod: Pod) => boolean): boolean {
  return pods?.some((pod) => pod.metadata.namespace === name && isAlive(pod) && isSo(pod)) ?? true;
}

/** Reports injection labels that no webhook serves. Another check reports misspelled values. */
function unserved(namespace: Namespace, webhooks: readonly InjectorWebhook[]): readonly Problem[] {
  const { name, object, injection, revision, isSystem } = namespace;
  const key = injection === "enabled" ? LABEL.injection : injection === undefined ? LABEL.revision : undefined;
  const value = key === LABEL.injection ? injection : revision;
  if (key === undefined || value === undefined || isServed(webhooks, name, { [key]: value })) return [];
  const removal = withoutUnserved(namespace, key);
  if (isSystem) {
    const message = `no webhook serves ${key}=${value}, and no pod in the namespace is injected`;
    return [{ object, result: "warning", message, advice: [removal] }];
  }
  const served = servedLabels(webhooks, name);
  const label = servedLabel(namespace);
  if (label === undefined) {
    const message = "the webhooks exclude the namespace, regardless of its labels";
    return [{ object, result: "warning", message, advice: [...namespace.reinstall, removal] }];
  }
  const relabel = relabelled(namespace.enrolment, "use a revision that a webhook serves", label);
  const install = byHand(`install the revision "${value}", or create a tag with that name`, "mesh");
  const message = `no webhook serves ${key}=${value}; served: ${labelsText(served)}`;
  return [{ object, result: "error", message, advice: [relabel, ...key === LABEL.revision ? [install] : []] }];
}

const REINSTALL = byHand("install the control plane again, so that its webhooks select the namespace", "mesh");

/** Reports namespaces without an injection label whose pods have a proxy, and lose it when they are recreated. */
async function unlabelled(facts: Facts): Promise<Finding> {
  const [namespaces, injectors, expectations] = await Promise.all([
    facts.namespaces(),
    facts.injectors(),
    facts.expectations(),
  ]);
  if (injectors.length === 0) return NO_WEBHOOK;
  const uncalled = expectations.filter(({ hasProxy, webhook }) => hasProxy && known(webhook) === undefined);
  const isByHand = uncalled.length === 0 ? () => false : ownProxies(await facts.workloads());
  const losing = new Set(uncalled.flatMap((each) => isByHand(each) ? [] : each.pod.metadata.namespace ?? ""));
  const all = inScope(facts, namespaces);
  if (all.length === 0 && facts.scope.selector !== undefined) return NONE_CHOSEN;
  const found = all.filter(({ name, injection, revision, isSystem }) => {
    return losing.has(name) && injection === undefined && revision === undefined && !isSystem;
  });
  const advised = found.length === 0 ? [] : await forTheirAdvice(found, facts);
  const problems = advised.map((each): Problem => {
    const label = servedLabel(each);
    const message = "it has injected pods but no injection label, so new pods get no proxy";
    const advice = label === undefined
      ? each.reinstall
      : [relabelled(each.enrolment, "label the namespace again", label)];
    return { object: each.object, result: "warning", message, advice };
  });
  if (
    problems.length > 0 || uncalled.some(isByHand) || expectations.some(({ webhook }) => known(webhook) !== undefined)
  ) {
    return findingOf(problems);
  }
  const isAnySent = all.some(({ name, labels }) => anySends(injectors, namespaceLabels(name, labels), {}));
  return isAnySent ? { result: "ok" } : await nobody(all, injectors, facts);
}

/** Reports that no namespace is injected. Injecting one workload comes first, because that changes less. */
async function nobody(all: readonly Namespace[], webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const [only] = facts.scope.namespace === undefined ? [] : all;
  if (only?.isSystem) return { result: "skipped", message: `the namespace "${only.name}" must not have sidecars` };
  const { name, labels } = only ?? { name: SOME, labels: {} };
  const [served] = servedLabels(webhooks, name);
  const asking = { [LABEL.inject]: "true" };
  const takesPods = anySends(webhooks, namespaceLabels(name, labels), asking);
  const alternatives: readonly Advice[] = [
    ...takesPods ? [byHand(`label the pod template of a workload with ${LABEL.inject}=true`, "workload")] : [],
    ...served === undefined ? [...await selectorsAgain(facts), REINSTALL] : [{
      ...harmless("inject a whole namespace", "namespace", labelNamespace(name, served, labels)),
      risk: "enrols" as const,
      ...only === undefined ? {} : { namespace: name },
    }],
  ];
  return { result: "warning", message: notLabelled(only, facts.scope), fixes: fixesBy(...alternatives) };
}

function notLabelled(only: Namespace | undefined, { selector }: Facts["scope"]): string {
  if (only !== undefined) return `the namespace "${only.name}" is not labeled for injection`;
  return `no namespace ${selector === undefined ? "" : "of --selector "}is labeled for injection`;
}

/** A placeholder for a namespace's name, which the user replaces. */
const SOME = "NAME";

/** Advice to remove a revision label that has no effect. The removal is therefore harmless. */
function withoutRevision(owner: Owner): Advice {
  const { kind, namespace, name } = owner;
  if (kind === "Pod") {
    const step = removeString("label", { kind, namespace, name }, LABEL.revision);
    return harmless("remove the label from the pod", "workload", step);
  }
  const target = targetOfOwner(owner);
  return target === undefined
    ? byHand("remove the label from its pod template", "workload")
    : changePod(target, { of: "labels", key: LABEL.revision, value: null });
}

/** Reports pods whose revision label has no effect, because the namespace has an injection label. */
async function podRevisions(facts: Facts): Promise<Finding> {
  const [namespaces, expectations] = await Promise.all([facts.namespaces(), facts.expectations()]);
  // `--selector` selects pods here, not namespaces.
  const all = { scope: { ...facts.scope, selector: undefined } };
  const chosen = new Map(
    inScope(all, namespaces).map(({ name, injection, revision }) => {
      return [name, injection === undefined ? revision : `${LABEL.injection}=${injection}`] as const;
    }),
  );
  const problems = await inEach(expectations, ({ pod, owner, webhook }): readonly Problem[] => {
    const own = labelText(labelsOfObject(pod), LABEL.revision);
    const wins = chosen.get(pod.metadata.namespace ?? "");
    if (own === undefined || wins === undefined) return [];
    // In Istio 1.6 to 1.8, the injector itself sets this label on pods.
    if (own === wins || own === known(webhook)?.revision || own === known(webhook)?.tag) return [];
    return [{
      object: refOf(owner),
      result: "warning",
      message: `its label ${LABEL.revision}=${own} has no effect, because the namespace has ${wins}`,
      advice: [withoutRevision(owner)],
    }];
  }, "pod");
  return findingOf([...new Map(problems.map((problem) => [problem.object, problem])).values()]);
}
