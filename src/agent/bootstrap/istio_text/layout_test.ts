import assert from "node:assert/strict";
import { withInner } from "./layout.ts";

Deno.test("withInner: paths become members and items, beside what the layout says itself", () => {
  const own = () => ({});
  assert.deepEqual(
    withInner({ "a/b": { indent: 1 }, a: { gap: 0 }, "a/[]/c": { colon: ":" }, d: own }, { order: ["d"] }),
    {
      order: ["d"],
      members: {
        a: {
          gap: 0,
          members: { b: { indent: 1, members: {} } },
          items: { members: { c: { colon: ":", members: {} } } },
        },
        d: own,
      },
    },
  );
});
