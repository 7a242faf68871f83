import { deepStrictEqual } from "node:assert/strict";
import { start } from "./loader.ts";
import { packFile, writePack } from "./pack.ts";
import { toScripts } from "./scripts.ts";

const MODULES = {
  "a.js": "let count = 0;\nfunction add() { count++; }\nexport {\n  add as add,\n  count\n};\n",
  "b.js": 'import { count } from "./a.js";\n// src/wait/run.ts\nconst late = count;\nexport {\n  late\n};\n',
  "main.js": 'import { add, count } from "./a.js";\nimport { sep } from "node:path";\nadd();\n' +
    "const strict = (function () { return this === undefined; })();\n" +
    'globalThis.late.resolve(import("./b.js").then(({ late }) => ({ count, late, sep, strict })));\n',
};

// A program keeps its pack open until it ends.
Deno.test("the modules of a bundle run from a pack: exports stay live, import() is late, code is strict", {
  sanitizeResources: false,
}, async () => {
  const folder = await Deno.makeTempDir();
  const startOf = async (pack: string) => {
    const late = Promise.withResolvers<unknown>();
    Object.assign(globalThis, { late });
    const loaded = start(packFile(pack));
    deepStrictEqual(await late.promise, { count: 1, late: 1, sep: "/", strict: true });
    return loaded;
  };
  try {
    for (const [name, text] of Object.entries(MODULES)) await Deno.writeTextFile(`${folder}/${name}`, text);
    const scripts = await toScripts(folder);
    await writePack(`${folder}/pack`, scripts);
    const loaded = await startOf(`${folder}/pack`);
    deepStrictEqual(loaded.map(({ name }) => name), ["start.js", "b.js"]);
    const cached = loaded.map(({ name, script }) => ({ name, cache: new Uint8Array(script.createCachedData()) }));
    const sources = new Map(scripts.map(({ name, source }) => [name, source]));
    await writePack(`${folder}/cached`, cached.map((each) => ({ ...each, source: sources.get(each.name) ?? "" })));
    const fromCache = await startOf(`${folder}/cached`);
    deepStrictEqual(fromCache.map(({ script }) => script.cachedDataRejected), [false, false]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
