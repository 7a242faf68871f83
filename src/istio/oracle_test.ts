import assert from "node:assert/strict";
import { goJson } from "../golang/go_json.ts";
import { parseBool } from "../golang/go_bool.ts";
import { parseCidr, parsePort, parseUint } from "../golang/net/mod.ts";
import { defaultProxyConfig } from "./config.ts";
import { defaultsOf } from "./read/defaults.ts";
import { mergeProxyConfig } from "./read/merge.ts";
import { parseMeshConfig, parseProxyConfig, proxyConfigProblems } from "./read/parse.ts";
import { MESH_CONFIG } from "./schema/schema.ts";
import { encodeMessage } from "./write/encode.ts";
import { protoToJson, proxyConfigJson } from "./write/proto_json.ts";

interface Answer {
  readonly kind: string;
  readonly text: string;
  readonly json?: string;
  readonly clean?: string;
  readonly error?: string;
}

const path = new URL("testdata/oracle.jsonl", import.meta.url);
const answers: Answer[] = Deno.readTextFileSync(path).trim().split("\n").map((line) => JSON.parse(line));

/** Returns this program's texts for a question, to compare with the oracle's; `undefined` if the question is rejected. */
const REPLIES: Readonly<Record<string, (text: string) => readonly (string | undefined)[] | undefined>> = {
  mesh: (text) => {
    const mesh = parseMeshConfig(text);
    return [goJson(encodeMessage(mesh.data, MESH_CONFIG, mesh.era)), protoToJson(defaultProxyConfig(mesh))];
  },
  proxy: (text) => {
    if (proxyConfigProblems(text, "current").length > 0) return undefined;
    const proxy = mergeProxyConfig(defaultProxyConfig(defaultsOf("current")), parseProxyConfig(text));
    return [proxyConfigJson(proxy), protoToJson(proxy)];
  },
  merge: (text) => {
    const overlays = text.split("\n---\n").map((part) => parseProxyConfig(part));
    const proxy = overlays.reduce(mergeProxyConfig, defaultProxyConfig(defaultsOf("current")));
    return [proxyConfigJson(proxy), protoToJson(proxy)];
  },
  prefix: (text) => typeof parseCidr(text) === "string" ? undefined : [],
  uint16: (text) => read(parseUint(text, 16)),
  uint32: (text) => read(parseUint(text, 32)),
  bool: (text) => read(parseBool(text) ?? "neither"),
};

function read(value: number | boolean | string): readonly string[] | undefined {
  return typeof value === "string" ? undefined : [String(value)];
}

function reply(answer: Answer): readonly (string | undefined)[] | undefined {
  try {
    return REPLIES[answer.kind]?.(answer.text);
  } catch (error) {
    assert.equal(error instanceof Error && error.name === "MeshError", true, `${answer.text}: ${error}`);
    return undefined;
  }
}

for (const kind of Object.keys(REPLIES)) {
  const asked = answers.filter((answer) => answer.kind === kind);
  Deno.test(`${kind}: ${asked.length} texts are accepted or rejected as Istio and Go do`, () => {
    const wrong = asked.flatMap((answer) => {
      const expected = answer.error === undefined ? [answer.json, answer.clean] : undefined;
      const actual = reply(answer);
      const isSame = expected === undefined || actual === undefined
        ? expected === actual
        : actual.every((text, index) => text === expected[index]);
      return isSame ? [] : [{ text: answer.text, actual, expected, error: answer.error }];
    });
    assert.deepEqual(wrong, []);
  });
}

Deno.test("parsePort ignores spaces around a port", () => {
  assert.equal(parsePort(" 80\t"), 80);
});
