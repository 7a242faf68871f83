/** Libraries that few runs need are loaded by `import()`, through `LateLibrary`. */
import assert from "node:assert/strict";
import { filesBelow, read } from "./source.ts";

const LATE = ["diff", "re2js", "bcryptjs", "@noble/curves/nist.js"];

for (const library of LATE) {
  Deno.test(`${library} is loaded by one import() and imported for types elsewhere`, () => {
    const sources = filesBelow("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));
    const eager = new RegExp(`^(?:import|export)\\s(?!type\\b|const\\b)[^;]*?"${library}"`, "m");
    assert.deepEqual(sources.filter((path) => eager.test(read(path))), []);
    assert.equal(sources.filter((path) => read(path).includes(`import("${library}")`)).length, 1);
  });
}
