import assert from "node:assert/strict";
import { editDocument } from "./edit.ts";
import { parseDocument, parseYaml } from "../read/parse.ts";
import { sameValue } from "../../base/values/mod.ts";

/** A name, the text before, the new value as YAML, and the text after the edit. */
type Case = readonly [name: string, before: string, next: string, after: string];

const CASES: readonly Case[] = [
  ["the text ends without a line break, and has other ones", "a:\n [\r\n]", "{a: [x]}", "a:\r\n- x"],
  ["a line break of \\r alone", "a:\n-\rc: []", "{a: [x], c: [1]}", "a:\n- x\nc:\n- 1"],
  [
    "a line of spaces is no part of a literal before it",
    "a: \nb: z\n     ",
    '{a: null, b: z, c: "x\\ny\\n"}',
    "a: null\nb: z\nc: |\n  x\n  y\n",
  ],
  ["a scalar keeps its comment", "image: a # why\nb: 1\n", "{image: b, b: 1}", "image: b # why\nb: 1\n"],
  ["a scalar keeps its quotes", "a: 'x'\nb: \"y\"\n", "{a: it's, b: z}", "a: 'it''s'\nb: \"z\"\n"],
  [
    "a new key goes to the end of its map",
    "a:\n  b: 1\nc: 2\n",
    "{a: {b: 1, d: 3}, c: 2}",
    "a:\n  b: 1\n  d: 3\nc: 2\n",
  ],
  [
    "a new key goes behind the map's last comment",
    "a:\n  b: 1\n  # x: 1\nc: 2\n",
    "{a: {b: 1, d: 3}, c: 2}",
    "a:\n  b: 1\n  # x: 1\n  d: 3\nc: 2\n",
  ],
  ["a removed key takes its comments along", "a: 1\n# of b\nb: 2 # two\nc: 3\n", "{a: 1, c: 3}", "a: 1\nc: 3\n"],
  ["the comment at the head of the file stays", "# licence\na: 1\nb: 2\n", "{b: 2}", "# licence\nb: 2\n"],
  ["blank lines stay", "a: 1\n\nb: 2\n\n\nc: 3\n", "{a: 1, b: 5, c: 3}", "a: 1\n\nb: 5\n\n\nc: 3\n"],
  ["a key without value gets a map", "labels:\nb: 1\n", "{labels: {x: 'y'}, b: 1}", 'labels:\n  x: "y"\nb: 1\n'],
  [
    "a key without value keeps its comment",
    "labels: # none\nb: 1\n",
    "{labels: {x: z}, b: 1}",
    "labels: # none\n  x: z\nb: 1\n",
  ],
  ["a key without value gets a scalar", "a:   # none\nb:\n", "{a: 1, b: null}", "a: 1   # none\nb:\n"],
  [
    "an empty flow map becomes a block",
    "annotations: {} # none\nb: 1\n",
    "{annotations: {x: z}, b: 1}",
    "annotations: # none\n  x: z\nb: 1\n",
  ],
  ["an empty flow list becomes a block", "a: []\n", "{a: [1, {b: 2, c: 3}]}", "a:\n- 1\n- b: 2\n  c: 3\n"],
  ["a map that lost its keys is {}", "a:\n  b: 1\nc: 2\n", "{a: {}, c: 2}", "a: {}\nc: 2\n"],
  ["a list that lost its items is []", "a: # all\n- b\n- c\nc: 2\n", "{a: [], c: 2}", "a: [] # all\nc: 2\n"],
  ["a missing parent is made", "a: 1\n", "{a: 1, b: {c: {d: [x]}}}", "a: 1\nb:\n  c:\n    d:\n    - x\n"],
  [
    "lists that are indented stay so",
    "a:\n  - x\nb: {}\n",
    "{a: [x, z], b: {c: [1]}}",
    "a:\n  - x\n  - z\nb:\n  c:\n    - 1\n",
  ],
  [
    "four spaces stay four",
    "a:\n    b:\n        c: 1\n",
    "{a: {b: {c: 1}, d: {e: 2}}}",
    "a:\n    b:\n        c: 1\n    d:\n        e: 2\n",
  ],
  [
    "an item is found by its name",
    "c:\n- name: a\n  image: x\n# second\n- name: b\n  image: y\n",
    "{c: [{name: b, image: z}]}",
    "c:\n# second\n- name: b\n  image: z\n",
  ],
  [
    "an item goes to the front, before the first one's comment",
    "c:\n# main\n- name: a\n",
    "{c: [{name: p}, {name: a}]}",
    "c:\n- name: p\n# main\n- name: a\n",
  ],
  [
    "an item goes between two",
    "c:\n- name: a\n# of b\n- name: b\n",
    "{c: [{name: a}, {name: x, v: 1}, {name: b}]}",
    "c:\n- name: a\n- name: x\n  v: 1\n# of b\n- name: b\n",
  ],
  [
    "an item goes to the end, before the next key's comment",
    "c:\n- name: a\n# of d\nd: 1\n",
    "{c: [{name: a}, {name: b}], d: 1}",
    "c:\n- name: a\n- name: b\n# of d\nd: 1\n",
  ],
  [
    "mounts are distinguished by path",
    "m:\n- name: v\n  mountPath: /a # one\n- name: v\n  mountPath: /b\n",
    "{m: [{name: v, mountPath: /b}, {name: w, mountPath: /c}]}",
    "m:\n- name: v\n  mountPath: /b\n- name: w\n  mountPath: /c\n",
  ],
  [
    "an item that moves takes its comments along",
    "c:\n- name: a # A\n- name: b # B\n",
    "{c: [{name: b}, {name: a}]}",
    "c:\n- name: b # B\n- name: a # A\n",
  ],
  [
    "scalars in a list are edited in place",
    "args: # what\n- a # first\n- b # second\n",
    "{args: [a, c, d]}",
    "args: # what\n- a # first\n- c # second\n- d\n",
  ],
  ["the first key of an item can go", "c:\n- name: a # A\n  image: x\n", "{c: [{image: x}]}", "c:\n- image: x\n"],
  ["lists in lists", "a:\n- - 1\n  - 2\n", "{a: [[0, 1, 2], [3]]}", "a:\n- - 0\n  - 1\n  - 2\n- - 3\n"],
  [
    "a dash on a line of its own",
    "a:\n-\n  b: 1\n- # x\n  c: 2\n",
    "{a: [{b: 1, d: 1}, {c: 3}]}",
    "a:\n-\n  b: 1\n  d: 1\n- # x\n  c: 3\n",
  ],
  [
    "a literal block is replaced by its lines",
    "a: |- # s\n  one\n  two\n\nb: 1\n",
    '{a: "one\\nthree\\n", b: 1}',
    "a: | # s\n  one\n  three\n\nb: 1\n",
  ],
  ["a literal block becomes a word", "a: |2-\n   x\nb: 1\n", "{a: x, b: 1}", "a: x\nb: 1\n"],
  ["a word becomes a literal block", "a: x # c\nb: 1\n", '{a: "x\\n y", b: 1}', "a: |- # c\n  x\n   y\nb: 1\n"],
  [
    "a key after a literal block",
    "a:\n  s: |\n    x\n\nb: 1\n",
    '{a: {s: "x\\n", t: 1}, b: 1}',
    "a:\n  s: |\n    x\n  t: 1\n\nb: 1\n",
  ],
  [
    "a key after a block that keeps its line breaks",
    "a:\n  s: |+\n    x\n\nb: 1\n",
    '{a: {s: "x\\n\\n", t: 1}, b: 1}',
    "a:\n  s: |+\n    x\n\n  t: 1\nb: 1\n",
  ],
  ["text over several lines", 'a: one\n  two\nb: "x\n  z" # c\n', "{a: one two, b: q}", 'a: one\n  two\nb: "q" # c\n'],
  ["a block becomes a scalar", "a: # c\n  b: 1\n  c: 2\nd: 3\n", "{a: 5, d: 3}", "a: 5 # c\nd: 3\n"],
  ["a map becomes a list", "a:\n  b: 1\nd: 3\n", "{a: [1], d: 3}", "a:\n- 1\nd: 3\n"],
  ["flow maps stay flow maps", "l: {a: b, c: d} # x\n", "{l: {a: e, c: d, f: g}}", "l: {a: e, c: d, f: g} # x\n"],
  ["keys go from flow maps", "l: {a: b, c: d, e: f}\n", "{l: {c: d}}", "l: {c: d}\n"],
  ["flow lists stay flow lists", "l: [a, b]\n", "{l: [x, b, 'y, z']}", "l: [x, b, 'y, z']\n"],
  ["flags of programs need no quotes", "l: [a]\n", "{l: [a, '--level=a:b', '-b']}", "l: [a, --level=a:b, '-b']\n"],
  ["an item goes into a flow list", "l: [b, c]\n", "{l: [a, b, c]}", "l: [a, b, c]\n"],
  [
    "compact JSON stays compact",
    '{"a":1,"b":{"c":[]}}\n',
    "{a: 2, b: {c: [x, {d: 1}]}, e: 'yes'}",
    '{"a":2,"b":{"c":["x",{"d":1}]},"e":"yes"}\n',
  ],
  [
    "pretty JSON keeps its indentation",
    '{\n  "a": 1,\n  "b": {\n    "c": "d"\n  }\n}\n',
    "{a: 1, b: {c: d, e: {f: [1]}}, g: {}}",
    '{\n  "a": 1,\n  "b": {\n    "c": "d",\n    "e": {\n      "f": [\n        1\n      ]\n    }\n  },\n  "g": {}\n}\n',
  ],
  ["JSON keys can go", '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}', "{b: 2}", '{\n  "b": 2\n}'],
  [
    "Windows line ends stay",
    "a: 1\r\nb:\r\n- x\r\n",
    "{a: 1, b: [x, z], c: {d: 1}}",
    "a: 1\r\nb:\r\n- x\r\n- z\r\nc:\r\n  d: 1\r\n",
  ],
  ["no line end at the end stays so", "a: 1\nb: 2", "{a: 1, b: 2, c: 3}", "a: 1\nb: 2\nc: 3"],
  ["the end of the document stays last", "a: 1\n...\n", "{a: 1, b: 2}", "a: 1\nb: 2\n...\n"],
  ["directives stay first", "%YAML 1.1\n---\na: 1\n", "{a: 2, b: 1}", "%YAML 1.1\n---\na: 2\nb: 1\n"],
  ["a byte order mark stays first", "\uFEFFa: 1\nb: 2\n", "{a: 1, c: 3}", "\uFEFFa: 1\nc: 3\n"],
  ["a document of comments gets content", "# nothing\n", "{a: 1}", "# nothing\na: 1\n"],
  [
    "an alias is written out where it changes",
    "a: &x\n  k: 1\nb: *x\n",
    "{a: {k: 1}, b: {k: 2}}",
    "a: &x\n  k: 1\nb:\n  k: 2\n",
  ],
  [
    "an anchored node changes, its aliases do not",
    "a: &x\n  k: 1 # c\nb: *x\n",
    "{a: {k: 2}, b: {k: 1}}",
    "a: &x\n  k: 2 # c\nb:\n  k: 1\n",
  ],
  ["an anchored node goes, its aliases do not", "a: &x [1]\nb: *x\nc: *x\n", "{b: [1], c: [1]}", "b:\n- 1\nc:\n- 1\n"],
  [
    "a merged key is overridden",
    "d: &d {a: 1, b: 2}\ne:\n  <<: *d # all\n  c: 3\n",
    "{d: {a: 1, b: 2}, e: {a: 5, b: 2, c: 3}}",
    "d: &d {a: 1, b: 2}\ne:\n  <<: *d # all\n  c: 3\n  a: 5\n",
  ],
  [
    "a merged key is removed",
    "d: &d {a: 1, b: 2}\ne:\n  <<: *d\n  c: 3\n",
    "{d: {a: 1, b: 2}, e: {b: 2, c: 3}}",
    "d: &d {a: 1, b: 2}\ne:\n  b: 2\n  c: 3\n",
  ],
  [
    "a merged map changes, what merges it does not",
    "d: &d {a: 1}\ne:\n  <<: *d\n  c: 3\n",
    "{d: {a: 2}, e: {a: 1, c: 3}}",
    "d: &d {a: 2}\ne:\n  a: 1\n  c: 3\n",
  ],
  ["keys with a question mark", "? a\n: 1\nb: 2\n", "{a: 1, b: 3}", "a: 1\nb: 3\n"],
  ["a doubled key: the last one is edited", "a: 1\na: 2\n", "{a: 3}", "a: 1\na: 3\n"],
  ["YAML 1.1 keys", "on: 1\n8080: x\n", "{'true': 2, '8080': x}", "on: 2\n8080: x\n"],
  [
    "values that look like something else",
    "a: x\n",
    "{a: 'on', b: '012', c: 1e3, d: ''}",
    'a: "on"\nb: "012"\nc: 1000\nd: ""\n',
  ],
  ["text with blank lines at its end", "a: x\n\nb: 1\n", '{a: "x\\n\\n", b: 1}', 'a: "x\\n\\n"\n\nb: 1\n'],
];

Deno.test("editDocument(): the text of 80,000 lines that end in \\r alone does not grow", () => {
  const keys = Array.from({ length: 80_000 }, (_, index) => `  k${index}: v\r`).join("");
  const parsed = parseDocument({ text: `a:\r${keys}b: 1\r` });
  const value = parseYaml(parsed.doc.text.replaceAll("\r", "\n").replace("b: 1", "b: {c: 1}"));
  assert.equal(editDocument(parsed, value), `a:\n${keys.replaceAll("\r", "\n")}b:\n  c: 1\n`);
});

for (const [name, before, next, after] of CASES) {
  Deno.test(`editDocument(): ${name}`, () => {
    const parsed = parseDocument({ text: before });
    const value = parseYaml(next);
    const edited = editDocument(parsed, value);
    assert.equal(edited, after);
    assert.ok(sameValue(parseDocument({ text: edited }).value, value));
    assert.equal(editDocument(parseDocument({ text: edited }), value), edited);
  });
}
