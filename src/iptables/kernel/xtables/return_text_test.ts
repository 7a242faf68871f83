import assert from "node:assert/strict";
import { ownedRules } from "./owned.ts";
import { parseSave } from "./save.ts";
import { returnText } from "./transaction.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };

function held(...rules: readonly string[]) {
  const chains = [...new Set(rules.flatMap((rule) => /^-A (ISTIO_\S+)/.exec(rule)?.[1] ?? []))];
  const tables = parseSave(["*nat", ...chains.map((name) => `:${name} - [0:0]`), ...rules, "COMMIT"].join("\n"), NAMES);
  return { tables, owned: ownedRules(tables) };
}

const JUMP = "-A OUTPUT -j ISTIO_OUTPUT";
const OTHER = "-A OUTPUT -j OTHER";
const RULE = "-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN";

Deno.test("returnText: empty without differences of owned rules", () => {
  assert.equal(returnText(held(OTHER, JUMP, RULE, OTHER), held(JUMP, RULE)), "");
});

Deno.test("returnText: new rules are deleted with their chains", () => {
  assert.equal(
    returnText(held(OTHER, JUMP, RULE), held(OTHER)),
    "*nat\n:ISTIO_OUTPUT - [0:0]\n-D OUTPUT -j ISTIO_OUTPUT\n-X ISTIO_OUTPUT\nCOMMIT\n",
  );
});

Deno.test("returnText: deleted rules return to their position among foreign rules", () => {
  const text = returnText(held(OTHER, OTHER), held(OTHER, JUMP, OTHER, RULE));
  assert.equal(
    text,
    "*nat\n:ISTIO_OUTPUT - [0:0]\n-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN\n-I OUTPUT 2 -j ISTIO_OUTPUT\nCOMMIT\n",
  );
});

Deno.test("returnText: in a chain that has become shorter, a rule is placed at the end", () => {
  assert.match(returnText(held(), held(OTHER, OTHER, JUMP, RULE)), /^-I OUTPUT 1 -j ISTIO_OUTPUT$/m);
});
