/** The configurations of Istio's own test: Istio's chart, rendered by Helm with the values of a case. */
import { helmProgram } from "../support/programs/gitops.ts";
import { isMap, mapAt, newMap, textAt, type Value, type ValueMap } from "../../src/base/value.ts";
import { parseDocument, parseYaml, splitText, toYaml } from "../../src/yaml/mod.ts";
import type { GoCase } from "./go_cases.ts";
import { asMap } from "./values.ts";

/** The texts of a control plane's ConfigMaps. */
export interface Settings {
  readonly config: string;
  readonly values: string;
  readonly mesh: string;
}

/** The chart of one release. Cases with the same values share a rendering. */
export class Chart {
  readonly #known = new Map<string, Promise<Settings>>();

  /** `folder`: the files of the release; `testdata`: the folder of its cases. */
  constructor(readonly folder: string, readonly testdata: string) {}

  settings(item: Pick<GoCase, "operator" | "flags">): Promise<Settings> {
    const values = item.operator === undefined ? newMap() : this.#operatorValues(item.operator);
    const sets = item.flags.flatMap(setOf);
    const key = JSON.stringify([values, sets]);
    const known = this.#known.get(key) ?? this.#render(values, sets);
    this.#known.set(key, known);
    return known;
  }

  /** The values of an IstioOperator. Its other fields do not matter here. */
  #operatorValues(file: string): ValueMap {
    const spec = mapAt(asMap(parseYaml(Deno.readTextFileSync(`${this.testdata}/${file}`))), "spec");
    const mesh = spec["meshConfig"];
    return Object.assign(newMap(), mapAt(spec, "values"), mesh === undefined ? {} : { meshConfig: mesh });
  }

  async #render(values: ValueMap, sets: readonly string[]): Promise<Settings> {
    const file = await Deno.makeTempFile({ suffix: ".yaml" });
    await Deno.writeTextFile(file, toYaml(values));
    const chart = `${this.folder}/manifests/charts/istio-control/istio-discovery`;
    const options = sets.flatMap((set) => ["--set", set]);
    const { stdout, stderr, success } = await new Deno.Command(await helmProgram(), {
      args: ["template", "istiod", chart, "--namespace", "istio-system", "--values", file, ...options],
    }).output();
    await Deno.remove(file);
    const text = new TextDecoder().decode(stdout);
    if (!success) throw new Error(`Helm cannot render the chart: ${new TextDecoder().decode(stderr).slice(0, 500)}`);
    const maps = splitText(text, "").map((each) => parseDocument(each).value).filter(isConfigMap);
    const dataOf = (name: string) => mapAt(asMap(maps.find((map) => mapAt(map, "metadata")["name"] === name)), "data");
    const injector = dataOf("istio-sidecar-injector");
    return {
      config: textAt(injector, "config"),
      values: textAt(injector, "values"),
      mesh: textAt(dataOf("istio"), "mesh"),
    };
  }
}

/** Converts a flag of `istioctl` to `--set` of Helm. Commas separate values of `--set`. */
function setOf(flag: string): readonly string[] {
  if (flag === "components.cni.enabled=true") return ["istio_cni.enabled=true", "pilot.cni.enabled=true"];
  return [flag.replace(/^values\./, "").replaceAll(",", "\\,")];
}

function isConfigMap(value: Value): value is ValueMap {
  return isMap(value) && value["kind"] === "ConfigMap";
}
