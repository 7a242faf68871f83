/**
 * Measures `webhook serve` as a whole process with the built-in configuration: reviews per second and their latency
 * with 1, 8 and 64 clients, each with a persistent connection, and its resident memory. `--reviews` is the total number
 * of reviews: half of them measure speed, half memory. With `--new`, each pod belongs to a new application. The peer is
 * istiod. Speeds depend on the machine and are only printed; exits with 1 if the memory grows. The binary must be
 * compiled.
 *
 * The last columns show the processors that the webhook and this process used. The webhook limits the speed if it uses
 * a whole processor (JavaScript runs on one) and this process uses less. "a core" is the number of reviews per second
 * of the webhook's processor time, which varies least on a busy machine.
 */
import { parseArgs } from "node:util";
import { processorTime, resident, startWebhook, type Webhook } from "./webhook_process.ts";
import { reviewOf } from "./webhook_review.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;

interface Load {
  readonly clients: number;
  /** Reviews per second that istiod reaches. */
  readonly peer: number;
}

const LOADS: readonly Load[] = [
  { clients: 1, peer: 300 },
  { clients: 8, peer: 500 },
  { clients: 64, peer: 500 },
];

/** The number of parallel reviews that is typical for the rollout of a Deployment. */
const FOR_MEMORY: Load = { clients: 8, peer: 500 };

/**
 * Goals: the speed relative to the peer's, the median in milliseconds with one client, the 99th percentile with eight
 * clients, and the reviews per second of processor time.
 */
const WANTED = { ratio: 3, median: 3, tail: 10, perCore: 1500 };

let isNew = false;

/** The limit for growth between the halves in MB. V8 waits for several megabytes of garbage before it collects them. */
const GROWTH = 24;

/** Reviews before the measurement, so that V8 has compiled the code that is used often. */
const WARM_UP = 1000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      reviews: { type: "string", default: "20000" },
      new: { type: "boolean", default: false },
    },
  });
  isNew = values.new;
  const reviews = Number(values.reviews);
  if (!(Number.isSafeInteger(reviews) && reviews >= 1000)) {
    throw new Error(`--reviews must be a number of 1000 or more, not "${values.reviews}"`);
  }
  const webhook = await startWebhook(BINARY);
  try {
    print(`load average ${Deno.loadavg().map((load) => load.toFixed(2)).join(" ")}, ${reviews} reviews\n`);
    print(`resident when idle ${mb(await resident(webhook.pid))}\n`);
    await send(webhook, FOR_MEMORY, WARM_UP);
    await measureSpeeds(webhook, reviews / 2);
    return await measureMemory(webhook, reviews / 2) ? 0 : 1;
  } finally {
    await webhook.end();
  }
}

async function measureSpeeds(webhook: Webhook, reviews: number): Promise<void> {
  const titles = ["reviews/s", "istiod", "ratio", "p50 ms", "p99 ms", "webhook", "load", "a core"].map((title) =>
    title.padStart(10)
  );
  print(`${"".padEnd(22)}${titles.join("")}\n`);
  for (const load of LOADS) {
    const { rate, median, tail, webhookCores, ownCores } = await send(webhook, load, reviews / LOADS.length);
    const ratio = rate / load.peer;
    const columns = [rate.toFixed(0), `${load.peer}`, ratio.toFixed(2), median.toFixed(2), tail.toFixed(2)];
    const perCore = rate / webhookCores;
    const shares = [webhookCores.toFixed(2), ownCores.toFixed(2), perCore.toFixed(0)];
    const all = [...columns, ...shares].map((column) => column.padStart(10));
    const isSlow = ratio < WANTED.ratio || perCore < WANTED.perCore ||
      (load.clients === 1 && median >= WANTED.median) || (load.clients === 8 && tail >= WANTED.tail);
    print(
      `${`clients: ${load.clients}`.padEnd(22)}${all.join("")}${isSlow ? "   below what is wanted" : ""}\n`,
    );
  }
  print(
    `Wanted: a ratio of ${WANTED.ratio}, ${WANTED.perCore} a core, with one client a p50 below ${WANTED.median} ms, ` +
      `with eight a p99 below ${WANTED.tail} ms\n`,
  );
}

/** The result for a load. */
interface Speed {
  readonly rate: number;
  readonly median: number;
  readonly tail: number;
  readonly webhookCores: number;
  readonly ownCores: number;
}

/** Sends reviews. Each client sends the next review when it has received a response. */
async function send(webhook: Webhook, { clients }: Load, reviews: number): Promise<Speed> {
  const connections = Array.from({ length: clients }, () => webhook.client());
  // Opens the connections before the measurement.
  await Promise.all(connections.map((client) => sendOne(webhook, client)));
  const times: number[] = [];
  const before = [await processorTime(webhook.pid), await processorTime(Deno.pid)] as const;
  const start = performance.now();
  let left = Math.ceil(reviews);
  await Promise.all(connections.map(async (client) => {
    while (left-- > 0) times.push(await sendOne(webhook, client));
  }));
  const seconds = (performance.now() - start) / 1000;
  const after = [await processorTime(webhook.pid), await processorTime(Deno.pid)] as const;
  for (const client of connections) client.close();
  const sorted = times.toSorted((a, b) => a - b);
  return {
    rate: times.length / seconds,
    median: sorted[Math.floor(times.length * 0.5)] ?? NaN,
    tail: sorted[Math.floor(times.length * 0.99)] ?? NaN,
    webhookCores: (after[0] - before[0]) / seconds,
    ownCores: (after[1] - before[1]) / seconds,
  };
}

/** Sends a review and returns its time in milliseconds. */
async function sendOne({ url }: Webhook, client: Deno.HttpClient): Promise<number> {
  const id = crypto.randomUUID();
  const start = performance.now();
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { client, method: "POST", headers, body: reviewOf(id, isNew) });
  const text = await response.text();
  const time = performance.now() - start;
  const isInjected = response.status === 200 && text.includes(`"${id}"`) && text.includes('"patch":"');
  if (!isInjected) throw new Error(`The pod was not injected: ${response.status} ${text.slice(0, 300)}`);
  return time;
}

async function measureMemory(webhook: Webhook, reviews: number): Promise<boolean> {
  const sizes: number[] = [];
  for (let quarter = 1; quarter <= 4; quarter++) {
    await send(webhook, FOR_MEMORY, reviews / 4);
    sizes.push(await resident(webhook.pid));
    print(`resident after ${Math.round(reviews * (1 + quarter / 4))} reviews ${mb(sizes.at(-1) ?? NaN)}\n`);
  }
  // The minimum of each half, because memory is higher between garbage collections.
  const growth = Math.min(...sizes.slice(2)) - Math.min(...sizes.slice(0, 2));
  if (growth > GROWTH) print(`It grew by ${growth.toFixed(1)} MB between the halves, more than ${GROWTH}\n`);
  return growth <= GROWTH;
}

function mb(size: number): string {
  return `${size.toFixed(1)} MB`;
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

Deno.exit(await main());
