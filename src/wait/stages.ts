/** What is said when time is up: how far the proxy came, and where to look. */
import { oneLine } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import { answered, type Probe, type Stage, unanswered } from "./probe.ts";

/** The port on which Istio's proxy answers the probe that goes through it, and the one of its agent. */
const PROXY_PORT = "15021";
const AGENT_PORT = "15020";
const AGENT_PATH = "/healthz/ready?verbose";
const LONGEST_REASON = 2000;

/** What to do about a URL that stayed in a stage. */
const HINTS: Readonly<Record<Stage, string>> = {
  ready: "it is ready now",
  refused: "nothing listens there: see whether this pod has a proxy, and the log of its container",
  "unknown-name": "check the host in --url",
  silent: "it hangs or is short of CPU; --request-timeout gives it longer",
  unready: "it runs and is not ready: see its log",
  "other-status": "only the status 200 means ready: check --url",
  other: "check --url, and see the log of what answers there",
};

const LOG_HINT = "see the log of the proxy's container";

/** The message and the hint of the error. */
export interface Explanation {
  readonly seen: string;
  readonly hint: string;
}

/** Puts what is not ready into words, with the agent's own reason where one is to be had. Never throws. */
export async function explain(world: World, unready: ReadonlyMap<string, Probe>, limit: number): Promise<Explanation> {
  const parts = await Promise.all([...unready].map(([url, found]) => explainOne(world, url, found, limit)));
  return {
    seen: parts.map(({ seen }) => seen).join("; "),
    hint: [...new Set(parts.map(({ hint }) => hint))].join("; "),
  };
}

async function explainOne(world: World, url: string, found: Probe, limit: number): Promise<Explanation> {
  const told = { seen: `${url}: ${found.seen}`, hint: HINTS[found.stage] };
  const agent = agentUrl(url);
  if (agent === undefined) return told;
  const { stage, reason } = await askAgent(world, agent, limit);
  if (stage === "refused" && found.stage === "refused") {
    return { ...told, seen: `${told.seen}, and its agent at port ${AGENT_PORT} has not started either` };
  }
  if (reason === undefined) return told;
  return { seen: `${told.seen}, while its agent at port ${AGENT_PORT} says: ${reason}`, hint: LOG_HINT };
}

/** Where the agent tells its reason, for a URL of which that is known. */
function agentUrl(text: string): string | undefined {
  const url = new URL(text);
  if (url.protocol !== "http:" || ![PROXY_PORT, AGENT_PORT].includes(url.port)) return undefined;
  return `http://${url.hostname}:${AGENT_PORT}${AGENT_PATH}`;
}

/** Istio's own agent answers without a text; then its status is all there is. */
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

/** The first of a text, on one line: what answers at that port need not be an agent. */
async function startOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= LONGEST_REASON) break;
  }
  return oneLine(failedStages(text.slice(0, LONGEST_REASON))).replace(/\p{Cc}/gu, " ");
}

/** Of a list of stages, as `?verbose` gives it (`[+]config ok: ...`, `[-]server failed: ...`), those that failed. */
function failedStages(text: string): string {
  const failed = text.split("\n").filter((line) => line.startsWith("[-]")).map((line) => line.slice("[-]".length));
  return failed.length === 0 ? text : failed.join("\n");
}
