/**
 * A real-time clock that a test sets for some processes: a preloaded library answers when they ask for the time. With
 * libfaketime Envoy hangs at its start.
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

  /** Arguments before a program that give this clock to it and to its child processes. */
  get before(): readonly string[] {
    return ["env", `LD_PRELOAD=${this.folder}/clock.so`, `CLOCK_AHEAD=${this.folder}/ahead`];
  }

  /** Sets the clock ahead of the machine's at once; negative seconds set it back. */
  set(seconds: number): void {
    // Processes have mapped the file, so it is overwritten and not replaced.
    using file = Deno.openSync(`${this.folder}/ahead`, { write: true, create: true });
    file.writeSync(new Uint8Array(BigInt64Array.of(BigInt(seconds)).buffer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
