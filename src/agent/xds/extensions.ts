/** Fetches Wasm modules of extensions in relayed responses. Loaded lazily: most proxies have no Wasm extensions. */
import { logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";
import type { WasmOptions } from "../wasm/options.ts";
import { rewritten } from "./rewriting.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

export type LazyModules = ReturnType<typeof lazyModules>;

const DELTA = "/DeltaAggregatedResources";

export function lazyModules(world: World, options: WasmOptions) {
  let loading: ReturnType<typeof load> | undefined;
  async function load() {
    const { hasExtensions, withLocalModules, wasmModules } = await import("../wasm/mod.ts");
    return { hasExtensions, withLocalModules, modules: wasmModules(world, options) };
  }
  return {
    /** Returns the response of a call with local files instead of remote modules. */
    async localized(body: Body, path: string): Promise<Body> {
      const { hasExtensions, withLocalModules, modules } = await (loading ??= load());
      return rewritten(body, {
        isChanged: hasExtensions,
        change: (message) => withLocalModules(message, path.endsWith(DELTA), modules, options),
        failed: (problem) =>
          options.log.warning(logText(`Cannot read a response, passing it on unchanged: ${problem}`)),
      });
    },
    close: async () => await (await loading)?.modules.close(),
  };
}
