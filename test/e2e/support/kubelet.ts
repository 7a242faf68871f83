/**
 * A stand-in for a kubelet. The API server forwards `pods/exec`, `pods/portforward` and `pods/log` to it, and it runs
 * the commands in network namespaces.
 */
import { goProgram } from "../../support/programs/go_program.ts";
import type { ValueMap } from "../../../src/base/value.ts";
import type { Cluster } from "./cluster/cluster.ts";
import { created, reported } from "./cluster/requests.ts";

/** A running container of a pod, by `NAMESPACE/POD/CONTAINER`. */
export interface RunningContainer {
  /** Arguments before each command, such as `ip netns exec NAME`. */
  readonly command?: readonly string[];
  /** PATH of its programs. */
  readonly path?: string;
  /** Standard output by command, in place of programs. */
  readonly answers?: Readonly<Record<string, string>>;
  /** The file that is its log. */
  readonly log?: string;
  /** Milliseconds that each command takes at least. */
  readonly delay?: number;
  /** Addresses that ports of its pod are forwarded to. */
  readonly ports?: Readonly<Record<string, string>>;
}

/** A node whose kubelet is the stand-in. */
export interface KubeletNode {
  readonly name: string;
  /** Replaces the running containers. */
  runs(containers: Readonly<Record<string, RunningContainer>>): Promise<void>;
  /** The number of commands that it has run. */
  executed(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the stand-in and adds its node to the cluster. */
export async function startKubelet(cluster: Cluster, name = "node-1"): Promise<KubeletNode> {
  const program = await goProgram("test/e2e/servers/kubelet");
  const file = await Deno.makeTempFile({ prefix: "mesh-kubelet-" });
  await Deno.writeTextFile(file, "{}");
  const child = new Deno.Command(program, { args: [file], stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
  const port = await firstLine(child.stdout);
  const node = { apiVersion: "v1", kind: "Node", metadata: { name } };
  await created(cluster, node);
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: Number(port) } },
  };
  await reported(cluster, node, status);
  return {
    name,
    runs: (containers) => Deno.writeTextFile(file, JSON.stringify(containers)),
    async executed() {
      // curl, because nobody has signed the kubelet's certificate.
      const args = ["-sk", `https://127.0.0.1:${port}/runs`];
      const { stdout } = await new Deno.Command("curl", { args }).output();
      return Number(new TextDecoder().decode(stdout));
    },
    async stop() {
      await child.stdin.close();
      await child.status;
      await Deno.remove(file);
    },
  };
}

/** Adds a pod that runs on the node, with this status. */
export async function addRunningPod(cluster: Cluster, pod: RunningPod): Promise<void> {
  const { status, metadata, spec } = pod;
  const object = { apiVersion: "v1", kind: "Pod", metadata, spec };
  await created(cluster, object);
  await reported(cluster, object, status);
}

/** A pod object of the API. */
export interface RunningPod {
  readonly metadata: ValueMap;
  readonly spec: ValueMap;
  readonly status: ValueMap;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error("The stand-in kubelet did not start");
    text += value;
  }
  reader.releaseLock();
  return text.trim();
}
