import assert from "node:assert/strict";
import { expositionOf, histogram } from "./mod.ts";

Deno.test("histogram(): a bucket includes smaller ones, in ascending order; no value is lost", async () => {
  const times = histogram("seconds", "How long.", [0.5, 2, 10]);
  for (const value of [0.5, 0.75, 2, 3, 11]) times.observe(value);
  assert.equal(
    await expositionOf([times.collect], "a_"),
    `# HELP a_seconds How long.
# TYPE a_seconds histogram
a_seconds_bucket{le="0.5"} 1
a_seconds_bucket{le="2"} 3
a_seconds_bucket{le="10"} 4
a_seconds_bucket{le="+Inf"} 5
a_seconds_sum 17.25
a_seconds_count 5
`,
  );
});
