/** Whatever stands in flags, variables and files, the settings are read or refused with a message. */
import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { MeshError } from "../../base/errors.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { buildBootstrap } from "../bootstrap/bootstrap.ts";
import { FLAGS, ROLES } from "./flags.ts";
import { readSettings } from "./read.ts";
import { VARIABLES } from "./variables.ts";

const FLAG_WORDS = Object.values(FLAGS).map(({ name }) => `--${name}`);
const VARIABLE_NAMES = [
  ...Object.values(VARIABLES).flatMap(({ env }) => env),
  "ISTIO_META_DNS_CAPTURE",
  "ISTIO_METAJSON_X",
];
const ANNOTATIONS = [
  "proxy.istio.io/config",
  "sidecar.istio.io/statsHistogramBuckets",
  "sidecar.istio.io/discoveryAddress",
];

const value = fc.oneof(
  fc.constantFrom("", "0", "true", "{}", "null", "[]", "a: [", '{"a":{"b":[1]}}', "1s", "-1", "::1", "a:1", "[::1]:1"),
  fc.constantFrom("tracing: {zipkin: {}}", "tracing: []", "proxyMetadata: {a: b}", "statsdUdpAddress: a:b:c", "x~y"),
  fc.string({ unit: "binary" }),
);

/** A flag with a value behind `=`, so that most lines can be read. */
const word = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...FLAG_WORDS), value).map(([flag, text]) => `${flag}=${text}`) },
  { weight: 1, arbitrary: fc.constantFrom(...FLAG_WORDS, ...ROLES) },
  { weight: 1, arbitrary: value },
);

/** As the kubelet writes it, or not. */
const file = fc.oneof(
  fc.record({ key: fc.constantFrom(...ANNOTATIONS), text: value })
    .map(({ key, text }) => `${key}=${JSON.stringify(text)}\n`),
  value,
);

const given = fc.record({
  words: fc.array(word, { maxLength: 3 }),
  env: fc.dictionary(fc.constantFrom(...VARIABLE_NAMES), value, { maxKeys: 4 }),
  annotations: file,
  labels: file,
  mesh: value,
});

Deno.test("readSettings reads or rejects any input; valid settings give a JSON bootstrap", () =>
  fc.assert(
    fc.asyncProperty(given, async ({ words, env, annotations, labels, mesh }) => {
      const files = {
        "./etc/istio/pod/annotations": annotations,
        "./etc/istio/pod/labels": labels,
        "./etc/istio/config/mesh": mesh,
      };
      const world = fakeWorld({ env: { ...env }, files });
      try {
        const settings = await readSettings(world, words, { name: "pilot-agent" });
        assert.ok(JSON.parse(JSON.stringify(buildBootstrap(settings))));
      } catch (error) {
        assert.ok(error instanceof MeshError, String(error instanceof Error ? error.stack : error));
        assert.notEqual(error.message, "");
      }
    }),
    { numRuns: 1500 },
  ));
