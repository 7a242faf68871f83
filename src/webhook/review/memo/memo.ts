/**
 * Answers to earlier reviews, for reviews of the same shape: pods that one controller makes, and those of its next ReplicaSet,
 * differ only in names that do not decide. That they do not is proved before an answer is kept: the review of the
 * shape with tokens for names has the same answer, and no call in a template depends on a token. See docs/performance.md.
 */
import { goJson } from "../../../golang/gojson/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type Value, type ValueMap } from "../../../base/value.ts";
import { type Injector, isOpenShift, isRepeatable, metadataOf, refuseDeciding } from "../../../inject/mod.ts";
import type { ReviewContext } from "../pod_injection.ts";
import { parseJson } from "../read_json.ts";
import type { Reviewed } from "../answered.ts";
import { areInPlace, HASH_TOKEN, hasToken, type Shape, shapeOf, UID_TOKEN, withTokens } from "./shape.ts";

/** The answer without what differs. */
interface Kept {
  /** The text before and after the uid. */
  readonly body: readonly [string, string];
  readonly answer: Omit<Reviewed, "body" | "uid">;
}

/** Characters of a shape, of all shapes with their answers, and the number of shapes: a small pod takes 15,000. */
const MAX_TEXT = 64 * 1024;
const MAX_TEXTS = 4 * 1024 * 1024;
const MAX_SHAPES = 1000;

/** Answers a review as it is without a memo. */
type Answering = (review: Value, injector: Injector) => Reviewed;

/** The answers of one process. */
export class ReviewMemo {
  /** By path and shape: the answer, that it was seen once, or that it cannot be kept. The oldest comes first. */
  readonly #known = new Map<string, Kept | "seen" | "unfit">();
  #size = 0;
  #context: Pick<ReviewContext, "injector" | "proxyConfigs" | "nodes"> | undefined;
  #isUsable = false;

  /** The answer to a review like an earlier one; else that of `first`, from which it learns with `again`. Errors: those of `first`. */
  answer(text: string, context: ReviewContext, first: () => Reviewed, again: Answering): Reviewed {
    this.#heed(context);
    const shape = this.#isUsable && text.length <= MAX_TEXT ? shapeOf(text) : undefined;
    if (shape === undefined) return first();
    const key = `${context.path}\n${shape.text}`;
    const known = this.#known.get(key);
    if (typeof known === "object") return answerOf(known, shape);
    const answer = first();
    if (known === undefined) this.#keep(key, "seen");
    if (known === "seen") this.#keep(key, proved(shape, answer, context.injector, again) ?? "unfit");
    return answer;
  }

  /** Forgets all when what answers depend on has changed. */
  #heed({ injector, proxyConfigs, nodes }: ReviewContext): void {
    const before = this.#context;
    const isSame = before?.injector === injector && before.proxyConfigs === proxyConfigs && before.nodes === nodes;
    if (isSame) return;
    this.#context = { injector, proxyConfigs, nodes };
    this.#known.clear();
    this.#size = 0;
    // On OpenShift answers depend on the namespace, which may change.
    this.#isUsable = !isOpenShift(injector) && isRepeatable(injector.config) &&
      !asksForHash(injector, proxyConfigs?.resources ?? []);
  }

  #keep(key: string, value: Kept | "seen" | "unfit"): void {
    this.#forget(key);
    this.#known.set(key, value);
    this.#size += sizeOf(key, value);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_SHAPES && this.#size <= MAX_TEXTS) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const value = this.#known.get(key);
    if (value !== undefined) this.#size -= sizeOf(key, value);
    this.#known.delete(key);
  }
}

function sizeOf(key: string, value: Kept | string): number {
  return key.length + (typeof value === "string" ? 0 : value.body[0].length + value.body[1].length);
}

const HASH_LABEL = "pod-template-hash";

/** Whether a selector, of the configuration or of a ProxyConfig, asks for the hash. */
function asksForHash({ config }: Injector, resources: readonly ValueMap[]): boolean {
  const { neverInjectSelector, alwaysInjectSelector } = config;
  const specs = resources.map((resource) => resource["spec"] ?? null);
  return goJson([...neverInjectSelector, ...alwaysInjectSelector, ...specs]).includes(HASH_LABEL);
}

function answerOf({ body: [before, after], answer }: Kept, { uid, hash }: Shape): Reviewed {
  return { ...answer, body: before + uid + after, uid, name: answer.name.replace(HASH_TOKEN, hash) };
}

/** The answer to keep for a shape, of which `first` is one; `undefined` if names may decide. */
function proved(shape: Shape, first: Reviewed, injector: Injector, again: Answering): Kept | undefined {
  const text = withTokens(shape);
  if (text === undefined) return undefined;
  try {
    const review = parseJson(text);
    if (!isMap(review) || !areInPlace(review) || !hashIsCut(podIn(review))) return undefined;
    const { body, uid: _, ...answer } = again(review, { ...injector, watch: refuseDeciding });
    const [before = "", after = "", ...more] = body.split(UID_TOKEN);
    const kept: Kept = { body: [before, after], answer };
    return more.length === 0 && isSame(answerOf(kept, shape), first) ? kept : undefined;
  } catch {
    // The review is not like others, or a token decides.
    return undefined;
  }
}

function isSame(kept: Reviewed, first: Reviewed): boolean {
  return (["body", "result", "reason", "message", "uid", "namespace", "name", "dryRun"] as const).every((key) =>
    kept[key] === first[key]
  );
}

function podIn(review: ValueMap): ValueMap {
  return mapAt(mapAt(review, "request"), "object");
}

/** Whether the hash, if owners have it in their names, is cut from them: see `podOwner`. */
function hashIsCut(pod: ValueMap): boolean {
  const metadata = metadataOf(pod);
  const labels = mapAt(metadata, "labels");
  const isLabel = textAt(labels, HASH_LABEL) === HASH_TOKEN && textAt(labels, "rollouts-pod-template-hash") === "";
  return mapsAt(metadata, "ownerReferences").every((owner) => {
    const name = textAt(owner, "name");
    return !hasToken(name) || (isLabel && textAt(owner, "kind") === "ReplicaSet" && name.endsWith(`-${HASH_TOKEN}`));
  });
}
