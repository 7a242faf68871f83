/** Replaces the modules to fetch with local files, in responses of the control plane. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { shownUrl } from "../../base/shown_url.ts";
import { logText } from "../../platform/log.ts";
import { readMessage } from "../../base/protobuf.ts";
import { EXTENSION_TYPE } from "./extension_type.ts";
import { type RemoteModule, remoteModule, withFile, withoutModule } from "./extension.ts";
import { changed } from "./fields.ts";
import type { Modules } from "./modules.ts";
import type { WasmOptions } from "./options.ts";

/** Whether a `DiscoveryResponse` or `DeltaDiscoveryResponse` has extensions. Throws on invalid bytes. */
export function hasExtensions(response: Uint8Array): boolean {
  let type = "";
  readMessage(response, { 4: (reader) => type = reader.string() });
  return type === EXTENSION_TYPE;
}

/**
 * Returns the response with local modules. If the module of an extension is missing, the extension becomes a filter
 * that allows or rejects all requests, according to its failure policy. Rejects on invalid bytes.
 */
export async function withLocalModules(
  response: Uint8Array,
  isDelta: boolean,
  modules: Modules,
  options: Pick<WasmOptions, "log" | "metrics">,
): Promise<Uint8Array> {
  const any = (bytes: Uint8Array) => changed(bytes, 2, (extension) => local(extension, modules, options));
  return await changed(response, 2, (resource) => isDelta ? changed(resource, 2, any) : any(resource));
}

/** Returns the module of an extension. Leaves an unreadable extension for Envoy to reject. */
function remote(extension: Uint8Array, metrics: WasmOptions["metrics"]): RemoteModule | undefined {
  try {
    const module = remoteModule(extension);
    if (module === undefined) metrics.converted("no_remote_load");
    return module;
  } catch {
    // The bytes are not an extension.
    metrics.converted("unmarshal_failure");
    return undefined;
  }
}

async function local(
  extension: Uint8Array,
  modules: Modules,
  { log, metrics }: Pick<WasmOptions, "log" | "metrics">,
): Promise<Uint8Array> {
  const module = remote(extension, metrics);
  if (module === undefined) return extension;
  const { source, isFailOpen } = module;
  try {
    if (source.pullSecret === "") throw new MeshError("The pull secret of the WasmPlugin is missing");
    const file = await modules.file(source);
    metrics.converted("success");
    return await withFile(extension, file);
  } catch (error) {
    metrics.converted("fetch_failure");
    const effect = isFailOpen ? "requests pass without the module" : "requests are rejected";
    const named = `Wasm module "${shownUrl(source.url)}" of ${source.resource}`;
    log.error(logText(`Cannot fetch the ${named}, so ${effect}: ${messageOf(error)}`));
    return await withoutModule(extension, module);
  }
}
