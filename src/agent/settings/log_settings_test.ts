import assert from "node:assert/strict";
import { type LogFlags, logSettings } from "./log_settings.ts";

const NOTHING: LogFlags = { format: "", level: "", istioJson: false, istioLevels: "", environmentFormat: "" };

function read(words: Partial<LogFlags>) {
  const problems: string[] = [];
  const { format, level, scopes } = logSettings({ ...NOTHING, ...words }, problems);
  return { format, level, scopes: Object.fromEntries(scopes), problems };
}

Deno.test("logSettings: nothing set leaves the log's defaults", () => {
  assert.deepEqual(read({}), { format: undefined, level: undefined, scopes: {}, problems: [] });
});

Deno.test("logSettings: our flags, then Istio's, then the variable", () => {
  assert.equal(read({ format: "text", istioJson: true, environmentFormat: "json" }).format, "text");
  assert.equal(read({ istioJson: true, environmentFormat: "text" }).format, "json");
  assert.equal(read({ environmentFormat: "json" }).format, "json");
  assert.equal(read({ level: "error", istioLevels: "debug" }).level, "error");
});

Deno.test("logSettings: levels by scope; all: is every scope", () => {
  assert.deepEqual(read({ istioLevels: "default:warn,envoy:debug,grpc:none" }), {
    format: undefined,
    level: "warning",
    scopes: { default: "warning", envoy: "debug", grpc: "fatal" },
    problems: [],
  });
  assert.equal(read({ istioLevels: "default:info,all:debug" }).level, "debug");
  assert.deepEqual(read({ istioLevels: "error" }).scopes, { default: "error" });
});

Deno.test("logSettings: unknown values are problems", () => {
  assert.deepEqual(read({ format: "xml", level: "loud", istioLevels: "a:quiet" }).problems, [
    'Unknown level "quiet" in "--log_output_level": use debug, info, warning or error',
    'Unknown level "loud" in "--log-level": use debug, info, warning or error',
    'Unknown log format "xml": use text or json',
  ]);
});
