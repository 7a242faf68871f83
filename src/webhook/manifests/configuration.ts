/** The injector's configuration as a ConfigMap. */
import { isMap, type ValueMap } from "../../core/value.ts";
import { parseYaml } from "../../core/yaml/mod.ts";
import { configurationOf, showConfiguration } from "../../inject/mod.ts";
import { labelsOf } from "./labels.ts";
import type { Plan } from "./options.ts";

/**
 * None if the configuration is read from the cluster; else what `inject --show-config` prints, as one ConfigMap: templates, values and mesh configuration change together.
 * Errors: a MeshError with the place for a configuration that is none.
 */
export function configurationMaps(plan: Plan): ValueMap[] {
  if (plan.cluster !== undefined) return [];
  const shown = parseYaml(showConfiguration(configurationOf(plan.configuration)));
  const data = isMap(shown) && isMap(shown["data"]) ? shown["data"] : {};
  return [{
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: plan.name, namespace: plan.namespace, labels: labelsOf(plan) },
    data,
  }];
}
