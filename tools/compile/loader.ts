/**
 * Starts the compiled program: loads each script of the pack when it is first needed, and passes its bytecode to V8.
 * If the bytecode is from another version, V8 rejects it and compiles the script.
 */
import { Script } from "node:vm";
import { type Pack, type PackPlace, type Part, readPack, START } from "./pack.ts";

/** A script as a function with the parameters of a CommonJS module; `load` replaces `import()`. */
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

/** The modules in the start script: functions that return the exports of each module, by name. */
type Modules = Readonly<Record<string, () => unknown>>;

/** Starts the program in a pack. Returns the list of loaded scripts, which grows as more are loaded. */
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
    // Names that are neither in the start script nor in the pack are modules of Node.js.
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

/** A script that V8 compiled or loaded from its cache. */
interface CompiledScript extends Script {
  runInThisContext(): Body;
}

const decoder = new TextDecoder();

/**
 * Compiles a script of a pack with the cache `fresh`, or with the pack's cache if `fresh` is undefined. The source and
 * the cache are read in turn to the start of the same buffer: this touches less new memory, and V8 does not have to
 * copy the cache, as it does at an odd address.
 */
export function compile(name: string, { read }: Pack, part: Part, fresh?: Uint8Array): CompiledScript {
  const source = decoder.decode(read(part.source, part.cache, part.end - part.cache));
  const cachedData = fresh ?? read(part.cache, part.end);
  return new Script(source, { filename: name, ...(cachedData.length === 0 ? {} : { cachedData }) });
}
