import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { BINARY_HINT, checkBinary } from "./binary.ts";

const FILES = { "/opt/envoy": "" };

Deno.test("checkBinary() takes a path, or a name that PATH finds", async () => {
  await checkBinary(fakeWorld({ files: FILES }), "/opt/envoy");
  await checkBinary(fakeWorld({ files: FILES, env: { PATH: "/usr/bin:/opt" } }), "envoy");
});

Deno.test("checkBinary() rejects an absent binary, with the flag that names it", async () => {
  const rows = [["/usr/local/bin/envoy", "/opt"], ["envoy", "/usr/bin:"], ["envoy", undefined]] as const;
  for (const [binary, PATH] of rows) {
    const world = fakeWorld({ files: FILES, env: PATH === undefined ? {} : { PATH } });
    await assert.rejects(checkBinary(world, binary), {
      message: `Cannot start "${binary}": program not found`,
      hint: BINARY_HINT,
    });
  }
});

Deno.test("checkBinary() accepts a path that stat cannot read: starting the program reports the reason", async () => {
  const world = fakeWorld();
  const stat = () => Promise.reject(new Error("permission denied"));
  await checkBinary({ ...world, files: { ...world.files, stat } }, "/opt/envoy");
});
