/** Mappings of configurations. */
import { isList, isMap, newMap, type Value, type ValueMap } from "../../src/base/value.ts";

/** Merges changes into a configuration: mappings by key; lists are joined. */
export function merged(base: ValueMap, changes: ValueMap): ValueMap {
  const result: ValueMap = Object.assign(newMap(), base);
  for (const [key, value] of Object.entries(changes)) {
    const before = result[key];
    const isPart = isMap(before) && isMap(value) && Object.keys(value).length > 0;
    result[key] = isPart ? merged(before, value) : isList(before) && isList(value) ? [...before, ...value] : value;
  }
  return result;
}

/** The mapping, or an empty one. */
export function asMap(value: Value | undefined): ValueMap {
  return isMap(value) ? value : newMap();
}
