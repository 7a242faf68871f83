/** Every command that writes to a full device ends with a clear error. */
import assert from "node:assert/strict";
import { MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";

const missing = Deno.build.os === "linux" ? undefined : "only Linux has /dev/full";
const FULL = "/dev/full";
const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n";

/** Commands that write to standard output or to a file; none needs a cluster. */
const TO_FILE: readonly (readonly string[])[] = [
  ["inject", "-f", "a.yaml"],
  ["inject", "-f", "a.yaml", "--report", "none"],
  ["inject", "-f", "a.yaml", "-f", "large.yaml"],
  ["inject", "-f", "a.yaml", "--patch"],
  ["uninject", "-f", "a.yaml"],
];
const TO_STDOUT: readonly (readonly string[])[] = [
  ...TO_FILE,
  ["inject", "-f", "a.yaml", "--diff"],
  ["version", "--client"],
  ["completion", "bash"],
  ["check", "--list"],
  ["inject", "--help"],
  ["webhook", "manifests", "--revision", "x"],
];

async function inFolder(body: (cwd: string) => Promise<void>) {
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${folder.path}/a.yaml`, POD);
  await Deno.writeTextFile(`${folder.path}/large.yaml`, `---\n${POD}`.repeat(2000));
  await body(folder.path);
}

testWhen(missing, "security: -o /dev/full says that there is no space left", () =>
  inFolder(async (cwd) => {
    for (const args of TO_FILE) {
      const { code, stdout, stderr } = await runMesh([...args, "-o", FULL], { cwd });
      assert.deepEqual([code, stdout], [1, ""], args.join(" "));
      assert.match(stderr, /^error: Cannot write "\/dev\/full": no space left on device$/m);
      assert.doesNotMatch(stderr, /report it/);
    }
  }));

testWhen(
  missing,
  "security: standard output that is full says that there is no space left",
  () =>
    inFolder(async (cwd) => {
      for (const args of TO_STDOUT) {
        const { code, stderr } = await new Deno.Command("sh", {
          args: ["-c", 'exec "$@" > /dev/full', "sh", MESH_COMMAND, ...args],
          cwd,
          env: { KUBECONFIG: "/nonexistent" },
        }).output();
        const said = new TextDecoder().decode(stderr);
        assert.equal(code, args.includes("--diff") ? 2 : 1, `${args.join(" ")}\n${said}`);
        assert.match(said, /^error: Cannot write the output: no space left on device$/m, args.join(" "));
      }
    }),
);
