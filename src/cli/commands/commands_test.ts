import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { main } from "../mod.ts";

async function run(args: string, request: (url: string, init?: RequestInit) => Response) {
  const world = fakeWorld({ args: args.split(" "), request });
  return { code: await main(world), ...world.said };
}

const asked: readonly (readonly [args: string, requests: readonly string[]])[] = [
  ["wait", ["GET http://localhost:15021/healthz/ready"]],
  ["wait --url http://a/ --url http://b/ --url http://a/", ["GET http://a/", "GET http://b/"]],
  ["pilot-agent wait more words", ["GET http://localhost:15021/healthz/ready"]],
  ["pilot-agent wait --url http://a/ --log_output_level all:debug --vklog 1", ["GET http://a/"]],
  ["pilot-agent --log_as_json --vklog 1 wait --url http://a/", ["GET http://a/"]],
  ["pilot-agent request --debug-port=15020 POST drain", ["POST http://localhost:15020/drain"]],
  ["pilot-agent request GET /stats?filter=x", ["GET http://localhost:15000/stats?filter=x"]],
  ["agent quit", ["POST http://localhost:15020/quitquitquit"]],
  ["agent drain --status-port 15999 --timeout 1s", ["POST http://localhost:15999/drain"]],
];

for (const [args, expected] of asked) {
  Deno.test(`"${args}" asks ${expected.join(" and ")}`, async () => {
    const requests: string[] = [];
    const { code } = await run(args, (url, init) => {
      requests.push(`${init?.method ?? "GET"} ${url}`);
      return new Response();
    });
    assert.deepEqual([code, requests], [0, expected]);
  });
}

/** Names at the wrong end of a command line: code and standard error. */
const wrong: readonly (readonly [args: string, code: number, stderr: string])[] = [
  ["wait sh -c true -- x", 2, 'error: Unexpected argument "sh"; give the command to run after "--"\n'],
  ["wait --shutdown", 2, 'error: The flag --shutdown needs a command; give the command after "--"\n'],
  ["wait --shutdown --", 2, 'error: The flag --shutdown needs a command; give the command after "--"\n'],
  ["wait --on-timeout stop", 2, 'error: The flag --on-timeout cannot be "stop"; it must be "fail" or "continue"\n'],
  ["wait --log-format xml", 2, 'error: Unknown log format "xml": use text or json\n'],
  ["wait --log-level loud", 2, 'error: Unknown log level "loud": use debug, info, warning or error\n'],
  [
    "wait --timeoutSeconds 1m",
    2,
    'error: The flag --timeoutSeconds cannot be "1m"; it must be a whole number from 0 to 2073600\n',
  ],
  [
    "kustomize",
    2,
    'error: Standard input is a terminal, not a ResourceList; kustomize starts this command: see "kubectl mesh kustomize ' +
    '--help"\n',
  ],
  ["agent quit now", 2, 'error: Unexpected argument "now"; see "kubectl mesh agent quit --help"\n'],
  ["pilot-agent wiat", 255, 'Error: Unknown command "pilot-agent wiat"; did you mean "wait"?\n'],
  ["pilot-agent constructor", 255, 'Error: Unknown command "pilot-agent constructor"; see "pilot-agent --help"\n'],
  ["pilot-agent wait --frob", 255, 'Error: Unknown flag "--frob"; see "pilot-agent wait --help"\n'],
  [
    "pilot-agent request GET",
    255,
    'Error: A method and a path are required; such as "pilot-agent request GET stats"\n',
  ],
  [
    "pilot-agent request --debug-port 15001 GET x",
    255,
    'Error: The flag --debug-port cannot be "15001"; it must be "15000", "15004", "15020" or "15021"\n',
  ],
  ["pilot-agent version -o xml", 255, 'Error: The flag -o/--output cannot be "xml"; it must be "json" or "yaml"\n'],
  ["pilot-agent request GET x", 255, "Error: Received unsuccessful status code 500: no body\n"],
];

for (const [args, code, stderr] of wrong) {
  Deno.test(`"${args}" is refused with the code ${code}`, async () => {
    assert.deepEqual(await run(args, () => new Response(null, { status: 500 })), { code, stdout: "", stderr });
  });
}

Deno.test("the times of wait have two spellings, and this program's flags win", async () => {
  const slow = (args: string) => run(args, () => new Response(null, { status: 503 }));
  for (
    const args of ["wait --timeout 2s -q", "wait --timeoutSeconds 2 -q", "wait --timeoutSeconds 9 --timeout 2s -q"]
  ) {
    const { code, stderr } = await slow(args);
    assert.equal(code, 1);
    assert.match(stderr, /^error: The proxy was not ready within 2s: /);
  }
});

Deno.test("pilot-agent reports a failure on both streams", async () => {
  const { code, stdout, stderr } = await run(
    "pilot-agent wait --timeoutSeconds=1",
    () => new Response(null, { status: 500 }),
  );
  assert.equal(code, 255);
  assert.match(stdout, /\tinfo\tWaiting for Envoy .*\n.*\terror\tTimeout waiting for Envoy/);
  assert.match(stderr, /^Error: Timeout waiting for Envoy proxy to become ready. Last error: .*answered 500/);
});
