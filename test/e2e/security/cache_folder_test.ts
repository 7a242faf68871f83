/**
 * `inject` writes nothing into the user's folders: a configuration may have secrets, and another user may own the
 * folder.
 */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";

Deno.test("inject creates no file in the home folder or in a folder for caches", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [home, cache, manifest] = [`${folder}/home`, `${folder}/cache`, `${folder}/pod.yaml`];
    for (const path of [home, cache]) await Deno.mkdir(path);
    await Deno.writeTextFile(
      manifest,
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: i}]}\n",
    );
    for (const env of [{ HOME: home, XDG_CACHE_HOME: cache }, { HOME: home, XDG_CACHE_HOME: "" }]) {
      const { code, stdout } = await new Deno.Command(MESH_COMMAND, { args: ["inject", "-f", manifest], env }).output();
      assert.equal(code, 0);
      assert.match(new TextDecoder().decode(stdout), /istio-proxy/);
      for (const path of [home, cache]) assert.deepEqual(await Array.fromAsync(Deno.readDir(path)), []);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
