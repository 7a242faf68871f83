import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import type { Facts } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
import { distinct, isActive } from "./injectors.ts";

/** A webhook exists, and at least one is active. */
export function exists(webhooks: readonly InjectorWebhook[], { scope }: Facts): Finding {
  const of = scope.revision === undefined ? "" : ` of the revision "${scope.revision}"`;
  if (webhooks.length === 0) {
    return {
      result: "error",
      message: `no MutatingWebhookConfiguration${of} injects sidecars: install the control plane, or apply the ` +
        `output of "kubectl mesh webhook manifests"`,
    };
  }
  if (!webhooks.some(isActive)) {
    const objects = [...new Set(webhooks.map(configurationRef))];
    return {
      result: "error",
      message: `all configurations${of} are deactivated: point a tag to a revision with "istioctl tag set"`,
      objects,
    };
  }
  return { result: "ok", message: [...new Set(webhooks.map(({ configuration }) => configuration))].join(", ") };
}

/**
 * Each tag points to an installed revision, and each tag has one configuration. A revision is installed if it has a
 * configuration of its own.
 */
export function revisionTags(webhooks: readonly InjectorWebhook[]): Finding {
  const configurations = distinct(webhooks, ({ configuration }) => configuration);
  const revisions = new Set(configurations.flatMap(({ tag, revision }) => tag === undefined ? [revision] : []));
  const problems = configurations.flatMap((webhook): Problem[] => {
    const { tag, revision } = webhook;
    if (tag === undefined) return [];
    const object = configurationRef(webhook);
    const twin = configurations.find((other) => other !== webhook && other.tag === tag);
    if (twin !== undefined) {
      return [{ object, result: "error", message: `the tag "${tag}" also belongs to "${twin.configuration}"` }];
    }
    if (!revisions.has(revision)) {
      return [{ object, result: "error", message: `the tag "${tag}" points to "${revision}", which is not installed` }];
    }
    return revisions.has(tag) && tag !== revision && tag !== "default"
      ? [{ object, result: "warning", message: `the tag "${tag}" is also the name of a revision` }]
      : [];
  });
  return findingOf(problems, 'see "istioctl tag list", or "webhook manifests --tag"');
}
