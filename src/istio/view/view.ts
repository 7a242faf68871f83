import { GoStruct, type GoValue, typed } from "../../golang/go_value.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import type { MeshConfig, ProxyConfig } from "../config.ts";
import { zeroOf } from "../decode/decode_single.ts";
import { encodeMessage } from "../write/encode.ts";
import type { Era } from "../era.ts";
import { messageText } from "./proto_text.ts";
import {
  type Field,
  goName,
  type Kind,
  MESH_CONFIG,
  type Message,
  messageType,
  PROXY_CONFIG,
} from "../schema/schema.ts";
import { DurationView, EnumView, scalarView, WrapperView } from "./view_types.ts";

/**
 * A proxy configuration for templates (`.ProxyConfig`): fields by their Go names, a getter `Get…` for every field and
 * oneof. An unset message is a nil pointer whose getters work. Source: the code that protoc-gen-go generates.
 */
export function proxyConfigView(proxy: ProxyConfig): GoStruct {
  return new MessageView(proxy.data, PROXY_CONFIG, proxy.era);
}

/** A mesh configuration for templates (`.MeshConfig`), built like the view of a proxy configuration. */
export function meshConfigView(mesh: MeshConfig): GoStruct {
  return new MessageView(mesh.data, MESH_CONFIG, mesh.era);
}

/** A Go member of a message: a field, a oneof or a getter. */
interface Member {
  /** Whether this is a getter. Getters may be called on a nil pointer. */
  readonly isGetter: boolean;
  readonly read: (view: MessageView) => GoValue;
}

const memberTables = new WeakMap<Message, ReadonlyMap<string, Member>>();

/** A pointer to a message. Without data it is a nil pointer. */
class MessageView extends GoStruct {
  override readonly goType: string;
  readonly message: Message;

  constructor(readonly data: ValueMap | undefined, name: string, readonly era: Era) {
    super();
    this.goType = `*${name}`;
    this.message = messageType(name, era);
  }

  override get isNil(): boolean {
    return this.data === undefined;
  }

  override get(name: string): GoValue | undefined {
    if (name === "String") return this.text();
    const member = membersOf(this.message).get(name);
    return member === undefined || (this.isNil && !member.isGetter) ? undefined : member.read(this);
  }

  override fieldNames(): readonly string[] {
    return [...membersOf(this.message)].flatMap(([name, member]) => member.isGetter ? [] : [name]);
  }

  override toJSONValue(): GoValue {
    return this.data === undefined ? null : encodeMessage(this.data, this.message.name, this.era);
  }

  override text(): string {
    return this.data === undefined ? "<nil>" : messageText(this.data, this.message.name, this.era);
  }
}

/** Go's interface value of a oneof: a struct with one field. */
class OneofView extends GoStruct {
  override readonly goType: string;

  constructor(readonly owner: MessageView, readonly field: Field) {
    super();
    this.goType = `*${owner.message.name}_${field.go}`;
  }

  override get(name: string): GoValue | undefined {
    return name === this.field.go ? fieldView(this.owner, this.field) : undefined;
  }

  override fieldNames(): readonly string[] {
    return [this.field.go];
  }

  override toJSONValue(): GoValue {
    return Object.assign(Object.create(null), { [this.field.go]: fieldView(this.owner, this.field) });
  }
}

function membersOf(message: Message): ReadonlyMap<string, Member> {
  const known = memberTables.get(message);
  if (known !== undefined) return known;
  const members = new Map<string, Member>();
  for (const field of message.fields) {
    const read = (view: MessageView) => fieldView(view, field);
    members.set(`Get${field.go}`, { isGetter: true, read });
    if (field.oneof === undefined) members.set(field.go, { isGetter: false, read });
    else addOneof(members, message, field.oneof);
  }
  memberTables.set(message, members);
  return members;
}

function addOneof(members: Map<string, Member>, message: Message, oneof: string): void {
  const fields = message.fields.filter((field) => field.oneof === oneof);
  const read = (view: MessageView) => {
    const set = fields.find((field) => view.data?.[field.json] !== undefined);
    return set === undefined ? null : new OneofView(view, set);
  };
  members.set(`Get${goName(oneof)}`, { isGetter: true, read });
  members.set(goName(oneof), { isGetter: false, read });
}

function fieldView(view: MessageView, field: Field): GoValue {
  const value = view.data?.[field.json];
  if (field.shape === "one") return oneView(value, field.kind, view.era);
  if (field.shape === "list") {
    return typed(
      (isList(value) ? value : []).map((item) => oneView(item, field.kind, view.era)),
      `[]${goTypeOf(field.kind)}`,
    );
  }
  const map: Record<string, GoValue> = Object.create(null);
  for (const [key, item] of Object.entries(isMap(value) ? value : {})) map[key] = oneView(item, field.kind, view.era);
  return typed(map, `map[string]${goTypeOf(field.kind)}`);
}

function oneView(value: Value | undefined, kind: Kind, era: Era): GoValue {
  if (kind.is === "struct") return value ?? null;
  if (kind.is === "scalar") return scalarView(value, kind.type);
  return objectView(value, kind, era);
}

type ObjectKind = Exclude<Kind, { is: "struct" | "scalar" }>;

function objectView(value: Value | undefined, kind: ObjectKind, era: Era): GoStruct {
  switch (kind.is) {
    case "wrapper":
      return new WrapperView(value, kind.type, kind.name);
    case "duration":
      return new DurationView(typeof value === "string" ? value : undefined);
    case "enum":
      return new EnumView(kind.name, value ?? zeroOf(kind));
    case "message":
      return new MessageView(isMap(value) ? value : undefined, kind.name, era);
  }
}

const GO_SCALARS: Readonly<Record<string, string>> = { double: "float64" };

function goTypeOf(kind: Kind): string {
  switch (kind.is) {
    case "scalar":
      return GO_SCALARS[kind.type] ?? kind.type;
    case "wrapper":
      return `*wrapperspb.${kind.name}`;
    case "duration":
      return "*durationpb.Duration";
    case "struct":
      return "*structpb.Struct";
    case "enum":
      return kind.name;
    case "message":
      return `*${kind.name}`;
  }
}
