/** Pods in the mesh of a release's istiod: tests of `test/e2e/mesh` with its programs and its configuration. */
import { messageOf } from "../../src/base/errors.ts";
import { parseYaml } from "../../src/yaml/mod.ts";
import { sha256OfFile } from "../../tools/compile/wheel.ts";
import type { Release } from "../e2e/mesh/support/release.ts";
import { Chart } from "./charts.ts";
import { type IstioPrograms, istioPrograms } from "./istio_build.ts";
import { LAST_WITH_OWN_ENVOY, minorOf } from "./releases.ts";
import { archived, commitOf } from "./repository.ts";
import { type IstiodResult, today } from "./results.ts";
import { counted, type Counts, runTests } from "./run_tests.ts";
import { asMap } from "./values.ts";

const TESTS = ["test/e2e/mesh/release_test.ts", "test/e2e/mesh/upgrade_test.ts"];

/** Builds the programs of a release on first use, and runs the checks. Throws if the tests cannot run here. */
export async function istiodChecked(repository: string, release: string): Promise<IstiodResult> {
  const source = { release, commit: await commitOf(repository, release), date: today() };
  const programs = await istioPrograms(repository, release).catch((error) => messageOf(error));
  if (typeof programs === "string") {
    return { ...source, replaced: [], sha256: "", passed: 0, failed: [], problem: reasonOf(programs) };
  }
  const sha256 = await sha256OfFile(programs.discovery) ?? "";
  const settings = await withSettings(repository, release, programs);
  const counts = await run(settings);
  const limit = counts.failed.length === 0 ? undefined : LIMITS.find(({ upTo }) => minorOf(release) <= upTo);
  return { ...source, replaced: programs.replaced, sha256, ...counts, ...limit && { problem: limit.problem } };
}

/** Why pods of old releases cannot run in this test, up to a minor version. No reason is about this program. */
const LIMITS: readonly { readonly upTo: number; readonly problem: string }[] = [
  { upTo: 16, problem: "its istiod waits for `v1beta1` of Ingress, which the API server lacks" },
  { upTo: LAST_WITH_OWN_ENVOY, problem: "needs the filter `istio_authn` of Istio's own Envoy" },
];

async function withSettings(repository: string, release: string, programs: IstioPrograms): Promise<Release> {
  await using files = await archived(repository, release, ["manifests/charts"]);
  const flags = ["values.global.hub=docker.io/istio", `values.global.tag=${release}`];
  const { config, values, mesh } = await new Chart(files.folder, files.folder).settings({ operator: undefined, flags });
  return { release, ...programs, config, values, mesh: asMap(parseYaml(mesh)) };
}

async function run(release: Release): Promise<Counts> {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(file, JSON.stringify(release));
    return counted(await runTests(TESTS, { env: { MESH_ISTIO: file } }));
  } finally {
    await Deno.remove(file);
  }
}

/** The line that says why a build failed, for a cell of a table. */
function reasonOf(message: string): string {
  const line = message.split("\n").find((each) => /no \S+@v|undefined:|cannot use|imported and not/.test(each)) ??
    message;
  return `not built: ${line.replaceAll("|", "/").replaceAll(/\s+/g, " ").trim().slice(0, 160)}`;
}
