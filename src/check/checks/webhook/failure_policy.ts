import { counted } from "../../../core/counted.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import type { Facts } from "../../facts.ts";
import { radiusOf } from "./selected.ts";

/** How many pods an outage of the webhook affects: they are denied, or start without a sidecar. */
export async function failurePolicy(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const [namespaces, all] = await Promise.all([facts.namespaces(), facts.pods()]);
  const sentence = (policy: "Fail" | "Ignore", what: string) => {
    const own = webhooks.filter(({ failurePolicy }) => failurePolicy === policy);
    const radius = radiusOf(own, namespaces, all);
    const pods = counted(radius.pods, "pod");
    return { own, text: `${pods} in ${counted(radius.namespaces.length, "namespace")} ${what}` };
  };
  const ignoring = sentence("Ignore", "would start without a sidecar while it is down");
  const failing = sentence("Fail", "cannot be recreated while it is down");
  if (ignoring.own.length === 0) return { result: "ok", message: failing.text };
  return {
    result: "warning",
    message: `failurePolicy is Ignore: ${ignoring.text}\nset it to Fail, and run more than one replica`,
    objects: [...new Set(ignoring.own.map(configurationRef))],
  };
}
