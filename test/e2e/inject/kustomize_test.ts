/** `kubectl mesh kustomize` in the real kustomize, as a transformer and as a generator; `inject -k` where there is no kubectl. */
import assert from "node:assert/strict";
import { sameValue } from "../../../src/base/values/mod.ts";
import { objectsOf } from "../../support/objects_of.ts";
import { kustomizeProgram } from "../../support/programs/gitops.ts";
import { MESH_BINARY, MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);
const CONFIG = {
  apiVersion: "kubectl-mesh/v1",
  kind: "Inject",
  metadata: {
    name: "mesh",
    annotations: { "config.kubernetes.io/function": "exec: {path: ./mesh, args: [kustomize]}" },
  },
};

/** Builds `FOLDER/app`, whose functions run in that folder. */
async function build(files: Readonly<Record<string, unknown>>) {
  await using folder = await temporaryFolder();
  const app = `${folder.path}/app`;
  await Deno.mkdir(app);
  await Deno.symlink(MESH_COMMAND, `${app}/mesh`);
  await Deno.copyFile(`${ROOT}examples/bookinfo.yaml`, `${app}/bookinfo.yaml`);
  for (const [name, value] of Object.entries(files)) await Deno.writeTextFile(`${app}/${name}`, JSON.stringify(value));
  const { code, stdout, stderr } = await new Deno.Command(await kustomizeProgram(), {
    args: ["build", "--enable-alpha-plugins", "--enable-exec", "app"],
    cwd: folder.path,
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** The objects of both texts, in any order. */
function assertSameObjects(text: string, expected: string): void {
  const wanted = objectsOf(expected);
  const found = objectsOf(text);
  assert.equal(found.length, wanted.length);
  const missing = wanted.filter((value) => !found.some((other) => sameValue(other, value)));
  assert.deepEqual(missing.map(({ metadata }) => metadata), []);
}

testWhen(
  needsProgram("go"),
  "kustomize runs the function as transformer and generator, with inject's result",
  async () => {
    const injected = await runMesh([
      "inject",
      "-f",
      "examples/bookinfo.yaml",
      "--revision",
      "canary",
      "--native-sidecars",
    ]);
    const spec = { revision: "canary", nativeSidecars: true };
    const transformed = await build({
      "kustomization.yaml": { resources: ["bookinfo.yaml"], transformers: ["mesh.yaml"] },
      "mesh.yaml": { ...CONFIG, spec },
    });
    assert.equal(transformed.code, 0, transformed.stderr);
    assertSameObjects(transformed.stdout, injected.stdout);
    const generated = await build({
      "kustomization.yaml": { generators: ["mesh.yaml"] },
      "mesh.yaml": { ...CONFIG, spec: { ...spec, manifests: ["bookinfo.yaml"] } },
    });
    assert.equal(generated.code, 0, generated.stderr);
    assertSameObjects(generated.stdout, injected.stdout);
  },
);

testWhen(needsProgram("go"), "kustomize fails with what the function says, and builds nothing", async () => {
  const wrong = await build({
    "kustomization.yaml": { resources: ["bookinfo.yaml"], transformers: ["mesh.yaml"] },
    "mesh.yaml": { ...CONFIG, spec: { revison: "canary" } },
  });
  assert.deepEqual([wrong.code, wrong.stdout], [1, ""]);
  assert.match(wrong.stderr, /the key "spec\.revison" is unknown: did you mean "revision"\?/);
  const failing = await build({
    "kustomization.yaml": { resources: ["bookinfo.yaml", "bad.yaml"], transformers: ["mesh.yaml"] },
    "bad.yaml": {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "bad" },
      spec: { template: { spec: {} } },
    },
    "mesh.yaml": CONFIG,
  });
  assert.deepEqual([failing.code, failing.stdout], [1, ""]);
  assert.match(failing.stderr, /error: deployment\.apps\/bad: The Deployment has no containers/);
});

/** Runs the program with a PATH of one folder: the launcher of the checkout would need more programs there. */
async function runAlone(path: string, ...args: readonly string[]) {
  const checkout = [Deno.execPath(), "run", "--config", `${ROOT}deno.json`, "--no-check", "-A", `${ROOT}src/main.ts`];
  const [command = "", ...own] = MESH_BINARY === undefined ? checkout : [MESH_BINARY];
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...own, ...args], env: { PATH: path } })
    .output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

testWhen(
  needsProgram("go"),
  "inject -k builds with kustomize where there is no kubectl, and needs one of them",
  async () => {
    await using folder = await temporaryFolder();
    const app = `${folder.path}/app`;
    const bin = `${folder.path}/bin`;
    for (const each of [app, bin]) await Deno.mkdir(each);
    await Deno.copyFile(`${ROOT}examples/bookinfo.yaml`, `${app}/bookinfo.yaml`);
    await Deno.writeTextFile(`${app}/kustomization.yaml`, JSON.stringify({ resources: ["bookinfo.yaml"] }));
    const neither = await runAlone(bin, "inject", "-k", app);
    assert.deepEqual(neither, {
      code: 1,
      stdout: "",
      stderr: `error: Cannot build the kustomization "${app}": neither kubectl nor kustomize is on PATH\n`,
    });
    await Deno.symlink(await kustomizeProgram(), `${bin}/kustomize`);
    const { code, stdout, stderr } = await runAlone(bin, "inject", "-k", app);
    assert.equal(code, 0, stderr);
    assertSameObjects(stdout, (await runMesh(["inject", "-f", "examples/bookinfo.yaml"])).stdout);
    const absent = await runAlone(bin, "inject", "-k", `${folder.path}/absent`);
    assert.deepEqual([absent.code, absent.stdout], [1, ""]);
    assert.match(absent.stderr, /^error: Cannot build the kustomization ".*absent": .*not.*absent/);
  },
);
