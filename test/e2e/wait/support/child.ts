import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../../support/programs/mesh.ts";
import { until } from "../../../support/until.ts";

const encoder = new TextEncoder();

/** `kubectl-mesh` as a process whose output is read while it runs. */
export interface Running {
  readonly pid: number;
  /** Resolves when standard output holds a text. */
  says(text: string): Promise<void>;
  /** Resolves when standard error holds a text. */
  warns(text: string): Promise<void>;
  kill(signal: Deno.Signal): void;
  /** Exit and whole output. */
  end(): Promise<
    { readonly code: number; readonly signal: string | null; readonly stdout: string; readonly stderr: string }
  >;
}

/** Starts the program. */
export function startMesh(args: readonly string[], { stdin = "", env = {} as Record<string, string> } = {}): Running {
  const command = new Deno.Command(MESH_COMMAND, {
    args: [...args],
    env,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const child = command.spawn();
  const feeding = new Blob([encoder.encode(stdin)]).stream().pipeTo(child.stdin).catch(() => {});
  const [stdout, stderr] = [follow(child.stdout), follow(child.stderr)];
  const has = (stream: Followed, text: string) =>
    until(
      () => stream.text.includes(text) || stream.hasEnded && assert.fail(`It ended: ${stdout.text}${stderr.text}`),
      () => `It never printed "${text}": ${stdout.text}${stderr.text}`,
    );
  return {
    pid: child.pid,
    says: (text) => has(stdout, text),
    warns: (text) => has(stderr, text),
    kill: (signal) => child.kill(signal),
    async end() {
      const { code, signal } = await child.status;
      await Promise.all([feeding, stdout.end, stderr.end]);
      return { code, signal, stdout: stdout.text, stderr: stderr.text };
    },
  };
}

/** The text of a stream so far. */
interface Followed {
  text: string;
  hasEnded: boolean;
  readonly end: Promise<void>;
}

function follow(stream: ReadableStream<Uint8Array>): Followed {
  const followed = { text: "", hasEnded: false, end: Promise.resolve() };
  followed.end = (async () => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) followed.text += text;
    followed.hasEnded = true;
  })();
  return followed;
}
