import assert from "node:assert/strict";
import { canonical } from "./canonical.ts";

/** A bundle as the bundler writes it: `cache` is Deno's folder, `hash` what it makes of it. */
function bundle(cache: string, hash: (name: string) => string): Map<string, string> {
  const [a, b, c] = ["mod", "mod", "chunk"].map((stem, at) => `${stem}-${hash(`${stem}${at}`)}.js`);
  return new Map([
    ["main.js", `// src/main.ts\nimport("./${a}");\nimport("./${b}");\nconst text = "./other.js";\n`],
    [a ?? "", `import {\n  x\n} from "./${c}";\n// ${cache}/npm/registry.test/p/1.0.0/p.js\nx();\n`],
    [b ?? "", `import { x } from "./${c}";\nx("/npm/kept/");\n`],
    [c ?? "", `var p = __commonJS({\n  "${cache}/npm/registry.test/p/1.0.0/p.js"(exports) {\n  }\n});\n`],
  ]);
}

Deno.test("a bundle has the same names and texts wherever Deno's cache is", () => {
  const one = canonical(bundle("../../cache", (name) => `AAA${name}`));
  const other = canonical(bundle(".cache of me/deno-dir", (name) => `Z${name.length}${name.at(-1)}`));
  assert.deepEqual([...one], [...other]);
  assert.deepEqual([...one.keys()], ["main.js", "mod-1.js", "mod-2.js", "chunk-3.js"]);
  assert.equal(
    one.get("main.js"),
    '// src/main.ts\nimport("./mod-1.js");\nimport("./mod-2.js");\nconst text = "./other.js";\n',
  );
  assert.match(one.get("chunk-3.js") ?? "", /^ {2}"npm\/p\/1\.0\.0\/p\.js"\(exports\)/m);
  assert.match(one.get("mod-2.js") ?? "", /"\/npm\/kept\/"/);
});

Deno.test("a bundle with a file that nothing imports is refused", () => {
  assert.throws(() => canonical(new Map([["main.js", ""], ["x-1.js", ""]])), /nothing imports: x-1\.js/);
});
