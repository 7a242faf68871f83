/** The category namespaces: injection labels compared with the served revisions. */
import type { Namespace as StoredNamespace } from "../../core/kube/client/mod.ts";
import { closest } from "../../core/closest.ts";
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import type { ValueMap } from "../../core/value.ts";
import type { Check, Finding } from "../check.ts";
import type { Facts } from "../facts.ts";
import {
  type InjectorWebhook,
  injectorWebhooks,
  labelsOfObject,
  namespaceLabels,
  sendsPod,
} from "../inventory/injector_webhooks.ts";
import { labelNamespace } from "../injection/commands.ts";
import { isWithoutSidecars } from "../inventory/sidecars.ts";
import { INJECTION_VALUES, isServed, labelsText, labelText, servedLabels } from "../inventory/served_labels.ts";
import { findingOf, type Problem } from "./findings.ts";
import { discovered, ofInjected, pullSecrets, rootCertificate } from "./namespaces/control_plane.ts";

type Judge = (namespace: Namespace, webhooks: readonly InjectorWebhook[]) => readonly Problem[];

/** A namespace and its injection labels. */
interface Namespace {
  readonly name: string;
  readonly object: string;
  readonly labels: ValueMap;
  readonly injection: string | undefined;
  readonly revision: string | undefined;
  /** Of the control plane or of Kubernetes: no advice may enrol it. */
  readonly isSystem: boolean;
}

export const NAMESPACE_CHECKS: readonly Check[] = [
  {
    id: "namespace-label-values",
    category: "namespaces",
    title: "namespace injection labels are spelled correctly",
    needs: [],
    run: (facts) => ofNamespaces(facts, spelling),
  },
  {
    id: "namespace-one-label",
    category: "namespaces",
    title: "no namespace has both istio-injection and istio.io/rev",
    needs: [],
    run: (facts) => ofNamespaces(facts, bothLabels),
  },
  {
    id: "namespace-one-mode",
    category: "namespaces",
    title: "no namespace has both sidecars and ambient mode",
    needs: [],
    run: (facts) => ofNamespaces(facts, bothModes),
  },
  {
    id: "namespace-discovered",
    category: "namespaces",
    title: "the control plane discovers injected namespaces",
    needs: [],
    run: ofInjected(
      discovered,
      "label the namespace so that a discoverySelector matches it, or remove its injection label",
    ),
  },
  {
    id: "namespace-root-cert",
    category: "namespaces",
    title: "injected namespaces have the root certificate of the mesh",
    needs: [],
    run: ofInjected(
      rootCertificate,
      "istiod writes it: see its log, its discoverySelectors and its rights on ConfigMaps",
    ),
  },
  {
    id: "namespace-pull-secrets",
    category: "namespaces",
    title: "injected namespaces have the pull secrets of the proxy",
    needs: [],
    run: ofInjected(pullSecrets, "copy the Secrets of global.imagePullSecrets to the namespace"),
  },
  {
    id: "namespace-revision-served",
    category: "namespaces",
    title: "namespace revisions are served by a webhook",
    needs: [],
    run: (facts) => ofServed(facts, unserved),
  },
  {
    id: "namespace-labelled",
    category: "namespaces",
    title: "namespaces with injected pods are labeled for injection",
    needs: [],
    run: unlabelled,
  },
  {
    id: "namespace-pod-revisions",
    category: "namespaces",
    title: "pods name the same revision as their namespace",
    needs: [],
    run: podRevisions,
  },
];

async function ofNamespaces(
  facts: Facts,
  judge: (namespace: Namespace) => readonly Problem[],
): Promise<Finding> {
  return findingOf(inScope(facts, await facts.namespaces()).flatMap(judge));
}

async function ofServed(facts: Facts, judge: Judge): Promise<Finding> {
  const injectors = injectorWebhooks(await facts.mutatingWebhooks());
  if (injectors.length === 0) return { result: "skipped", message: "the cluster has no injection webhook" };
  return await ofNamespaces(facts, (namespace) => judge(namespace, injectors));
}

