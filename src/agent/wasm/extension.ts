/** Extension configurations (ECDS) with a module to fetch. Source: pilot-agent's `wasm` package, Envoy's API v3. */
import { BinaryWriter, putMessage, putString, readMessage } from "../../base/protobuf.ts";
import { changed } from "./fields.ts";
import type { ModuleSource, PullPolicy } from "./options.ts";

const FILTERS = "type.googleapis.com/envoy.extensions.filters";
const HTTP_WASM = `${FILTERS}.http.wasm.v3.Wasm`;
const NETWORK_WASM = `${FILTERS}.network.wasm.v3.Wasm`;
/** Of `FailurePolicy`; 0: not given, 1: reload, 2: closed. */
const FAIL_OPEN = 3;
const DEFAULT_TIMEOUT = 5000;

export interface RemoteModule {
  readonly source: ModuleSource;
  /** Requests pass without the module; otherwise they are refused. */
  readonly isFailOpen: boolean;
  readonly isHttp: boolean;
}

interface Any {
  readonly type: string;
  readonly value: Uint8Array;
}

function readAny(bytes: Uint8Array): Any {
  let [type, value]: [string, Uint8Array] = ["", new Uint8Array()];
  readMessage(bytes, { 1: (reader) => type = reader.string(), 2: (reader) => value = reader.bytes() });
  return { type, value };
}

function writeAny({ type, value }: Any): Uint8Array {
  const writer = new BinaryWriter();
  putString(writer, 1, type);
  return writer.tag(2, 2).bytes(value).finish();
}

/** The module that a `TypedExtensionConfig` wants to be fetched; `undefined` if there is none. Throws for invalid bytes. */
export function remoteModule(extension: Uint8Array): RemoteModule | undefined {
  let name = "";
  let config: Any = { type: "", value: new Uint8Array() };
  readMessage(extension, { 1: (reader) => name = reader.string(), 2: (reader) => config = readAny(reader.bytes()) });
  if (config.type !== HTTP_WASM && config.type !== NETWORK_WASM) return undefined;
  let plugin = new Uint8Array();
  readMessage(config.value, { 1: (reader) => plugin = new Uint8Array(reader.bytes()) });
  let [vm, failOpen, policy]: [Uint8Array, boolean, number] = [new Uint8Array(), false, 0];
  readMessage(plugin, { 3: (reader) => vm = reader.bytes() }, {
    5: (reader) => failOpen = reader.bool(),
    7: (reader) => policy = reader.int32(),
  });
  const source = sourceOf(vm, name);
  const isFailOpen = policy === 0 ? failOpen : policy === FAIL_OPEN;
  return source === undefined ? undefined : { source, isFailOpen, isHttp: config.type === HTTP_WASM };
}

/** istiod sends this for no checksum. */
const NO_SHA256 = "nil";

function sourceOf(vm: Uint8Array, resource: string): ModuleSource | undefined {
  let remote: Uint8Array | undefined;
  const variables = new Map<string, string>();
  readMessage(vm, {
    3: (code) => readMessage(code.bytes(), { 2: (reader) => remote = reader.bytes() }),
    7: (environment) => readMessage(environment.bytes(), { 2: (reader) => variables.set(...entryOf(reader.bytes())) }),
  });
  if (remote === undefined) return undefined;
  let [url, sha256, timeout] = ["", "", DEFAULT_TIMEOUT];
  readMessage(remote, {
    1: (uri) =>
      readMessage(uri.bytes(), {
        1: (reader) => url = reader.string(),
        3: (reader) => timeout = milliseconds(reader.bytes()),
      }),
    2: (reader) => sha256 = reader.string(),
  });
  return {
    url,
    sha256: sha256 === NO_SHA256 ? "" : sha256,
    resource,
    version: variables.get("ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION") ?? "",
    policy: policyOf(variables.get("ISTIO_META_WASM_IMAGE_PULL_POLICY")),
    pullSecret: variables.get("ISTIO_META_WASM_IMAGE_PULL_SECRET"),
    timeout,
  };
}

function policyOf(text = ""): PullPolicy {
  return text === "IfNotPresent" || text === "Always" ? text : "";
}

function entryOf(bytes: Uint8Array): [string, string] {
  let [key, value] = ["", ""];
  readMessage(bytes, { 1: (reader) => key = reader.string(), 2: (reader) => value = reader.string() });
  return [key, value];
}

/** google.protobuf.Duration. */
function milliseconds(bytes: Uint8Array): number {
  let [seconds, nanos] = [0, 0];
  readMessage(bytes, {}, { 1: (reader) => seconds = Number(reader.int64()), 2: (reader) => nanos = reader.int32() });
  return seconds * 1000 + nanos / 1e6;
}

/** The extension with the module from a file. Istio's own variables are removed; one is a secret. */
export async function withFile(extension: Uint8Array, file: string): Promise<Uint8Array> {
  const code = new BinaryWriter();
  putMessage(code, 1, (local) => putString(local, 1, file));
  const source = code.finish();
  const inVm = async (vm: Uint8Array) => await changed(await changed(vm, 3, () => source), 7, withoutOwnVariables);
  return await changed(extension, 2, async (bytes) => {
    const { type, value } = readAny(bytes);
    return writeAny({ type, value: await changed(value, 1, (plugin) => changed(plugin, 3, inVm)) });
  });
}

async function withoutOwnVariables(environment: Uint8Array): Promise<Uint8Array | undefined> {
  const left = await changed(
    environment,
    2,
    (entry) => entryOf(entry)[0].startsWith("ISTIO_META_") ? undefined : entry,
  );
  return left.length === 0 ? undefined : left;
}

/** The extension as a filter that lets all requests pass, or none. */
export async function withoutModule(extension: Uint8Array, { isFailOpen, isHttp }: RemoteModule): Promise<Uint8Array> {
  const rbac = new BinaryWriter();
  if (!isFailOpen) putMessage(rbac, 1, () => {});
  putString(rbac, isHttp ? 6 : 3, `wasm-default-${isFailOpen ? "allow" : "deny"}`);
  const value = rbac.finish();
  const type = `${FILTERS}.${isHttp ? "http" : "network"}.rbac.v3.RBAC`;
  return await changed(extension, 2, () => writeAny({ type, value }));
}
