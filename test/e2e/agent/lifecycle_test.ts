/** Exits of the agent and a stand-in for Envoy, as PID 1 and below; orphans. */
import assert from "node:assert/strict";
import { DEFAULT_RESTART, type Rules } from "../../../src/agent/lifecycle/rules.ts";
import { testWhen } from "../../support/test_when.ts";
import { Agent, needsPlace, type Place } from "./support/agent.ts";
import type { DriverOptions } from "./support/lifecycle_driver.ts";

const RULES: Rules = {
  hotRestart: false,
  restart: DEFAULT_RESTART,
  drain: { duration: 60_000, exitOnZero: false, minimum: 0, maximum: 60_000 },
  grace: 10_000,
};

const PLACES: readonly Place[] = ["as PID 1", "below PID 1"];

/** A shell script instead of Envoy. It has no admin interface. */
function standIn(script: string, more: Partial<DriverOptions> = {}): DriverOptions {
  return { binary: "/bin/sh", args: ["-c", script], rules: RULES, pipeErrors: true, ...more };
}

function testInPlaces(name: string, body: (place: Place) => Promise<void>) {
  for (const place of PLACES) testWhen(needsPlace(place), `lifecycle ${place}: ${name}`, () => body(place));
}

testInPlaces("Envoy's end gives the exit code", async (place) => {
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ["exit 0", 0, /info agent: Envoy \(epoch 0\) exited with code 0/],
    ["kill -SEGV $$", 139, /error agent: Envoy \(epoch 0\) was terminated by SIGSEGV \(exit code 139\)/],
    ["kill -KILL $$", 137, /was terminated by SIGKILL \(exit code 137\)[^]*may have run out of memory/],
    ["echo the last words >&2; exit 42", 42, /envoy: the last words\n[^]*exited with code 42/],
  ];
  await Promise.all(cases.map(async ([script, code, said]) => {
    const agent = new Agent(place, standIn(script));
    assert.equal(await agent.code, code, agent.text);
    assert.match(agent.text, said);
  }));
});