function inScope({ scope }: Facts, namespaces: readonly StoredNamespace[]): readonly Namespace[] {
  return namespaces
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
      };
    });
}

const KEYS: readonly string[] = [LABEL.injection, LABEL.revision];

/** Keys that mean something elsewhere, or look as if they did; no webhook reads them on a namespace. */
const NEAR_MISSES: Readonly<Record<string, string>> = {
  "istio-injected": LABEL.injection,
  "istio-inject": LABEL.injection,
  "istio.io/injection": LABEL.injection,
  "sidecar-injection": LABEL.injection,
  "sidecar.istio.io/inject": LABEL.injection,
  "sidecar.istio.io/injection": LABEL.injection,
  "istio-revision": LABEL.revision,
  "istio.io/revision": LABEL.revision,
};

/** An invalid value disables injection, also for labeled pods. A misspelled key has no effect. */
function spelling({ name, object, labels, injection, isSystem }: Namespace): readonly Problem[] {
  const problems: Problem[] = [];
  if (injection !== undefined && !INJECTION_VALUES.includes(injection)) {
    const meant = isSystem ? undefined : meantValue(injection);
    const fix = labelNamespace(name, { [LABEL.injection]: meant }, { overwrite: meant !== undefined });
    const message = `the label ${LABEL.injection}="${injection}" is neither "enabled" nor "disabled", ` +
      `and no pod is injected: ${fix}`;
    problems.push({ object, result: "error", message });
  }
  for (const key of Object.keys(labels)) {
    const meant = KEYS.includes(key) ? undefined : NEAR_MISSES[key] ?? closest(key, KEYS);
    if (meant === undefined) continue;
    problems.push({ object, result: "warning", message: `the label "${key}" has no effect: did you mean "${meant}"?` });
  }
  return problems;
}

const OFF = ["disable", "false", "off", "no"];

function meantValue(text: string): string {
  const word = text.toLowerCase();
  return OFF.includes(word) || closest(word, ["disabled"]) !== undefined ? "disabled" : "enabled";
}

/** Source: Istio, "Canary Upgrades": `istio-injection` takes precedence over `istio.io/rev`. */
function bothLabels({ name, object, injection, revision }: Namespace): readonly Problem[] {
  if (injection === undefined || revision === undefined) return [];
  const away = labelNamespace(name, { [LABEL.injection]: undefined });
  const message =
    `${LABEL.injection}=${injection} wins over ${LABEL.revision}=${revision}, which has no effect: ${away}`;
  return [{ object, result: "warning", message }];
}

/** Source: Istio, "Add workloads to the mesh" of ambient mode: pods with a sidecar stay out of ztunnel. */
function bothModes({ name, object, labels, injection, revision }: Namespace): readonly Problem[] {
  const isInjected = injection === "enabled" || (injection === undefined && revision !== undefined);
  if (labelText(labels, LABEL.dataplaneMode) !== "ambient" || !isInjected) return [];
  const own = injection === undefined ? LABEL.revision : LABEL.injection;
  const message = `it has ${own} and ${LABEL.dataplaneMode}=ambient: pods with a sidecar stay out of ambient mode: ` +
    labelNamespace(name, { [LABEL.dataplaneMode]: undefined });
  return [{ object, result: "warning", message }];
}

