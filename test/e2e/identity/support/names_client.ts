/** DNS queries inside a pod, as its application sends them: to the pod's name server on port 53. */
import type { RecordData } from "../../../support/dns/client.ts";
import type { Namespace } from "../../iptables/support/pod.ts";
import { ADDRESS } from "./network.ts";

export const TRANSPORTS = ["udp", "tcp"] as const;

export interface NameQuestion {
  readonly transport: typeof TRANSPORTS[number];
  readonly name: string;
  readonly type: string;
}

/** The answer in the form of `test/support/dns/client.ts`, and its copy of the question. */
export interface NameReply {
  readonly rcode: string;
  readonly isAuthoritative: boolean;
  readonly isCut: boolean;
  readonly asked: readonly Pick<RecordData, "name" | "type">[];
  readonly answers: readonly string[];
}

const MAIN = decodeURIComponent(new URL("names_client_main.ts", import.meta.url).pathname);

/** Sends the queries as root, not as the user of the proxy. Returns the answers in the same order. */
export async function askNames(pod: Namespace, questions: readonly NameQuestion[]): Promise<readonly NameReply[]> {
  const args = ["run", "--quiet", "--no-check", "--allow-all", MAIN, ADDRESS.plane];
  const { code, stdout, stderr } = await pod.run(Deno.execPath(), args, { stdin: JSON.stringify(questions) });
  if (code !== 0) throw new Error(`The questions failed: ${stderr}`);
  return JSON.parse(stdout);
}

export async function askName(pod: Namespace, question: NameQuestion): Promise<NameReply> {
  const [reply] = await askNames(pod, [question]);
  if (reply === undefined) throw new Error(`No answer for ${question.name}`);
  return reply;
}
