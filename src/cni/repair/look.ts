/** Checks the rules in the network namespace of a pod, in a child process. */
import * as z from "zod/mini";
import { EXIT, MeshError, oneLine } from "../../base/errors.ts";
import { joinBytes } from "../../base/bytes.ts";
import { parseJson } from "../../base/json.ts";
import { textAt } from "../../base/value.ts";
import { openCapture } from "../../iptables/mod.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import { startLog } from "../../platform/log.ts";
import type { World } from "../../platform/mod.ts";
import { annotationOf, captureOf } from "../plugin/capture_of.ts";
import { addressesOf } from "./broken.ts";
import { networkNamespace } from "./namespace.ts";

/** Maximum milliseconds for the child process. */
const ANSWER = 60_000;

/** The task that the child process reads from standard input. `mends`: whether to apply missing rules. */
const TASK = z.object({ args: z.array(z.string()), mends: z.boolean() });
/** The answer that the child process writes to standard output. `isFree`: whether no capture rules were there. */
const ANSWER_FORM = z.object({ isFree: z.boolean() });

/** The mount point of the node's /proc, and the kind of rules. */
export interface LookOptions {
  readonly hostProc: string;
  readonly nativeNftables: boolean;
}

/**
 * Returns whether the namespace of a pod contains no capture rules. If there are none and `mends` is set, the child
 * process applies the rules. Rules that differ from the settings stay. Rejects with a `MeshError` if the check fails.
 */
export async function lacksRules(
  world: World,
  options: LookOptions,
  pod: KubeObject,
  mends: boolean,
): Promise<boolean> {
  const capture = captureOf(pod);
  if (!capture.captured) return false;
  const netns = await networkNamespace(world, options.hostProc, {
    uid: textAt(pod.metadata, "uid"),
    addresses: addressesOf(pod),
  });
  if (netns === undefined) {
    throw new MeshError("No process on this node runs in a network namespace with an address of the pod");
  }
  const native = options.nativeNftables ? ["--native-nftables"] : [];
  const [command = "", ...own] = world.machine.program;
  const { code, stdout, stderr } = await world.processes.run({
    command,
    args: [...own, "iptables", "cni", "look"],
    stdin: JSON.stringify({ args: [...capture.args, ...native, "--network-namespace", netns], mends }),
    env: { MESH_ARGV0: "kubectl-mesh" },
    timeoutMilliseconds: ANSWER,
  });
  const answer = z.safeParse(ANSWER_FORM, parseJson(stdout));
  if (code === 0 && answer.success) return answer.data.isFree;
  throw new MeshError(
    oneLine(stderr).replace(/^error: /, "") || `Checking the rules of the pod failed with exit code ${code}`,
  );
}

/** Runs `iptables cni look`, the child process. */
export async function lookIntoPod(world: World): Promise<number> {
  const pieces = await Array.fromAsync(world.stdin.chunks());
  const { args, mends } = z.parse(TASK, parseJson(new TextDecoder().decode(joinBytes(pieces))));
  const log = startLog(world, "cni", { level: "error" });
  const pod = await openCapture(world, { args, log, originOf: annotationOf });
  const { isFree } = await pod.compare();
  if (isFree && mends) await pod.apply();
  world.stdout.write(`${JSON.stringify({ isFree })}\n`);
  return EXIT.ok;
}