testInPlaces("all 256 exit codes, beside 120 orphans that are reaped", async (place) => {
  const codes = Array.from({ length: 256 }, (_, code) => code);
  const orphans = "for i in 1 2 3 4; do sh -c 'sleep 0.2; exit 3' & done; ";
  const beside = codes.map((code) => `${code % 8 === 0 && code < 240 ? orphans : ""}exit ${code}`);
  const agent = new Agent(place, standIn(`while sleep 0.3; do ${COUNT_ORPHANS}; done`, { beside }));
  // A busy machine needs minutes for all.
  for (const code of [64, 128, 192]) await agent.until(`exited with code ${code}\n`);
  await agent.until(/codes \[/);
  assert.deepEqual(JSON.parse(/codes (\[.*\])/.exec(agent.text)?.[1] ?? ""), codes);
  // The stand-in counts children that its parent has not reaped: in the end none.
  await agent.until(/envoy: left 0$/m);
  const most = Math.max(...agent.text.matchAll(/envoy: left (\d+)/g).map(([, count]) => Number(count)));
  assert.ok(most > 0, "no orphan was seen");
  await agent.command("quit");
  assert.equal(await agent.code, 0, agent.text);
});

/** Counts zombies among the siblings of this shell. */
const COUNT_ORPHANS = `echo "left $(cat /proc/[0-9]*/stat 2>/dev/null | grep -c ") Z $PPID ")" >&2`;

testInPlaces("a missing or not executable program is named", async (place) => {
  const absent = new Agent(place, { binary: "/no/such/envoy", rules: RULES });
  assert.equal(await absent.code, 1);
  assert.match(absent.text, /^error: Cannot start "\/no\/such\/envoy": program not found$/m);
  const text = new Agent(place, { binary: "/etc/passwd", rules: RULES });
  assert.equal(await text.code, 1);
  assert.match(text.text, /^error: Cannot start "\/etc\/passwd": it is not executable/m);
});

testInPlaces("after a request to end, Envoy's exit code does not count", async (place) => {
  const script = "trap 'echo asked >&2; exit 3' TERM; echo up >&2; while :; do sleep 0.05; done";
  for (const ask of ["SIGTERM", "SIGINT", "SIGQUIT", "quit"] as const) {
    const agent = new Agent(place, standIn(script));
    await agent.until("envoy: up");
    if (ask === "quit") await agent.command("quit");
    else agent.signal(ask);
    assert.equal(await agent.code, 0, agent.text);
    assert.match(agent.text, /envoy: asked\n/);
    assert.match(agent.text, /sending SIGTERM to Envoy\n[^]*exited with code 3/);
  }
});

testInPlaces("an Envoy that does not end is killed, after the grace period or by a second signal", async (place) => {
  const script = "trap '' TERM; echo up >&2; while :; do sleep 0.05; done";
  const patient = new Agent(place, standIn(script, { rules: { ...RULES, grace: 200 } }));
  await patient.until("envoy: up");
  patient.signal("SIGTERM");
  assert.equal(await patient.code, 0, patient.text);
  assert.match(patient.text, /did not exit in time: killing it[^]*was terminated by SIGKILL/);
  const hurried = new Agent(place, standIn(script));
  await hurried.until("envoy: up");
  hurried.signal("SIGTERM");
  await hurried.until("phase terminating");
  hurried.signal("SIGTERM");
  assert.equal(await hurried.code, 0, hurried.text);
  assert.match(hurried.text, /SIGTERM repeated: killing Envoy/);
});

testInPlaces("SIGHUP is rejected, SIGUSR2 is ignored before the start, SIGUSR1 waits", async (place) => {
  const script = "trap 'echo reopened >&2; exit 4' USR1; echo up >&2; while :; do sleep 0.05; done";
  const agent = new Agent(place, standIn(script));
  await agent.until("envoy: up");
  agent.signal("SIGUSR1");
  agent.signal("SIGHUP");
  await agent.until("SIGHUP is ignored: hot restarts are disabled");
  agent.signal("SIGUSR2");
  await agent.until("SIGUSR2: Envoy is not live yet, nothing to drain");
  agent.signal("SIGTERM");
  assert.equal(await agent.code, 0, agent.text);
  assert.doesNotMatch(agent.text, /reopened/);
});

testInPlaces("without an Envoy the agent waits for signals", async (place) => {
  for (const signal of ["SIGTERM", "SIGINT", "SIGQUIT"] as const) {
    const agent = new Agent(place, { rules: RULES });
    await agent.until("Envoy is disabled");
    agent.signal(signal);
    assert.equal(await agent.code, 0, agent.text);
    assert.match(agent.text, new RegExp(`${signal}: shutting down`));
  }
});

testInPlaces(
  "Envoy has a clean signal mask and default actions, whatever the agent inherits",
  async (place) => {
    const script = "grep -E 'SigBlk|SigIgn' /proc/self/status >&2";
    const agent = new Agent(place, standIn(script), ["sh", "-c", 'trap "" HUP INT QUIT USR1 USR2; exec "$@"', "sh"]);
    assert.equal(await agent.code, 0, agent.text);
    const [blocked, ignored] = [...agent.text.matchAll(/envoy: Sig\w+:\t([0-9a-f]{16})/g)].map(([, mask]) =>
      BigInt(`0x${mask}`)
    );
    assert.equal(blocked, 0n);
    // Signals from 32 on are the C library's own.
    assert.equal((ignored ?? -1n) & 0x7fffffffn, 0n);
  },
);

testWhen(needsPlace("below PID 1"), "lifecycle: an Envoy that fails is started again, with a budget", async () => {
  const restart = { policy: "on-failure", budget: 3, firstDelay: 20, stable: 60_000 } as const;
  const agent = new Agent("below PID 1", standIn("echo up >&2; exit 9", { rules: { ...RULES, restart } }));
  assert.equal(await agent.code, 9, agent.text);
  assert.equal(agent.text.match(/envoy: up/g)?.length, 4);
  assert.deepEqual(agent.text.match(/Restarting Envoy in \d+/g), [20, 40, 80].map((ms) => `Restarting Envoy in ${ms}`));
  assert.match(agent.text, /Envoy has failed 4 consecutive times: giving up/);
});

testWhen(needsPlace("below PID 1"), "lifecycle: a wait for a restart ends with the agent", async () => {
  const restart = { policy: "on-failure", budget: 3, firstDelay: 60_000, stable: 60_000 } as const;
  const agent = new Agent("below PID 1", standIn("exit 9", { rules: { ...RULES, restart } }));
  await agent.until("phase backoff");
  agent.signal("SIGTERM");
  assert.equal(await agent.code, 0, agent.text);
});
