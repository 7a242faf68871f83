/** The pipelines of examples/ci: actionlint reads them, and their shell steps run on a release that a test made. */
import assert from "node:assert/strict";
import { load } from "js-yaml";
import { z } from "zod";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { goProgram } from "../../support/programs/go_program.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);
const VERSION = "0.1.0";

const WORKFLOW = z.object({
  env: z.record(z.string(), z.string()),
  jobs: z.object({ mesh: z.object({ steps: z.array(z.object({ run: z.string().optional() })) }) }),
});
const TEMPLATE = z.object({
  mesh: z.object({
    variables: z.record(z.string(), z.string()),
    before_script: z.array(z.string()),
    script: z.array(z.string()),
    artifacts: z.object({ paths: z.array(z.string()), reports: z.object({ codequality: z.string() }) }),
  }),
});

const text = (file: string) => Deno.readTextFile(`${ROOT}examples/ci/${file}`);

testWhen(needsProgram("go"), "actionlint accepts the workflow of GitHub Actions", async () => {
  const actionlint = await goProgram("test/e2e/ci/actionlint", "github.com/rhysd/actionlint/cmd/actionlint");
  const { success, stdout } = await new Deno.Command(actionlint, {
    args: ["-no-color", `${ROOT}examples/ci/github.yml`],
  }).output();
  assert.ok(success, new TextDecoder().decode(stdout));
});

/** A checkout with manifests, and a release with this program. */
async function prepared(folder: string, manifest: string): Promise<string> {
  const release = `${folder}/releases/v${VERSION}`;
  for (const path of [release, `${folder}/work/manifests`, `${folder}/temp`]) {
    await Deno.mkdir(path, { recursive: true });
  }
  await Deno.writeTextFile(`${folder}/temp/kubectl-mesh`, `#!/bin/sh\nexec ${MESH_COMMAND} "$@"\n`, { mode: 0o755 });
  const archive = `kubectl-mesh_${VERSION}_linux_amd64.tar.gz`;
  await bash(`tar -czf ${release}/${archive} -C ${folder}/temp kubectl-mesh && rm ${folder}/temp/kubectl-mesh`, folder);
  await bash(`sha256sum ${archive} > checksums.txt`, release);
  await Deno.copyFile(`${ROOT}examples/${manifest}`, `${folder}/work/manifests/${manifest}`);
  return `file://${folder}/releases`;
}

/** As GitHub and GitLab run steps. */
async function bash(script: string, cwd: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await new Deno.Command("bash", { args: ["-eo", "pipefail", "-c", script], cwd, env })
    .output();
  const decoder = new TextDecoder();
  return { code, shown: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** The manifest, and the exit code of the steps that look for findings. */
const CASES = [["helloworld.yaml", 0], ["bookinfo.yaml", 1]] as const;

const VERDICT = /^deployment\.apps\/\S+ in the namespace "default"/m;

const noTools = ["bash", "curl", "sha256sum", "tar", "jq"].map(needsProgram).find((each) => each);

for (const [manifest, expected] of CASES) {
  testWhen(noTools, `the steps for GitHub Actions, with ${manifest}, end with ${expected}`, async () => {
    await using folder = await temporaryFolder();
    const releases = await prepared(folder.path, manifest);
    const { env, jobs } = WORKFLOW.parse(load(await text("github.yml")));
    const [temp, work] = [`${folder.path}/temp`, `${folder.path}/work`];
    const variables = {
      ...env,
      MESH_RELEASES: releases,
      MESH_CONFIG: "",
      RUNNER_TEMP: temp,
      GITHUB_PATH: `${temp}/path`,
      GITHUB_STEP_SUMMARY: `${temp}/summary`,
      PATH: `${temp}:${Deno.env.get("PATH")}`,
    };
    const steps = jobs.mesh.steps.flatMap(({ run }) => run === undefined ? [] : [run]);
    const results: Awaited<ReturnType<typeof bash>>[] = [];
    for (const step of steps) results.push(await bash(step, work, variables));
    assert.deepEqual(results.map(({ code }) => code), [0, 0, expected, expected]);
    assert.match(results[3]?.shown ?? "", VERDICT);
    assert.equal(await Deno.readTextFile(`${temp}/path`), `${temp}\n`);
    assert.match(await Deno.readTextFile(`${temp}/summary`), /^```diff\n--- manifests\/[^]*\+.*istio-proxy[^]*```\n$/);
    const { runs } = JSON.parse(await Deno.readTextFile(`${work}/mesh.sarif`));
    assert.equal(runs[0].results.some(({ level }: { level: string }) => level !== "note"), expected === 1);
  });

  testWhen(noTools, `the script for GitLab, with ${manifest}, ends with ${expected}`, async () => {
    await using folder = await temporaryFolder();
    const releases = await prepared(folder.path, manifest);
    const { mesh } = TEMPLATE.parse(load(await text("gitlab.yml")));
    const [install, ...lines] = [...mesh.before_script, ...mesh.script];
    assert.match(install ?? "", /^apt-get /);
    const work = `${folder.path}/work`;
    const variables = { ...mesh.variables, MESH_RELEASES: releases, MESH_CONFIG: "" };
    const { code, shown } = await bash(lines.join("\n"), work, variables);
    assert.equal(code, expected, shown);
    assert.match(shown, VERDICT);
    const { paths, reports } = mesh.artifacts;
    for (const path of paths) assert.ok((await Deno.stat(`${work}/${path}`)).size > 0, path);
    const findings = JSON.parse(await Deno.readTextFile(`${work}/${reports.codequality}`));
    const found = findings.find(({ check_name }: { check_name: string }) => check_name === "job-sidecar");
    assert.equal(found?.location.path, expected === 1 ? "manifests/bookinfo.yaml" : undefined);
    if (found !== undefined) assert.ok(found.location.lines.begin > 1 && found.severity === "major");
  });
}

Deno.test("both pipelines have the same version, which is the program's", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const { env } = WORKFLOW.parse(load(await text("github.yml")));
  const { mesh } = TEMPLATE.parse(load(await text("gitlab.yml")));
  assert.deepEqual([env["MESH_VERSION"], mesh.variables["MESH_VERSION"]], [version, version]);
});
