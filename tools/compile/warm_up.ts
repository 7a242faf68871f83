/**
 * The program as it is when its caches are made: after the command has run, the bytecode of every script that it loaded is
 * written to `MESH_CACHES/NAME`. It holds the functions that ran, and what the cache held before. `MESH_STAND_IN` says what
 * the kernel holds where one stands in for it.
 */
import { start } from "./loader.ts";
import { packOfProgram } from "./place.ts";
import { standIn } from "./workload/iptables/stand_ins.ts";

const folder = Deno.env.get("MESH_CACHES") ?? "";
// Read and opened before the command starts: it gives up the permission to read and to write.
const caches = new Map(
  [...Deno.readDirSync(folder)].map(({ name }) => {
    const path = `${folder}/${name}`;
    return [name, { before: Deno.readFileSync(path), file: Deno.openSync(path, { write: true }) }];
  }),
);
const exit = Deno.exit;
Deno.exit = (code) => {
  for (const { name, script } of loaded) write(caches.get(name)?.file, script.createCachedData());
  // A cache that is not taken would be noticed by nobody.
  return exit(loaded.some(({ script }) => script.cachedDataRejected === true) ? 99 : code);
};

function write(file: Deno.FsFile | undefined, bytes: Uint8Array): void {
  if (file === undefined) return;
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
  file.truncateSync(bytes.length);
}

const held = Deno.env.get("MESH_STAND_IN");
if (held !== undefined) standIn(held);

const loaded = start(packOfProgram(), (name) => caches.get(name)?.before ?? new Uint8Array());
