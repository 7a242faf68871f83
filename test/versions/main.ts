// deno-lint-ignore-file no-console -- a program for developers
/**
 * Holds this program against versions of what it works with: `tools/deno task test versions [FOLDER] [PART ...] [RELEASE ...]`.
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

/** Runs a part; returns whether nothing failed. */
type Part = (repository: string | undefined, releases: readonly string[]) => Promise<boolean>;

const PARTS: Readonly<Record<string, Part>> = {
  injection: ofEach(injection),
  istiod: ofEach(istiod),
  kubernetes: () => servers("kubernetes"),
  envoy: () => servers("envoy"),
};

async function main(args: readonly string[]): Promise<number> {
  const named = args.filter((each) => each in PARTS);
  const releases = args.filter((each) => RELEASES.includes(each));
  const [repository, ...unknown] = args.filter((each) => ![...named, ...releases].includes(each));
  if (unknown.length > 0) throw new Error(`"${unknown[0]}" is no part and no release`);
  let isGood = true;
  for (const part of named.length > 0 ? named : Object.keys(PARTS)) {
    isGood = await PARTS[part]?.(repository, releases.length > 0 ? releases : RELEASES) === true && isGood;
  }
  return isGood ? 0 : 1;
}

/** A part that runs for one release after the other, from a clone. */
function ofEach(run: (repository: string, release: string) => Promise<boolean>): Part {
  return async (repository, releases) => {
    if (repository === undefined) {
      console.log(`skipped: ${run.name}: name a clone of istio/istio: \`tools/deno task test versions FOLDER\``);
      return true;
    }
    let isGood = true;
    for (const release of releases) isGood = await run(repository, release) && isGood;
    return isGood;
  };
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

async function servers(server: keyof typeof SERVERS): Promise<boolean> {
  const found = await serversChecked(server);
  for (const { version, passed, failed } of found) {
    console.log(`${SERVERS[server].name} ${version}: ${passed} passed, ${failed.length} failed`);
    for (const name of failed) console.log(`  ${name}`);
  }
  await keep(({ servers, ...results }) => ({
    ...results,
    servers: [...servers.filter((each) => each.server !== server), ...found],
  }));
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
