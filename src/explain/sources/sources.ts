/** Reads snapshots from the chosen source. */
import { connect, type Pod } from "../../kube/client/mod.ts";
import type { Progress } from "../../platform/progress.ts";
import type { PermissionName, World } from "../../platform/world.ts";
import { isArchive, readArchive } from "../snapshot/archive.ts";
import { allParts, podText, type Snapshot } from "../snapshot/snapshot.ts";
import { readConfigDump, readFolder } from "../snapshot/read_saved.ts";
import { MeshError } from "../../base/errors.ts";
import type { Ends } from "../ends/both_ends.ts";
import type { MeshResources } from "../resources/mesh_resources.ts";
import { liveResources } from "./live/mesh_resources.ts";
import { liveEnds } from "./live/other_ends.ts";
import type { Facts } from "../connection/facts.ts";
import { podOf } from "../pod.ts";
import type { SourceChoice } from "../question/question.ts";
import type { ProbedSnapshot } from "../evidence.ts";
import { probed, type ProbePlace } from "../probe/send.ts";
import { rulesGuest, startGuest } from "./live/ephemeral.ts";
import { type ControlPlane, controlPlaneOf } from "./live/control_plane.ts";
import { asked, limitOf, snapshotLive } from "./live/live.ts";
import { logsAndEvents } from "./live/logs.ts";
import { choosePods, imageOf, PROXY_CONTAINER } from "./live/pods.ts";
import { livePlace, type ProbedSource } from "./live/probe_place.ts";
import { CONFIGURATION_QUESTIONS, mayReadRules, SHORT_QUESTIONS, WHOLE_QUESTIONS } from "./live/questions.ts";
import { readRules } from "./live/rules.ts";
import { Ztunnels } from "./live/ztunnel.ts";
import { Together } from "./live/together.ts";
import { snapshotLocal } from "./local.ts";

/** Maximum number of pods to read at the same time. */
const PODS_AT_ONCE = 24;

/** Words for the progress of reading pods. */
export const PODS_READ = { one: "pod", verb: "read" } as const;

interface Reading {
  readonly progress: Pick<Progress, "at" | "now" | "hide">;
  /** How much of each pod to read: everything, what one table row needs, or Envoy's configuration and endpoints. */
  readonly depth?: "whole" | "short" | "configuration";
  /** For a report. If set, also reads the logs and events of each pod. Called first, with the control plane's state. */
  readonly report?: (side: ControlPlane) => void;
  /** Permissions of this process to keep, because the caller needs them later. */
  readonly keeps?: readonly PermissionName[];
}

/** Yields a snapshot for each pod. An unreadable part contains the reason. Throws a MeshError if no pod is readable. */
export async function* snapshotsOf(
  world: World,
  source: SourceChoice,
  how: Reading,
): AsyncIterable<ReadPod> {
  switch (source.kind) {
    case "file":
      yield* savedPods(world, source);
      return;
    case "local":
      yield { snapshot: await snapshotLocal(world, source.probe), ends: undefined };
      return;
    case "live":
      yield* liveSnapshots(world, source, how);
  }
}

/** A pod's snapshot. `ends` finds the pods behind its endpoints; `undefined` if they cannot be found. */
export interface ReadPod {
  readonly snapshot: ProbedSnapshot;
  readonly ends: Ends | undefined;
  /** Reads mesh resources; absent without a cluster. */
  readonly resources?: MeshResources;
  /** Number of pods that follow; absent if unknown. */
  readonly left?: number;
  /** Prepares to send requests from the pod, until the iteration ends; `undefined` if this is not possible. */
  readonly sender?: ProbePlace["sender"] | undefined;
}

