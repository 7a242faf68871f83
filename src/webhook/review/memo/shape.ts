/**
 * The shape of a review: its text without what Kubernetes makes anew for each pod or ReplicaSet. Two texts of one shape are the same
 * JSON but for these names, so one answer may serve both. Nothing is parsed for it.
 */
import { isList, isMap, type Value } from "../../../base/value.ts";
import { holesIn, tokenOf } from "../../../inject/mod.ts";

/** A text in parts. */
export interface Shape {
  readonly text: string;
  /** The uid of the request. */
  readonly uid: string;
  /** The pod-template-hash of the pod; `""` if it has none. */
  readonly hash: string;
}

/** As API servers begin a review: their fields have the order of the Go structs. */
const START =
  /^\{"kind":"AdmissionReview","apiVersion":"admission\.k8s\.io\/v1(?:beta1)?","request":\{"uid":"([-0-9a-f]{36})"/;
/** k8s.io/apimachinery/pkg/util/rand.SafeEncodeString makes it. */
const HASH = /"pod-template-hash":"([a-z0-9]{6,20})"/;
/** The volume that the admission of service accounts adds, with a random end. */
const VOLUME = /"name":"(kube-api-access-[a-z0-9]{5})"/;
/** Uids, also those in keys of `managedFields`, and times, which are replaced one by one. */
const OTHERS = /((\\?")(?:uid|time)\2:\2)[-0-9a-zA-Z:]{20,36}(?=\2)/g;

/** Characters that stand for what was taken out: no JSON has them. */
const HOLES = { hash: "\x01", volume: "\x02", other: "\x03" } as const;
// deno-lint-ignore no-control-regex
const ANY_HOLE = /[\x01-\x03]/;

/** The shape of a review; `undefined` for a text that no API server sends. */
export function shapeOf(text: string): Shape | undefined {
  const uid = START.exec(text)?.[1];
  if (uid === undefined || ANY_HOLE.test(text)) return undefined;
  const hash = HASH.exec(text)?.[1] ?? "";
  const volume = VOLUME.exec(text)?.[1];
  let shape = hash === "" ? text : text.replaceAll(hash, HOLES.hash);
  if (volume !== undefined) shape = shape.replaceAll(volume, HOLES.volume);
  return { text: shape.replace(OTHERS, `$1${HOLES.other}`), uid, hash };
}

const [HASH_AT, VOLUME_AT, UID_AT] = [0, 1, 2] as const;
/** Uids and times that a shape may have. */
const MOST = 100;

/** What stands in the hole of the hash. */
export const HASH_TOKEN = tokenOf(HASH_AT);
/** What stands in the first other hole, that of the request's uid. */
export const UID_TOKEN = tokenOf(UID_AT);

/** A review of a shape, with tokens in its holes; `undefined` if it has too many, or somebody wrote a token. */
export function withTokens({ text }: Shape): string | undefined {
  if (hasToken(text)) return undefined;
  let next: number = UID_AT;
  const filled = text.replaceAll(HOLES.hash, HASH_TOKEN).replaceAll(HOLES.volume, tokenOf(VOLUME_AT))
    .replaceAll(HOLES.other, () => tokenOf(next++));
  return next > MOST ? undefined : filled;
}

/** Whether a text has a token. */
export function hasToken(text: string): boolean {
  return holesIn(text).length > 0;
}

/** Where tokens may stand: what decides nothing, but for templates that read it. */
const PLACES: ReadonlyMap<string, (hole: number) => boolean> = new Map([
  ["request.uid", (hole) => hole === UID_AT],
  ["request.userInfo.uid", isOther],
  ["request.object.metadata.generateName", isHash],
  ["request.object.metadata.labels.pod-template-hash", isHash],
  ["request.object.metadata.ownerReferences.name", isHash],
  ["request.object.metadata.ownerReferences.uid", isOther],
  ["request.object.spec.volumes.name", isVolume],
  ["request.object.spec.initContainers.volumeMounts.name", isVolume],
  ["request.object.spec.containers.volumeMounts.name", isVolume],
]);

function isHash(hole: number): boolean {
  return hole === HASH_AT;
}

function isVolume(hole: number): boolean {
  return hole === VOLUME_AT;
}

function isOther(hole: number): boolean {
  return hole > UID_AT;
}

/** What the webhook drops, whatever stands in it. */
const DROPPED = "request.object.metadata.managedFields";

/** Whether all tokens of a review that `withTokens` made stand in their places. */
export function areInPlace(value: Value, path = ""): boolean {
  if (path === DROPPED) return true;
  if (typeof value === "string") return holesIn(value).every((hole) => PLACES.get(path)?.(hole) === true);
  if (isList(value)) return value.every((item) => areInPlace(item, path));
  if (!isMap(value)) return true;
  const below = path === "" ? "" : `${path}.`;
  return Object.entries(value).every(([key, item]) => !hasToken(key) && areInPlace(item, below + key));
}
