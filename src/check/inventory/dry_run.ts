/** What the API server does with a pod that a webhook is to inject: the one thing that checks send, as a dry run. */
import { oneLine } from "../../core/errors.ts";
import { ApiError, isPod, type Namespace, ofKind, type Pod } from "../../core/kube/client/mod.ts";
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import { newMap, type ValueMap } from "../../core/value.ts";
import { isKnown, observe, type Observed, once } from "./observed.ts";
import { type InjectorWebhook, labelsOfObject, sendsPod } from "./injector_webhooks.ts";
import type { Source } from "./source.ts";

/** What became of a pod that was not kept. */
export interface DryRun {
  readonly namespace: string;
  /** `denied`: by a webhook; `failed`: a webhook could not be called; `refused`: by a rule of the API server's own. */
  readonly outcome: "injected" | "not-injected" | "denied" | "failed" | "refused";
  /** The webhook that has denied it or could not be called. */
  readonly webhook: string | undefined;
  /** What the API server says if there is no pod. */
  readonly message: string;
  /** How long the answer took, in milliseconds. */
  readonly took: number;
}

/** A webhook's dry run; `undefined` if it selects no namespace to try it in. */
export type TryWebhook = (webhook: InjectorWebhook) => Promise<Observed<DryRun | undefined>>;

type Namespaces = () => Promise<Observed<readonly Namespace[]>>;

/** Dry runs: one pod for each configuration and what it calls. */
export function dryRunInventory(source: Source, namespaces: Namespaces): { readonly dryRun: TryWebhook } {
  const runs = new Map<string, () => Promise<Observed<DryRun | undefined>>>();
  return {
    dryRun: (webhook) => {
      const key = JSON.stringify([webhook.configuration, webhook.name]);
      const run = runs.get(key) ?? once(() => tryIn(source, namespaces, webhook));
      runs.set(key, run);
      return run();
    },
  };
}

/** Injectors leave these alone whatever is asked (Istio, `inject.go`, IgnoredNamespaces). */
const IGNORED: readonly string[] = ["kube-system", "kube-public", "kube-node-lease", "local-path-storage"];

async function tryIn(source: Source, all: Namespaces, webhook: InjectorWebhook): Promise<Observed<DryRun | undefined>> {
  const namespaces = await all();
  if (!isKnown(namespaces)) return namespaces;
  const place = placeFor(namespaces.value, webhook, source.scope.namespace);
  return place === undefined ? { value: undefined } : await send(source, place, webhook.name);
}

interface Place {
  readonly namespace: string;
  readonly labels: ValueMap;
}

/** A namespace whose pods go to the webhook, one that the user named first, and the labels that make them. */
function placeFor(all: readonly Namespace[], webhook: InjectorWebhook, named: string | undefined): Place | undefined {
  const isUsable = ({ metadata }: Namespace) =>
    !IGNORED.includes(metadata.name) && metadata.deletionTimestamp === undefined;
  const ordered = all.filter(isUsable).toSorted((a, b) => rank(a, named) - rank(b, named));
  for (const namespace of ordered) {
    const labels = labelsToTry(webhook).find((each) => sendsPod(webhook, labelsOfObject(namespace), each));
    if (labels !== undefined) return { namespace: namespace.metadata.name, labels };
  }
  return undefined;
}

function rank({ metadata }: Namespace, named: string | undefined): number {
  return metadata.name === named ? 0 : 1;
}

/** With the label that asks for a sidecar first: the policy of the configuration then has no say. */
function labelsToTry({ revision, tag }: InjectorWebhook): ValueMap[] {
  const revisions = [{ [LABEL.revision]: tag ?? revision }, { [LABEL.revision]: revision }];
  const asking = { [LABEL.inject]: "true" };
  return [asking, ...revisions.map((each) => ({ ...asking, ...each })), newMap(), ...revisions];
}

/** What a user may not create is refused before anything else, in these words (Kubernetes, apiserver/pkg/endpoints). */
const NOT_ALLOWED = /^The Kubernetes API server does not allow it: pods is forbidden: User /;

/** The API server ends the request before the client does, so that it is the webhook that has not answered. */
const OPTIONS = "dryRun=All&timeout=25s";

async function send({ api, clock }: Source, { namespace, labels }: Place, tried: string): Promise<Observed<DryRun>> {
  const before = clock.monotonic();
  const ended = (end: Pick<DryRun, "outcome" | "webhook" | "message">) => {
    return { ...end, namespace, took: clock.monotonic() - before };
  };
  return await observe(`create on pods in the namespace "${namespace}"`, async () => {
    try {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?${OPTIONS}`;
      const pod = ofKind(await api.create(path, podToTry(labels)), isPod);
      return ended({ outcome: isInjected(pod) ? "injected" : "not-injected", webhook: undefined, message: "" });
    } catch (error) {
      const isAnswer = error instanceof ApiError && error.status !== undefined && error.status !== 401;
      if (!isAnswer || (error.status === 403 && NOT_ALLOWED.test(error.message))) throw error;
      return ended(refusalOf(error, tried));
    }
  });
}

const PREFIX = /^The Kubernetes API server (?:"[^"]*" answered \d+ to POST [^ ]*|does not allow it): /;

/** The words of apiserver/pkg/admission/plugin/webhook. */
const ENDS: readonly (readonly [outcome: DryRun["outcome"], pattern: RegExp])[] = [
  ["failed", /failed calling webhook "([^"]*)"/],
  ["denied", /admission webhook "([^"]*)" denied the request/],
];

/** A webhook that may take 30 s has taken the time of the whole request. */
const TOOK_ALL = /request did not complete within/;

function refusalOf(error: ApiError, tried: string): Pick<DryRun, "outcome" | "webhook" | "message"> {
  const message = oneLine(error.message).replace(PREFIX, "");
  for (const [outcome, pattern] of ENDS) {
    const webhook = pattern.exec(message)?.[1];
    if (webhook !== undefined) return { outcome, webhook, message };
  }
  if (TOOK_ALL.test(message)) return { outcome: "failed", webhook: tried, message };
  return { outcome: "refused", webhook: undefined, message };
}

/** Within the strictest level of Pod Security, and within quotas that want requests and limits. */
function podToTry(labels: ValueMap): object {
  const amount = { cpu: "1m", memory: "1Mi" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `kubectl-mesh-check-${crypto.randomUUID().slice(0, 8)}`, labels },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [{
        name: "check",
        image: "kubectl-mesh-check",
        resources: { requests: amount, limits: amount },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      }],
    },
  };
}

const PROXY = "istio-proxy";

function isInjected(pod: Pod | undefined): boolean {
  if (pod?.metadata.annotations?.["sidecar.istio.io/status"] !== undefined) return true;
  return [...pod?.spec?.containers ?? [], ...pod?.spec?.initContainers ?? []].some(({ name }) => name === PROXY);
}