/** Injection labels that no webhook serves. Another check reports misspelled values. */
function unserved(
  { name, object, injection, revision, isSystem }: Namespace,
  webhooks: readonly InjectorWebhook[],
): readonly Problem[] {
  const key = injection === "enabled" ? LABEL.injection : injection === undefined ? LABEL.revision : undefined;
  const value = key === LABEL.injection ? injection : revision;
  if (key === undefined || value === undefined || isServed(webhooks, name, { [key]: value })) return [];
  if (isSystem) {
    const fix = labelNamespace(name, { [key]: undefined });
    return [{
      object,
      result: "warning",
      message: `no webhook serves ${key}=${value}, and no pod there is injected: ${fix}`,
    }];
  }
  const served = servedLabels(webhooks, name);
  const [label] = served;
  if (label === undefined) {
    return [{ object, result: "warning", message: "the webhooks exclude it, whatever its labels are" }];
  }
  const fix = labelNamespace(name, { ...label[key] === undefined ? { [key]: undefined } : {}, ...label }, {
    overwrite: true,
  });
  const message = `no webhook serves ${key}=${value}; served: ${labelsText(served)}: ${fix}`;
  return [{ object, result: "error", message }];
}

/** Injected pods lose their proxy when they are recreated. Without any label the mesh is empty. */
async function unlabelled(facts: Facts): Promise<Finding> {
  const [namespaces, webhooks, expectations] = await Promise.all([
    facts.namespaces(),
    facts.mutatingWebhooks(),
    facts.expectations(),
  ]);
  const injectors = injectorWebhooks(webhooks);
  if (injectors.length === 0) return { result: "skipped", message: "the cluster has no injection webhook" };
  const losing = new Set(
    expectations.filter(({ hasProxy, webhook }) => hasProxy && webhook === undefined)
      .map(({ pod }) => pod.metadata.namespace ?? ""),
  );
  const all = inScope(facts, namespaces);
  const problems = all.filter((each) => losing.has(each.name) && asksNothing(each) && !each.isSystem).map(
    (each): Problem => {
      const [label] = servedLabels(injectors, each.name);
      const fix = label === undefined ? "" : `: ${labelNamespace(each.name, label)}`;
      return {
        object: each.object,
        result: "warning",
        message: `it has injected pods but no injection label: new pods get no proxy${fix}`,
      };
    },
  );
  if (problems.length > 0 || expectations.some(({ webhook }) => webhook !== undefined)) {
    return findingOf(problems);
  }
  return all.some((each) => reachesWebhook(each, injectors)) ? { result: "ok" } : NOBODY;
}

const NOBODY: Finding = {
  result: "warning",
  message: "no namespace is labeled for injection: kubectl label namespace NAME istio-injection=enabled",
};

function asksNothing({ injection, revision }: Namespace): boolean {
  return injection === undefined && revision === undefined;
}

function reachesWebhook({ name, labels }: Namespace, webhooks: readonly InjectorWebhook[]): boolean {
  return webhooks.some((webhook) => sendsPod(webhook, namespaceLabels(name, labels), {}));
}

/** A pod's own revision counts only if its namespace has none (the webhooks' selectors). */
async function podRevisions(facts: Facts): Promise<Finding> {
  const [namespaces, expectations] = await Promise.all([facts.namespaces(), facts.expectations()]);
  const chosen = new Map(
    inScope(facts, namespaces).map(({ name, injection, revision }) => {
      return [name, injection === undefined ? revision : `${LABEL.injection}=${injection}`] as const;
    }),
  );
  const problems = expectations.flatMap(({ pod, owner, webhook }): readonly Problem[] => {
    const own = labelText(labelsOfObject(pod), LABEL.revision);
    const wins = chosen.get(pod.metadata.namespace ?? "");
    if (own === undefined || wins === undefined) return [];
    // Injection by Istio 1.6 to 1.8 leaves the label itself.
    if (own === wins || own === webhook?.revision || own === webhook?.tag) return [];
    const object = `${owner.kind.toLowerCase()}/${owner.namespace}/${owner.name}`;
    return [{
      object,
      result: "warning",
      message: `its label ${LABEL.revision}=${own} has no effect: the namespace has ${wins}`,
    }];
  });
  return findingOf([...new Map(problems.map((problem) => [problem.object, problem])).values()]);
}
