/** Reads and writes `manifest.json` of a snapshot: the pod, the time, and why parts are absent. */
import type { Removed } from "../../kube/redact/mod.ts";
import { MeshError } from "../../base/errors.ts";
import { isMap, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import {
  ABSENT_REASONS,
  type AbsentPart,
  absentPart,
  type AbsentReason,
  allParts,
  isPartName,
  maxPartBytes,
  type Part,
  PART_NAMES,
  type PartName,
  type PodName,
  type Snapshot,
} from "./snapshot.ts";
import { jsonOf } from "./json_part.ts";
import { safeText } from "./redact.ts";

export const MANIFEST = "manifest.json";

/** Schema version that this program writes, and the newest version that it reads. */
const SCHEMA_VERSION = 1;

const MAX_MANIFEST_BYTES = 1024 * 1024;

export function isSnapshotFile(name: string): boolean {
  return name === MANIFEST || isPartName(name);
}

export function maxFileBytes(name: string): number {
  return isPartName(name) ? maxPartBytes(name) : MAX_MANIFEST_BYTES;
}

/** Returns an absent part if a file of a snapshot is too large to read. */
export function sizeProblem(name: string, size: number): AbsentPart | undefined {
  const most = maxFileBytes(name);
  if (size <= most) return undefined;
  return absentPart("too-large", `${name} has ${size} bytes, more than the limit of ${most}`);
}

/** Maximum number of redacted values to list in the manifest for a part. Further values are only counted. */
const MAX_LISTED = 200;
const MAX_PATH = 200;

/** Data in the manifest that is not part of the snapshot. */
interface Written {
  /** Version of the program that writes the manifest. */
  readonly program: string;
  readonly removed: ReadonlyMap<PartName, readonly Removed[]>;
}

export function manifestText({ pod, time, parts }: Snapshot, { program, removed }: Written): string {
  const absent = Object.fromEntries(
    PART_NAMES.flatMap((name) => {
      const { absent, message } = parts[name];
      return absent === undefined ? [] : [[name, { reason: absent, message: safeText(message) }] as const];
    }),
  );
  const redacted = Object.fromEntries(
    [...removed].filter(([, values]) => values.length > 0).map(([name, values]) => [name, {
      count: values.length,
      values: values.slice(0, MAX_LISTED).map(({ path, ...more }) => ({ path: path.slice(0, MAX_PATH), ...more })),
    }]),
  );
  const manifest = { schemaVersion: SCHEMA_VERSION, pod, time: time?.toISOString(), program, absent, redacted };
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/**
 * Builds a snapshot from its files by name, including `manifest.json` if present. Without a manifest, the pod's name
 * comes from `pod.json` or Envoy's node.
 */
export function snapshotOf(files: ReadonlyMap<string, Part>, origin: string): Snapshot {
  const manifest = files.get(MANIFEST);
  const { value } = manifest === undefined ? { value: undefined } : jsonOf(manifest, MANIFEST);
  const parts = allParts(new Map([...absentOf(value), ...files]));
  const said = value === undefined ? undefined : podName(mapAt(value, "pod"));
  return {
    pod: said ?? podOfParts(parts),
    time: value === undefined ? undefined : timeOf(textAt(value, "time")),
    origin,
    parts,
  };
}

/** Builds a snapshot from the files of an archive or a folder. Throws a MeshError if its manifest is invalid. */
export function savedSnapshot(files: ReadonlyMap<string, Part>, path: string): Snapshot {
  const manifest = files.get(MANIFEST);
  const problem = manifest === undefined ? undefined : manifestProblem(manifest);
  if (problem === undefined) return snapshotOf(files, `"${path}"`);
  throw new MeshError(`The snapshot cannot be read: ${problem}`, { place: { file: path } });
}

function manifestProblem(manifest: Part): string | undefined {
  const { value, part } = jsonOf(manifest, MANIFEST);
  if (value === undefined) return part.message;
  const version = value["schemaVersion"];
  if (version === SCHEMA_VERSION) return undefined;
  return typeof version === "number" && version > SCHEMA_VERSION
    ? `the snapshot has schema version ${version} of a newer kubectl-mesh: upgrade kubectl-mesh`
    : `${MANIFEST} does not have a valid schemaVersion`;
}

function absentOf(manifest: ValueMap | undefined): Map<string, Part> {
  const absent = manifest === undefined ? {} : mapAt(manifest, "absent");
  return new Map(
    Object.entries(absent).flatMap(([name, why]): [string, Part][] => {
      if (!isPartName(name) || !isMap(why)) return [];
      return [[name, absentPart(reasonOf(textAt(why, "reason")), textAt(why, "message"))]];
    }),
  );
}

function reasonOf(text: string): AbsentReason {
  return ABSENT_REASONS.find((reason) => reason === text) ?? "not-in-snapshot";
}

function podName(pod: ValueMap): PodName | undefined {
  const name = textAt(pod, "name");
  return name === "" ? undefined : { namespace: textAt(pod, "namespace"), name };
}

function podOfParts(parts: Snapshot["parts"]): PodName {
  const pod = jsonOf(parts["pod.json"], "pod.json").value;
  const named = pod === undefined ? undefined : podName(mapAt(pod, "metadata"));
  if (named !== undefined) return named;
  const info = jsonOf(parts["server_info.json"], "server_info.json").value;
  return podOfNode(info === undefined ? "" : textAt(mapAt(info, "node"), "id")) ?? { namespace: "", name: "" };
}

/** Returns the pod of an Envoy node ID, such as `sidecar~10.1.0.9~web-1.shop~shop.svc.cluster.local`. */
export function podOfNode(id: string): PodName | undefined {
  const [, name = "", namespace = ""] = /^[^~]+~[^~]*~([^~]+)\.([^~.]+)~/.exec(id) ?? [];
  return name === "" ? undefined : { namespace, name };
}

function timeOf(text: string): Date | undefined {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
