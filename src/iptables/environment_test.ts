import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { ownerNames } from "./environment.ts";

Deno.test("ownerNames() reads files; an absent file has no names", async () => {
  const world = fakeWorld({ files: { "/etc/passwd": "app:x:1000:1000\n" } });
  assert.deepEqual(await ownerNames(world), { users: new Map([["app", 1000]]), groups: new Map() });
});

Deno.test("ownerNames() rejects an unreadable file", async () => {
  const world = fakeWorld({ files: { "/etc/passwd": Uint8Array.of(0xff, 0xfe) } });
  await assert.rejects(ownerNames(world), /not valid UTF-8/);
});
