/**
 * The program that creates the code caches: after the command has run, it writes the bytecode of every loaded script to
 * `MESH_CACHES/NAME`: the functions that ran, and those that the cache contained. `MESH_STAND_IN` names the rules of a stand-in for
 * the kernel.
 */
import { start } from "./loader.ts";
import { packOfProgram } from "./place.ts";
import { standIn } from "./workload/iptables/stand_ins.ts";
import { addEndedProcess, stopLongTimers } from "./workload/chance.ts";

// V8 keeps positions of functions that were in the stack of an error; whether they were is chance.
Error.stackTraceLimit = 0;

const folder = Deno.env.get("MESH_CACHES") ?? "";
// Opened before the command starts, which gives up the permissions to read and write.
const caches = new Map(
  [...Deno.readDirSync(folder)].map(({ name }) => {
    const path = `${folder}/${name}`;
    return [name, { before: Deno.readFileSync(path), file: Deno.openSync(path, { write: true }) }];
  }),
);
const exit = Deno.exit;
Deno.exit = (code) => {
  for (const { name, script } of loaded) write(caches.get(name)?.file, script.createCachedData());
  // Nobody would notice a rejected cache.
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
