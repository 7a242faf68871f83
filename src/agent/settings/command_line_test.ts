import assert from "node:assert/strict";
import { type ProgramName, readCommandLine } from "./command_line.ts";

function read(line: string, program: ProgramName = "agent") {
  return readCommandLine(line.split(" ").filter((word) => word !== ""), program);
}

Deno.test("readCommandLine: a value follows = or is the next argument; a boolean accepts a value only after =", () => {
  for (const line of ["--domain=x sidecar", "--domain x sidecar", "sidecar --domain x"]) {
    const { given, words, problems } = read(line);
    assert.deepEqual([given.get("domain"), words, problems], ["x", ["sidecar"], []], line);
  }
  assert.deepEqual(read("--log_as_json router").words, ["router"]);
  assert.equal(read("--log_as_json=false").given.get("istioLogJson"), "false");
  assert.equal(read("--lightstepSecure router").words[0], "router");
  assert.equal(read("--domain=a=b").given.get("domain"), "a=b");
});

Deno.test("readCommandLine: the last value of a flag wins; repeatable flags collect values", () => {
  assert.equal(read("--domain a --domain b").given.get("domain"), "b");
  const levels = read("--log_output_level a:debug --log_output_level b:info").given.get("istioLogLevel");
  assert.equal(levels, "a:debug,b:info");
});

Deno.test("readCommandLine: all problems are reported at once", () => {
  const line = "--concurrency four --drainDuration 1 --stsPort 70000 --profiling=maybe --concurency 2 --id";
  assert.deepEqual(read(line).problems, [
    'The flag --concurrency cannot be "four": it must be a whole number from 0 to 4294967295',
    'The flag --drainDuration cannot be "1": a unit is missing: use a duration such as "1m30s" or "500ms"',
    'The flag --stsPort cannot be "70000": it must be a whole number from 0 to 65535',
    'The flag --profiling cannot be "maybe": it must be "true" or "false"',
    'Unknown flag "--concurency": did you mean "--concurrency"?',
    "The flag --id needs a value",
  ]);
});

Deno.test("readCommandLine: pilot-agent ignores unknown flags with their values, but not a role after such a flag", () => {
  const passed = (line: string) => {
    const { words, warnings, problems } = read(line, "pilot-agent");
    return { words, warnings: warnings.length, problems };
  };
  assert.deepEqual(passed("--new value sidecar"), { words: ["sidecar"], warnings: 1, problems: [] });
  assert.deepEqual(passed("--new router"), { words: ["router"], warnings: 1, problems: [] });
  assert.deepEqual(passed("--new=router waypoint"), { words: ["waypoint"], warnings: 1, problems: [] });
  assert.deepEqual(passed("--new --other -x router"), { words: ["router"], warnings: 3, problems: [] });
  assert.deepEqual(passed("--new"), { words: [], warnings: 1, problems: [] });
});

Deno.test("readCommandLine: arguments after -- are not flags", () => {
  assert.deepEqual(read("router -- --domain").words, ["router", "--domain"]);
});
