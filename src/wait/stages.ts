/** Explains the state of the proxy after a timeout, with a hint. */
import { oneLine } from "../base/errors.ts";
import { shownUrl } from "../base/shown_url.ts";
import type { World } from "../platform/world.ts";
import { answered, type Probe, type Stage, unanswered } from "./probe.ts";

const PROXY_PORT = "15021";
const AGENT_PORT = "15020";
const AGENT_PATH = "/healthz/ready?verbose";
const MAX_REASON = 2000;

const HINTS: Readonly<Record<Stage, string>> = {
  ready: "the proxy is ready now",
  refused: "no program listens on this port: check that this pod has a proxy, and see the log of its container",
  "unknown-name": "check the host in --url",
  silent: "the proxy hangs or lacks CPU; a longer --request-timeout may help",
  unready: "the proxy runs but is not ready: see its log",
  "other-status": "only status 200 means ready: check --url",
  other: "check --url, and the log of that server",
};

const LOG_HINT = "see the log of the proxy's container";

export interface Explanation {
  readonly seen: string;
  readonly hint: string;
}

/** Explains a timeout, with the agent's reason if it answers. Never throws. */
export async function explain(world: World, unready: ReadonlyMap<string, Probe>, limit: number): Promise<Explanation> {
  const parts = await Promise.all([...unready].map(([url, found]) => explainOne(world, url, found, limit)));
  return {
    seen: parts.map(({ seen }) => seen).join("; "),
    hint: [...new Set(parts.map(({ hint }) => hint))].join("; "),
  };
}

async function explainOne(world: World, url: string, found: Probe, limit: number): Promise<Explanation> {
  const plain = { seen: `${shownUrl(url)}: ${found.seen}`, hint: HINTS[found.stage] };
  const agent = agentUrl(url);
  if (agent === undefined) return plain;
  const { stage, reason } = await askAgent(world, agent, limit);
  if (stage === "refused" && found.stage === "refused") {
    return { ...plain, seen: `${plain.seen}, and its agent at port ${AGENT_PORT} has not started either` };
  }
  if (reason === undefined) return plain;
  return { seen: `${plain.seen}, while its agent at port ${AGENT_PORT} says: ${reason}`, hint: LOG_HINT };
}

function agentUrl(text: string): string | undefined {
  const url = new URL(text);
  if (url.protocol !== "http:" || ![PROXY_PORT, AGENT_PORT].includes(url.port)) return undefined;
  return `http://${url.hostname}:${AGENT_PORT}${AGENT_PATH}`;
}

/** Asks the agent why it is not ready. Istio's own agent sends an empty body; the status is then the only reason. */
async function askAgent(world: World, url: string, limit: number): Promise<{ stage: Stage; reason?: string }> {
  try {
    const response = await world.network.request(url, { signal: AbortSignal.timeout(limit) });
    const text = await startOf(response);
    const { stage, seen } = answered(response.status);
    return { stage, reason: text === "" ? seen : text };
  } catch (error) {
    return { stage: unanswered(error, limit).stage };
  }
}

/** Returns only the start of the body, in one line: a program other than the agent may respond. */
async function startOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MAX_REASON) break;
  }
  return oneLine(failedStages(text.slice(0, MAX_REASON))).replace(/\p{Cc}/gu, " ");
}

/** Returns the failed stages in the output of `?verbose` (`[+]config ok: ...`, `[-]server failed: ...`). */
function failedStages(text: string): string {
  const failed = text.split("\n").filter((line) => line.startsWith("[-]")).map((line) => line.slice("[-]".length));
  return failed.length === 0 ? text : failed.join("\n");
}
