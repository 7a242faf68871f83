/**
 * Runs the program to create the code caches. When the command exits, it writes the bytecode of every loaded script to
 * `MESH_CACHES/NAME`: the functions that ran, and those that were already in the cache. `MESH_STAND_IN` selects the
 * rules that the stand-in for the kernel starts with.
 */
import { start } from "./loader.ts";
import { packOfProgram } from "./place.ts";
import { standIn } from "./workload/iptables/stand_ins.ts";
import { addEndedProcess, stopLongTimers } from "./workload/chance.ts";

// V8 keeps source positions for functions that were on the stack of an error, which depends on timing.
Error.stackTraceLimit = 0;

const folder = Deno.env.get("MESH_CACHES") ?? "";
// The files are opened before the command starts, because the command gives up the permissions to read and write.
const caches = new Map(
  [...Deno.readDirSync(folder)].map(({ name }) => {
    const path = `${folder}/${name}`;
    return [name, { before: Deno.readFileSync(path), file: Deno.openSync(path, { write: true }) }];
  }),
);
const exit = Deno.exit;
Deno.exit = (code) => {
  for (const { name, script } of loaded) write(caches.get(name)?.file, script.createCachedData());
  // Without this exit code, a rejected cache would go unnoticed.
  return exit(loaded.some(({ script }) => script.cachedDataRejected === true) ? 99 : code);
};

function write(file: Deno.FsFile | undefined, bytes: Uint8Array): void {
  if (file === undefined) return;
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
  file.truncateSync(bytes.length);
}

addEndedProcess(Deno);
stopLongTimers(globalThis);
const held = Deno.env.get("MESH_STAND_IN");
if (held !== undefined) standIn(held);

const loaded = start(packOfProgram(), (name) => caches.get(name)?.before ?? new Uint8Array());
