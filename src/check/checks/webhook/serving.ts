/** Finds the Deployment behind the Service of a webhook, and the reason why its pods are not ready. */
import type { KubeObject, Pod, Service } from "../../../kube/client/mod.ts";
import { selectorMatches } from "../../../kube/text/selector.ts";
import { intAt, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import { containersOf, labelsOf } from "../../../inject/mod.ts";
import { type Advice, byHand, harmless, look } from "../../advice/advice.ts";
import { described, edit, logs, type Named, patch, rolloutRestart, scale } from "../../advice/commands.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { replicaFailure } from "../../injection/failed_create.ts";
import { labelsOfObject } from "../../inventory/injector_webhooks.ts";
import { isAlive } from "../../inventory/live_pods.ts";
import type { Place } from "../../inventory/source.ts";
import { serverAgain } from "./again.ts";
import {
  conditionOf,
  type ContainerState,
  endingText,
  isWithoutImage,
  lastEnding,
  OR_NETWORK,
  reported,
  stateOf,
  unreadyText,
  waitingMessage,
  waitingReason,
} from "../data_plane/proxies.ts";
import { milliOf } from "../../policies/pod_resources.ts";
import { quotaFor } from "../../policies/quota.ts";

interface Serving {
  readonly service: Service;
  readonly deployment: KubeObject;
  readonly named: Named;
  readonly labels: ValueMap;
  readonly pods: readonly Pod[];
}

/** The reason why no pod is ready, as the end of a message, and advice. */
interface Cause {
  readonly why: string;
  readonly advice: readonly Advice[];
}

/** Returns the first matching cause for a Service without ready pods. `waiting` counts the pods that are not ready. */
export async function causeOfNoPod(target: Place, facts: Facts, waiting: number): Promise<Cause | undefined> {
  const serving = await servingOf(target, facts);
  if (serving !== undefined) {
    return CAUSES.map((cause) => cause({ ...serving, waiting })).find((cause) => cause !== undefined);
  }
  const deployments = await forAdvice(facts.deploymentsIn(target.namespace));
  const { selector = {} } = (await forAdvice(facts.service(target)))?.spec ?? {};
  const isGone = waiting === 0 && deployments !== undefined && Object.keys(selector).length > 0;
  const again = isGone ? await serverAgain("Deployment", target, facts) : [];
  return again.length === 0 ? undefined : { why: "no Deployment creates pods that it selects", advice: again };
}

/** Points a Service port at the pods' webhook port. No advice if the port is already correct or unknown. */
export async function leadingToPods(
  { namespace, name, port }: Place & { readonly port: number },
  facts: Facts,
): Promise<readonly Advice[]> {
  const serving = await servingOf({ namespace, name }, facts);
  const called = serving?.service.spec?.ports?.find((each) => each.port === port);
  if (serving === undefined || called === undefined) return [];
  const ports = containersOf(templateOf(serving.deployment), "containers").flatMap((each) => mapsAt(each, "ports"));
  const open = ports.map((each) => ({ name: textAt(each, "name"), port: intAt(each, "containerPort") }));
  const { targetPort = port } = called;
  const leadsTo = typeof targetPort === "string"
    ? open.find((each) => each.name === targetPort)?.port
    : Number(targetPort);
  const wanted = open.find((each) => each.port === PORT || each.name.startsWith(PORT_NAME))?.port;
  if (wanted === undefined || leadsTo === wanted) return [];
  const change = `change the targetPort of port ${port} of the Service from ${targetPort} to ${wanted}`;
  const ofService = { kind: "service", namespace, name };
  return [harmless(change, "mesh", patch(ofService, { spec: { ports: [{ port, targetPort: wanted }] } }, "strategic"))];
}

/** Webhook port of istiod (`https-webhooks` in its chart) and of this program's webhook (`https-webhook`). */
const PORT = 15017;
const PORT_NAME = "https-webhook";

/** Advice for a refused connection. If the port is already correct, assumes that the pods hang and must be restarted. */
export async function openingPort(target: Place & { readonly port: number }, facts: Facts): Promise<readonly Advice[]> {
  const leading = await leadingToPods(target, facts);
  if (leading.length > 0) return leading;
  const serving = await servingOf(target, facts);
  return serving === undefined ? [] : [restart(serving)];
}

async function servingOf({ namespace, name }: Place, facts: Facts): Promise<Serving | undefined> {
  const [service, deployments = [], pods = []] = await Promise.all([
    forAdvice(facts.service({ namespace, name })),
    forAdvice(facts.deploymentsIn(namespace)),
    forAdvice(facts.podsIn(namespace)),
  ]);
  if (service === undefined) return undefined;
  const selected = deployments.filter((each) => isSelected(service, labelsOf(templateOf(each))));
  // Both installers give the Service and the Deployment the same name. If no selected Deployment has this name, use the
  // first.
  const isNamed = ({ metadata }: KubeObject) => metadata.name === name;
  const deployment = selected.find(isNamed) ?? selected[0] ?? deployments.find(isNamed);
  if (deployment === undefined) return undefined;
  const selector = mapAt(deployment, "spec")["selector"] ?? null;
  return {
    service,
    deployment,
    named: { kind: "deployment", namespace, name: deployment.metadata.name },
    labels: labelsOf(templateOf(deployment)),
    pods: pods.filter((pod) => isAlive(pod) && selectorMatches(selector, labelsOfObject(pod)).matches),
  };
}

function templateOf(deployment: KubeObject): ValueMap {
  return mapAt(mapAt(deployment, "spec"), "template");
}

/** A Service without a selector selects no pods, because its endpoints are written by hand. */
function isSelected({ spec: { selector = {} } = {} }: Service, labels: ValueMap): boolean {
  const all = Object.entries(selector);
  return all.length > 0 && all.every(([key, value]) => labels[key] === value);
}

type Waiting = Serving & { readonly waiting: number };

const CAUSES: readonly ((serving: Waiting) => Cause | undefined)[] = [
  ({ deployment, named }) => {
    if (intAt(mapAt(deployment, "spec"), "replicas") !== 0) return undefined;
    return { why: `its Deployment "${named.name}" has 0 replicas`, advice: [startedAgain(named)] };
  },
  ({ service, deployment, named, labels, waiting }) => {
    const { selector = {} } = service.spec ?? {};
    if (waiting > 0 || Object.keys(selector).length === 0 || isSelected(service, labels)) return undefined;
    const { namespace = "", name } = service.metadata;
    const others = Object.keys(selector).filter((key) => labels[key] !== selector[key]);
    const own = mapAt(mapAt(mapAt(deployment, "spec"), "selector"), "matchLabels");
    const change = { ...Object.fromEntries(others.map((key) => [key, null])), ...own };
    const asked = others.map((key) => `${key}=${selector[key]}`).join(",");
    const step = patch({ kind: "service", namespace, name }, { spec: { selector: change } });
    return {
      why: `it selects ${asked}, but the pods of the Deployment "${named.name}" do not have these labels`,
      advice: [harmless("select the pods of this Deployment", "mesh", step)],
    };
  },
  ({ deployment, named, pods }) => {
    const failure = replicaFailure(deployment);
    if (failure === undefined || pods.length > 0) return undefined;
    const message = textAt(failure, "message");
    return {
      why: [`the API server refuses the pods of its Deployment "${named.name}"`, ...reported(message)].join(": "),
      advice: [described(named), ...quotaFor(message, named.namespace)],
    };
  },
  ({ deployment, named, pods }) => {
    const pod = pods.find((each) => conditionOf(each, "PodScheduled")?.status === "False");
    if (pod === undefined) return undefined;
    const { reason = "is not scheduled", message = "" } = conditionOf(pod, "PodScheduled") ?? {};
    return {
      why: [ofPod(pod), reason, ...reported(message)].join(": "),
      advice: [
        ...smallerRequests(deployment, named, message),
        byHand("free resources on the nodes", "cluster"),
        described(podNamed(pod)),
      ],
    };
  },
  ({ named, pods }) => {
    const first = firstContainer(pods, isWithoutImage);
    if (first === undefined) return undefined;
    const { pod, state } = first;
    const image = textAt(state.spec, "image");
    const why = [`${ofPod(pod)} cannot pull the image "${image}"`, waitingReason(state)];
    return {
      why: [...why, ...reported(waitingMessage(state))].join(": "),
      advice: [
        harmless(`correct the image of its container "${state.name}"`, "mesh", edit(named)),
        byHand(`give its service account imagePullSecrets for the registry, ${OR_NETWORK}`, "mesh"),
        described(podNamed(pod)),
      ],
    };
  },
  (serving) => {
    const first = firstContainer(serving.pods, ({ status }) => status.ready !== true);
    if (first === undefined) return undefined;
    const { pod, state } = first;
    const ending = lastEnding(state);
    const why = `the container "${state.name}" of ${ofPod(pod)} ${unreadyText(state)}`;
    const previous = ending === undefined || state.status.state?.terminated !== undefined ? [] : ["--previous"];
    return {
      why: ending === undefined ? why : `${why}, it ${endingText(ending)}`,
      advice: [
        look("see its log", logs(podNamed(pod), "-c", state.name, ...previous)),
        described(podNamed(pod)),
        restart(serving),
      ],
    };
  },
];

/** Advice to scale to one replica, which is enough to serve webhooks. The previous number of replicas is unknown. */
function startedAgain(deployment: Named): Advice {
  return harmless("scale it to one replica", "mesh", scale(deployment, 1));
}

function restart({ named }: Serving): Advice {
  const change = "restart it, if its log shows no other cause";
  return { ...harmless(change, "mesh", rolloutRestart(named)), isGuess: true };
}

function podNamed({ metadata: { namespace = "", name } }: Pod): Named {
  return { kind: "pod", namespace, name };
}

function ofPod({ metadata }: Pod): string {
  return `its pod "${metadata.name}"`;
}

/** Returns the first container of the pods for which `isSo` is true. */
function firstContainer(pods: readonly Pod[], isSo: (state: ContainerState) => boolean) {
  const all = pods.flatMap((pod) =>
    containersOf(pod, "containers").map((each) => ({ pod, state: stateOf(pod, each) }))
  );
  return all.find(({ state }) => isSo(state));
}

/** Resource requests of istiod in Istio's profile "demo". */
const SMALLEST = { cpu: "10m", memory: "100Mi" };

/** Advice for pods that fit on no node. `said` is the scheduler's message (kubernetes, plugins/noderesources). */
function smallerRequests(deployment: KubeObject, named: Named, said: string): readonly Advice[] {
  const short = Object.entries(SMALLEST).filter(([resource]) => said.includes(`Insufficient ${resource}`));
  const containers = containersOf(templateOf(deployment), "containers").flatMap((each) => {
    const requested = mapAt(mapAt(each, "resources"), "requests");
    const lower = short.filter(([name, least]) => (milliOf(requested[name]) ?? 0n) > (milliOf(least) ?? 0n));
    return lower.length === 0
      ? []
      : [{ name: textAt(each, "name"), resources: { requests: Object.fromEntries(lower) } }];
  });
  if (containers.length === 0) return [];
  const texts = short.map(([resource, least]) => `${resource} ${least}`).join(" and ");
  const change = `lower its requests to ${texts}, as in Istio's demo profile`;
  return [harmless(change, "mesh", patch(named, { spec: { template: { spec: { containers } } } }, "strategic"))];
}
