/** Istio's validating webhooks, which judge changes of its own configuration. */
import { isList, isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../core/value.ts";
import type { Finding } from "../../check.ts";
import { type Facts, inEach } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";

/** `rev.validation.istio.io`, `validation.istio.io`. */
const NAME = /(^|\.)validation\.istio\.io$/;

/** A validating webhook with Fail and without a ready pod denies every change of its resources (istio #22319). */
export async function validationAnswers(facts: Facts): Promise<Finding> {
  const webhooks = (await facts.validatingWebhooks()).flatMap((configuration) =>
    mapsAt(configuration, "webhooks").filter((webhook) => NAME.test(textAt(webhook, "name")) && selects(webhook))
      .map((webhook) => ({ object: `validatingwebhookconfiguration/${configuration.metadata.name}`, webhook }))
  );
  const problems = await inEach(webhooks, async ({ object, webhook }): Promise<readonly Problem[]> => {
    const service = mapAt(mapAt(webhook, "clientConfig"), "service");
    const target = { namespace: textAt(service, "namespace"), name: textAt(service, "name") };
    if (textAt(webhook, "failurePolicy") === "Ignore" || target.name === "") return [];
    if ((await facts.backends(target)).ready > 0) return [];
    const message = `its Service "${target.namespace}/${target.name}" has no ready pod, and failurePolicy is Fail: ` +
      "every change of Istio's configuration is denied";
    return [{ object, result: "error", message }];
  });
  if (webhooks.length === 0) return { result: "skipped", message: "Istio has no validating webhook" };
  return findingOf(problems, "start its pods again; a leftover of an uninstalled Istio must be deleted");
}

/** A webhook without rules is never called. */
function selects({ rules }: ValueMap): boolean {
  return isList(rules) && rules.some(isMap);
}
