/** Fuzzes YAML documents: reads, writes and edits them. */
import { copyValue, sameValue } from "../../../src/base/values/mod.ts";
import { isList, isMap, type Value } from "../../../src/base/value.ts";
import { editDocument, parseDocument, splitDocuments, toYaml } from "../../../src/yaml/mod.ts";
import { type FuzzReader, holds } from "../reader.ts";
import { YAML_WORDS } from "./words.ts";

const SEEDS = [
  "a: 1\nb: [x, 'y', \"z\"]\nc:\n- d: |\n    text\n    more\n  e: >-\n    folded\n    text\n",
  "# head\n%YAML 1.1\n---\na: &x {b: c}\nd: *x\ne:\n  <<: *x\n  f: 1 # tail\n...\n",
  'apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  metadata: {name: p}\n- {kind: Service}\n---\n{"a": [1, 2.5, null]}\n',
  "? k\n: v\n'q': \"e\\u0041\\n\"\nn: 0o17\nt: !!str 1\nu: !!binary aGk=\nblank:\n\n\nlast: ~\n",
  '{"kind": "A"}\n{"kind": "B", "x": [{"y": {}}]}\n',
  "a:\r\n  - b\r\n  - c: [\r\n    d,\r\n    e\r\n  ]\r\n",
];

async function* chunks(input: Uint8Array): AsyncGenerator<Uint8Array> {
  const half = input.length >> 1;
  yield input.subarray(0, half);
  yield input.subarray(half);
}

export const YAML: FuzzReader = {
  name: "yaml",
  seeds: SEEDS,
  words: YAML_WORDS,
  open: () => async (input) => {
    let count = 0;
    for await (const document of splitDocuments(chunks(input), { file: "f.yaml" })) {
      const parsed = parseDocument(document);
      count++;
      // A value that is written and read again must be the same.
      holds(sameValue(read(toYaml(parsed.value)), parsed.value), "toYaml() writes another value");
      const next = changed(parsed.value);
      const edited = editDocument(parsed, next);
      holds(sameValue(read(edited), next), "editDocument() writes another value");
      if (sameValue(parsed.value, next)) holds(edited === document.text, "editDocument() changes text without need");
    }
    return count > 0;
  },
};

function read(text: string): Value {
  return parseDocument({ text }).value;
}

/** Returns a changed copy: in maps, one key is removed and one added; in lists, an item is added. */
function changed(value: Value): Value {
  const copy = copyValue(value);
  if (isList(copy)) copy.splice(copy.length >> 1, 1, "new", ...copy.slice(copy.length >> 1, (copy.length >> 1) + 1));
  if (!isMap(copy)) return copy;
  const [first, second] = Object.keys(copy);
  if (second !== undefined) delete copy[second];
  if (first !== undefined) copy[first] = changed(copy[first] ?? null);
  copy["added"] = { list: [1, "two"], text: "a\nb\n" };
  return copy;
}
