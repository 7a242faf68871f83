/**
 * What templates rendered for earlier pods, found by what they read of the pod. A rendering depends on nothing else, so a pod
 * that is alike in what was read gets the value of the earlier one. Names of workloads differ: where a template writes them as they are,
 * the value has a hole. See docs/performance.md.
 */
import type { Template, Watch } from "../../../golang/gotemplate/mod.ts";
import { sameValue } from "../../../base/values/mod.ts";
import { isMap, type Value, type ValueMap } from "../../../base/value.ts";
import { type Form, formOf, isName, namesNode } from "./holes.ts";
import { keysMark, markOf, type Reading, Recorder, type Step, valueOf } from "./recorder.ts";
import { dependsOn, writesOnlyOwn } from "./safe_calls.ts";

/** How a rendering is made: the text for an input, and its value. */
export interface Rendering {
  text(template: Template, input: ValueMap): string;
  value(text: string): Value;
}

/** The first renderings are not recorded: most runs have few pods. */
const PLAIN = 3;
/** Recording takes as long as some renderings. So many are free, others are earned by this many hits each. */
const FREE = 16;
const HITS = 8;
/** When there are so many, all are forgotten. */
const MAX_FORMS = 512;

/** A place in the tree of readings: what is read next, and the places that follow. */
interface Place {
  step?: Step;
  form?: Form;
  hole?: Place;
  readonly next: Map<unknown, Place>;
}

/** The renderings of one template, with one configuration. */
export class RenderMemo {
  #root: Place = { next: new Map() };
  readonly #known = new Set<string>();
  #renderings = 0;
  #attempts = 0;
  #hits = 0;
  #forms = 0;

  /** The value for an input like one that was learned; `undefined` if there was none. */
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

  /** Keeps what the template renders for an input, if that pays; `value` is what it rendered without a memo. */
  learn(template: Template, input: ValueMap, rendering: Rendering, value: ValueMap): void {
    if (this.#renderings++ < PLAIN) return;
    while (this.#attempts < FREE + this.#hits / HITS) {
      this.#attempts++;
      const recorder = new Recorder(input, this.#known);
      const form = formBy(template, recorder, rendering);
      if (form !== undefined) {
        // The form of a value in which a token means something else does not make the same value.
        if (sameValue(form(recorder.names), value)) this.#keep(recorder.readings, form);
        return;
      }
      if (recorder.failed.size === 0) return;
      for (const path of recorder.failed) this.#known.add(path);
      // Earlier places have names where values are read now.
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

/** The form of what a template renders; `undefined` if it fails, or if a name decides. Then the recorder knows which. */
function formBy(template: Template, recorder: Recorder, rendering: Rendering): Form | undefined {
  const refuseForeign = writesOnlyOwn();
  const watch: Watch = (...call) => {
    refuseForeign(...call);
    const holes = dependsOn((map) => recorder.showsTokens(map), ...call);
    if (holes.length === 0) return;
    recorder.fail(holes);
    throw new Error("a name decides");
  };
  try {
    const text = rendering.text(template.watched(watch), recorder.input);
    const form = namesNode(text) ? undefined : formOf(rendering.value(text));
    if (form === undefined) recorder.fail("any");
    return form;
  } catch {
    // A name decides, or the template fails for a token: the recorder knows which.
    return undefined;
  }
}

/** What a rendering reads beside its input: the same objects and values. */
export type Setting = readonly unknown[];

const MAX_SETTINGS = 8;
const memos = new WeakMap<Template, { readonly setting: Setting; readonly memo: RenderMemo }[]>();

/**
 * The memo of a template with a setting; `undefined` if what it renders cannot be kept. The latest settings stay. A template that is the
 * `only` one of its pods may change maps of its own: no other template sees them.
 */
export function memoOf(template: Template, setting: Setting, only = false): RenderMemo | undefined {
  let known = memos.get(template);
  if (known === undefined) memos.set(template, known = []);
  const found = known.find((each) => each.setting.every((value, at) => value === setting[at]));
  if (found !== undefined) return found.memo;
  if (template.effects.has("varies") || (!only && template.effects.has("writes"))) return undefined;
  if (known.length === MAX_SETTINGS) known.shift();
  const memo = new RenderMemo();
  known.push({ setting, memo });
  return memo;
}
