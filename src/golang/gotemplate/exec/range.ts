import { isGoMap, isList, sortedKeys } from "../kind.ts";
import { sprint } from "../fmt/print.ts";
import { GoInt, type GoMap, GoStruct, type GoValue } from "../../go_value.ts";
import { display } from "./display.ts";
import type { Eval, Exec, Slot, State } from "./state.ts";

/** A compiled `range`. */
export interface Range {
  readonly pipe: Eval;
  readonly body: Exec;
  readonly otherwise: Exec | undefined;
  /** Number of variables that the `range` declares. */
  readonly count: number;
  /** The slot of the index or key, if the template declares one. */
  readonly indexSlot: number | undefined;
  readonly elementSlot: number | undefined;
}

/** Runs a `range` over the elements of a list, the values of a map by sorted keys, or the integers below a number. */
export function rangeExec(range: Range): Exec {
  return (state, dot, vars) => {
    const value = range.pipe(state, dot, vars, undefined);
    const loop = new Loop(range, state, vars);
    if (isList(value)) overList(loop, value);
    else if (isGoMap(value)) overMap(loop, value);
    else if (typeof value === "bigint" || value instanceof GoInt) overIntegers(loop, value);
    else if (value !== undefined) {
      throw state.fail(`range can't iterate over ${value instanceof GoStruct ? display(value) : sprint(value)}`);
    }
    if (!loop.ran && range.otherwise !== undefined) return range.otherwise(state, dot, vars);
    return 0;
  };
}

/** The iterations of one `range`. */
class Loop {
  ran = false;

  constructor(readonly range: Range, readonly state: State, readonly vars: Slot[]) {}

  /** Runs the body once. Returns true if the body ended with `break`. */
  once(index: Slot, element: Slot): boolean {
    const { range, vars } = this;
    this.ran = true;
    this.state.step();
    if (range.elementSlot !== undefined) vars[range.elementSlot] = element;
    if (range.indexSlot !== undefined) vars[range.indexSlot] = index;
    return range.body(this.state, element, vars) === 1;
  }
}

function overList(loop: Loop, list: readonly GoValue[]): void {
  const indexed = loop.range.indexSlot !== undefined;
  for (let i = 0; i < list.length; i++) {
    if (loop.once(indexed ? BigInt(i) : undefined, list[i] ?? null)) return;
  }
}

function overMap(loop: Loop, map: GoMap): void {
  for (const key of sortedKeys(map)) {
    if (loop.once(key, map[key] ?? null)) return;
  }
}

function overIntegers(loop: Loop, limit: bigint | GoInt): void {
  if (loop.range.count > 1) {
    throw loop.state.fail(`can't use ${sprint(limit)} to iterate over more than one variable`);
  }
  const end = typeof limit === "bigint" ? limit : limit.value;
  for (let i = 0n; i < end; i++) {
    if (loop.once(undefined, typeof limit === "bigint" ? i : new GoInt(i, limit.type))) return;
  }
}
