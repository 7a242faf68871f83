/** Our own manifests show everything that the public manifests of `../shared` show. */
import assert from "node:assert/strict";
import { isMap } from "../../src/base/value.ts";
import { parseDocument, splitText } from "../../src/yaml/mod.ts";
import { manifestFiles, OWN_MANIFESTS } from "../support/cases/manifests.ts";
import { testShared } from "../support/test_when.ts";

/** What texts of manifests have, and how it looks. */
const FEATURES: Readonly<Record<string, RegExp>> = {
  "a comment on a line of its own": /^\s*#/m,
  "a comment beside a value": /^\s*\w+: +\w+ +#/m,
  "a comment that Helm writes": /^# Source: /m,
  "a literal text": /: \|\n/,
  "a literal text without its last line end": /: \|-\n/,
  "a folded text": /: >-?\n/,
  "a list in brackets": /: \[/,
  "a map in braces": /: ?\{ ?\w/,
  "an empty map": /\{\}/,
  "a list as deep as its key": /^( *)\w+:\n\1- /m,
  "a list deeper than its key": /^( *)\w+:\n\1 +- /m,
  "a line of more than 120 characters": /^.{121}/m,
  "a text in single quotes": /: '/,
  "a text in double quotes": /: "/,
  "a digest of an image": /@sha256:/,
  "an empty line": /\n\n/,
  "init containers": /^ *initContainers:/m,
  "the host's network": /hostNetwork: true/,
  "claims of volumes": /volumeClaimTemplates:/,
  "a probe with a port's name": /port: [a-z"]/,
  "an annotation of Prometheus": /prometheus\.io\/scrape/,
  "a label that opts out": /sidecar\.istio\.io\/inject: "?false/,
};

function shownBy(texts: readonly string[]): readonly string[] {
  const features = Object.entries(FEATURES).filter(([, shows]) => texts.some((text) => shows.test(text)));
  const kinds = texts.flatMap((text) => splitText(text, "").map((doc) => parseDocument(doc).value)).map((value) =>
    isMap(value) ? `the kind ${value["kind"]}` : "an empty document"
  );
  return [...features.map(([name]) => name), ...new Set(kinds)];
}

const own = new Set(shownBy(manifestFiles([OWN_MANIFESTS]).map((path) => Deno.readTextFileSync(path))));

Deno.test("our own manifests show every feature", () => {
  assert.deepEqual(Object.keys(FEATURES).filter((name) => !own.has(name)), []);
});

testShared("cases/manifests", "our own manifests show what public ones show", (folder) => {
  const shared = shownBy(manifestFiles([folder]).map((path) => Deno.readTextFileSync(path)));
  assert.ok(shared.length > 30);
  assert.deepEqual(shared.filter((name) => !own.has(name)), []);
});
