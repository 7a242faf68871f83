import assert from "node:assert/strict";
import { acceptAll } from "./connections.ts";

Deno.test("acceptAll() continues after a failure, and ends with the listener", async () => {
  const outcomes: (string | Error)[] = [
    "one",
    new Error("Too many open files"),
    "two",
    new Deno.errors.BadResource("closed"),
  ];
  const taken: string[] = [];
  await acceptAll<string>({
    accept() {
      const outcome = outcomes.shift() ?? assert.fail("it was asked after the end");
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
    },
  }, (connection) => taken.push(connection));
  assert.deepEqual(taken, ["one", "two"]);
});
