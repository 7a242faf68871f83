/**
 * Sets the real-time clock while two agents run with certificates of a CA. Each request makes a new TLS handshake.
 * Envoy has the clock of its agent.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { isLong, printFigure } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import type { Program } from "../agent/support/program.ts";
import { Mesh } from "../identity/support/mesh.ts";
import { type MeshedPod, missing } from "../identity/support/pod.ts";
import { askingResources, spiffe } from "../identity/support/resources.ts";
import { FakedClock, needsFakedClock } from "./support/faked_clock.ts";

/** Validity of a certificate in seconds. Renewal is due after half of it, which is longer than a test runs. */
const LIFE = 1200;
const SHORT_LIFE = 10;
const MINUTE = 60;
const HOUR = 3600;
const ROUNDS = isLong() ? 20 : 1;

interface Setting {
  readonly mesh: Mesh;
  readonly clock: FakedClock;
  readonly agents: readonly Program[];
}

async function withClock(body: (setting: Setting) => Promise<void>): Promise<void> {
  await using clock = await FakedClock.create();
  await using mesh = await Mesh.create({ leafSeconds: LIFE });
  await mesh.plane.give("a.test", askingResources({ handshakes: true }));
  const { a, b } = await mesh.startBoth({ before: clock.before, seconds: isLong() ? 1800 : 180 });
  await body({ mesh, clock, agents: [a, b] });
}

testWhen(
  missing ?? needsFakedClock(),
  `the clock of all machines is set forward past the certificates' end and back, ${ROUNDS} times: certificates are renewed at once`,
  () =>
    withClock(async ({ mesh, clock }) => {
      const forward: Outage[] = [];
      const back: Outage[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const [seconds, outages] of [[LIFE + HOUR, forward], [0, back]] as const) {
          if (outages === back && round === ROUNDS - 1) await mesh.plane.behave({ leafSeconds: SHORT_LIFE });
          const set = async () => {
            await mesh.plane.setClock(seconds);
            clock.set(seconds);
          };
          outages.push(await outageOf(mesh, set, renewed(mesh)));
        }
      }
      printFigure(`set forward: ${summary(forward)}\nset back: ${summary(back)}`);
      // The last certificates are short-lived, and are renewed on time.
      await until(renewed(mesh), "None is renewed any more");
    }),
);

testWhen(
  missing ?? needsFakedClock(),
  "the clock is set by a minute, forward and back: no request fails, and no certificate is renewed",
  () =>
    withClock(async ({ mesh, clock }) => {
      const before = await issued(mesh);
      for (const seconds of [MINUTE, 0, -MINUTE]) {
        const { failed } = await outageOf(mesh, () => clock.set(seconds), isSet(mesh, seconds));
        assert.equal(failed, 0);
      }
      assert.deepEqual(await issued(mesh), before);
    }),
);

/** Requests of each agent to the CA while its clock is ahead. */
const REQUESTS = isLong() ? 10 : 5;
/** The sum of the shortest delays between these requests, in seconds. */
const SHORTEST = isLong() ? 17 : 1.5;

testWhen(
  missing ?? needsFakedClock(),
  "the clock of one machine is set past the certificates' end: the log says so, requests to the CA back off",
  () =>
    withClock(async ({ mesh, clock, agents }) => {
      const before = (await mesh.plane.seen()).ca.length;
      clock.set(LIFE + HOUR);
      const asked = async () => (await mesh.plane.seen()).ca.length - before;
      await until(async () => await asked() > 0, "Nobody asks the CA");
      const start = performance.now();
      for (const agent of agents) {
        await agent.until(
          /clock: The CA's new certificate expired about 1h\S* ago, according to the clock of this machine/,
        );
      }
      await until(async () => await asked() >= 2 * REQUESTS, "Nobody asks the CA again");
      const seconds = (performance.now() - start) / 1000;
      assert.ok(seconds > SHORTEST, `${2 * REQUESTS} requests in ${seconds} s`);
      const { last } = await outageOf(mesh, () => clock.set(0), isSet(mesh, 0));
      printFigure(
        `ahead: ${await asked()} requests to the CA; the last request failed ${Math.round(last)} ms after the repair`,
      );
    }),
);

