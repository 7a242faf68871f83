/** Creates pods as dry runs, which the API server does not store. */
import { apiPath } from "../../kube/api_path.ts";
import { oneLine } from "../../base/errors.ts";
import { ApiError, isPod, type KubeApi, type Namespace, ofKind, type Pod } from "../../kube/client/mod.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { newMap, type ValueMap } from "../../base/value.ts";
import { IGNORED_NAMESPACES, PROXY } from "../../inject/mod.ts";
import { isKnown, mapKnown, observe, type Observed, oncePerKey } from "./observed.ts";
import { type InjectorWebhook, labelsOfObject, sendsPod } from "./injector_webhooks.ts";
import type { Source } from "./source.ts";

export interface PodRun {
  readonly namespace: string;
  /** `denied`: by a webhook. `failed`: a webhook could not be called. `refused`: by the API server itself. */
  readonly outcome: "injected" | "not-injected" | "denied" | "failed" | "refused";
  /** Name of the webhook that denied the pod or could not be called; `undefined` for other outcomes. */
  readonly webhook: string | undefined;
  readonly message: string;
  /** The pod that the API server would store; `undefined` if the pod is not admitted. */
  readonly pod?: Pod | undefined;
  readonly took: number;
}

/** The outcome of a dry run for a webhook or a namespace. */
export interface DryRun extends PodRun {
  readonly labels: ValueMap;
  /** Whether the same pod is admitted without a sidecar. Only tested if the pod is refused or denied. */
  readonly isOfSidecar: boolean;
}

/**
 * Whether the API server did not call the webhook: the pod requests a sidecar, but was admitted without a sidecar,
 * although failurePolicy is Fail. Assumes that the matchConditions are true.
 */
export function isUncalled({ failurePolicy }: InjectorWebhook, { outcome, labels }: DryRun): boolean {
  return failurePolicy === "Fail" && outcome === "not-injected" && labels[LABEL.inject] === "true";
}

/** Returns getters of dry runs. Sends one pod for each namespace and set of labels. */
export function dryRunInventory(source: Source, namespaces: () => Promise<Observed<readonly Namespace[]>>) {
  const sendOnce = oncePerKey((place: Place) => send(source, place));
  type Run = Promise<Observed<DryRun | undefined>>;
  const inFirst = async (all: readonly Namespace[], webhooks: readonly InjectorWebhook[]): Run => {
    for (const webhook of webhooks) {
      const place = placeFor(all, webhook, source.scope.namespace);
      if (place !== undefined) return ofWebhook(await sendOnce(place), webhook);
    }
    return { value: undefined };
  };
  return {
    /** The dry run of a webhook; `undefined` if the webhook selects no namespace. */
    dryRun: async (webhook: InjectorWebhook): Run => {
      const all = await namespaces();
      return isKnown(all) ? await inFirst(all.value, [webhook]) : all;
    },
    /** The dry run of a pod that matches one of the webhooks; `undefined` if no webhook selects the namespace. */
    dryRunIn: (namespace: Namespace, webhooks: readonly InjectorWebhook[]) => inFirst([namespace], webhooks),
    dryRunOf: (namespace: string, pod: object) => tryToCreate(source, namespace, pod),
  };
}

/** Whether an error is about the pod, not about the rights of the user. */
function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.status === undefined || error.status === 401) return false;
  return error.status !== 403 || !NOT_ALLOWED.test(error.message);
}

/** Adds the webhook's name to a failure. The API server omits the name if webhook and request have the same timeout. */
function ofWebhook(run: Observed<DryRun>, { name }: InjectorWebhook): Observed<DryRun> {
  if (!isKnown(run) || run.value.outcome !== "failed" || run.value.webhook !== undefined) return run;
  return { value: { ...run.value, webhook: name } };
}

interface Place {
  readonly namespace: string;
  readonly labels: ValueMap;
}

/** Returns a namespace and labels for a pod that matches the webhook. Tries the user's namespace first. */
function placeFor(all: readonly Namespace[], webhook: InjectorWebhook, named: string | undefined): Place | undefined {
  const isUsable = ({ metadata }: Namespace) =>
    !IGNORED_NAMESPACES.has(metadata.name) && metadata.deletionTimestamp === undefined;
  const rank = ({ metadata }: Namespace) => metadata.name === named ? 0 : 1;
  const ordered = all.filter(isUsable).toSorted((a, b) => rank(a) - rank(b));
  for (const namespace of ordered) {
    const labels = labelsToTry(webhook).find((each) => sendsPod(webhook, labelsOfObject(namespace), each));
    if (labels !== undefined) return { namespace: namespace.metadata.name, labels };
  }
  return undefined;
}

