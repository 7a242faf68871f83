import assert from "node:assert/strict";
import type { Pod } from "../../inject/mod.ts";
import { askConditions, type Holding, loadConditions } from "./match_conditions.ts";

await loadConditions();

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

Deno.test("askConditions(): matches() has RE2's syntax, as a method and as a function, in macros and anywhere", () => {
  const app = "object.metadata.labels['app']";
  const cases: readonly (readonly [expression: string, expected: Holding])[] = [
    [`${app}.matches('^w.b$')`, "holds"],
    [`matches(${app}, '^w.b$')`, "holds"],
    [`${app}.matches('(?i)WEB')`, "holds"],
    [`matches(${app}, r'(?i)^W(?P<rest>\\pL+)\\z')`, "holds"],
    [`!${app}.matches('E')`, "holds"],
    [`${app}.matches('x') || ${app}.matches(${app})`, "holds"],
    ["['A', 'b'].exists(x, x.matches('(?i)B'))", "holds"],
    ["['A', 'b'].exists_one(x, x.matches('(?i)B'))", "holds"],
    ["['A', 'b'].all(x, x.matches('(?i)B'))", "does-not-hold"],
    ["['A', 'b'].filter(x, x.matches('(?i)B')) == ['b']", "holds"],
    ["['A', 'b'].map(x, x.matches('(?i)B')) == [false, true]", "holds"],
    ["['A', 'b'].map(x, x.matches('(?i)B'), x + x) == ['bb']", "holds"],
    ["{'a': 'B'.matches('(?i)b')}['a'] ? 'C'.matches('(?i)c') : false", "holds"],
    ["cel.bind(x, 'B', x.matches('(?i)b'))", "holds"],
    ["object.metadata.?labels[?'app'].orValue('').matches('(?i)W')", "holds"],
    [`${app}.matches('(?=w)')`, "unknown"],
    [`${app}.matches(r'(a)\\1')`, "unknown"],
    [`${app}.matches('((a{1000}){1000})')`, "unknown"],
  ];
  for (const [expression, expected] of cases) assert.equal(ask(expression)[0], expected, expression);
});

Deno.test("askConditions(): an invalid pattern of matches() is named", () => {
  assert.deepEqual(ask("'a'.matches('(')"), ["unknown", "error parsing regexp: missing closing ): `(`"]);
});

Deno.test("askConditions(): matches() takes linear time, and one condition takes a limited time", () => {
  const spaces = (count: number): Pod => ({ metadata: { annotations: { a: `${" ".repeat(count)}x` } } });
  // An expression that backtracks would not end.
  for (const pattern of ["\\s+$", "(\\s|\\s\\s)+$"]) {
    assert.deepEqual(ask(`object.metadata.annotations['a'].matches(r'${pattern}')`, spaces(256 * 1024)), [
      "does-not-hold",
      "",
    ]);
  }
  const tooLong = ["unknown", "its regular expressions take too long"];
  assert.deepEqual(
    ask("object.metadata.annotations['a'].matches('(((.?){10}){10}){10}$')", spaces(256 * 1024)),
    tooLong,
  );
  const list = JSON.stringify(Array.from({ length: 999 }, (_, index) => `${index}`));
  const slow = `${list}.all(x, ${list}.all(y, (x + y).matches('^[0-9]{1,900}$')))`;
  assert.deepEqual(ask(slow), tooLong);
});
