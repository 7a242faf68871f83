import assert from "node:assert/strict";
import { realWorld } from "./world.ts";

Deno.test({
  name: "processes.run() does not wait for children of a program that timed out",
  ignore: Deno.build.os !== "linux",
  // The outputs stay open until those children end, maybe after this test: it is alone in its file.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const script = `sleep 1000 & echo $! > ${folder}/pid; wait`;
      const { code, timedOut } = await realWorld().processes.run({
        command: "sh",
        args: ["-c", script],
        // Too much for a pipe: the way of programs that may take long.
        stdin: "x".repeat(100_000),
        timeoutMilliseconds: 500,
      });
      assert.deepEqual([code, timedOut], [137, true]);
      Deno.kill(Number(await Deno.readTextFile(`${folder}/pid`)), "SIGKILL");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
