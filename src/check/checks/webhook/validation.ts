/** Checks Istio's validating webhooks, which validate changes to Istio's own configuration. */
import { isList, isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import { type Advice, byHand, harmless, look, loosening } from "../../advice/advice.ts";
import { remove, shows } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { type Facts, forAdvice, inEach } from "../../facts.ts";
import type { Place } from "../../inventory/source.ts";
import { causeOfNoPod } from "./serving.ts";
import { findingOf, type Problem } from "../findings.ts";

/** Matches the webhook names `rev.validation.istio.io` and `validation.istio.io`. */
const NAME = /(^|\.)validation\.istio\.io$/;

/** Reports webhooks without ready pods: the API server then denies every change to Istio's resources (istio #22319). */
export async function validationAnswers(facts: Facts): Promise<Finding> {
  const webhooks = (await facts.validatingWebhooks()).flatMap((configuration) =>
    mapsAt(configuration, "webhooks").filter((webhook) => NAME.test(textAt(webhook, "name")) && selects(webhook))
      .map((webhook) => ({ object: `validatingwebhookconfiguration/${configuration.metadata.name}`, webhook }))
  );
  const problems = await inEach(webhooks, async ({ object, webhook }): Promise<readonly Problem[]> => {
    const service = mapAt(mapAt(webhook, "clientConfig"), "service");
    const target = { namespace: textAt(service, "namespace"), name: textAt(service, "name") };
    if (textAt(webhook, "failurePolicy") === "Ignore" || target.name === "") return [];
    const { ready, notReady } = await facts.backends(target);
    if (ready > 0) return [];
    const { why, advice = startedAgain(target) } = await causeOfNoPod(target, facts, notReady) ?? {};
    const state = `has no ready pod${why === undefined ? "" : ` (${why})`}, and failurePolicy is Fail`;
    const message =
      `its Service "${target.namespace}/${target.name}" ${state}, so every change of Istio's configuration is denied`;
    return [{ object, result: "error", message, advice: await adviceFor(object, target, facts, advice) }];
  });
  if (webhooks.length === 0) return { result: "skipped", message: "Istio has no validating webhook" };
  return findingOf(problems);
}

function startedAgain({ namespace }: Place): readonly Advice[] {
  return [byHand("start its pods again", "mesh"), look("see its pods", shows("get", "pods", "-n", namespace))];
}

/** Advice to restore or delete the configuration. Deleting is harmless if the Service is gone: Istio was uninstalled. */
async function adviceFor(
  object: string,
  target: Place,
  facts: Facts,
  advice: readonly Advice[],
): Promise<readonly Advice[]> {
  const found = await forAdvice(facts.service(target).then((service) => ({ service })));
  const name = object.slice(object.indexOf("/") + 1);
  const removal = remove({ kind: "validatingwebhookconfiguration", namespace: "", name });
  const change = "delete the configuration if Istio was uninstalled";
  if (found !== undefined && found.service === undefined) return [harmless(change, "cluster", removal)];
  return [...advice, loosening(change, "cluster", removal)];
}

export function isOfIstio(configuration: ValueMap): boolean {
  return mapsAt(configuration, "webhooks").some((webhook) => NAME.test(textAt(webhook, "name")));
}

/** Whether a webhook has rules. The API server never calls a webhook without rules. */
function selects({ rules }: ValueMap): boolean {
  return isList(rules) && rules.some(isMap);
}
