import assert from "node:assert/strict";
import { fakeWorld } from "../../../core/world/mod.ts";
import { checkedConfigurations } from "./checked_configurations.ts";

type Env = Record<string, string>;

/** Whether a second run finds the configuration that the first one checked. */
function isKept(env: Env, { commit = "c0ffee", second = commit }: { commit?: string; second?: string } = {}): boolean {
  const world = fakeWorld({ env });
  const first = checkedConfigurations(world, commit)("templates: {}");
  assert.equal(first.isDone, false);
  first.keep();
  assert.equal(checkedConfigurations(world, second)("templates: {} ").isDone, false);
  return checkedConfigurations(world, second)("templates: {}").isDone;
}

Deno.test("checkedConfigurations: a second run finds what the first one checked, in the user's folder for caches", () => {
  for (const env of [{ HOME: "/home/ada" }, { XDG_CACHE_HOME: "/cache" }, { HOME: "/h", XDG_CACHE_HOME: "cache" }]) {
    assert.equal(isKept(env), true);
  }
});

Deno.test("checkedConfigurations: nothing is kept without a folder, if it is switched off, or in a build of changed files", () => {
  for (const env of [{}, { HOME: "relative" }, { HOME: "/home/ada", MESH_CACHE_DISABLED: "1" }]) {
    assert.equal(isKept(env), false);
  }
  assert.equal(isKept({ HOME: "/home/ada", MESH_CACHE_DISABLED: "0" }), true);
  assert.equal(isKept({ HOME: "/home/ada" }, { commit: "c0ffee-dirty" }), false);
});

Deno.test("checkedConfigurations: another build checks again", () => {
  assert.equal(isKept({ HOME: "/home/ada" }, { second: "decaf" }), false);
});
