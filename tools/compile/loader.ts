/**
 * Starts the compiled program: gives V8 each script of the pack with its bytecode when it is first loaded. V8 rejects the bytecode
 * of another version, and compiles the script.
 */
import { Script } from "node:vm";
import { type Pack, type PackPlace, type Part, readPack, START } from "./pack.ts";

/** A script as a function with CommonJS's parameters; `load` stands for `import()`. */
type Body = (
  require: (name: string) => unknown,
  module: { exports: unknown },
  load: (name: string) => Promise<unknown>,
) => void;

/** A loaded script. */
export interface Loaded {
  readonly name: string;
  readonly script: Script;
}

/** What the script of the start is made of: functions that return what each module exports. */
type Modules = Readonly<Record<string, () => unknown>>;

/** Starts the program of a pack; returns the loaded scripts, a list that grows. */
export function start(place: PackPlace, cacheOf?: (name: string) => Uint8Array): readonly Loaded[] {
  const pack = readPack(place);
  const loaded: Loaded[] = [];
  let started: Modules = {};
  const modules = new Map<string, { exports: unknown }>();
  const require = (name: string): unknown => {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const own = started[name];
    const part = own === undefined ? pack.part(name) : undefined;
    // A name that is in neither is a module of Node.
    if (part === undefined) return own === undefined ? globalThis.process.getBuiltinModule(name) : own();
    const module = { exports: {} };
    modules.set(name, module);
    const script = compile(name, pack, part, cacheOf?.(name));
    loaded.push({ name, script });
    script.runInThisContext()(require, module, (other: string) => Promise.resolve().then(() => require(other)));
    return module.exports;
  };
  started = Object(require(START)).modules;
  return loaded;
}

/** A script that V8 compiled, or took from the cache. */
interface CompiledScript extends Script {
  runInThisContext(): Body;
}

const decoder = new TextDecoder();

/**
 * Compiles a script of a pack, with a new cache or the cache of the pack. Both are read to the start of one buffer, one after the other: less
 * memory is touched for the first time, and V8 copies a cache whose address is odd.
 */
export function compile(name: string, { read }: Pack, part: Part, fresh?: Uint8Array): CompiledScript {
  const source = decoder.decode(read(part.source, part.cache, part.end - part.cache));
  const cachedData = fresh ?? read(part.cache, part.end);
  return new Script(source, { filename: name, ...(cachedData.length === 0 ? {} : { cachedData }) });
}
