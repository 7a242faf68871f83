// deno-lint-ignore-file no-console -- a program for developers
/**
 * Replays Istio's own tests of injection, release by release: `tools/deno task test versions FOLDER [RELEASE ...]`. FOLDER is
 * a clone of istio/istio with its tags. The results are kept in `results.json` beside this file; test/house makes the table
 * of docs/versions.md from them (`UPDATE=1`).
 */
import { messageOf } from "../../src/base/errors.ts";
import { Chart } from "./charts.ts";
import { reasonFor } from "./deliberate.ts";
import { type GoCase, goCases } from "./go_cases.ts";
import { RELEASES } from "./releases.ts";
import { differenceOf } from "./replay.ts";
import type { ReleaseResult, Results } from "./results.ts";

const TESTS = "pkg/kube/inject";
const RESULTS = new URL("results.json", import.meta.url);

async function main([repository, ...asked]: readonly string[]): Promise<number> {
  if (repository === undefined) {
    console.log("skipped: name a clone of istio/istio: `tools/deno task test versions FOLDER`");
    return 0;
  }
  const releases: ReleaseResult[] = [];
  for (const release of asked.length > 0 ? asked : RELEASES) {
    const result = await replayed(repository, release);
    const { cases, agree, deliberate, differ } = result;
    console.log(`${release}: ${agree} of ${cases} agree, ${JSON.stringify(deliberate)}, ${differ.length} differ`);
    releases.push(result);
  }
  await keep(releases);
  return releases.some(({ differ }) => differ.length > 0) ? 1 : 0;
}

/** Replaces the results of these releases. */
async function keep(releases: readonly ReleaseResult[]): Promise<void> {
  const before: Results = JSON.parse(await Deno.readTextFile(RESULTS));
  const known = new Map([...before.releases, ...releases].map((each) => [each.release, each]));
  const all = RELEASES.map((release) => known.get(release)).filter((each) => each !== undefined);
  const date = new Date().toISOString().slice(0, 10);
  await Deno.writeTextFile(RESULTS, `${JSON.stringify({ date, releases: all }, null, 2)}\n`);
}

async function replayed(repository: string, release: string): Promise<ReleaseResult> {
  const folder = await Deno.makeTempDir();
  try {
    const sha256 = await extract(repository, release, folder);
    const commit = (await git(repository, ["rev-list", "-n", "1", release])).trim();
    const testdata = `${folder}/${TESTS}/testdata/inject`;
    const files = await Array.fromAsync(Deno.readDir(testdata), ({ name }) => name);
    const cases = goCases(await Deno.readTextFile(`${folder}/${TESTS}/inject_test.go`), files.sort());
    return {
      release,
      commit,
      sha256,
      cases: cases.length,
      ...await compared(cases, new Chart(folder, testdata), release),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function compared(cases: readonly GoCase[], chart: Chart, release: string) {
  let agree = 0;
  const deliberate: Record<string, number> = {};
  const differ: string[] = [];
  for (const item of cases) {
    const difference = item.unread.length > 0
      ? `not read: ${item.unread.join(" ")}`
      : await differenceOf(item, chart, release).catch((error) => messageOf(error));
    const reason = difference === undefined ? undefined : reasonFor(item.want, difference);
    if (difference === undefined) agree++;
    else if (reason !== undefined) deliberate[reason] = (deliberate[reason] ?? 0) + 1;
    else {
      differ.push(item.want);
      console.log(`${release} ${item.want}: ${difference}`);
    }
  }
  return { agree, deliberate, differ };
}

async function git(repository: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command("git", { args: ["-C", repository, ...args] }).output();
  if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Writes the files of a release that the test reads; returns the hash of their archive. */
async function extract(repository: string, tag: string, folder: string): Promise<string> {
  const archive = `${folder}/release.tar`;
  const paths = ["manifests/charts", `${TESTS}/inject_test.go`, `${TESTS}/testdata/inject`];
  await git(repository, ["archive", "--output", archive, tag, ...paths]);
  const bytes = await Deno.readFile(archive);
  const { success } = await new Deno.Command("tar", { args: ["-x", "-f", archive, "-C", folder] }).output();
  if (!success) throw new Error(`The archive of ${tag} cannot be unpacked`);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

Deno.exit(await main(Deno.args));
