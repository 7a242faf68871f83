/**
 * Renderings of earlier pods, found by what the template read of the pod: a rendering depends on nothing else, so a pod with
 * the same readings gets the same value. Names differ between workloads: where a template copies one, the value has a hole.
 */
import type { Template, Watch } from "../../../golang/gotemplate/mod.ts";
import { sameValue } from "../../../base/values/mod.ts";
import { isMap, type Value, type ValueMap } from "../../../base/value.ts";
import { type Form, formOf, isName, namesNode } from "./holes.ts";
import { keysMark, markOf, type Reading, Recorder, type Step, valueOf } from "./recorder.ts";
import { dependsOn, writesOnlyOwn } from "./safe_calls.ts";

/** Renders an input to a text, and reads its value. */
export interface Rendering {
  text(template: Template, input: ValueMap): string;
  value(text: string): Value;
}

/** The first renderings are not recorded: most runs have few pods. */
const UNRECORDED = 3;
/** Recording costs several renderings: this many are allowed, then one more for each `HITS` hits. */
const FREE = 16;
const HITS = 8;
/** At this number all forms are dropped. */
const MAX_FORMS = 512;

/** A node in the tree of readings: the next reading, and the nodes after it. */
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

  /** The value for an input with known readings; `undefined` if there is none. */
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

  /** Records the rendering of an input, if that pays; `value` is the result without a memo. */
  learn(template: Template, input: ValueMap, rendering: Rendering, value: ValueMap): void {
    if (this.#renderings++ < UNRECORDED) return;
    while (this.#attempts < FREE + this.#hits / HITS) {
      this.#attempts++;
      const recorder = new Recorder(input, this.#known);
      const form = formBy(template, recorder, rendering);
      if (form !== undefined) {
        // Kept only if the form makes the same value for the names of this input.
        if (sameValue(form(recorder.names), value)) this.#keep(recorder.readings, form);
        return;
      }
      if (recorder.failed.size === 0) return;
      for (const path of recorder.failed) this.#known.add(path);
      // The new recording reads values at places where earlier nodes have holes.
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

/** The reusable form of a rendering. `undefined` if rendering fails, or if its result depends on a name: the recorder has noted which. */
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
    // A name decides, or the template fails for a token.
    return undefined;
  }
}

/** What a rendering reads besides its input; compared by identity. */
export type Setting = readonly unknown[];

const MAX_SETTINGS = 8;
const memos = new WeakMap<Template, { readonly setting: Setting; readonly memo: RenderMemo }[]>();

/**
 * The memo of a template with a setting; `undefined` if its renderings cannot be kept. Keeps the latest settings.
 * `only`: the pod has no other template, so this one may change its own maps.
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