/** Returns label sets to try. The opt-in label comes first, because it takes precedence over the injection policy. */
function labelsToTry({ revision, tag }: InjectorWebhook): ValueMap[] {
  const revisions = [{ [LABEL.revision]: tag ?? revision }, { [LABEL.revision]: revision }];
  const asking = { [LABEL.inject]: "true" };
  return [asking, ...revisions.map((each) => ({ ...asking, ...each })), newMap(), ...revisions];
}

/** The API server's error for a missing right, which comes before admission (apiserver/pkg/endpoints). */
const NOT_ALLOWED = /^The Kubernetes API server denied the request: pods is forbidden: User /;

/** The timeout is shorter than the client's, so that the API server reports a webhook that does not respond. */
const OPTIONS = "dryRun=All&timeout=25s";

/** Sends a dry run. Sends a refused pod again without a sidecar, to find out whether the sidecar is the cause. */
async function send(source: Source, place: Place): Promise<Observed<DryRun>> {
  const run = await sendPod(source, place);
  if (!isKnown(run) || !["refused", "denied"].includes(run.value.outcome)) return run;
  const plain = await sendPod(source, { ...place, labels: { [LABEL.inject]: "false" } });
  return { value: { ...run.value, isOfSidecar: isKnown(plain) && plain.value.outcome === "not-injected" } };
}

async function sendPod(source: Source, { namespace, labels }: Place): Promise<Observed<DryRun>> {
  const run = await tryToCreate(source, namespace, podToTry(labels));
  // Drops the pod: otherwise, the pods of thousands of namespaces would stay in memory.
  return mapKnown(run, (tried) => ({ ...tried, pod: undefined, labels, isOfSidecar: false }));
}

export async function tryToCreate(
  { api, clock }: { readonly api: Pick<KubeApi, "create">; readonly clock: Source["clock"] },
  namespace: string,
  body: object,
): Promise<Observed<PodRun>> {
  const before = clock.monotonic();
  const ended = (end: Pick<PodRun, "outcome" | "webhook" | "message" | "pod">) => {
    return { ...end, namespace, took: clock.monotonic() - before };
  };
  return await observe(`create on pods in the namespace "${namespace}"`, async () => {
    try {
      const path = `${apiPath("api/v1", "pods", namespace)}?${OPTIONS}`;
      const pod = ofKind(await api.create(path, body), isPod);
      return ended({ outcome: isInjected(pod) ? "injected" : "not-injected", webhook: undefined, message: "", pod });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return ended(refusalOf(error));
    }
  });
}

const PREFIX = /^The Kubernetes API server (?:"[^"]*" answered \d+ to POST [^ ]*|denied the request): /;

/** Outcomes, each with the error message that shows it. Source: apiserver/pkg/admission/plugin/webhook. */
const ENDS: readonly (readonly [outcome: DryRun["outcome"], pattern: RegExp])[] = [
  ["failed", /failed calling webhook "([^"]*)"/],
  ["denied", /admission webhook "([^"]*)" denied the request/],
];

const TOOK_ALL = /request did not complete within/;

function refusalOf(error: ApiError): Pick<DryRun, "outcome" | "webhook" | "message"> {
  const message = oneLine(error.message).replace(PREFIX, "");
  for (const [outcome, pattern] of ENDS) {
    const webhook = pattern.exec(message)?.[1];
    if (webhook !== undefined) return { outcome, webhook, message };
  }
  if (TOOK_ALL.test(message)) return { outcome: "failed", webhook: undefined, message };
  return { outcome: "refused", webhook: undefined, message };
}

/** Returns a pod that both the restricted level of Pod Security and quotas on requests and limits admit. */
export function podToTry(labels: ValueMap) {
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

function isInjected(pod: Pod | undefined): boolean {
  if (pod?.metadata.annotations?.["sidecar.istio.io/status"] !== undefined) return true;
  return [...pod?.spec?.containers ?? [], ...pod?.spec?.initContainers ?? []].some(({ name }) => name === PROXY);
}
