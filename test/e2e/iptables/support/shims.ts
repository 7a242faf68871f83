/**
 * Scripts before the real programs on PATH. They record each start, and run a test's shell lines before the real
 * program.
 */
import { until } from "../../../support/until.ts";

const PROGRAMS = ["", "-nft", "-legacy"].flatMap((variant) =>
  ["iptables", "ip6tables"].flatMap((name) => ["save", "restore"].map((verb) => `${name}${variant}-${verb}`))
).concat("nft");

/** A folder of such scripts. */
export class Shims implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  /** `lines`: the shell lines of a program. They run before the real program, and may exit in its place. */
  static async create(lines: Readonly<Record<string, string>> = {}): Promise<Shims> {
    const folder = await Deno.makeTempDir({ prefix: "mesh-shims-" });
    for (const name of PROGRAMS) {
      const real = realPath(name);
      if (real === undefined) continue;
      const text = `#!/bin/sh\necho "${name} $*" >>'${folder}/started'\n${lines[name] ?? ""}\nexec ${real} "$@"\n`;
      await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o755 });
    }
    return new Shims(folder);
  }

  /** An environment with the shims first on PATH. */
  get env(): Record<string, string> {
    return { PATH: `${this.folder}:${Deno.env.get("PATH") ?? ""}` };
  }

  /** Programs that were started since the last call. */
  async started(): Promise<string[]> {
    const file = `${this.folder}/started`;
    const text = await Deno.readTextFile(file).catch(() => "");
    await Deno.writeTextFile(file, "");
    return text.split("\n").filter((line) => line !== "");
  }

  /** Waits until a started command line matches. */
  async waitFor(pattern: RegExp): Promise<void> {
    const started = () => Deno.readTextFile(`${this.folder}/started`).catch(() => "");
    await until(async () => pattern.test(await started()), `${pattern} was never started`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** Shell lines that run unless the program only reads, or only tests its input. */
export function unlessTest(text: string): string {
  return `case " $* " in *" --test "*|*" -c "*|*" list "*) ;; *) ${text} ;; esac`;
}

function realPath(name: string): string | undefined {
  return (Deno.env.get("PATH") ?? "").split(":").map((folder) => `${folder}/${name}`).find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}
