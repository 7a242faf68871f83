import assert from "node:assert/strict";
import { type Flag, TIMER } from "./flag.ts";
import { readValue } from "./read_value.ts";

const flag = (rest: Omit<Flag, "doc">): Flag => ({ doc: "", ...rest });
const TIME = flag(TIMER);
const NUMBER = flag({ type: "integer" });
const CHOICE = flag({ type: "choice", allowed: ["a", "b", "c"] });

const RIGHT: readonly (readonly [Flag, string, unknown])[] = [
  [TIME, "1m30s", 90_000],
  [TIME, "500ms", 500],
  [TIME, "0", 0],
  [TIME, "1.5ms", 1.5],
  [{ ...TIME, unit: 1000 }, "10", 10_000],
  [{ ...TIME, unit: 1000 }, "10ms", 10],
  [NUMBER, "+42", 42],
  [CHOICE, "b", "b"],
  [flag({ type: "url" }), "https://[::1]:1/x?y", "https://[::1]:1/x?y"],
  [flag({ type: "duration" }), "8760h", 8760 * 3600 * 1000],
  [flag({ type: "port", least: 0 }), "0", 0],
  [flag({ type: "ratio" }), ".5", 0.5],
  ...["", "shop-1", "1-20"].map((text) => [flag({ type: "name" }), text, text] as const),
  ...["", "1.20.8", "latest", "master_2-x", `1.20@sha256:${"a1".repeat(32)}`].map((text) =>
    [flag({ type: "tag" }), text, text] as const
  ),
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [flag({ type: "boolean" }), text, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((text) => [flag({ type: "boolean" }), text, false] as const),
];

const WRONG: readonly (readonly [Flag, string, RegExp])[] = [
  [TIME, "60", /^a unit is missing: use a duration such as "1m30s"/],
  [TIME, "-1s", /^it must be from 0ms to 2147483647ms/],
  [{ ...TIME, least: 1 }, "0", /^it must be from 1ms/],
  [TIME, "999h", /^it must be from 0ms to 2147483647ms/],
  [flag({ type: "duration" }), "-1s", /^it must be at least 0ms: /],
  [NUMBER, "1.5", /^it must be a whole number from 0 to 4294967295$/],
  [NUMBER, "", /^it must be a whole number/],
  [NUMBER, "0x10", /^it must be a whole number/],
  [{ ...NUMBER, least: 6, most: 7 }, "5", /^it must be a whole number from 6 to 7$/],
  [flag({ type: "port" }), "65536", /^it must be a whole number from 1 to 65535$/],
  [CHOICE, "x", /^it must be "a", "b" or "c"$/],
  [flag({ type: "url" }), "localhost:15021", /^it must be a URL such as "http:/],
  [flag({ type: "url" }), "/healthz", /^it must be a URL such as "http:/],
  [flag({ type: "ratio" }), "1.1", /^it must be a number from 0 to 1$/],
  ...["Shop_1", "-a", "a.b", "x".repeat(64)].map((text) => [flag({ type: "name" }), text, /^use up to 63/] as const),
  ...["a b", "-a", "a:b", "a@b", "a".repeat(129)].map((text) =>
    [flag({ type: "tag" }), text, /^use up to 128/] as const
  ),
  // Go's strconv.ParseBool knows no other capitals.
  ...["tRUE", "yes", "fALSE", "TrUe", ""].map((text) =>
    [flag({ type: "boolean" }), text, /^it must be "true" or/] as const
  ),
];

for (const [each, text, value] of RIGHT) {
  Deno.test(`readValue() reads "${text}" as ${each.type}`, () => assert.deepEqual(readValue(each, text), { value }));
}

for (const [each, text, reason] of WRONG) {
  Deno.test(`readValue() refuses "${text}" as ${each.type}`, () =>
    assert.match(readValue(each, text).reason ?? "", reason));
}
