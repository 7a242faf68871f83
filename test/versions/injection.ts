/** Istio's own tests of injection of a release, replayed. */
import { messageOf } from "../../src/base/errors.ts";
import { Chart } from "./charts.ts";
import { reasonFor } from "./deliberate.ts";
import { type GoCase, goCases } from "./go_cases.ts";
import { differenceOf } from "./replay.ts";
import { archived, commitOf } from "./repository.ts";
import { type InjectionResult, today } from "./results.ts";

const TESTS = "pkg/kube/inject";

/** Replays the tests of a release, and prints each difference without a reason. */
export async function replayed(repository: string, release: string): Promise<InjectionResult> {
  const paths = ["manifests/charts", `${TESTS}/inject_test.go`, `${TESTS}/testdata/inject`];
  await using files = await archived(repository, release, paths);
  const testdata = `${files.folder}/${TESTS}/testdata/inject`;
  const names = await Array.fromAsync(Deno.readDir(testdata), ({ name }) => name);
  const cases = goCases(await Deno.readTextFile(`${files.folder}/${TESTS}/inject_test.go`), names.sort());
  return {
    release,
    commit: await commitOf(repository, release),
    sha256: files.sha256,
    date: today(),
    cases: cases.length,
    ...await compared(cases, new Chart(files.folder, testdata), release),
  };
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
      // deno-lint-ignore no-console
      console.log(`${release} ${item.want}: ${difference}`);
    }
  }
  return { agree, deliberate, differ };
}
