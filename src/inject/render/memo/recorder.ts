/** Records what a template reads of its input, and replaces names by tokens. */
import { isList, isMap, newMap, type Value, type ValueMap } from "../../../base/value.ts";
import { type Holes, isName, MAX_HOLES, tokenOf } from "./holes.ts";

/** One reading: a key of an earlier reading's mapping or list, or the keys of a mapping. */
export interface Step {
  /** The container: 0 is the input, N the result of step N - 1. */
  readonly from: number;
  /** `undefined`: the template reads the keys of the map. */
  readonly key: string | number | undefined;
  /** A name was read, and the rendering only copies it. */
  readonly isHole: boolean;
}

/** A step, and a mark that identifies the value. */
export interface Reading extends Step {
  readonly mark: unknown;
}

/** The value that a step reads. */
export function valueOf(container: unknown, key: string | number): Value | undefined {
  if (isList(container)) return container[Number(key)];
  return isMap(container) && Object.hasOwn(container, key) ? container[key] : undefined;
}

const MAP = Symbol("map");

/** Equal for values that a template cannot distinguish without looking inside. */
export function markOf(value: Value | undefined): unknown {
  if (isList(value)) return Symbol.for(`list of ${value.length}`);
  return isMap(value) ? MAP : value;
}

/** The mark of a mapping's keys. */
export function keysMark(container: unknown): string {
  return isMap(container) ? Object.keys(container).join("\n") : "";
}

/** Places of names that templates copy: workload, containers, labels. */
const LABELS = "metadata.labels.";
const OWNER = "owner.name.";
const CONTAINER = /^spec\.containers\.\d+\.name\.$/;
const AROUND_CONTAINERS = /^spec\.(?:containers\.(?:\d+\.)?)?$/;

/** The input of a rendering that is recorded. */
export class Recorder {
  readonly readings: Reading[] = [];
  readonly input: ValueMap;
  /** The path of each hole. */
  readonly paths: string[] = [];
  /** The name in each hole. */
  readonly names: string[] = [];
  /** The paths of holes whose name decides about the result. */
  readonly failed = new Set<string>();
  readonly #shown = new WeakMap<object, string>();

  /** Names at the paths `known` decide, so they are not replaced. */
  constructor(input: ValueMap, readonly known: ReadonlySet<string>) {
    this.input = this.#map(input, 0, "");
  }

  /** Marks holes whose name decides. */
  fail(holes: Holes): void {
    const all = holes === "containers" ? this.paths.filter((path) => CONTAINER.test(path)) : this.paths;
    for (const path of typeof holes === "string" ? all : holes.map((hole) => this.paths[hole] ?? "")) {
      this.failed.add(path);
    }
  }

  /** Whether a mapping of the input shows tokens; `undefined` for another mapping. */
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
      // A write would be visible in the next rendering.
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
