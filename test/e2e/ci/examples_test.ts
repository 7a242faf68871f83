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

/** Runs all steps of the workflow, also after one that failed. */
async function github(folder: string, releases: string, given: Record<string, string>) {
  const { env, jobs } = WORKFLOW.parse(load(await text("github.yml")));
  const [temp, work] = [`${folder}/temp`, `${folder}/work`];
  const variables = {
    ...env,
    MESH_RELEASES: releases,
    RUNNER_TEMP: temp,
    GITHUB_PATH: `${temp}/path`,
    GITHUB_STEP_SUMMARY: `${temp}/summary`,
    PATH: `${temp}:${Deno.env.get("PATH")}`,
    ...given,
  };
  const steps = jobs.mesh.steps.flatMap(({ run }) => run === undefined ? [] : [run]);
  const results: Awaited<ReturnType<typeof bash>>[] = [];
  for (const step of steps) results.push(await bash(step, work, variables));
  return results;
}

/** Runs the script of the template, without the installation of packages. */
async function gitlab(folder: string, releases: string, given: Record<string, string>) {
  const { mesh } = TEMPLATE.parse(load(await text("gitlab.yml")));
  const [install, ...lines] = [...mesh.before_script, ...mesh.script];
  assert.match(install ?? "", /^apt-get /);
  return await bash(lines.join("\n"), `${folder}/work`, { ...mesh.variables, MESH_RELEASES: releases, ...given });
}

async function exists(file: string): Promise<boolean> {
  return await Deno.stat(file).then(() => true, () => false);
}

for (const [manifest, expected] of CASES) {
  testWhen(noTools, `the steps for GitHub Actions, with ${manifest}, end with ${expected}`, async () => {
    await using folder = await temporaryFolder();
    const releases = await prepared(folder.path, manifest);
    const results = await github(folder.path, releases, { MESH_CONFIG: "" });
    const [temp, work] = [`${folder.path}/temp`, `${folder.path}/work`];
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
    const { code, shown } = await gitlab(folder.path, releases, { MESH_CONFIG: "" });
    assert.equal(code, expected, shown);
    assert.match(shown, VERDICT);
    const work = `${folder.path}/work`;
    const { paths, reports } = TEMPLATE.parse(load(await text("gitlab.yml"))).mesh.artifacts;
    for (const path of paths) assert.ok((await Deno.stat(`${work}/${path}`)).size > 0, path);
    const findings = JSON.parse(await Deno.readTextFile(`${work}/${reports.codequality}`));
    const found = findings.find(({ check_name }: { check_name: string }) => check_name === "job-sidecar");
    assert.equal(found?.location.path, expected === 1 ? "manifests/bookinfo.yaml" : undefined);
    if (found !== undefined) assert.ok(found.location.lines.begin > 1 && found.severity === "major");
  });
}

const MISSING = 'error: Cannot read "cluster.yaml": no such file or directory\n';

testWhen(noTools, "the steps for GitHub Actions fail and say why if the snapshot is missing", async () => {
  await using folder = await temporaryFolder();
  const releases = await prepared(folder.path, "helloworld.yaml");
  const [, ...results] = await github(folder.path, releases, {});
  const failed = { code: 1, shown: MISSING };
  assert.deepEqual(results, [failed, failed, failed]);
  assert.ok(!await exists(`${folder.path}/work/mesh.sarif`));
});

testWhen(noTools, "the script for GitLab fails at its first step and says why if the snapshot is missing", async () => {
  await using folder = await temporaryFolder();
  const releases = await prepared(folder.path, "helloworld.yaml");
  const { code, shown } = await gitlab(folder.path, releases, {});
  assert.equal(code, 1);
  assert.ok(shown.endsWith(MISSING), shown);
  assert.ok(!await exists(`${folder.path}/work/mesh.sarif`));
});

/** As `prepared`, with a snapshot and manifests whose namespaces it has. */
async function withSnapshot(folder: string): Promise<string> {
  const releases = await prepared(folder, "helloworld.yaml");
  const work = `${folder}/work`;
  await Deno.remove(`${work}/manifests/helloworld.yaml`);
  await Deno.copyFile(`${ROOT}test/golden/cli/common/cluster.yaml`, `${work}/cluster.yaml`);
  await Deno.copyFile(`${ROOT}test/golden/cli/as-webhook/in/all.yaml`, `${work}/manifests/all.yaml`);
  return releases;
}

testWhen(noTools, "with a snapshot both pipelines inject what its webhooks would inject", async () => {
  for (const [pipeline, diff] of [[github, "temp/summary"], [gitlab, "work/mesh.diff"]] as const) {
    await using folder = await temporaryFolder();
    const releases = await withSnapshot(folder.path);
    const ended = await pipeline(folder.path, releases, {});
    const results = Array.isArray(ended) ? ended : [ended];
    assert.deepEqual(results.map(({ code }) => code), results.map(() => 0), results.map(({ shown }) => shown).join(""));
    const text = await Deno.readTextFile(`${folder.path}/${diff}`);
    assert.deepEqual(text.match(/document \d/g), ["document 1", "document 1", "document 4", "document 4"]);
    assert.ok(await exists(`${folder.path}/work/mesh.sarif`));
  }
});

Deno.test("both pipelines have the same version, which is the program's", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const { env } = WORKFLOW.parse(load(await text("github.yml")));
  const { mesh } = TEMPLATE.parse(load(await text("gitlab.yml")));
  assert.deepEqual([env["MESH_VERSION"], mesh.variables["MESH_VERSION"]], [version, version]);
});
