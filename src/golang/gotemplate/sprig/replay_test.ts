import assert from "node:assert/strict";
import { MeshError } from "../../../base/errors.ts";
import { goJsonParse } from "../../go_json.ts";
import { parse } from "../mod.ts";
import { loadLibraries, sprigFunctions } from "./mod.ts";

interface Recorded {
  readonly out?: string;
  readonly error?: string;
}

const testdata = new URL("../../../../test/oracle/sprig/testdata/", import.meta.url);
const cases: [string, Recorded][] = JSON.parse(Deno.readTextFileSync(new URL("cases.json", testdata)));
const data = Deno.readTextFileSync(new URL("data.json", testdata));
const functions = sprigFunctions({ now: () => new Date() });

function run(template: string): Recorded {
  try {
    // Go's answers are JSON, where bytes that are not UTF-8 are U+FFFD.
    return { out: parse("t", template, { funcs: functions }).render(goJsonParse(data)).toWellFormed() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Go and this program name different reasons why a key, a certificate or JSON is malformed. */
const REASON =
  /(?<=error calling (?:mustFromJson|\w+: (?:error )?(?:parsing private key|parsing certificate|creating certificate)): ).*/s;

/** An answer with the beginnings of long values, as errors show them, and without those reasons. */
function shownOf({ error, ...answer }: Recorded): Recorded {
  return error === undefined ? answer : { ...answer, error: new MeshError(error).message.replace(REASON, "") };
}

Deno.test("sprigFunctions: recorded templates give what Go gives, errors included", async () => {
  await loadLibraries(...cases.map(([template]) => template));
  const wrong = cases
    .map(([template, expected]) => ({ template, expected: shownOf(expected), actual: shownOf(run(template)) }))
    .filter(({ expected, actual }) => expected.out !== actual.out || expected.error !== actual.error);
  assert.deepEqual(wrong, []);
});
