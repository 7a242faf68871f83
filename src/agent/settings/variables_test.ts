import assert from "node:assert/strict";
import { type VariableName, VARIABLES, Variables } from "./variables.ts";

function variables(env: Record<string, string>) {
  const warnings: string[] = [];
  return { read: new Variables({ get: (name) => env[name], all: () => env }, warnings), warnings };
}

const READ = {
  text: (read: Variables, name: VariableName) => read.text(name),
  bool: (read: Variables, name: VariableName) => read.bool(name),
  int: (read: Variables, name: VariableName) => read.int(name),
  port: (read: Variables, name: VariableName) => read.port(name),
  duration: (read: Variables, name: VariableName) => read.milliseconds(name),
  ratio: (read: Variables, name: VariableName) => read.ratio(name),
};

function isName(name: string): name is VariableName {
  return Object.hasOwn(VARIABLES, name);
}

Deno.test("every variable that is malformed gives its default and one warning that names it", () => {
  for (const name of Object.keys(VARIABLES).filter(isName)) {
    const { env, kind } = VARIABLES[name];
    if (kind === "text") continue;
    for (const bad of ["maybe", "-1", "99999999999", "1.5", " 1", "\n"]) {
      const { read, warnings } = variables({ [env]: bad });
      const standard: unknown = READ[kind](variables({}).read, name);
      assert.deepEqual(READ[kind](read, name), standard, `${env}=${bad}`);
      assert.deepEqual(READ[kind](read, name), standard);
      assert.equal(warnings.length, 1, `${env}=${bad}`);
      assert.ok(warnings[0]?.startsWith(`"${env}" is ignored`), warnings[0]);
    }
  }
});

Deno.test("a variable set to nothing is one that is not set, without a warning", () => {
  const { read, warnings } = variables({
    ENVOY_STATUS_PORT: "",
    ISTIO_DELTA_XDS: "",
    WORKLOAD_IDENTITY_SOCKET_FILE: "",
  });
  assert.deepEqual([read.port("envoyStatusPort"), read.bool("deltaXds"), read.text("identitySocket")], [
    15021,
    true,
    "socket",
  ]);
  assert.ok(read.isSet("deltaXds") && !read.isGiven("deltaXds"));
  assert.deepEqual(warnings, []);
});

Deno.test("only ports that may be absent can be 0", () => {
  const { read, warnings } = variables({ ENVOY_STATUS_PORT: "0", ENVOY_SECURE_METRICS_PORT: "0" });
  assert.equal(read.port("envoyStatusPort"), 15021);
  assert.equal(read.port("secureMetricsPort"), 0);
  assert.equal(warnings.length, 1);
});

Deno.test("durations are Go's", () => {
  assert.equal(variables({ MINIMUM_DRAIN_DURATION: "1m1.5s" }).read.milliseconds("minimumDrain"), 61_500);
});

Deno.test("a ratio is from 0 to 1", () => {
  for (const [text, ratio] of [["0", 0], ["1", 1], ["0.25", 0.25], [".5", 0.5], ["1.0", 1]] as const) {
    assert.equal(variables({ SECRET_GRACE_PERIOD_RATIO: text }).read.ratio("gracePeriodRatio"), ratio);
  }
});
