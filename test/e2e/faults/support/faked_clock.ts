/**
 * A real-time clock that a test sets, for some processes: a library before theirs answers their questions for the time. It is
 * not libfaketime, under which Envoy hangs at its start.
 */
import { needsProgram } from "../../../support/test_when.ts";

const SOURCE = decodeURIComponent(new URL("../../servers/clock/clock.c", import.meta.url).pathname);

/** The reason to skip a test if the library cannot be built. */
export function needsFakedClock(): string | undefined {
  return needsProgram("cc") ?? (hasHeaders() ? undefined : "the headers of libc are not installed");
}

function hasHeaders(): boolean {
  return new Deno.Command("cc", { args: ["-fsyntax-only", SOURCE], stderr: "null" }).outputSync().success;
}

/** The clock. It starts with the machine's time. */
export class FakedClock implements AsyncDisposable {
  private constructor(private readonly folder: string) {}

  static async create(): Promise<FakedClock> {
    const clock = new FakedClock(await Deno.makeTempDir({ prefix: "mesh-clock-" }));
    await Deno.chmod(clock.folder, 0o755);
    clock.set(0);
    const args = ["-shared", "-fPIC", "-O1", "-o", `${clock.folder}/clock.so`, SOURCE];
    const { success, stderr } = await new Deno.Command("cc", { args }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return clock;
  }

  /** Words before a program: it and all that it starts have this clock. */
  get before(): readonly string[] {
    return ["env", `LD_PRELOAD=${this.folder}/clock.so`, `CLOCK_AHEAD=${this.folder}/ahead`];
  }

  /** Sets it ahead of the machine's, at once; negative seconds set it back. */
  set(seconds: number): void {
    // Processes have mapped the file: it must stay the same one.
    using file = Deno.openSync(`${this.folder}/ahead`, { write: true, create: true });
    file.writeSync(new Uint8Array(BigInt64Array.of(BigInt(seconds)).buffer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
