import { type Advice, byHand, look } from "../../advice/advice.ts";
import { shows } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import type { Facts } from "../../facts.ts";
import { findingOf, fixesBy, type Problem } from "../findings.ts";
import { distinct, isActive } from "./injectors.ts";
import { webhooksAgain } from "./again.ts";
import { deleted } from "./webhook_advice.ts";

const INSTALL = byHand("install the control plane again", "mesh");

const LOOKS = [
  look(
    "see which revisions are installed",
    shows("get", "mutatingwebhookconfigurations", "-L", "istio.io/rev,istio.io/tag"),
  ),
  look("see how to run a webhook with its own revision", shows("mesh", "webhook", "manifests", "--help")),
];

/** Checks that injection webhooks exist and that at least one is active. */
export async function exists(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const { scope } = facts;
  const of = scope.revision === undefined ? "" : ` of the revision "${scope.revision}"`;
  if (webhooks.length === 0) {
    return {
      result: "error",
      message: `no MutatingWebhookConfiguration${of} injects sidecars`,
      fixes: fixesBy(...await webhooksAgain(facts), INSTALL, ...LOOKS),
    };
  }
  if (!webhooks.some(isActive)) {
    return {
      result: "error",
      message: `all MutatingWebhookConfigurations${of} are deactivated`,
      objects: [...new Set(webhooks.map(configurationRef))],
      fixes: fixesBy(byHand('point a tag to a revision with "istioctl tag set"', "webhook")),
    };
  }
  return { result: "ok", message: [...new Set(webhooks.map(({ configuration }) => configuration))].join(", ") };
}

/** Checks that each tag has one configuration, and points to a revision that has its own configuration. */
export async function revisionTags(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const configurations = distinct(webhooks, ({ configuration }) => configuration);
  const revisions = new Set(configurations.flatMap(({ tag, revision }) => tag === undefined ? [revision] : []));
  const found = await Promise.all(configurations.map(async (webhook): Promise<Problem[]> => {
    const { tag, revision, configuration } = webhook;
    if (tag === undefined) return [];
    const problem = (result: Problem["result"], message: string, ...advice: readonly Advice[]) => {
      return [{ object: configurationRef(webhook), result, message, advice }];
    };
    const twin = configurations.find((other) => other !== webhook && other.tag === tag);
    if (twin !== undefined) {
      const message = `the configuration "${twin.configuration}" has the same tag "${tag}"`;
      return problem("error", message, await deleted(configuration, "delete one of the two configurations", facts));
    }
    if (!revisions.has(revision)) {
      return problem(
        "error",
        `the tag "${tag}" points to "${revision}", which is not installed`,
        byHand(`point the tag to an installed revision with "istioctl tag set ${tag} --overwrite"`, "webhook"),
        await deleted(configuration, "delete the tag if no namespace uses it", facts),
      );
    }
    if (!revisions.has(tag) || tag === revision || tag === "default") return [];
    const rename = byHand("rename the tag, and label the namespaces with the new name", "webhook");
    return problem("warning", `the tag "${tag}" is also the name of a revision`, rename);
  }));
  return findingOf(found.flat());
}
