import assert from "node:assert/strict";
import type { Pod } from "../../inject/mod.ts";
import { askConditions, type Holding } from "./match_conditions.ts";

const LABELLED: Pod = { metadata: { name: "web", labels: { app: "web" }, annotations: {} } };
const BARE: Pod = { metadata: { generateName: "web-", labels: {} } };

function ask(expression: string, pod: Pod = LABELLED, isMade = false): readonly [Holding, string] {
  const [answer] = askConditions([{ name: "c", expression }], { pod, namespace: "shop", isMade });
  assert(answer !== undefined);
  return [answer.holding, answer.why];
}

const CASES: readonly (readonly [expression: string, labelled: Holding, bare: Holding])[] = [
  ["object.metadata.labels['app'] == 'web'", "holds", "fails"],
  ["has(object.metadata.labels) && 'app' in object.metadata.labels", "holds", "does-not-hold"],
  ["object.metadata.?labels[?'app'].orValue('') != 'web'", "does-not-hold", "holds"],
  ["!has(object.metadata.annotations)", "holds", "holds"],
  ["has(object.metadata.name)", "holds", "does-not-hold"],
  ["object.metadata.namespace == 'shop' && request.namespace == 'shop'", "holds", "holds"],
  [
    "request.operation == 'CREATE' && request.kind.kind == 'Pod' && request.resource.resource == 'pods'",
    "holds",
    "holds",
  ],
  ["oldObject == null", "holds", "holds"],
  ["['a', 'web'].exists(name, name == object.metadata.?name.orValue(''))", "holds", "does-not-hold"],
];

for (const [expression, labelled, bare] of CASES) {
  Deno.test(`askConditions(): ${expression}`, () => {
    assert.deepEqual([ask(expression)[0], ask(expression, BARE)[0]], [labelled, bare]);
  });
}

Deno.test("askConditions(): defaulted fields and the authorizer are unknown", () => {
  const hidden = [
    ["object.spec.hostNetwork", "object.spec.hostNetwork"],
    ["object.metadata.labels[object.spec.nodeName] == 'a'", "object.spec.nodeName"],
    ["object == null", "object"],
    ["object['spec'] == null", "object"],
    ["object.metadata.uid == ''", "object.metadata.uid"],
    ["request.userInfo.username != 'ada'", "request.userInfo.username"],
    ["[1].all(x, request.userInfo.username != 'ada')", "request.userInfo.username"],
    ["{'a': authorizer}['a'] == null", "authorizer"],
    ["namespaceObject.metadata.name == 'a'", "namespaceObject.metadata.name"],
  ];
  for (const [expression = "", what] of hidden) {
    assert.deepEqual(ask(expression), ["unknown", `it reads ${what}, which is unknown here`], expression);
  }
});

Deno.test("askConditions(): of a controller's pod the name is unknown, the labels are known", () => {
  assert.equal(ask("object.metadata.name == 'web'", LABELLED, true)[0], "unknown");
  assert.equal(ask("object.metadata.labels['app'] == 'web'", LABELLED, true)[0], "holds");
});

Deno.test("askConditions(): invalid expressions and unknown functions are unknown", () => {
  for (const expression of ["1 +", "''", "1", "quantity('1') == quantity('1')", "object.metadata.labels['app'] > 1"]) {
    const [holding, why] = ask(expression);
    assert.equal(holding, "unknown", expression);
    assert.notEqual(why, "");
  }
});
