/**
 * Reads and changes extension configurations (ECDS) that need a remote module. Source: pilot-agent's `wasm` package,
 * Envoy's API v3.
 */
import { BinaryWriter, putMessage, putString, readMessage, readStruct, writeStruct } from "../../base/protobuf.ts";
import { changed } from "./fields.ts";
import type { ModuleSource } from "./options.ts";
import { isOpen, isOwnVariable, type Plugin, sourceOf } from "./plugin.ts";
import { structPlugin, structWithFile } from "./struct_plugin.ts";

const FILTERS = "type.googleapis.com/envoy.extensions.filters";
const HTTP_WASM = `${FILTERS}.http.wasm.v3.Wasm`;
const NETWORK_WASM = `${FILTERS}.network.wasm.v3.Wasm`;
/** Types that contain a message as JSON. Envoy accepts both types, pilot-agent only the first. */
const STRUCTS = ["type.googleapis.com/udpa.type.v1.TypedStruct", "type.googleapis.com/xds.type.v3.TypedStruct"];

export interface RemoteModule {
  readonly source: ModuleSource;
  /** Whether requests pass without the module; otherwise, they are rejected. */
  readonly isFailOpen: boolean;
  readonly isHttp: boolean;
}

/**
 * The type and value of an Any or a TypedStruct. An Any contains the bytes of a message of this type; a TypedStruct
 * contains the message's JSON, encoded as a Struct.
 */
interface Typed {
  readonly type: string;
  readonly value: Uint8Array;
}

function readTyped(bytes: Uint8Array): Typed {
  let [type, value]: [string, Uint8Array] = ["", new Uint8Array()];
  readMessage(bytes, { 1: (reader) => type = reader.string(), 2: (reader) => value = reader.bytes() });
  return { type, value };
}

function writeTyped({ type, value }: Typed): Uint8Array {
  const writer = new BinaryWriter();
  putString(writer, 1, type);
  return writer.tag(2, 2).bytes(value).finish();
}

/**
 * Returns the module that a `TypedExtensionConfig` needs; `undefined` if nothing must be fetched. Throws on invalid
 * bytes.
 */
export function remoteModule(extension: Uint8Array): RemoteModule | undefined {
  let name = "";
  let config: Typed = { type: "", value: new Uint8Array() };
  readMessage(extension, { 1: (reader) => name = reader.string(), 2: (reader) => config = readTyped(reader.bytes()) });
  const isStruct = STRUCTS.includes(config.type);
  const { type, value } = isStruct ? readTyped(config.value) : config;
  if (type !== HTTP_WASM && type !== NETWORK_WASM) return undefined;
  const plugin = isStruct ? structPlugin(readStruct(value)) : messagePlugin(value);
  const source = sourceOf(plugin, name);
  return source && { source, isFailOpen: plugin.isFailOpen, isHttp: type === HTTP_WASM };
}

function messagePlugin(wasm: Uint8Array): Plugin {
  let plugin: Uint8Array = new Uint8Array();
  readMessage(wasm, { 1: (reader) => plugin = reader.bytes() });
  let [vm, failOpen, policy]: [Uint8Array, boolean, number] = [new Uint8Array(), false, 0];
  readMessage(plugin, { 3: (reader) => vm = reader.bytes() }, {
    5: (reader) => failOpen = reader.bool(),
    7: (reader) => policy = reader.int32(),
  });
  let remote: Uint8Array | undefined;
  const variables = new Map<string, string>();
  readMessage(vm, {
    3: (code) => readMessage(code.bytes(), { 2: (reader) => remote = reader.bytes() }),
    7: (environment) => readMessage(environment.bytes(), { 2: (reader) => variables.set(...entryOf(reader.bytes())) }),
  });
  return { remote: remote && messageRemote(remote), variables, isFailOpen: isOpen(policy, failOpen) };
}

function messageRemote(remote: Uint8Array): Plugin["remote"] {
  let [url, sha256, timeout]: [string, string, number | undefined] = ["", "", undefined];
  readMessage(remote, {
    1: (uri) =>
      readMessage(uri.bytes(), {
        1: (reader) => url = reader.string(),
        3: (reader) => timeout = milliseconds(reader.bytes()),
      }),
    2: (reader) => sha256 = reader.string(),
  });
  return { url, sha256, timeout };
}

function entryOf(bytes: Uint8Array): [string, string] {
  let [key, value] = ["", ""];
  readMessage(bytes, { 1: (reader) => key = reader.string(), 2: (reader) => value = reader.string() });
  return [key, value];
}

/** Decodes a google.protobuf.Duration. */
function milliseconds(bytes: Uint8Array): number {
  let [seconds, nanos] = [0, 0];
  readMessage(bytes, {}, { 1: (reader) => seconds = Number(reader.int64()), 2: (reader) => nanos = reader.int32() });
  return seconds * 1000 + nanos / 1e6;
}

/** Returns the extension with the module from a file. Removes Istio's own variables, because one variable is a secret. */
export async function withFile(extension: Uint8Array, file: string): Promise<Uint8Array> {
  return await changed(extension, 2, async (bytes) => {
    const { type, value } = readTyped(bytes);
    return writeTyped({ type, value: await (STRUCTS.includes(type) ? inStruct(value, file) : inMessage(value, file)) });
  });
}

async function inStruct(typed: Uint8Array, file: string): Promise<Uint8Array> {
  return await changed(typed, 2, (bytes) => {
    const writer = new BinaryWriter();
    writeStruct(writer, structWithFile(readStruct(bytes), file));
    return writer.finish();
  });
}

async function inMessage(wasm: Uint8Array, file: string): Promise<Uint8Array> {
  const code = new BinaryWriter();
  putMessage(code, 1, (local) => putString(local, 1, file));
  const source = code.finish();
  const inVm = async (vm: Uint8Array) => await changed(await changed(vm, 3, () => source), 7, withoutOwnVariables);
  return await changed(wasm, 1, (plugin) => changed(plugin, 3, inVm));
}

async function withoutOwnVariables(environment: Uint8Array): Promise<Uint8Array | undefined> {
  const left = await changed(environment, 2, (entry) => isOwnVariable(entryOf(entry)[0]) ? undefined : entry);
  return left.length === 0 ? undefined : left;
}

/** Returns the extension as a filter that allows or rejects all requests. */
export async function withoutModule(extension: Uint8Array, { isFailOpen, isHttp }: RemoteModule): Promise<Uint8Array> {
  const rbac = new BinaryWriter();
  if (!isFailOpen) putMessage(rbac, 1, () => {});
  putString(rbac, isHttp ? 6 : 3, `wasm-default-${isFailOpen ? "allow" : "deny"}`);
  const value = rbac.finish();
  const type = `${FILTERS}.${isHttp ? "http" : "network"}.rbac.v3.RBAC`;
  return await changed(extension, 2, () => writeTyped({ type, value }));
}