/** Yields the named pod, or all pods. */
async function* savedPods(
  world: World,
  { paths, pod }: Extract<SourceChoice, { kind: "file" }>,
): AsyncIterable<ReadPod> {
  const all = await allSaved(world, paths);
  const name = pod?.replace(/^(pods?|po)\//, "");
  const chosen = name === undefined ? all : all.filter((each) => each.pod.name === name || podText(each.pod) === name);
  if (chosen.length === 0) {
    const names = all.map((each) => podText(each.pod)).slice(0, 10).join(", ");
    throw new MeshError(`None of the snapshots is of the pod "${pod}"`, { hint: `the snapshots contain ${names}` });
  }
  for (const snapshot of chosen) {
    yield { snapshot, ends: all.length === 1 ? undefined : savedEnds(new Map(all.map((each) => [each, undefined]))) };
  }
}

/** Returns the names of the pods in saved snapshots, without their namespaces. Throws a MeshError if one is unreadable. */
export async function savedNames(world: World, paths: readonly string[]): Promise<readonly string[]> {
  return (await allSaved(world, paths)).flatMap(({ pod }) => pod.name ?? []);
}

/** Reads snapshots. First drops network and process permissions, because a snapshot is untrusted. */
async function allSaved(world: World, paths: readonly string[]): Promise<readonly Snapshot[]> {
  world.permissions.keepOnly(["read", "env"]);
  const all: Snapshot[] = [];
  for (const path of paths) all.push(...await readSaved(world, path));
  return all;
}

/** Finds pods among snapshots by address. Reuses snapshots that are already in typed form. */
export function savedEnds(snapshots: ReadonlyMap<Snapshot, Facts | undefined>): Ends {
  return {
    isOneCluster: false,
    podAt(address) {
      const [snapshot, facts] = [...snapshots].find(([each]) => podOf(each)?.addresses.includes(address)) ?? [];
      if (snapshot === undefined) {
        return Promise.resolve({
          why: `none of the snapshots has the address ${address}; add the snapshot of its pod with another -f`,
        });
      }
      return Promise.resolve(facts === undefined ? { snapshot } : { snapshot, facts });
    },
    endpointsOf: () => Promise.resolve("a snapshot contains only the endpoints that Envoy knows"),
  };
}

async function readSaved(world: World, path: string): Promise<readonly Snapshot[]> {
  const isFolder = (await world.files.stat(path))?.kind === "directory";
  if (isFolder) return [await readFolder(world, path)];
  return await isArchive(world, path) ? await readArchive(world, path) : [await readConfigDump(world, path)];
}

async function* liveSnapshots(
  world: World,
  { pods: choice, api: options, ...reading }: LiveChoice,
  { progress, depth = "whole", report, keeps = [] }: Reading,
): AsyncIterable<ReadPod> {
  const api = await connect(world, options);
  world.permissions.keepOnly([...new Set([...api.permissions, ...keeps])]);
  try {
    const { pods, note } = await choosePods(api, choice, api.namespace);
    const say = (text: string) => {
      progress.hide();
      world.stderr.write(text);
    };
    if (note !== undefined) say(`${note}\n`);
    progress.at(0, pods.length);
    const live = {
      api,
      clock: world.clock,
      say,
      container: choice.container ?? PROXY_CONTAINER,
      timeout: options.requestTimeout,
    };
    if (depth === "short") {
      const together = new Together();
      let done = 0;
      const read = async (pod: Pod) => {
        const snapshot = await snapshotLive({ ...live, together }, pod, SHORT_QUESTIONS);
        progress.at(++done, pods.length);
        return { snapshot, ends: undefined };
      };
      for (let at = 0; at < pods.length; at += PODS_AT_ONCE) {
        yield* await Promise.all(pods.slice(at, at + PODS_AT_ONCE).map(read));
      }
      return;
    }
    const ztunnels = new Ztunnels(api, limitOf(options.requestTimeout));
    const ends = liveEnds(api, (pod) => wholeSnapshot(live, pod, { ztunnels, ephemeral: false }));
    const resources = liveResources(api);
    report?.(await controlPlaneOf({ api, timeout: options.requestTimeout }, pods));
    // A whole snapshot can use 100 MiB of memory: read one pod at a time.
    for (const [at, pod] of pods.entries()) {
      progress.now(pod.metadata.name);
      const snapshot = depth === "configuration"
        ? await snapshotLive(live, pod, CONFIGURATION_QUESTIONS)
        : await wholeSnapshot(live, pod, { ...reading, ztunnels, isReport: report !== undefined });
      progress.at(at + 1, pods.length);
      const image = reading.probeImage ?? imageOf(pod, live.container);
      const sender = image === undefined ? undefined : livePlace(live, pod, image, noRules).sender;
      yield { snapshot, ends, resources, left: pods.length - at - 1, sender };
    }
  } finally {
    api.close();
  }
}

type LiveChoice = Extract<SourceChoice, { kind: "live" }>;

interface WholeReading extends Pick<LiveChoice, "ephemeral" | "probe" | "probeImage"> {
  readonly ztunnels: Ztunnels;
  /** Whether to read logs and events too. */
  readonly isReport?: boolean;
}

async function wholeSnapshot(
  live: ProbedSource,
  pod: Pod,
  { ztunnels, ephemeral, probe, probeImage, isReport = false }: WholeReading,
): Promise<ProbedSnapshot> {
  const { api, container } = live;
  const snapshot = await snapshotLive(live, pod, WHOLE_QUESTIONS);
  const rules = await rulesReader(live, pod, ephemeral);
  const ztunnel = await ztunnels.partOf(pod);
  const more = new Map([...await rules(), ...isReport ? await logsAndEvents(api, pod, container) : []]);
  if (ztunnel !== undefined) more.set("ztunnel.json", ztunnel);
  const whole = { ...snapshot, parts: allParts(new Map([...Object.entries(snapshot.parts), ...more])) };
  const image = imageOf(pod, container);
  if (probe === undefined || image === undefined) return whole;
  return await probed(livePlace(live, pod, probeImage ?? image, rules), whole, probe);
}

const noRules: ProbePlace["rules"] = () => Promise.resolve(new Map());

/** Returns a function that reads the kernel's rules, or no rules without permission. May add an ephemeral container. */
async function rulesReader(live: ProbedSource, pod: Pod, ephemeral: boolean): Promise<ProbePlace["rules"]> {
  const readIn = (container: string) => () => readRules((commands) => asked({ ...live, container }, pod, commands));
  if (mayReadRules(pod, live.container)) return readIn(live.container);
  const image = imageOf(pod, live.container);
  if (!ephemeral || image === undefined) return noRules;
  const container = await startGuest(live, pod, rulesGuest(image));
  if (typeof container === "string") return readIn(container);
  return () => Promise.resolve(new Map([["rules.iptables", container], ["rules.ip6tables", container]]));
}
