import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { main } from "../mod.ts";

async function run(args: string) {
  const requests: string[] = [];
  const world = fakeWorld({
    args: ["explain", "--server", "http://api.test", ...args.split(" ")],
    request: (url) => {
      requests.push(url);
      return Response.json({ kind: "PodList", apiVersion: "v1", items: [] });
    },
  });
  return { code: await main(world), requests, stderr: world.said.stderr };
}

Deno.test("explain -n without a pod means all pods of the namespace", async () => {
  for (const args of ["-n shop", "-n shop -o short", "-n shop --to catalog:8080"]) {
    const { code, requests, stderr } = await run(args);
    assert.deepEqual([code, stderr], [1, 'error: No pod exists in the namespace "shop"; see --namespace\n'], args);
    assert.match(requests[0] ?? "", /\/namespaces\/shop\/pods\b/);
  }
});

Deno.test("explain without -n, and what is only for one pod, needs a pod", async () => {
  assert.deepEqual(await run("-o short"), {
    code: 2,
    requests: [],
    stderr: "error: No pod is named; give pod/NAME or KIND/NAME, -n, -l or -A, or a snapshot with -f\n",
  });
  for (const args of ["--of clusters", "--ephemeral", "--to catalog:8080 --probe"]) {
    const { code, requests, stderr } = await run(`-n shop ${args}`);
    assert.deepEqual([code, requests], [2, []], args);
    assert.match(stderr, /^error: No pod is named; give pod\/NAME or KIND\/NAME, or a snapshot with -f\n$/);
  }
});

Deno.test("a path in place of a pod is an error that names -f, not a search for a cluster", async () => {
  for (const path of ["examples/explain/cart", "./cart", "/tmp/cart", "web.tar.gz", "dump.json"]) {
    assert.deepEqual(await run(path), {
      code: 2,
      requests: [],
      stderr: `error: "${path}" is not the name of a pod; name the file or folder of a snapshot with -f\n`,
    });
  }
});
