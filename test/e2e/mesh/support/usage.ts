/** Memory and file descriptors of the processes of a pod's proxy, as the kernel counts them. */
import type { RunningPod } from "./kubelet/kubelet.ts";

/** One look at a process. */
export interface Usage {
  /** Megabytes. */
  readonly memory: number;
  readonly descriptors: number;
}

/** The agent and its Envoy. */
export async function usageOf({ proxy }: RunningPod): Promise<Readonly<Record<"agent" | "Envoy", Usage>>> {
  const agent = proxy.pid();
  const [envoy] = await childrenOf(agent);
  if (envoy === undefined) throw new Error(`The agent has no Envoy:\n${proxy.text}`);
  return { agent: await usage(agent), Envoy: await usage(envoy) };
}

async function usage(pid: number): Promise<Usage> {
  const [, kibibytes = "NaN"] = /^VmRSS:\s+(\d+) kB$/m.exec(await Deno.readTextFile(`/proc/${pid}/status`)) ?? [];
  const descriptors = await Array.fromAsync(Deno.readDir(`/proc/${pid}/fd`));
  return { memory: Number(kibibytes) * 1024 / 1e6, descriptors: descriptors.length };
}

/** The processes that a process has started. Source: proc_tid_children(5). */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const tasks = await Array.fromAsync(Deno.readDir(`/proc/${pid}/task`));
  const texts = await Promise.all(tasks.map(({ name }) => Deno.readTextFile(`/proc/${pid}/task/${name}/children`)));
  return texts.flatMap((text) => text.split(" ").filter((part) => part !== "").map(Number));
}
