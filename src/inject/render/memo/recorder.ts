/** Records the values that a template reads from its input, and replaces names with tokens. */
import { isList, isMap, newMap, type Value, type ValueMap } from "../../../base/value.ts";
import { type Holes, isName, MAX_HOLES, tokenOf } from "./holes.ts";

/** One reading: the value under a key, or the list of keys of a mapping. */
export interface Step {
  /** The mapping or list that is read: 0 is the input, N is the result of step N - 1. */
  readonly from: number;
  /** The key that is read; `undefined` if the template reads the list of keys. */
  readonly key: string | number | undefined;
  /** The value is a name that the rendering only copies. */
  readonly isHole: boolean;
}

/** A step, with a mark that identifies the value that was read. */
export interface Reading extends Step {
  readonly mark: unknown;
}

/** Reads a key of a mapping or list; `undefined` if it is missing. */
export function valueOf(container: unknown, key: string | number): Value | undefined {
  if (isList(container)) return container[Number(key)];
  return isMap(container) && Object.hasOwn(container, key) ? container[key] : undefined;
}

const MAP = Symbol("map");

/** Returns a mark that is equal for values that a template cannot distinguish without reading their content. */
export function markOf(value: Value | undefined): unknown {
  if (isList(value)) return Symbol.for(`list of ${value.length}`);
  return isMap(value) ? MAP : value;
}

/** Returns the mark of a mapping's list of keys. */
export function keysMark(container: unknown): string {
  return isMap(container) ? Object.keys(container).join("\n") : "";
}

/** Paths where names can become holes: labels, the workload's name, container names. */
const LABELS = "metadata.labels.";
const OWNER = "owner.name.";
const CONTAINER = /^spec\.containers\.\d+\.name\.$/;
const AROUND_CONTAINERS = /^spec\.(?:containers\.(?:\d+\.)?)?$/;

/** Wraps the input of a rendering in proxies that record every access. */
export class Recorder {
  readonly readings: Reading[] = [];
  readonly input: ValueMap;
  /** The path of each hole, by hole number. */
  readonly paths: string[] = [];
  /** The name in each hole, by hole number. */
  readonly names: string[] = [];
  /** The paths of the holes whose names affect the result. */
  readonly failed = new Set<string>();
  readonly #shown = new WeakMap<object, string>();

  /** `known`: the paths of names that affect the result. These names are not replaced with tokens. */
  constructor(input: ValueMap, readonly known: ReadonlySet<string>) {
    this.input = this.#map(input, 0, "");
  }

  /** Records that the names in these holes affect the result. */
  fail(holes: Holes): void {
    const all = holes === "containers" ? this.paths.filter((path) => CONTAINER.test(path)) : this.paths;
    for (const path of typeof holes === "string" ? all : holes.map((hole) => this.paths[hole] ?? "")) {
      this.failed.add(path);
    }
  }

  /** Whether a mapping of the input contains tokens; `undefined` if the mapping is not part of the input. */
  showsTokens(map: object): boolean | undefined {
    const path = this.#shown.get(map);
    return path === undefined ? undefined : LABELS.startsWith(path) || AROUND_CONTAINERS.test(path);
  }

  #map(map: ValueMap, from: number, path: string): ValueMap {
    const seen = new Map<string, Value | undefined>();
    const read = (key: string | symbol) => {
      if (typeof key === "symbol") return undefined;
      if (!seen.has(key)) seen.set(key, this.#read(map, from, key, `${path}${key}.`));
      return seen.get(key);
    };
    let keys: string[] | undefined;
    const shown = new Proxy(newMap(), {
      get: (_, key) => read(key),
      has: (_, key) => read(key) !== undefined,
      getOwnPropertyDescriptor: (_, key) => {
        const value = read(key);
        return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true };
      },
      // Reject writes: the next rendering would see them.
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
      ownKeys: () => {
        if (keys !== undefined) return keys;
        this.readings.push({ from, key: undefined, isHole: false, mark: keysMark(map) });
        return keys = Object.keys(map);
      },
    });
    this.#shown.set(shown, path);
    return shown;
  }

  #read(container: ValueMap | Value[], from: number, key: string | number, path: string): Value | undefined {
    const value = valueOf(container, key);
    const isHole = this.#mayBeHole(path) && isName(value);
    this.readings.push({ from, key, isHole, mark: markOf(value) });
    if (isHole) {
      this.names.push(value);
      return tokenOf(this.paths.push(path) - 1);
    }
    const at = this.readings.length;
    if (isList(value)) return value.map((_, index) => this.#read(value, at, index, `${path}${index}.`) ?? null);
    return isMap(value) ? this.#map(value, at, path) : value;
  }

  #mayBeHole(path: string): boolean {
    const isPlace = path === OWNER || path.startsWith(LABELS) || CONTAINER.test(path);
    return isPlace && !this.known.has(path) && this.names.length < MAX_HOLES;
  }
}
