import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { filesOfTar, isModule, readAll, unpacked } from "./unpack.ts";

const MODULE = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

function tar(name: string, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(512 + 512 + 1024);
  const put = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at);
  put(0, name);
  put(124, content.length.toString(8).padStart(11, "0"));
  put(156, "0");
  put(257, "ustar");
  bytes.set(content, 512);
  return bytes;
}

Deno.test("unpacked: a module, in gzip, and in tar in gzip", async () => {
  const packed = tar("plugin.wasm", MODULE);
  for (const given of [MODULE, new Uint8Array(gzipSync(MODULE)), packed, new Uint8Array(gzipSync(packed))]) {
    assert.equal(isModule(await unpacked(given)), true);
  }
  assert.equal(isModule(await unpacked(new TextEncoder().encode("no module"))), false);
  assert.throws(() => [...filesOfTar(tar("plugin.wasm", MODULE).subarray(0, 515))], /cut off/);
});

Deno.test("readAll: at most the limit", async () => {
  await assert.rejects(readAll(new Blob(["abc"]).stream(), 2), /more than 2 bytes/);
  assert.equal((await readAll(new Blob(["abc"]).stream(), 3)).length, 3);
});
