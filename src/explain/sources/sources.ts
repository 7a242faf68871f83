/** From the choice of a source to captures. */
import { connect, type KubeConnection, type Pod } from "../../core/kube/client/mod.ts";
import type { PermissionName, World } from "../../core/world/world.ts";
import { isArchive, readArchive } from "../capture/archive.ts";
import { allParts, type Capture } from "../capture/capture.ts";
import { readConfigDump, readFolder } from "../capture/read_saved.ts";
import type { SourceChoice } from "../question/question.ts";
import { ephemeralRules } from "./live/ephemeral.ts";
import { asked, captureLive, type LiveSource } from "./live/live.ts";
import { choosePods, imageOf, PROXY_CONTAINER } from "./live/pods.ts";
import { type PartCommand, SHORT_QUESTIONS, wholeQuestions } from "./live/questions.ts";
import { Together } from "./live/together.ts";
import { captureLocal } from "./local.ts";

/** Pods of which parts are read at the same time. */
const PODS_AT_ONCE = 24;

/** How captures are made. */
export interface Capturing {
  /** How much of each pod is read: all of it, or what a line about it needs. */
  readonly depth?: "whole" | "short";
  /** Permissions that their use needs, beside those of reading them. */
  readonly keeps?: readonly PermissionName[];
}

/**
 * The captures, one for each pod. A source that cannot read a part says why in the part. Errors: a MeshError where nothing
 * at all can be told.
 */
export async function* capturesOf(world: World, source: SourceChoice, how: Capturing = {}): AsyncIterable<Capture> {
  switch (source.kind) {
    case "file":
      yield await readSaved(world, source.path);
      return;
    case "local":
      yield await captureLocal(world);
      return;
    case "live":
      yield* liveCaptures(world, source, how);
  }
}

/** No network and no other process: a capture is untrusted. */
async function readSaved(world: World, path: string): Promise<Capture> {
  world.permissions.keepOnly(["read", "env"]);
  const isFolder = (await world.files.stat(path))?.kind === "directory";
  if (isFolder) return await readFolder(world, path);
  return await isArchive(world, path) ? await readArchive(world, path) : await readConfigDump(world, path);
}

async function* liveCaptures(
  world: World,
  { pods: choice, api: options, ephemeral }: Extract<SourceChoice, { kind: "live" }>,
  { depth = "whole", keeps = [] }: Capturing,
): AsyncIterable<Capture> {
  const api = await connect(world, options);
  world.permissions.keepOnly([...new Set([...api.permissions, ...keeps])]);
  try {
    const { pods, note } = await choosePods(api, choice, api.namespace);
    if (note !== undefined) world.stderr.write(`${note}\n`);
    const container = choice.container ?? PROXY_CONTAINER;
    const live = {
      api,
      clock: world.clock,
      container,
      timeout: options.requestTimeout,
      ...depth === "short" ? { together: new Together() } : {},
    };
    const questions = (pod: Pod): readonly PartCommand[] =>
      depth === "short" ? SHORT_QUESTIONS : wholeQuestions(pod, container);
    // A whole capture may have 100 MiB: one at a time.
    const most = depth === "short" ? PODS_AT_ONCE : 1;
    yield* inOrder(pods, most, async (pod) => {
      const capture = await captureLive(live, pod, questions(pod));
      return ephemeral && capture.parts["rules.iptables"].text === undefined
        ? await withRules(world, { api, live }, { capture, pod })
        : capture;
    });
  } finally {
    api.close();
  }
}

/** The capture with the rules of the kernel, which an ephemeral container of the proxy's image reads. */
async function withRules(
  { clock, stderr }: World,
  { api, live }: { readonly api: KubeConnection; readonly live: LiveSource },
  { capture, pod }: { readonly capture: Capture; readonly pod: Pod },
): Promise<Capture> {
  const image = imageOf(pod, live.container);
  if (image === undefined) return capture;
  const source = {
    api,
    clock,
    ask: (container: string, questions: readonly PartCommand[]) => asked({ ...live, container }, pod, questions),
    say: (text: string) => stderr.write(text),
  };
  const rules = await ephemeralRules(source, pod, image);
  return { ...capture, parts: allParts(new Map([...Object.entries(capture.parts), ...rules])) };
}

/** The results in the order of the items; at most this many are under way, or done and not taken. */
async function* inOrder<T, R>(items: readonly T[], most: number, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const started: Promise<R>[] = [];
  let next = 0;
  for (const item of items) {
    started.push(work(item));
    if (started.length - next >= most) yield await taken(started, next++);
  }
  while (next < started.length) yield await taken(started, next++);
}

async function taken<R>(started: Promise<R>[], at: number): Promise<R> {
  const promise = started[at];
  if (promise === undefined) throw new RangeError("no such item");
  const result = await promise;
  // The results before are not kept.
  delete started[at];
  return result;
}
