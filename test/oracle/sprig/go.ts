/** Runs templates in Go: the program of ../gotemplate, which reads JSON lines and answers JSON lines. */

/** What Go made of a template: its output or its error. */
export interface GoAnswer {
  readonly out?: string;
  readonly error?: string;
}

/** The answers to these requests, in order. */
export async function askGo(requests: readonly object[]): Promise<GoAnswer[]> {
  const command = new Deno.Command("go", {
    args: ["run", "."],
    cwd: new URL("../gotemplate", import.meta.url),
    // Key identifiers as Go makes them since 1.25; the module there says 1.24.
    env: { TZ: "UTC", GODEBUG: "x509sha256skid=1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  });
  const process = command.spawn();
  const input = new Blob([requests.map((request) => JSON.stringify(request) + "\n").join("")]);
  const [output] = await Promise.all([process.output(), input.stream().pipeTo(process.stdin)]);
  if (!output.success) throw new Error(new TextDecoder().decode(output.stderr));
  const lines = new TextDecoder().decode(output.stdout).trimEnd().split("\n");
  return lines.map((line): GoAnswer => JSON.parse(line));
}
