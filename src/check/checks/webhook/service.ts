import type { V1ServicePort } from "@kubernetes/client-node/models";
import type { Plain, Service } from "../../../core/kube/client/mod.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook, type WebhookTarget } from "../../inventory/injector_webhooks.ts";
import { type Inventory, isKnown, type Observed } from "../../inventory/mod.ts";
import type { Backends } from "../../inventory/services.ts";
import { cannotTell, findingOf, type Problem } from "../findings.ts";
import type { Callee } from "./failures.ts";
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
export async function serviceExists(webhooks: readonly InjectorWebhook[], inventory: Inventory): Promise<Finding> {
  const problems: Problem[] = [];
  const called = calledServices(webhooks);
  if (called.length === 0) return { result: "skipped", message: "webhooks are called by URL" };
  for (const webhook of called) {
    const { target } = webhook;
    const service = await inventory.service(target);
    if (!isKnown(service)) return cannotTell(service);
    const message = serviceProblem(service.value, target);
    if (message !== undefined) problems.push({ object: configurationRef(webhook), result: "error", message });
  }
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
export async function endpointsReady(webhooks: readonly InjectorWebhook[], inventory: Inventory): Promise<Finding> {
  const problems: Problem[] = [];
  let ready = 0;
  for (const webhook of distinct(calledServices(webhooks), ({ target }) => target).filter(isCalled)) {
    const { target } = webhook;
    const [service, backends] = await Promise.all([inventory.service(target), inventory.backends(target)]);
    if (!isKnown(backends)) return cannotTell(backends);
    const port = isKnown(service) && service.value !== undefined ? portOf(service.value, target) : undefined;
    const object = `service/${nameOf(target)}`;
    ready += backends.value.ready;
    if (backends.value.ready === 0) {
      const waiting = backends.value.notReady;
      const message = waiting === 0 ? "has no pods" : `has no ready pod: ${waiting} not ready`;
      problems.push({ object, result: "error", message });
    } else if (port !== undefined && !backends.value.ports.has(nameOfPort(port))) {
      problems.push({ object, result: "error", message: `its pods lack the target of its port ${target.port}` });
    }
  }
  if (problems.length > 0) return findingOf(problems, 'see "kubectl get pods" and "kubectl describe service" there');
  return { result: "ok", message: `${ready} ready` };
}

/** What the API server reaches, as far as it is known. */
export async function calleeOf(target: WebhookTarget, inventory: Inventory): Promise<Callee> {
  if ("url" in target) return { port: undefined, clusterIP: undefined };
  const [found, backends] = await Promise.all([inventory.service(target), inventory.backends(target)]);
  const service = isKnown(found) ? found.value : undefined;
  return { port: podPort(service, backends, target), clusterIP: service?.spec?.clusterIP };
}

function podPort(
  service: Service | undefined,
  backends: Observed<Backends>,
  target: ServiceTarget,
): number | undefined {
  const port = service === undefined ? undefined : portOf(service, target);
  if (port === undefined) return undefined;
  const found = isKnown(backends) ? backends.value.ports.get(nameOfPort(port)) : undefined;
  return found ?? (typeof port.targetPort === "number" ? port.targetPort : undefined);
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
