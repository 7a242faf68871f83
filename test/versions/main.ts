// deno-lint-ignore-file no-console -- a program for developers
/**
 * Tests this program with versions of the software that it works with:
 *
 *     tools/deno task test versions [FOLDER] [PART ...] [VERSION ...]
 *
 * FOLDER is a clone of istio/istio with its tags. The parts are
 *
 * - `injection`: Istio's own tests of injection, of each release
 * - `istiod`: pods in the mesh of a release's istiod; its programs are built, which takes minutes
 * - `kubernetes`, `envoy`: API servers and proxies; these need no FOLDER
 *
 * The results are kept in `results.json` beside this file; test/house makes the tables of docs/versions.md from them
 * (`UPDATE=1`).
 */
import { replayed } from "./injection.ts";
import { istiodChecked } from "./istiod.ts";
import { RELEASES } from "./releases.ts";
import type { Results } from "./results.ts";
import { SERVERS, serversChecked } from "./servers.ts";

const RESULTS = new URL("results.json", import.meta.url);

interface Part {
  readonly versions: readonly string[];
  /** Runs the part for these versions. Returns whether nothing failed. */
  readonly run: (versions: readonly string[], repository: string | undefined) => Promise<boolean>;
}

const PARTS: Readonly<Record<string, Part>> = {
  injection: ofEach(injection),
  istiod: ofEach(istiod),
  kubernetes: { versions: SERVERS.kubernetes.versions, run: (versions) => servers("kubernetes", versions) },
  envoy: { versions: SERVERS.envoy.versions, run: (versions) => servers("envoy", versions) },
};

async function main(args: readonly string[]): Promise<number> {
  const known = Object.values(PARTS).flatMap(({ versions }) => versions);
  const named = args.filter((each) => each in PARTS);
  const asked = args.filter((each) => known.includes(each));
  const [repository, ...unknown] = args.filter((each) => ![...named, ...asked].includes(each));
  if (unknown.length > 0) throw new Error(`"${unknown[0]}" is no part and no version`);
  let isGood = true;
  for (const [name, { versions, run }] of Object.entries(PARTS)) {
    if (named.length > 0 && !named.includes(name)) continue;
    const own = asked.length === 0 ? versions : versions.filter((version) => asked.includes(version));
    if (own.length > 0) isGood = await run(own, repository) && isGood;
  }
  return isGood ? 0 : 1;
}

/** A part that runs for one release after the other, from a clone. */
function ofEach(check: (repository: string, release: string) => Promise<boolean>): Part {
  const run: Part["run"] = async (releases, repository) => {
    if (repository === undefined) {
      console.log(`skipped: ${check.name}: name a clone of istio/istio: \`tools/deno task test versions FOLDER\``);
      return true;
    }
    let isGood = true;
    for (const release of releases) isGood = await check(repository, release) && isGood;
    return isGood;
  };
  return { versions: RELEASES, run };
}

async function injection(repository: string, release: string): Promise<boolean> {
  const result = await replayed(repository, release);
  const { cases, agree, deliberate, differ } = result;
  console.log(`${release}: ${agree} of ${cases} agree, ${JSON.stringify(deliberate)}, ${differ.length} differ`);
  await keep((results) => ({ ...results, injection: withResult(results.injection, result) }));
  return differ.length === 0;
}

async function istiod(repository: string, release: string): Promise<boolean> {
  const result = await istiodChecked(repository, release);
  const { passed, failed, problem } = result;
  console.log(`istiod ${release}: ${problem ?? `${passed} passed, ${failed.length} failed`}`);
  for (const name of failed) console.log(`  ${name}`);
  await keep((results) => ({ ...results, istiods: withResult(results.istiods, result) }));
  return failed.length === 0;
}

async function servers(server: keyof typeof SERVERS, versions: readonly string[]): Promise<boolean> {
  const found = await serversChecked(server, versions);
  for (const { version, passed, failed } of found) {
    console.log(`${SERVERS[server].name} ${version}: ${passed} passed, ${failed.length} failed`);
    for (const name of failed) console.log(`  ${name}`);
  }
  await keep((results) => {
    const known = new Map([...results.servers, ...found].map((each) => [`${each.server} ${each.version}`, each]));
    return { ...results, servers: [...known.values()] };
  });
  return found.every(({ failed }) => failed.length === 0);
}

/** The results, with a new one for its release, in the order of the releases. */
function withResult<T extends { readonly release: string }>(all: readonly T[], one: T): T[] {
  const known = new Map([...all, one].map((each) => [each.release, each]));
  return RELEASES.map((release) => known.get(release)).filter((each) => each !== undefined);
}

async function keep(change: (results: Results) => Results): Promise<void> {
  const before: Results = JSON.parse(await Deno.readTextFile(RESULTS));
  await Deno.writeTextFile(RESULTS, `${JSON.stringify(change(before), null, 2)}\n`);
}

Deno.exit(await main(Deno.args));
