import assert from "node:assert/strict";
import { parseYaml } from "../../../yaml/mod.ts";
import { formOf, isName, namesNode, tokenOf } from "./holes.ts";

Deno.test("isName: what YAML reads as a string without quotes, up to 63 characters", () => {
  for (const name of ["a", "shop", "shop-1", "v1", "x".repeat(63), "yes1"]) {
    assert.ok(isName(name));
    assert.equal(parseYaml(name), name);
  }
  for (
    const other of [
      "",
      "y",
      "no",
      "true",
      "null",
      "1",
      "1e3",
      "A",
      "a.b",
      "a-",
      "-a",
      "a b",
      "x".repeat(64),
      1,
      undefined,
    ]
  ) {
    assert.ok(!isName(other), String(other));
  }
});

Deno.test("formOf: the value for other names; what has no hole is shared", () => {
  const [first, second] = [tokenOf(0), tokenOf(1)];
  const kept = { deep: [1] };
  const form = formOf({ kept, name: first, list: [{ value: `x/${first}/${second}` }, "other"] });
  assert.ok(form !== undefined);
  const value = form(["web", "v1"]);
  assert.deepEqual(JSON.parse(JSON.stringify(value)), { kept, name: "web", list: [{ value: "x/web/v1" }, "other"] });
  assert.equal(Reflect.get(Object(value), "kept"), kept);
  assert.equal(formOf(kept)?.(["web"]), kept);
});

Deno.test("formOf: none where another name could be a number, a keyword or another key", () => {
  const token = tokenOf(0);
  for (const value of [{ [token]: 1 }, `1e${token}`, `n${token}`, `${token}${tokenOf(1)}`, [{ a: `.${token}` }]]) {
    assert.equal(formOf(value), undefined);
  }
  assert.ok(namesNode(`a: &${token} 1`) && namesNode(`a: !x-${token} 1`) && !namesNode(`a: "${token}"`));
});
