import { strictEqual } from "node:assert/strict";
import { withoutUnused } from "./scripts.ts";

const LIBRARY = `// npm/js-yaml/5.5.0/dist/js-yaml.mjs
/** Names UNUSED. */
var PART = [
  "a"
];
var UNUSED = new RegExp(\`^\${PART}$\`, "u");
var OURS$1 = {
  a: 1
};
function read() {
  return INNER;
}
var INNER = make({
  b: 2
});
`;

Deno.test("withoutUnused() leaves out values of js-yaml that nothing uses, and keeps all others", () => {
  const own = "// src/a.ts\nvar UNUSED2 = effect();\nuse(OURS$1);\n";
  const [used = ""] = /var OURS[^]*/.exec(LIBRARY) ?? [];
  strictEqual(withoutUnused(LIBRARY + own), `// npm/js-yaml/5.5.0/dist/js-yaml.mjs\n${used}${own}`);
  strictEqual(withoutUnused(own), own);
});
