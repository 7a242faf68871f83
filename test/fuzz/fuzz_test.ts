/** A short run of every reader with a fixed seed, and the inputs that once failed. `tools/deno task fuzz` runs longer. */
import assert from "node:assert/strict";
import { fuzz } from "./fuzz.ts";
import { inputOf } from "./mutate.ts";
import { readOne } from "./reader.ts";
import { loadReader, READERS } from "./readers.ts";
import { shrunk } from "./shrink.ts";

const SEED = 20261122;
const RUNS = 250;
const CASES = decodeURIComponent(new URL("cases", import.meta.url).pathname);

for (const name of READERS) {
  Deno.test(`fuzz ${name}: ${RUNS} inputs of seed ${SEED}`, async () => {
    const { defect, accepted } = await fuzz(name, { seed: SEED, runs: RUNS });
    assert.equal(defect, undefined, `index ${defect?.index}: ${defect?.text}\n${defect?.input.toBase64()}`);
    assert.ok(accepted > 0, "no input is accepted: the seeds are wrong");
  });
}

for (const folder of Deno.readDirSync(CASES)) {
  for (const { name } of Deno.readDirSync(`${CASES}/${folder.name}`)) {
    Deno.test(`fuzz ${folder.name}: ${name} does not fail`, async () => {
      const reader = await loadReader(folder.name);
      await readOne(await reader.open(), reader, await Deno.readFile(`${CASES}/${folder.name}/${name}`));
    });
  }
}

Deno.test("inputOf() gives the same input for the same seed and index, and other inputs otherwise", () => {
  const sources = { seeds: ["one two three", "four"], words: ["x"] };
  const inputs = Array.from({ length: 50 }, (_, index) => inputOf(sources, 1, index).toBase64());
  assert.deepEqual(inputs, Array.from({ length: 50 }, (_, index) => inputOf(sources, 1, index).toBase64()));
  assert.ok(new Set(inputs).size > 30);
  assert.notEqual(
    inputs.join(),
    Array.from({ length: 50 }, (_, index) => inputOf(sources, 2, index).toBase64()).join(),
  );
});

Deno.test("shrunk() finds the smallest input that fails", async () => {
  const input = new TextEncoder().encode("a long text with an x in it");
  const small = await shrunk(input, (bytes) => Promise.resolve(new TextDecoder().decode(bytes).includes("x")));
  assert.equal(new TextDecoder().decode(small), "x");
});

Deno.test("readOne() treats only this program's errors as a refusal", async () => {
  const reader = { name: "r", seeds: [], words: [], open: () => () => true };
  const failing = (error: unknown) =>
    readOne(
      () => {
        throw error;
      },
      reader,
      new Uint8Array(),
    );
  await assert.rejects(failing(new TypeError("a defect")), TypeError);
  await assert.rejects(failing(new RangeError("Maximum call stack size exceeded")), RangeError);
});
