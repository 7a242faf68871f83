/**
 * Caches the renderings of a template. The key is the set of values that the template read from the pod: pods that agree on
 * these values get the same result. Names differ between workloads, so the cached value has holes where names are copied.
 */
import type { Template, Watch } from "../../../golang/gotemplate/mod.ts";
import { oncePer, sameValue } from "../../../base/values/mod.ts";
import { isMap, type Value, type ValueMap } from "../../../base/value.ts";
import { type Form, formOf, isName, namesNode } from "./holes.ts";
import { keysMark, markOf, type Reading, Recorder, type Step, valueOf } from "./recorder.ts";
import { dependsOn, writesOnlyOwn } from "./safe_calls.ts";

export interface Rendering {
  text(template: Template, input: ValueMap): string;
  value(text: string): Value;
}

/** Number of renderings at the start that are not recorded, because most runs have few pods. */
const UNRECORDED = 3;
/** Number of recordings before the cache must prove useful. After that, each `HITS` cache hits allow one more recording. */
const FREE = 16;
const HITS = 8;
const MAX_FORMS = 512;

/** A node in the tree of readings: the next value to read, and the child node for each result. */
interface Place {
  step?: Step;
  form?: Form;
  hole?: Place;
  readonly next: Map<unknown, Place>;
}

export class RenderMemo {
  #root: Place = { next: new Map() };
  readonly #known = new Set<string>();
  #renderings = 0;
  #attempts = 0;
  #hits = 0;
  #forms = 0;

  /** Returns the cached value for an input; `undefined` if the cache has none. */
  find(input: ValueMap): ValueMap | undefined {
    const read: unknown[] = [input];
    const names: string[] = [];
    let place: Place | undefined = this.#root;
    while (place?.step !== undefined) {
      const { from, key } = place.step;
      const container = read[from];
      const value = key === undefined ? undefined : valueOf(container, key);
      read.push(value);
      if (place.hole !== undefined && isName(value)) {
        names.push(value);
        place = place.hole;
      } else place = place.next.get(key === undefined ? keysMark(container) : markOf(value));
    }
    const found = place?.form?.(names);
    if (!isMap(found)) return undefined;
    this.#hits++;
    return found;
  }

  /** Records the rendering of an input, if recording is worthwhile. `value` is the result of a normal rendering. */
  learn(template: Template, input: ValueMap, rendering: Rendering, value: ValueMap): void {
    if (this.#renderings++ < UNRECORDED) return;
    while (this.#attempts < FREE + this.#hits / HITS) {
      this.#attempts++;
      const recorder = new Recorder(input, this.#known);
      const form = formBy(template, recorder, rendering);
      if (form !== undefined) {
        // Keep the form only if it reproduces the normal result for this input's names.
        if (sameValue(form(recorder.names), value)) this.#keep(recorder.readings, form);
        return;
      }
      if (recorder.failed.size === 0) return;
      for (const path of recorder.failed) this.#known.add(path);
      // Clear the tree, because its nodes treat these paths as holes. The next recording compares their names by value.
      this.#forget();
    }
  }

  #forget(): void {
    this.#root = { next: new Map() };
    this.#forms = 0;
  }

  #keep(readings: readonly Reading[], form: Form): void {
    if (this.#forms === MAX_FORMS) this.#forget();
    let place = this.#root;
    for (const { mark, ...step } of readings) {
      place.step ??= step;
      place = nextPlace(place, step.isHole, mark);
    }
    place.form = form;
    this.#forms++;
  }
}

function nextPlace(place: Place, isHole: boolean, mark: unknown): Place {
  if (isHole) return place.hole ??= { next: new Map() };
  const known = place.next.get(mark) ?? { next: new Map() };
  place.next.set(mark, known);
  return known;
}

/** Renders with tokens, and returns the form. `undefined` if rendering fails or depends on a name; see `recorder.failed`. */
function formBy(template: Template, recorder: Recorder, rendering: Rendering): Form | undefined {
  const refuseForeign = writesOnlyOwn();
  const watch: Watch = (...call) => {
    refuseForeign(...call);
    const holes = dependsOn((map) => recorder.showsTokens(map), ...call);
    if (holes.length === 0) return;
    recorder.fail(holes);
    throw new Error("the result depends on a name");
  };
  try {
    const text = rendering.text(template.watched(watch), recorder.input);
    const form = namesNode(text) ? undefined : formOf(rendering.value(text));
    if (form === undefined) recorder.fail("any");
    return form;
  } catch {
    // The result depends on a name, or the template rejects a token.
    return undefined;
  }
}

/** The values that a rendering reads besides its input. They are compared by identity. */
export type Setting = readonly unknown[];

const MAX_SETTINGS = 8;
const memosOf = oncePer((_: Template): { readonly setting: Setting; readonly memo: RenderMemo }[] => []);

/**
 * Returns the memo of a template with a setting; `undefined` if the template cannot be cached. Keeps the latest settings.
 * `only`: the pod has only this template, so the template may write to maps that it creates.
 */
export function memoOf(template: Template, setting: Setting, only = false): RenderMemo | undefined {
  const known = memosOf(template);
  const found = known.find((each) => each.setting.every((value, at) => value === setting[at]));
  if (found !== undefined) return found.memo;
  if (template.effects.has("varies") || (!only && template.effects.has("writes"))) return undefined;
  if (known.length === MAX_SETTINGS) known.shift();
  const memo = new RenderMemo();
  known.push({ setting, memo });
  return memo;
}
