import { MESH_COMMAND } from "../../../support/programs/mesh.ts";

const encoder = new TextEncoder();

/** `kubectl-mesh` as a process whose output is read while it runs. */
export interface Running {
  readonly pid: number;
  /** Resolves when standard output holds a text. */
  says(text: string): Promise<void>;
  kill(signal: Deno.Signal): void;
  /** Its end, and all that it said. */
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
  const stderr = new Response(child.stderr).text();
  let stdout = "";
  let changed = Promise.withResolvers<void>();
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      stdout += text;
      changed.resolve();
      changed = Promise.withResolvers();
    }
    changed.resolve();
  })();
  return {
    pid: child.pid,
    async says(text) {
      while (!stdout.includes(text)) {
        const before = stdout;
        await changed.promise;
        if (stdout === before) throw new Error(`It ended without "${text}": ${stdout}${await stderr}`);
      }
    },
    kill: (signal) => child.kill(signal),
    async end() {
      const { code, signal } = await child.status;
      await Promise.all([feeding, reading]);
      return { code, signal, stdout, stderr: await stderr };
    },
  };
}
