/**
 * The program that makes code caches the same in each build. It runs no script: it loads each one with its cache and writes the
 * cache again, with V8's flags of the program that they are for. V8 numbers functions in the order in which they were compiled,
 * which here is the order of the pack. Exit code 99 if V8 rejects a cache.
 */
import { Script } from "node:vm";
import { compile } from "./loader.ts";
import { readPack } from "./pack.ts";
import { packOfProgram } from "./place.ts";

/** The hash of V8's flags in the header of a cache. Source: V8 14, `SerializedCodeData::kFlagHashOffset`. */
const FLAGS = 12;

const folder = Deno.env.get("MESH_CACHES") ?? "";
const pack = readPack(packOfProgram());
const ownFlags = new Script("0").createCachedData().subarray(FLAGS, FLAGS + 4);
for (const name of pack.names()) {
  const cache = Deno.readFileSync(`${folder}/${name}`);
  const part = pack.part(name);
  // No run has loaded it.
  if (part === undefined || cache.length === 0) continue;
  cache.set(ownFlags, FLAGS);
  const script = compile(name, pack, part, cache);
  if (script.cachedDataRejected) Deno.exit(99);
  Deno.writeFileSync(`${folder}/${name}`, script.createCachedData());
}
