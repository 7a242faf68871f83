import { namesIn } from "../compile/source_state.ts";
import type { NpmPackage } from "./sbom.ts";

/** The bundler's comment above each npm module, as `tools/compile/canonical.ts` rewrites it. */
const MODULE = /^(?:\/\/ |\s*")npm\/((?:@[^/\s]+\/)?[^/\s]+)\/([^/\s]+)\//gm;

/**
 * Returns the npm packages whose modules are in a bundle, sorted. `lock` is the text of deno.lock, `cache` is the npm
 * folder in Deno's cache. Throws if a package is missing in either of them.
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

/**
 * Returns the checksums in deno.lock, by `name@version`. An underscore separates a package from the peer dependencies
 * that it was resolved with.
 */
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
