/** Commands start no program from the current folder, even if PATH contains the folder. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

/** Programs that commands start by name, and arguments that start them. */
const STARTS: readonly (readonly [program: string, args: readonly string[], env?: Record<string, string>])[] = [
  ["kubectl", ["uninject", "-k", "."]],
  ["my-diff", ["inject", "-f", "a.yaml", "--diff=external"], { KUBECTL_EXTERNAL_DIFF: "my-diff -u" }],
  ["my-plugin", ["check", "--kubeconfig", "kubeconfig"]],
];

const KUBECONFIG = {
  clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{
    name: "u",
    user: {
      exec: { apiVersion: "client.authentication.k8s.io/v1", command: "my-plugin", interactiveMode: "Never" },
    },
  }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  "current-context": "x",
};

const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n";

Deno.test("security: if PATH has the current folder, nothing starts from it, and the error says what to do", async () => {
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${folder.path}/kubeconfig`, JSON.stringify(KUBECONFIG));
  await Deno.writeTextFile(`${folder.path}/a.yaml`, POD);
  for (const [program, args, env] of STARTS) {
    await Deno.writeTextFile(`${folder.path}/${program}`, "#!/bin/sh\ntouch started\n", { mode: 0o755 });
    for (const part of [".", "", "./"]) {
      const path = `${part}:${Deno.env.get("PATH")}`;
      const { code, stdout, stderr } = await runMesh(args, { cwd: folder.path, env: { ...env, PATH: path } });
      assert.notEqual(code, 0, args.join(" "));
      const said = (stdout + stderr).replaceAll(/\s+/g, " ");
      assert.ok(said.includes(`Cannot run "${program}": PATH finds it in`), said.slice(0, 500));
      assert.match(said, /remove that part from PATH/);
      assert.equal(await Deno.stat(`${folder.path}/started`).then(() => true, () => false), false);
    }
  }
});
