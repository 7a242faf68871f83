/** Runs `snapshot`: saves pods in an archive for `explain -f`. */
import { EXIT, MeshError } from "../base/errors.ts";
import { wrappedAround } from "../base/text/mod.ts";
import { type Progress, withProgress } from "../platform/progress.ts";
import { Redactor } from "../kube/redact/mod.ts";
import type { World } from "../platform/world.ts";
import { writeArchive } from "./snapshot/archive.ts";
import { PART_NAMES, type Snapshot } from "./snapshot/snapshot.ts";
import type { SourceChoice } from "./question/question.ts";
import type { ControlPlane } from "./sources/live/control_plane.ts";
import { PODS_READ, snapshotsOf } from "./sources/sources.ts";

interface SaveOptions {
  readonly source: SourceChoice;
  readonly path: string;
  readonly program: string;
}

/**
 * Writes the archive and reports its contents on standard error. Skips unreadable pods and then returns exit code 1.
 * Throws a MeshError if all pods are unreadable, or if the file cannot be written.
 */
export async function saveSnapshot(world: World, options: SaveOptions): Promise<number> {
  return await withProgress(world, PODS_READ, (progress) => saved(world, options, progress));
}

async function saved(world: World, { source, path, program }: SaveOptions, progress: Progress): Promise<number> {
  world.files.tidyTemporary(path);
  const isMany = source.kind === "live" && source.pods.name === undefined;
  const contents: Contents[] = [];
  let left = 0;
  let side: ControlPlane | undefined;
  const leaveOut = (message: string) => {
    left++;
    progress.hide();
    world.stderr.write(`error: ${message}\n`);
  };
  const report = (found: ControlPlane) => void (side = found);
  async function* readable(): AsyncGenerator<Snapshot> {
    for await (const { snapshot } of snapshotsOf(world, source, { progress, keeps: ["write"], report })) {
      if (PART_NAMES.some((name) => name !== "pod.json" && snapshot.parts[name].text !== undefined)) yield snapshot;
      else if (!isMany) throw nothing(snapshot);
      else leaveOut(nothing(snapshot).message);
    }
    if (contents.length === 0) throw new MeshError("None of the proxies can be read; the archive is not written");
  }
  const bytes = await writeArchive(world, readable(), {
    path,
    program,
    isMany,
    written: (snapshot, redacted) => contents.push(contentsOf(snapshot, redacted)),
    full: (what) => leaveOut(`The archive is full and does not contain ${what}: select fewer pods with -l`),
    beside: () => side && { name: "istiod.json", text: controlPlaneText(side) },
  });
  progress.end();
  if (isMany) world.stderr.write(`"${path}" has ${contents.length} pods, ${kib(bytes)}\n`);
  for (const { files, secrets, absent } of contents) {
    const what = isMany ? files : `"${path}" has ${files}, ${kib(bytes)}`;
    world.stderr.write(broken(`${what}; ${secrets}`, "", world));
    for (const line of absent) world.stderr.write(broken(`without ${line}`, "  ", world));
  }
  for (const problem of side?.problems ?? []) world.stderr.write(broken(`without ${problem}`, "  ", world));
  return left === 0 ? EXIT.ok : EXIT.failed;
}

/** Returns the control plane's state without credentials. Keeps resource versions, although they look like secrets. */
function controlPlaneText(side: ControlPlane): string {
  return new Redactor().credentials(`${JSON.stringify(side, undefined, 2)}\n`);
}

/** Returns an indented line, broken between words at a terminal. */
function broken(text: string, indent: string, { stderr: { isTerminal, columns = Infinity } }: World): string {
  const lines = isTerminal ? wrappedAround(text, columns - indent.length - 2) : [text];
  return `${indent}${lines.join(`\n${indent}  `)}\n`;
}

/** The parts of a pod in the archive, and the absent parts, with one line for each reason. */
interface Contents {
  readonly files: string;
  readonly secrets: string;
  readonly absent: readonly string[];
}

function contentsOf({ origin, parts }: Snapshot, redacted: number): Contents {
  const absent = PART_NAMES.filter((name) => parts[name].text === undefined);
  return {
    files: `${PART_NAMES.length - absent.length} files of ${origin}`,
    secrets: redacted === 0 ? "no secrets found" : `${redacted} values were redacted`,
    absent: [...Map.groupBy(absent, (name) => parts[name].message)].map(([why, names]) =>
      `${names.join(", ")}: ${why}`
    ),
  };
}

function nothing({ origin, parts }: Snapshot): MeshError {
  return new MeshError(`The proxy of ${origin} cannot be read: ${parts["server_info.json"].message}`);
}

function kib(bytes: number): string {
  return `${Math.max(1, Math.round(bytes / 1024))} KiB`;
}
