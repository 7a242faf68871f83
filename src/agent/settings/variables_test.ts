import assert from "node:assert/strict";
import { type Flag, flagEntries, type FlagType, readValue } from "../../golang/flags/mod.ts";
import { type VariableName, VARIABLES, Variables } from "./variables.ts";

function variables(env: Record<string, string>) {
  const warnings: string[] = [];
  return { read: new Variables({ get: (name) => env[name], all: () => env }, warnings), warnings };
}

const READ: Partial<Record<FlagType, (read: Variables, name: VariableName) => unknown>> = {
  boolean: (read, name) => read.bool(name),
  duration: (read, name) => read.milliseconds(name),
  integer: (read, name) => read.number(name),
  port: (read, name) => read.number(name),
  ratio: (read, name) => read.number(name),
};

Deno.test("a malformed variable gets its default, and causes one warning with its name", () => {
  for (const [name, { env: [env = ""] = [], type }] of flagEntries<VariableName>(VARIABLES)) {
    const get = READ[type];
    if (get === undefined) continue;
    for (const bad of ["maybe", "-1", "99999999999", "1.5", " 1", "\n"]) {
      const { read, warnings } = variables({ [env]: bad });
      const standard = get(variables({}).read, name);
      assert.deepEqual(get(read, name), standard, `${env}=${bad}`);
      assert.deepEqual(get(read, name), standard);
      assert.equal(warnings.length, 1, `${env}=${bad}`);
      assert.ok(warnings[0]?.startsWith(`"${env}" cannot be `), warnings[0]);
    }
  }
});

Deno.test("every default can be read", () => {
  for (const flag of Object.values<Flag>(VARIABLES)) {
    assert.equal(readValue(flag, flag.default ?? "").reason, undefined, flag.env?.[0]);
  }
});

Deno.test("an empty variable counts as unset, without a warning", () => {
  const { read, warnings } = variables({
    ENVOY_STATUS_PORT: "",
    ISTIO_DELTA_XDS: "",
    WORKLOAD_IDENTITY_SOCKET_FILE: "",
  });
  assert.deepEqual([read.number("envoyStatusPort"), read.bool("deltaXds"), read.text("identitySocket")], [
    15021,
    true,
    "socket",
  ]);
  assert.ok(read.isSet("deltaXds") && !read.isGiven("deltaXds"));
  assert.deepEqual(warnings, []);
});

Deno.test("only ports that may be absent can be 0", () => {
  const { read, warnings } = variables({ ENVOY_STATUS_PORT: "0", ENVOY_SECURE_METRICS_PORT: "0" });
  assert.equal(read.number("envoyStatusPort"), 15021);
  assert.equal(read.number("secureMetricsPort"), 0);
  assert.equal(warnings.length, 1);
});

Deno.test("durations are Go's", () => {
  assert.equal(variables({ MINIMUM_DRAIN_DURATION: "1m1.5s" }).read.milliseconds("minimumDrain"), 61_500);
});

Deno.test("a ratio is from 0 to 1", () => {
  for (const [text, ratio] of [["0", 0], ["1", 1], ["0.25", 0.25], [".5", 0.5], ["1.0", 1]] as const) {
    assert.equal(variables({ SECRET_GRACE_PERIOD_RATIO: text }).read.number("gracePeriodRatio"), ratio);
  }
});
