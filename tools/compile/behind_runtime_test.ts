import { rejects, strictEqual, throws } from "node:assert/strict";
import { openBehindRuntime, putBehindRuntime } from "./behind_runtime.ts";

/** What Deno appends ends with its own length. */
function program(appended: string, length: number): Uint8Array<ArrayBuffer> {
  const end = new Uint8Array(8);
  new DataView(end.buffer).setBigUint64(0, BigInt(length), true);
  return new Uint8Array([...new TextEncoder().encode(`RUNTIME${appended}`), ...end]);
}

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a pack lies between the runtime and Deno's own part, and is found there", () =>
  inFolder(async (folder) => {
    const path = `${folder}/program`;
    await Deno.writeFile(path, program("appended", 16));
    await Deno.writeTextFile(`${folder}/pack`, "scripts");
    await putBehindRuntime(path, `${folder}/pack`);
    strictEqual((await Deno.readTextFile(path)).slice(0, -8), "RUNTIMEscriptsMESHPACK000000000007appended");
    const { file, start } = openBehindRuntime(path);
    file.close();
    strictEqual(start, "RUNTIME".length);
  }));

Deno.test("a program of another shape is refused, when it is built and when it starts", () =>
  inFolder(async (folder) => {
    const path = `${folder}/program`;
    await Deno.writeTextFile(`${folder}/pack`, "scripts");
    await Deno.writeFile(path, program("appended", 1000));
    await rejects(putBehindRuntime(path, `${folder}/pack`), /does not end with Deno's own part/);
    await Deno.writeFile(path, program("long enough for a footer to be looked for", 8));
    throws(() => openBehindRuntime(path), /holds no scripts/);
  }));
