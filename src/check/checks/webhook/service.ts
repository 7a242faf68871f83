import type { V1ServicePort } from "@kubernetes/client-node/models";
import type { Plain, Service } from "../../../core/kube/client/mod.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook, type WebhookTarget } from "../../inventory/injector_webhooks.ts";
import { type Facts, firstKnown, inEach } from "../../facts.ts";
import type { Backends } from "../../inventory/services.ts";
import { findingOf, type Problem } from "../findings.ts";
import { adviceFor, type Callee } from "./failures.ts";
import { distinct } from "./injectors.ts";

/** The Service of a webhook. */
export type ServiceTarget = Exclude<WebhookTarget, { url: string }>;

/** A webhook with a Service. */
export type Called = InjectorWebhook & { readonly target: ServiceTarget };

/** One webhook for each called Service and port. */
export function calledServices(webhooks: readonly InjectorWebhook[]): Called[] {
  return distinct(webhooks, ({ configuration, target }) => [configuration, target]).filter(isCalled);
}

/** Whether a webhook has a Service. */
export function isCalled(webhook: InjectorWebhook): webhook is Called {
  return !("url" in webhook.target);
}

/** The Services of the webhooks exist, with the configured ports. */
export async function serviceExists(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const called = calledServices(webhooks);
  if (called.length === 0) return { result: "skipped", message: "webhooks are called by URL" };
  const problems = await inEach(called, async (webhook): Promise<readonly Problem[]> => {
    const message = serviceProblem(await facts.service(webhook.target), webhook.target);
    return message === undefined ? [] : [{ object: configurationRef(webhook), result: "error", message }];
  });
  if (problems.length > 0) return findingOf(problems, "reinstall the control plane, or delete its configuration");
  return { result: "ok", message: called.map(({ target }) => nameOf(target)).join(", ") };
}

function serviceProblem(service: Service | undefined, target: ServiceTarget): string | undefined {
  if (service === undefined) return `no such Service: "${nameOf(target)}"`;
  if (portOf(service, target) !== undefined) return undefined;
  const ports = portsOf(service).map(({ port }) => String(port)).join(", ");
  return `the Service "${nameOf(target)}" has no port ${target.port}: it has ${ports === "" ? "none" : ports}`;
}

/** `namespace/name` of a Service. */
export function nameOf({ namespace, name }: ServiceTarget): string {
  return `${namespace}/${name}`;
}

/** The Service has ready pods for the called port. */
export async function endpointsReady(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  let ready = 0;
  const called = distinct(calledServices(webhooks), ({ target }) => target).filter(isCalled);
  const problems = await inEach(called, async ({ target }): Promise<readonly Problem[]> => {
    const backends = await facts.backends(target);
    const object = `service/${nameOf(target)}`;
    ready += backends.ready;
    if (backends.ready === 0) {
      const waiting = backends.notReady;
      const message = waiting === 0 ? "has no pods" : `has no ready pod: ${waiting} not ready`;
      return [{ object, result: "error", message }];
    }
    const service = await facts.service(target);
    const port = service === undefined ? undefined : portOf(service, target);
    if (port === undefined || backends.ports.has(nameOfPort(port))) return [];
    return [{ object, result: "error", message: `its pods lack the target of its port ${target.port}` }];
  });
  if (problems.length > 0) return findingOf(problems, 'see "kubectl get pods" and "kubectl describe service" there');
  return { result: "ok", message: `${ready} ready` };
}

/** Advice on a failed call, which names what the API server calls as far as it is known. */
export async function adviceOn(message: string, target: WebhookTarget, facts: Facts): Promise<string> {
  const unseen: Callee = { port: undefined, clusterIP: undefined };
  if ("url" in target) return adviceFor(message, unseen);
  const found = await firstKnown<string>([
    async () => {
      const [service, { ports }] = await Promise.all([facts.service(target), facts.backends(target)]);
      return adviceFor(message, calleeOf(target, service, ports));
    },
    async () => adviceFor(message, calleeOf(target, await facts.service(target), new Map())),
    () => adviceFor(message, unseen),
  ]);
  return found ?? "";
}

function calleeOf(target: ServiceTarget, service: Service | undefined, ports: Backends["ports"]): Callee {
  const port = service === undefined ? undefined : portOf(service, target);
  const found = port === undefined ? undefined : ports.get(nameOfPort(port)) ?? port.targetPort;
  return { port: typeof found === "number" ? found : undefined, clusterIP: service?.spec?.clusterIP };
}

function portOf(service: Service, target: ServiceTarget): Plain<V1ServicePort> | undefined {
  return portsOf(service).find(({ port }) => port === target.port);
}

function nameOfPort({ name = "" }: Plain<V1ServicePort>): string {
  return name;
}

function portsOf({ spec }: Service): Plain<V1ServicePort>[] {
  return spec?.ports ?? [];
}
