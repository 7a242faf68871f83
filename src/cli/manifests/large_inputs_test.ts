import assert from "node:assert/strict";
import { fakeWorld } from "../../platform/fake.ts";
import { releaseForLargeInputs } from "./large_inputs.ts";

/** How often memory is prepared and released for inputs of these sizes, after 100 resources. */
function counts(sizes: readonly (number | undefined)[], release = () => {}) {
  const count = { prepared: 0, released: 0 };
  const memoryReleaser = () => {
    count.prepared++;
    return () => {
      count.released++;
      release();
    };
  };
  const inputs = sizes.map((size) => size === undefined ? {} : { size });
  const done = releaseForLargeInputs({ ...fakeWorld().system, memoryReleaser }, inputs);
  for (let resource = 0; resource < 100; resource++) done();
  return count;
}

Deno.test("releaseForLargeInputs() releases memory once for large inputs", () => {
  assert.deepEqual(counts([200_000, undefined, 100_000]), { prepared: 1, released: 1 });
});

Deno.test("releaseForLargeInputs() prepares nothing for small inputs, or those of an unknown size", () => {
  assert.deepEqual(counts([200_000, undefined]), { prepared: 0, released: 0 });
});

Deno.test("releaseForLargeInputs() leaves the memory where a process may not do this", () => {
  assert.equal(counts([1e6], () => assert.fail("EPERM")).released, 1);
  releaseForLargeInputs(fakeWorld().system, [{ size: 1e6 }])();
});
