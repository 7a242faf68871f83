import assert from "node:assert/strict";
import { agreed } from "./rebuild.ts";

const SUMS = {
  a: `${"a".repeat(64)}  program.tar.gz\n`,
  b: `${"b".repeat(64)}  program.tar.gz\n`,
  c: "c  program.tar.gz\n",
};

/** Builds whose checksums depend on the caches, and their names in order. */
function builds(
  byCaches: Readonly<Record<string, string>>,
  change: (name: string, text: string) => string = (_, text) => text,
) {
  const names: string[] = [];
  const build = (name: string, caches: string) => {
    names.push(name);
    return Promise.resolve(change(name, byCaches[caches] ?? ""));
  };
  return { names, build };
}

Deno.test("agreed() takes two builds that are equal", async () => {
  const { names, build } = builds({ first: SUMS.a, second: SUMS.a });
  assert.equal(await agreed(build), "first");
  assert.deepEqual(names, ["first", "second"]);
});

Deno.test("agreed() lets one more build decide where the code caches alone differ", async () => {
  for (const [third, chosen] of [[SUMS.a, "first"], [SUMS.b, "second"]] as const) {
    const { names, build } = builds({ first: SUMS.a, second: SUMS.b, third });
    assert.equal(await agreed(build), chosen);
    assert.deepEqual(names, ["first", "second", "second-with-caches-of-first", "third"]);
  }
  await assert.rejects(
    agreed(builds({ first: SUMS.a, second: SUMS.b, third: SUMS.c }).build),
    /three different code caches/,
  );
});

Deno.test("agreed() refuses builds that differ in more than the code caches, and builds no third one", async () => {
  const { names, build } = builds(
    { first: SUMS.a, second: SUMS.b },
    (name, text) => name === "first" ? text : `${text}x  other.deb\n`,
  );
  await assert.rejects(agreed(build), /differ in more than code caches: other\.deb$/);
  assert.deepEqual(names.includes("third"), false);
});
