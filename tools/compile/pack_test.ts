import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { packFile, readPack, type Script, writePack } from "./pack.ts";

// A program keeps its pack open until it ends.
Deno.test("a pack gives every script and cache as it was, in any order", { sanitizeResources: false }, async () => {
  const scripts: Script[] = [
    { name: "main.js", source: "(() => 'ä €')" },
    { name: "late.js", source: "x".repeat(70_000), cache: Uint8Array.of(0, 255, 10) },
    { name: "empty.js", source: "" },
  ];
  const path = await Deno.makeTempFile();
  try {
    await writePack(path, scripts);
    const { part: partOf, names, read } = readPack(packFile(path));
    deepStrictEqual(names(), scripts.map(({ name }) => name));
    deepStrictEqual([partOf("late"), partOf("n.js")], [undefined, undefined]);
    for (const { name, source, cache = new Uint8Array() } of scripts.toReversed()) {
      const part = partOf(name) ?? { source: 0, cache: 0, end: 0 };
      strictEqual(new TextDecoder().decode(read(part.source, part.cache)), source);
      deepStrictEqual(read(part.cache, part.end), cache);
    }
  } finally {
    await Deno.remove(path);
  }
});
