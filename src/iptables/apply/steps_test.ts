import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { EEXIST, SystemError } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { type Step, takeSteps } from "./steps.ts";

/** Steps that record their calls; `special` replaces some of them. */
function steps(done: string[], special: Partial<Record<string, () => void>> = {}): Step[] {
  return ["a", "b", "c"].map((what) => ({
    what: [what],
    run: () => {
      done.push(`run ${what}`);
      special[`run ${what}`]?.();
    },
    undo: () => {
      done.push(`undo ${what}`);
      special[`undo ${what}`]?.();
    },
  }));
}

function fail(error: Error): () => never {
  return () => {
    throw error;
  };
}

Deno.test("takeSteps: all in order, without a rollback", async () => {
  const done: string[] = [];
  await takeSteps(fakeWorld(), steps(done));
  assert.deepEqual(done, ["run a", "run b", "run c"]);
});

Deno.test("takeSteps: after a failure the started steps are rolled back in reverse order, with the failed one", async () => {
  const done: string[] = [];
  const special = { "run b": fail(new MeshError("It cannot", { hint: "Try" })) };
  await assert.rejects(takeSteps(fakeWorld(), steps(done, special)), (error: MeshError) => {
    assert.equal(error.message, "It cannot; all changes were rolled back");
    assert.equal(error.hint, "Try");
    return true;
  });
  assert.deepEqual(done, ["run a", "run b", "undo b", "undo a"]);
});

Deno.test("takeSteps: a signal stops after the running step, also after the last one", async () => {
  for (const during of ["run a", "run c"]) {
    const done: string[] = [];
    const world = fakeWorld();
    const special = { [during]: () => world.raise("SIGTERM") };
    await assert.rejects(
      takeSteps(world, steps(done, special)),
      /Interrupted by SIGTERM; all changes were rolled back/,
    );
    assert.equal(done.filter((one) => one.startsWith("undo")).length, during === "run a" ? 1 : 3);
  }
});

Deno.test("takeSteps: a failed rollback is named, and the others continue", async () => {
  const done: string[] = [];
  const special = { "run c": fail(new MeshError("No")), "undo b": fail(new MeshError("Never")) };
  await assert.rejects(takeSteps(fakeWorld(), steps(done, special)), /No; the rollback is incomplete: b: Never/);
  assert.deepEqual(done.slice(3), ["undo c", "undo b", "undo a"]);
});

Deno.test("takeSteps: an error of the kernel names the change", async () => {
  const special = { "run a": fail(new SystemError("netlink", EEXIST)) };
  await assert.rejects(takeSteps(fakeWorld(), steps([], special)), (error: MeshError) => {
    assert.match(error.message, /^"a" failed: netlink: file exists; all changes/);
    assert.match(error.hint ?? "", /-r/);
    return true;
  });
});
