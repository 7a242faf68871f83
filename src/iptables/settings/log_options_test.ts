import assert from "node:assert/strict";
import { logOptions } from "./log_options.ts";

const NONE = { format: "", level: "", istioJson: false, istioLevel: "" };

const CASES: readonly (readonly [string, Partial<typeof NONE>, { format?: string; level?: string }])[] = [
  ["nothing leaves it to the environment", {}, {}],
  ["--log_output_level of one word", { istioLevel: "debug" }, { level: "debug" }],
  ["--log_output_level of the default scope", { istioLevel: "default:warn,ads:debug" }, { level: "warning" }],
  ["--log_output_level of this command's scope", { istioLevel: "iptables:debug,default:info" }, { level: "debug" }],
  ["--log_output_level that is none", { istioLevel: "default:loud" }, {}],
  ["--log_output_level none", { istioLevel: "none" }, { level: "fatal" }],
  ["--log_as_json", { istioJson: true }, { format: "json" }],
  ["our own flags win", { istioJson: true, format: "text", istioLevel: "debug", level: "error" }, {
    format: "text",
    level: "error",
  }],
];

for (const [name, flags, expected] of CASES) {
  Deno.test(`logOptions(): ${name}`, () => {
    assert.deepEqual(logOptions({ ...NONE, ...flags }), { format: undefined, level: undefined, ...expected });
  });
}
