/** Fetches modules and stores them in files for Envoy. Source: pilot-agent's `wasm` cache. */
import { MeshError, messageOf } from "../../base/errors.ts";
import { shownUrl } from "../../base/shown_url.ts";
import { AnswerError } from "../../platform/http.ts";
import { logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";
import type { ModuleSource, WasmOptions } from "./options.ts";
import { type Image, openImage } from "./registry.ts";
import { isModule, MAX_MODULE, readAll, sha256Of, unpacked } from "./unpack.ts";

const MODE = 0o644;
const FOLDER_MODE = 0o755;
const FIRST_PAUSE = 500;

interface Kept {
  readonly file: string;
  readonly digest: string;
  /** For each resource, the version at which the module was fetched. */
  readonly versions: Map<string, string>;
  used: number;
}

export type Modules = ReturnType<typeof wasmModules>;

export function wasmModules(world: World, options: WasmOptions) {
  const { metrics } = options;
  /** Stored modules, by URL and required checksum. */
  const kept = new Map<string, Kept>();
  const fetching = new Map<string, Promise<Kept>>();
  const end = new AbortController();

  async function file(source: ModuleSource): Promise<string> {
    const key = `${source.url} ${source.sha256}`;
    const known = kept.get(key);
    const isCurrent = known !== undefined && isUsable(known, source) &&
      await world.files.stat(known.file) !== undefined;
    metrics.looked(isCurrent);
    const used = isCurrent ? known : await once(key, source);
    used.used = world.clock.monotonic();
    used.versions.set(source.resource, source.version);
    return used.file;
  }

  /** Fetches a module only once, even if several resources need it. */
  async function once(key: string, source: ModuleSource): Promise<Kept> {
    let running = fetching.get(key);
    if (running === undefined) {
      running = fetched(world, source, options, end.signal).finally(() => fetching.delete(key));
      fetching.set(key, running);
    }
    const module = await running;
    kept.set(key, module);
    metrics.cached(kept.size);
    return module;
  }

  async function purge(): Promise<void> {
    while (!end.signal.aborted) {
      await world.clock.sleep(options.purgeInterval, end.signal);
      const now = world.clock.monotonic();
      for (const [key, { file: path, used }] of kept) {
        if (now - used <= options.expiry) continue;
        kept.delete(key);
        if (![...kept.values()].some((each) => each.file === path)) await remove(world, path, options);
      }
      metrics.cached(kept.size);
    }
  }
  const purging = purge();
  return {
    /** Resolves with the path of the module's file. Rejects with the reason. */
    file,
    async close(): Promise<void> {
      end.abort();
      await purging;
    },
  };
}

/** Removes a module. Never rejects, because a file that cannot be removed must not end the agent. */
async function remove({ files }: World, path: string, { log }: WasmOptions): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    log.warning(logText(`Cannot remove the file of a Wasm module: ${messageOf(error)}`));
  }
}

async function fetched(world: World, source: ModuleSource, options: WasmOptions, end: AbortSignal): Promise<Kept> {
  const { metrics } = options;
  const signal = AbortSignal.any([end, AbortSignal.timeout(source.timeout)]);
  const { digest, load } = await opened(world, source, options, signal);
  if (source.sha256 !== "" && source.sha256 !== digest) {
    metrics.fetched("checksum_mismatched");
    throw new MeshError(`The SHA-256 of the module is ${digest}, not ${source.sha256}`);
  }
  const folder = await folderOf(world, options);
  const file = `${folder}/${digest}.wasm`;
  if (await world.files.stat(file) === undefined) {
    const bytes = await counted(load, options);
    if (!isModule(bytes)) {
      metrics.fetched("fetch_failure");
      throw new MeshError("The file is not a Wasm module");
    }
    await world.files.makeFolder(folder, FOLDER_MODE);
    save(world, file, bytes);
  }
  metrics.fetched("success");
  return { file, digest, versions: new Map(), used: world.clock.monotonic() };
}

function save({ files }: World, path: string, bytes: Uint8Array): void {
  const replacement = files.replace(path, MODE);
  try {
    replacement.write(bytes);
    replacement.commit();
  } catch (error) {
    replacement.abort();
    throw error;
  }
}

async function folderOf({ files }: World, { folders }: WasmOptions): Promise<string> {
  for (const folder of folders) if ((await files.stat(folder))?.kind === "directory") return `${folder}/wasm`;
  throw new MeshError(`There is no folder for modules: ${folders.join(" and ")} do not exist`);
}

/**
 * Whether a stored module can be used. A module with a required checksum can always be used. For other modules, the
 * policy decides; by default, only the tag `latest` is fetched again for a changed resource.
 */
function isUsable({ versions }: Kept, { url, sha256, resource, version, policy }: ModuleSource): boolean {
  if (sha256 !== "" || url.includes("@sha256:")) return true;
  const isFetchedAgain = policy === "Always" || (policy === "" && url.startsWith("oci:") && url.endsWith(":latest"));
  return !isFetchedAgain || versions.get(resource) === version;
}

async function opened(world: World, source: ModuleSource, options: WasmOptions, signal: AbortSignal): Promise<Image> {
  if (!URL.canParse(source.url)) throw new MeshError(`"${shownUrl(source.url)}" is not a URL`);
  const { protocol, host } = new URL(source.url);
  const isInsecure = options.insecureHosts.some((each) => each === "*" || each === host);
  if (protocol === "oci:") {
    try {
      return await openImage(world, source.url, {
        isInsecure,
        pullSecret: source.pullSecret,
        files: options.keychains,
        signal,
      });
    } catch (error) {
      options.metrics.fetched("manifest_failure");
      throw error;
    }
  }
  if (protocol !== "https:" && protocol !== "http:") {
    throw new MeshError(`"${shownUrl(source.url)}" is not an https or oci URL`);
  }
  const bytes = await counted(() => fromServer(world, source.url, { isInsecure, signal, options }), options);
  return { digest: await sha256Of(bytes), load: () => Promise.resolve(bytes) };
}

async function counted<T>(load: () => Promise<T>, { metrics }: WasmOptions): Promise<T> {
  try {
    return await load();
  } catch (error) {
    metrics.fetched("download_failure");
    throw error;
  }
}

interface Attempts {
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
  readonly options: WasmOptions;
}

/** Retries after server errors and broken connections. */
async function fromServer(
  world: World,
  url: string,
  { isInsecure, signal: end, options }: Attempts,
): Promise<Uint8Array<ArrayBuffer>> {
  let problem = "";
  for (let attempt = 0, pause = FIRST_PAUSE; attempt < options.attempts && !end.aborted; attempt++, pause *= 2) {
    if (attempt > 0) await world.clock.sleep(pause, end);
    try {
      const limits = { whole: options.requestTimeout, bytes: MAX_MODULE };
      const body = await world.network.fetch(url, { insecure: isInsecure, signal: end, limits });
      return await unpacked(await readAll(body));
    } catch (error) {
      problem = messageOf(error);
      if (error instanceof AnswerError && error.status < 500) break;
    }
  }
  throw new MeshError(problem);
}
