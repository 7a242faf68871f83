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

/** Starts the program of a pack; returns the loaded scripts, a list that grows. */
export function start(place: PackPlace, cacheOf?: (name: string) => Uint8Array): readonly Loaded[] {
  const pack = readPack(place);
  const loaded: Loaded[] = [];
  const modules = new Map<string, { exports: unknown }>();
  const require = (name: string): unknown => {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const part = pack.parts[name];
    // A name that is not in the pack is a module of Node.
    if (part === undefined) return globalThis.process.getBuiltinModule(name);
    const module = { exports: {} };
    modules.set(name, module);
    const script = compile(name, pack, part, cacheOf?.(name));
    loaded.push({ name, script });
    script.runInThisContext()(require, module, (other: string) => Promise.resolve().then(() => require(other)));
    return module.exports;
  };
  for (const [name, exports] of Object.entries(Object(require(START)))) modules.set(name, { exports });
  return loaded;
}

/** A script that V8 compiled, or took from the cache. */
interface CompiledScript extends Script {
  runInThisContext(): Body;
}

const decoder = new TextDecoder();

/** Compiles a script of a pack, with a new cache or that of the pack. */
export function compile(name: string, { read }: Pack, part: Part, fresh?: Uint8Array): CompiledScript {
  const bytes = read(part.source, part.end);
  const length = part.cache - part.source;
  const source = decoder.decode(bytes.subarray(0, length));
  const cachedData = fresh ?? bytes.subarray(length);
  return new Script(source, { filename: name, ...(cachedData.length === 0 ? {} : { cachedData }) });
}
