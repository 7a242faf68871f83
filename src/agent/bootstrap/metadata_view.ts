/** The node's metadata as templates see them (`.metadata.NodeName`). Source: Istio's model.BootstrapNodeMetadata. */
import { GoStruct, type GoValue, typed } from "../../core/gotemplate/value.ts";
import { proxyConfigView } from "../../core/mesh/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../core/value.ts";
import { TYPED_FIELDS, type TypedField, type TypedKind } from "../settings/node/typed_fields.ts";
import type { AgentSettings } from "../settings/settings.ts";

const BY_GO_NAME = new Map<string, TypedField>(TYPED_FIELDS.map((field) => [field.go, field]));

type View = (value: Value | undefined, settings: AgentSettings) => GoValue;

const VIEWS: Readonly<Record<TypedKind, View>> = {
  text: (value) => typeof value === "string" ? value : "",
  bool: (value) => value === "true",
  int: (value) => BigInt(typeof value === "number" ? value : 0),
  list: (value) => typed(typeof value === "string" ? value.split(",") : [], "model.StringList"),
  ports: (value) => typeof value === "string" ? value : "",
  texts: (value) => typed(isList(value) ? value.map(String) : [], "[]string"),
  textMap: (value) => typed(isMap(value) ? value : {}, "map[string]string"),
  config: (_value, settings) => proxyConfigView(settings.proxyConfig),
};

/** The fields by their Go names. */
export class MetadataView extends GoStruct {
  override readonly goType = "*model.BootstrapNodeMetadata";

  constructor(private readonly settings: AgentSettings) {
    super();
  }

  override get(name: string): GoValue | undefined {
    const field = BY_GO_NAME.get(name);
    if (field === undefined) return undefined;
    return VIEWS[field.kind](this.#data[field.key], this.settings);
  }

  override fieldNames(): readonly string[] {
    return TYPED_FIELDS.map(({ go }) => go);
  }

  override toJSONValue(): GoValue {
    return this.#data;
  }

  get #data(): ValueMap {
    return this.settings.node.typedMetadata;
  }
}