testWhen(
  missing ?? needsFakedClock(),
  "the clock of one machine is set back by an hour: the log says so, the CA is asked once",
  () =>
    withClock(async ({ mesh, clock, agents }) => {
      const before = await issued(mesh);
      const oneMore = { a: before.a + 1, b: before.b + 1 };
      clock.set(-HOUR);
      for (const agent of agents) {
        await agent.until(
          /clock: The certificate is valid only from .* on: the clock of this machine is behind: correct it/,
        );
      }
      const areRenewed = async () => isDeepStrictEqual(await issued(mesh), oneMore);
      await until(areRenewed, "They are not renewed");
      for (let n = 0; n < (isLong() ? 2000 : 100); n++) assert.notEqual((await mesh.ask()).status, 200);
      assert.deepEqual(await issued(mesh), oneMore);
      const { last } = await outageOf(mesh, () => clock.set(0), isSet(mesh, 0));
      // By the corrected clock renewal is due, so each agent may renew once.
      const after = await issued(mesh);
      assert.ok(after.a <= before.a + 2 && after.b <= before.b + 2, JSON.stringify(after));
      printFigure(`behind: the last request failed ${Math.round(last)} ms after the repair`);
    }),
);

/** Whether both agents have a clock that is this many seconds ahead. */
function isSet(mesh: Mesh, seconds: number): () => Promise<boolean> {
  return async () => {
    const ahead = await Promise.all(mesh.pods.map(aheadOf));
    return ahead.every((each) => Math.abs(each - seconds) < MINUTE / 4);
  };
}

/**
 * The seconds that a pod's clock is ahead: the true time to the certificate's end, less the time in the agent's metric.
 */
async function aheadOf(pod: MeshedPod): Promise<number> {
  const application = await pod.application();
  const { text } = await application.ask("http://127.0.0.1:15020/stats/prometheus");
  const left = Number(/^istio_agent_cert_expiry_seconds\S* (\S+)$/m.exec(text)?.[1] ?? NaN);
  const certs = JSON.parse((await application.ask("http://127.0.0.1:15000/certs")).text);
  const end = Date.parse(certs.certificates[0].cert_chain[0].expiration_time);
  return (end - Date.now()) / 1000 - left;
}

/** Requests around a change: how many failed, and when the last one failed, in milliseconds after the change. */
interface Outage {
  readonly requests: number;
  readonly failed: number;
  readonly last: number;
}

const summary = (outages: readonly Outage[]) =>
  outages.map(({ requests, failed, last }) => `${failed} of ${requests} failed, the last after ${Math.round(last)} ms`)
    .join("; ");

/** The pause between requests, so that they do not use a whole processor. */
const PAUSE_MILLISECONDS = 20;

/** Successful requests in a row that end an outage. */
const ENOUGH = 30;

/** Makes a change under traffic. Resolves when the change is seen and requests succeed. */
async function outageOf(
  mesh: Mesh,
  change: () => void | Promise<void>,
  isSeen: () => Promise<boolean>,
): Promise<Outage> {
  let [requests, failed, last, inRow, going] = [0, 0, 0, 0, true];
  let text = "";
  let changed = performance.now();
  const traffic = (async () => {
    while (going) {
      const answer = await mesh.ask();
      requests++;
      inRow++;
      if (answer.status !== 200 || !answer.text.includes(`URI=${spiffe("a")}`)) {
        [failed, inRow, last, text] = [failed + 1, 0, performance.now() - changed, answer.text];
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
    }
  })();
  try {
    await isSeen();
    await change();
    changed = performance.now();
    await until(isSeen, "The change is not seen");
    inRow = 0;
    await until(() => inRow >= ENOUGH, () => `${failed} of ${requests} failed, as in: ${text}`);
  } finally {
    going = false;
    await traffic;
  }
  return { requests, failed, last };
}

/** Whether both pods have got a certificate since the first call. */
function renewed(mesh: Mesh): () => Promise<boolean> {
  let before: Awaited<ReturnType<typeof issued>> | undefined;
  return async () => {
    const now = await issued(mesh);
    before ??= now;
    return now.a > before.a && now.b > before.b;
  };
}

/** The number of certificates that each pod has received. */
async function issued(mesh: Mesh): Promise<{ readonly a: number; readonly b: number }> {
  const { ca } = await mesh.plane.seen();
  const count = (pod: string) => ca.filter(({ identity, code }) => identity === spiffe(pod) && code === "OK").length;
  return { a: count("a"), b: count("b") };
}
