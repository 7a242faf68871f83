import type { V1ServicePort } from "@kubernetes/client-node/models";
import { sameValue } from "../../../base/values/mod.ts";
import type { Plain, Service } from "../../../kube/client/mod.ts";
import { type Advice, byHand, harmless, look } from "../../advice/advice.ts";
import { shows } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook, type WebhookTarget } from "../../inventory/injector_webhooks.ts";
import { type Facts, forAdvice, inEach } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
import type { Callee } from "./failures.ts";
import { serverAgain } from "./again.ts";
import { causeOfNoPod, leadingToPods, openingPort } from "./serving.ts";
import { distinct } from "./injectors.ts";
import { deleted, entriesPatched } from "./webhook_advice.ts";

export type ServiceTarget = Exclude<WebhookTarget, { url: string }>;

export type Called = InjectorWebhook & { readonly target: ServiceTarget };

/** Returns one webhook for each configuration and called Service port. */
function calledServices(webhooks: readonly InjectorWebhook[]): Called[] {
  return distinct(webhooks, ({ configuration, target }) => [configuration, target]).filter(isCalled);
}

export function isCalled(webhook: InjectorWebhook): webhook is Called {
  return !("url" in webhook.target);
}

export async function serviceExists(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const called = calledServices(webhooks);
  if (called.length === 0) return { result: "skipped", message: "the webhooks are called at a URL" };
  const problems = await inEach(called, async (webhook): Promise<readonly Problem[]> => {
    const service = await facts.service(webhook.target);
    const message = serviceProblem(service, webhook.target);
    if (message === undefined) return [];
    const advice = await serviceAdvice(webhook, service, webhooks, facts);
    return [{ object: configurationRef(webhook), result: "error", message, advice }];
  });
  if (problems.length > 0) return findingOf(problems);
  return { result: "ok", message: called.map(({ target }) => nameOf(target)).join(", ") };
}

/** Advice for a missing Service or port. If the Service has only one port, the advice is to call this port. */
async function serviceAdvice(
  { configuration, target }: Called,
  service: Service | undefined,
  webhooks: readonly InjectorWebhook[],
  facts: Facts,
): Promise<readonly Advice[]> {
  const [only, ...others] = service === undefined ? [] : portsOf(service);
  const { namespace, name } = target;
  const own = webhooks.filter((each) => each.configuration === configuration && isCalled(each));
  const clientConfig = { service: { namespace, name, port: only?.port } };
  const patched = entriesPatched(configuration, own.map((each) => ({ name: each.name, clientConfig })));
  return [
    ...service === undefined ? await serverAgain("Service", target, facts) : [],
    ...only === undefined || others.length > 0
      ? []
      : [harmless(`change the configuration to call port ${only.port} of the Service`, "webhook", patched)],
    byHand("install the control plane again", "mesh"),
    await deleted(configuration, "delete the configuration if its control plane no longer exists", facts),
  ];
}

function podsShown({ namespace, name }: ServiceTarget): readonly Advice[] {
  return [
    look("see its pods", shows("get", "pods", "-n", namespace)),
    look("see which pods the Service selects", shows("describe", "service", name, "-n", namespace)),
  ];
}

function serviceProblem(service: Service | undefined, target: ServiceTarget): string | undefined {
  if (service === undefined) return `the Service "${nameOf(target)}" does not exist`;
  if (portOf(service, target) !== undefined) return undefined;
  const ports = portsOf(service).map(({ port }) => String(port)).join(", ");
  return `the Service "${nameOf(target)}" has no port ${target.port}: it has ${ports === "" ? "none" : ports}`;
}

export function nameOf({ namespace, name }: ServiceTarget): string {
  return `${namespace}/${name}`;
}

/** Checks that each Service has ready pods for the called port. */
export async function endpointsReady(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  let ready = 0;
  const called = distinct(calledServices(webhooks), ({ target }) => target).filter(isCalled);
  const problems = await inEach(called, async ({ target }): Promise<readonly Problem[]> => {
    const backends = await facts.backends(target);
    const object = `service/${nameOf(target)}`;
    ready += backends.ready;
    if (backends.ready === 0) {
      const waiting = backends.notReady;
      const found = waiting === 0 ? "has no pods" : `has no ready pod: ${waiting} not ready`;
      const { why, advice = podsShown(target) } = await causeOfNoPod(target, facts, waiting) ?? {};
      return [{ object, result: "error", message: why === undefined ? found : `${found}: ${why}`, advice }];
    }
    const service = await facts.service(target);
    const port = service === undefined ? undefined : portOf(service, target);
    if (port === undefined || backends.ports.has(port.name ?? "")) return [];
    const message = `its pods do not have the target port of port ${target.port}`;
    const advice = [...await leadingToPods(target, facts), ...podsShown(target)];
    return [{ object, result: "error", message, advice }];
  });
  if (problems.length > 0) return findingOf(problems);
  return { result: "ok", message: `${ready} ready` };
}

/** Returns what is known about the called Service. Only messages and advice depend on it. */
export async function calleeOf(target: WebhookTarget, facts: Facts): Promise<Callee> {
  const all = await forAdvice(facts.injectors()) ?? [];
  const webhooks = all.filter((each) => sameValue({ ...each.target }, { ...target }));
  if ("url" in target) return { port: undefined, clusterIP: undefined, webhooks, opening: [] };
  const [service, backends, opening] = await Promise.all([
    forAdvice(facts.service(target)),
    forAdvice(facts.backends(target)),
    openingPort(target, facts),
  ]);
  const called = service === undefined ? undefined : portOf(service, target);
  const port = backends?.ports.get(called?.name ?? "") ?? called?.targetPort;
  const known = called !== undefined && typeof port === "number" ? port : undefined;
  return { port: known, clusterIP: service?.spec?.clusterIP, webhooks, opening };
}

function portOf(service: Service, target: ServiceTarget): Plain<V1ServicePort> | undefined {
  return portsOf(service).find(({ port }) => port === target.port);
}

function portsOf({ spec }: Service): readonly Plain<V1ServicePort>[] {
  return spec?.ports ?? [];
}
