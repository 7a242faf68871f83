/** Memory and file descriptors of the processes of a pod's proxy, as the kernel counts them. */
import { childOf } from "../../agent/support/agent.ts";
import type { RunningPod } from "./kubelet/kubelet.ts";

/** Measurements of a process. */
export interface Usage {
  /** Megabytes. */
  readonly memory: number;
  readonly descriptors: number;
}

/** The agent and its Envoy. */
export async function usageOf({ proxy }: RunningPod): Promise<Readonly<Record<"agent" | "Envoy", Usage>>> {
  const agent = proxy.pid();
  return { agent: await usage(agent), Envoy: await usage(childOf(agent)) };
}

async function usage(pid: number): Promise<Usage> {
  const [, kibibytes = "NaN"] = /^VmRSS:\s+(\d+) kB$/m.exec(await Deno.readTextFile(`/proc/${pid}/status`)) ?? [];
  const descriptors = await Array.fromAsync(Deno.readDir(`/proc/${pid}/fd`));
  return { memory: Number(kibibytes) * 1024 / 1e6, descriptors: descriptors.length };
}
