/**
 * Makes code caches the same in each build. It runs no script: it loads each script with its cache and writes the
 * cache again, under the V8 flags of the program that will use it. V8 numbers functions in the order in which it
 * compiles them, which is here the order in the pack. The exit code is 99 if V8 rejects a cache.
 */
import { Script } from "node:vm";
import { compile } from "./loader.ts";
import { readPack } from "./pack.ts";
import { packOfProgram } from "./place.ts";

/**
 * The offset of the hash of V8's flags in the header of a cache. Source: V8 14, `SerializedCodeData::kFlagHashOffset`.
 */
const FLAGS = 12;

const folder = Deno.env.get("MESH_CACHES") ?? "";
const pack = readPack(packOfProgram());
const ownFlags = new Script("0").createCachedData().subarray(FLAGS, FLAGS + 4);
for (const name of pack.names()) {
  const cache = Deno.readFileSync(`${folder}/${name}`);
  const part = pack.part(name);
  // No run has loaded this script.
  if (part === undefined || cache.length === 0) continue;
  cache.set(ownFlags, FLAGS);
  const script = compile(name, pack, part, cache);
  if (script.cachedDataRejected) Deno.exit(99);
  Deno.writeFileSync(`${folder}/${name}`, script.createCachedData());
}
