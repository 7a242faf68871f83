import assert from "node:assert/strict";
import { textsAt, type ValueMap } from "../../base/value.ts";
import { withConcurrency } from "./arguments.ts";

function proxy(args: string[], limit?: string, request?: string): ValueMap {
  return {
    args,
    resources: {
      ...(limit === undefined ? {} : { limits: { cpu: limit } }),
      ...(request === undefined ? {} : { requests: { cpu: request } }),
    },
  };
}

const CASES: readonly (readonly [string, ValueMap, readonly string[]])[] = [
  ["the limit, rounded up", proxy(["proxy"], "1100m", "1"), ["proxy", "--concurrency", "2"]],
  ["the request without a limit", proxy(["proxy"], undefined, "10m"), ["proxy", "--concurrency", "1"]],
  ["the request where the limit is 0", proxy(["proxy"], "0", "3"), ["proxy", "--concurrency", "3"]],
  ["nothing without either", proxy(["proxy"]), ["proxy"]],
  ["nothing where it is given", proxy(["--concurrency", "4"], "2"), ["--concurrency", "4"]],
  ["nothing where it is given with =", proxy(["--concurrency=4"], "2"), ["--concurrency=4"]],
  ["the limit where 0 is given", proxy(["--concurrency", "0"], "2"), ["--concurrency", "0", "--concurrency", "2"]],
];

for (const [name, container, expected] of CASES) {
  Deno.test(`withConcurrency: ${name}`, () => assert.deepEqual(textsAt(withConcurrency(container), "args"), expected));
}
