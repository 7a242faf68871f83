import { namesIn } from "../compile/source_state.ts";
import type { NpmPackage } from "./sbom.ts";

/** The comment of the bundler before each module of npm, as `tools/compile/canonical.ts` leaves it. */
const MODULE = /^(?:\/\/ |\s*")npm\/((?:@[^/\s]+\/)?[^/\s]+)\/([^/\s]+)\//gm;

/**
 * The packages of npm with modules in a bundle, sorted. `lock` is the text of deno.lock, `cache` the folder of npm in Deno's
 * cache, which holds the packages. Errors: a package is not in the lock or not in the cache.
 */
export async function npmPackages(bundle: string, lock: string, cache: string): Promise<NpmPackage[]> {
  const texts = await Promise.all((await namesIn(bundle)).map((name) => Deno.readTextFile(`${bundle}/${name}`)));
  const found = new Set(
    texts.flatMap((text) => [...text.matchAll(MODULE)].map(([, name, version]) => `${name}@${version}`)),
  );
  const integrity = integrityOf(lock);
  return await Promise.all(
    [...found].sort().map(async (id) => {
      const [name, version] = [id.slice(0, id.lastIndexOf("@")), id.slice(id.lastIndexOf("@") + 1)];
      if (!integrity.has(id)) throw new Error(`The package ${id} is in the program, but not in deno.lock`);
      return { name, version, license: await licenseOf(cache, name, version), integrity: integrity.get(id) };
    }),
  );
}

/** The checksums in deno.lock by \`name@version\`; peers that a package was resolved with stand behind an underscore. */
function integrityOf(lock: string): ReadonlyMap<string, string> {
  const { npm }: { npm: Record<string, { integrity: string }> } = JSON.parse(lock);
  return new Map(Object.entries(npm).map(([id, { integrity }]) => [id.replace(/(?<=.@[^@_]*)_.*$/, ""), integrity]));
}

async function licenseOf(cache: string, name: string, version: string): Promise<string | undefined> {
  for (const registry of await namesIn(cache)) {
    const text = await Deno.readTextFile(`${cache}/${registry}/${name}/${version}/package.json`).catch(() => undefined);
    if (text === undefined) continue;
    const { license }: { license?: unknown } = JSON.parse(text);
    return typeof license === "string" ? license : undefined;
  }
  throw new Error(`The package ${name}@${version} is not in Deno's cache`);
}
