/**
 * Runs the lifecycle of Envoy as a program for tests: `lifecycle_driver.ts JSON`. It reads `quit`, `drain` and
 * `reload` lines from standard input, prints phases on standard output, and logs to standard error. Its exit
 * code is the exit code of the lifecycle.
 */
import { startLog } from "../../../../src/platform/log.ts";
import { messageOf } from "../../../../src/base/errors.ts";
import { realWorld } from "../../../../src/platform/mod.ts";
import { runLifecycle } from "../../../../src/agent/lifecycle/run.ts";
import type { LifecycleControl } from "../../../../src/agent/lifecycle/options.ts";
import type { EnvoyOptions } from "../../../../src/agent/envoy/options.ts";
import type { Rules } from "../../../../src/agent/lifecycle/rules.ts";
import { linesOf } from "../../../../src/base/text/mod.ts";

/** The options of a test. `EPOCH` in an argument is replaced with the epoch's number. */
export interface DriverOptions {
  readonly binary?: string;
  readonly args?: readonly string[];
  readonly rules: Rules;
  readonly watch?: { readonly paths: readonly string[]; readonly milliseconds: number };
  readonly adminUrl?: string;
  readonly ownPorts?: readonly number[];
  readonly pipeErrors?: boolean;
  /** Scripts that run in parallel, in place of Envoy. Their exit codes are printed as JSON. */
  readonly beside?: readonly string[];
}

const world = realWorld();
const options: DriverOptions = JSON.parse(world.args[0] ?? "");
const log = startLog(world, "agent", { level: "debug" });

function envoy(): EnvoyOptions | undefined {
  const { binary, args = [] } = options;
  if (binary === undefined) return undefined;
  return {
    env: {},
    binary,
    prepare: (epoch) => Promise.resolve(args.map((each) => each.replaceAll("EPOCH", String(epoch)))),
    adminUrl: options.adminUrl ?? "http://127.0.0.1:9",
    inboundOnly: false,
    ownPorts: options.ownPorts ?? [],
    errorLine: options.pipeErrors ? (line) => say(`envoy: ${line}`) : undefined,
  };
}

function say(text: string): void {
  world.stdout.write(`${text}\n`);
}

async function obey(control: LifecycleControl): Promise<void> {
  for await (const line of linesOf(world.stdin.chunks())) {
    if (line === "quit" || line === "drain" || line === "reload") control.send(line, { by: "a command" });
  }
}

/**
 * Runs the scripts in parallel, each in its own lifecycle. Only the main lifecycle reaps orphans, because a process can
 * have only one reaper.
 */
async function runBeside(scripts: readonly string[]): Promise<void> {
  const reapsNone = { ...world, system: { ...world.system, hasEndedChild: () => false } };
  const codes: number[] = [];
  const waiting = scripts.entries();
  const worker = async () => {
    for (const [index, script] of waiting) {
      const prepare = () => Promise.resolve(["-c", script]);
      const standIn = {
        binary: "/bin/sh",
        env: {},
        prepare,
        adminUrl: "http://127.0.0.1:9",
        inboundOnly: false,
        ownPorts: [],
      };
      codes[index] = await runLifecycle(reapsNone, { envoy: standIn, rules: options.rules, log });
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  say(`codes ${JSON.stringify(codes)}`);
}

try {
  const code = await runLifecycle(world, {
    envoy: envoy(),
    rules: options.rules,
    watch: options.watch,
    log,
    attach(control) {
      obey(control);
      if (options.beside !== undefined) runBeside(options.beside);
    },
    changed: (phase) => say(`phase ${phase}`),
  });
  Deno.exit(code);
} catch (error) {
  world.stderr.write(`error: ${messageOf(error)}\n`);
  Deno.exit(1);
}
