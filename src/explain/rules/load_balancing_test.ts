import assert from "node:assert/strict";
import { type Balancing, type Host, hostsTaken } from "./load_balancing.ts";

const USUAL: Balancing = { panicThreshold: 0, overprovisioning: 140, localityWeighted: false };

/** `h` healthy, `d` degraded, `u` unhealthy; a digit starts the hosts of a priority: `0hhu 1h`. */
function hosts(text: string): (Host & { readonly name: string })[] {
  const health = { h: "healthy", d: "degraded", u: "unhealthy" } as const;
  return text.split(" ").flatMap((level) =>
    [...level.slice(1)].map((letter, index) => {
      const kind = letter === "h" || letter === "d" ? letter : "u";
      const name = `${level[0]}${letter}${index}`;
      return { name, health: health[kind], priority: Number(level[0]), locality: "", localityWeight: undefined };
    })
  );
}

/** Hosts, settings, the chosen hosts, the loads, and whether Envoy is in panic mode. */
const CASES: readonly (readonly [string, Partial<Balancing>, string, readonly number[], boolean])[] = [
  ["0hh", {}, "0h0 0h1", [100], false],
  ["0hu", {}, "0h0", [100], false],
  ["0uu", {}, "", [100], false],
  ["0uu", { panicThreshold: 50 }, "0u0 0u1", [100], true],
  ["0huu", { panicThreshold: 50 }, "0h0 0u1 0u2", [100], true],
  ["0hhu", { panicThreshold: 50 }, "0h0 0h1", [100], false],
  ["0hhh 1h", {}, "0h0 0h1 0h2", [100, 0], false],
  ["0uu 1h", {}, "1h0", [0, 100], false],
  ["0huu 1h", {}, "0h0 1h0", [46, 54], false],
  ["0huu 3h", {}, "0h0 3h0", [46, 54], false],
  ["0du", {}, "0d0", [100], false],
  ["0hd", {}, "0h0 0d1", [100], false],
];

for (const [text, balancing, taken, loads, isPanic] of CASES) {
  Deno.test(`hostsTaken: ${text} ${JSON.stringify(balancing)}`, () => {
    const found = hostsTaken(hosts(text), { ...USUAL, ...balancing });
    assert.equal(found.taken.map(({ name }) => name).join(" "), taken);
    assert.deepEqual([...found.loads], loads);
    assert.equal(found.isPanic, isPanic);
  });
}

Deno.test("hostsTaken: without hosts; and localities without a weight get nothing if others have a weight", () => {
  assert.deepEqual(hostsTaken([], USUAL).taken, []);
  const [near, far] = hosts("0hh");
  assert.ok(near !== undefined && far !== undefined);
  const weighted = [{ ...near, localityWeight: 1 }, { ...far, localityWeight: undefined }];
  const { taken } = hostsTaken(weighted, { ...USUAL, localityWeighted: true });
  assert.deepEqual(taken.map(({ name }) => name), ["0h0"]);
});
