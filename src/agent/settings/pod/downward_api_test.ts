import assert from "node:assert/strict";
import { parseDownwardApi } from "./downward_api.ts";

function parsed(text: string) {
  const map = parseDownwardApi(text);
  assert.ok(typeof map !== "string", String(map));
  return Object.fromEntries(map);
}

Deno.test("parseDownwardApi: keys and Go's quoted values", () => {
  assert.deepEqual(parsed('app="web"\nversion="v1=2"\n'), { app: "web", version: "v1=2" });
  assert.deepEqual(parsed('a="\\"q\\" \\n\\t\\\\ \\x41\\101\\u00e9\\U0001f600 é"\n'), {
    a: '"q" \n\t\\ AA\u00e9\u{1f600} é',
  });
  assert.deepEqual(parsed("a=`raw \\n`"), { a: "raw \\n" });
  assert.deepEqual(parsed('a="\\xc3\\xa9"'), { a: "é" });
});

Deno.test("parseDownwardApi: lines without = are ignored; an empty file is valid", () => {
  assert.deepEqual(parsed('nothing\n\na="1"'), { a: "1" });
  assert.deepEqual(parsed(""), {});
});

Deno.test("parseDownwardApi: a value that is not quoted invalidates the file", () => {
  for (const bad of ["web", '"', '"a', 'a"', '"a"b"', '"\\q"', '"\\ud800"', '"\\400"', '"\\U00110000"', ""]) {
    assert.equal(parseDownwardApi(`ok="1"\napp=${bad}`), 'the value of "app" is not a quoted string', bad);
  }
});
