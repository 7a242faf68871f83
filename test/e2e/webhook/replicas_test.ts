/**
 * A real API server calls two replicas behind one address for each pod. Certificates and configurations change, also to
 * broken ones, and one replica after the other ends, while clients create pods. A long run repeats each fault more
 * often, without pauses of the clients; docs/reliability.md has its figures.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type KubeConnection } from "../../../src/kube/client/mod.ts";
import { messageOf } from "../../../src/base/errors.ts";
import { isMap, type ValueMap } from "../../../src/base/value.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { BUILT_IN } from "../../../src/inject/mod.ts";
import { isLong, printFigure } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { type TestCertificate, testCertificate } from "../../support/tls/certificates.ts";
import { until } from "../../support/until.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";
import { register, startWebhook, triedStatus, type WebhookProcess } from "../support/webhook.ts";
import { balance, type Balancer } from "./support/balancer.ts";
import { createNamespace } from "../support/cluster/requests.ts";

const CLIENTS = 8;
const ROUNDS = isLong() ? 10 : 2;
/** Pods that are created before and after each fault. */
const PODS = isLong() ? 40 : 24;
/** Milliseconds between two pods of a client, in which replicas see new files and start. */
const PAUSE = isLong() ? 0 : 300;

testWhen(needsCluster(), "two replicas of the webhook under load", async (t) => {
  const cluster = await startCluster();
  const api = await connect(realWorld(), { kubeconfig: cluster.kubeconfig });
  try {
    await createNamespace(cluster, "mesh", { "istio-injection": "enabled" });
    const certificates = Array.from({ length: ROUNDS }, () => testCertificate());
    await using replicas = await Replicas.start(cluster, certificates);
    for (const [name, fault] of Object.entries(FAULTS)) {
      await t.step(name, async (t) => {
        const load = loadOf(api);
        try {
          for (let round = 0; round < ROUNDS; round++) {
            await load.goesOn(PODS);
            await fault(replicas, load, certificates[round] ?? testCertificate(), round);
            await load.goesOn(PODS);
          }
        } finally {
          await load.stop();
        }
        const figure = `${name}, ${ROUNDS} times: ${load.summary()}`;
        printFigure(figure);
        await t.step(figure, () => {
          // Reviews in flight on a killed replica, and reviews that reach its port before the port closes.
          const allowed = fault === killsOne ? 2 * ROUNDS * CLIENTS : 0;
          assert.ok(load.failures.length <= allowed, load.failures.slice(0, 3).join("\n"));
          assert.deepEqual([...load.images].filter((image) => !/^hub-\w+\.test\//.test(image)), []);
        });
      });
    }
  } finally {
    api.close();
    await cluster.stop();
  }
});

type Fault = (replicas: Replicas, load: Load, certificate: TestCertificate, round: number) => Promise<void>;

const FAULTS: Readonly<Record<string, Fault>> = {
  "certificate and configuration change, with a broken one in between": changes,
  "SIGTERM of one": endsOne,
  "SIGKILL of one": killsOne,
};

async function changes(replicas: Replicas, load: Load, certificate: TestCertificate, round: number): Promise<void> {
  await replicas.each(async (replica) => {
    const from = replica.log().length;
    await replica.write("values.yaml", "global: {hub: [");
    await replica.certify({ ...certificate, key: testCertificate().key });
    await replica.logged("Cannot use the new configuration, keeping the previous one", from);
    await replica.logged(/Cannot .* certificate, keeping the previous one/, from);
  });
  await load.goesOn(PODS);
  await replicas.configure(round);
  await replicas.certify(certificate);
  await until(() => load.latest().startsWith(`hub-${round}.test/`), "Never: the new configuration counts");
}

async function endsOne(replicas: Replicas): Promise<void> {
  const ending = replicas.called();
  await replicas.replace(ending, async () => assert.equal(await ending.stop(), 0, ending.log()));
}

async function killsOne(replicas: Replicas): Promise<void> {
  const killed = replicas.called();
  await replicas.replace(killed, () => killed.kill());
}

const CERTIFIED = "Serving the new certificate on new connections";
const valuesOf = (name: string) => `${BUILT_IN.values}\n`.replace(/^( +)hub: .*$/m, `$1hub: hub-${name}.test`);

/** Two processes of the webhook, and the address that the API server calls. */
class Replicas {
  #values = valuesOf("first");
  #running: WebhookProcess[] = [];

  private constructor(readonly balancer: Balancer, private certificate: TestCertificate) {}

  static async start(cluster: Cluster, certificates: readonly TestCertificate[]): Promise<Replicas> {
    const first = testCertificate();
    const replicas = new Replicas(balance(), first);
    await replicas.#startOne();
    await replicas.#startOne();
    const authority = [first, ...certificates].map(({ authority }) => authority).join("");
    await register(cluster, { port: replicas.balancer.port, authority });
    await until(() => isCalled(cluster), "Never: the webhook is called");
    return replicas;
  }

  /** Starts a replica. The API server calls it only when it has the shared certificate. */
  async #startOne(): Promise<void> {
    const texts = { config: BUILT_IN.config, values: this.#values, mesh: BUILT_IN.mesh };
    const started = await startWebhook({ ...texts, flags: ["--shutdown-delay=1s"] });
    await started.certify(this.certificate);
    await started.logged(CERTIFIED);
    this.#running.push(started);
    this.balancer.use(this.#running);
  }

  /** The replica to which the API server is connected. */
  called(): WebhookProcess {
    const port = this.balancer.connected();
    const found = this.#running.find((each) => each.port === port);
    assert.ok(found !== undefined, "no replica is called");
    return found;
  }

  async each(act: (replica: WebhookProcess) => Promise<void>): Promise<void> {
    await Promise.all(this.#running.map(act));
  }

  /** Gives all replicas a new configuration. */
  async configure(round: number): Promise<void> {
    this.#values = valuesOf(`${round}`);
    await this.each(async (replica) => {
      const from = replica.log().length;
      await replica.write("values.yaml", this.#values);
      await replica.logged("The new configuration is in force", from);
    });
  }

  /** Gives all replicas a new certificate. */
  async certify(certificate: TestCertificate): Promise<void> {
    this.certificate = certificate;
    await this.each(async (replica) => {
      const from = replica.log().length;
      await replica.certify(certificate);
      await replica.logged(CERTIFIED, from);
    });
  }

  /** Ends one replica and starts another. */
  async replace(old: WebhookProcess, end: () => Promise<void>): Promise<void> {
    await end();
    this.#running = this.#running.filter((each) => each !== old);
    this.balancer.use(this.#running);
    await this.#startOne();
  }

  async [Symbol.asyncDispose]() {
    await this.each(async (replica) => void await replica.stop());
    await this.balancer.close();
  }
}

function pod(name: string): ValueMap {
  const spec = { automountServiceAccountToken: false, containers: [{ name: "app", image: "example.com/app:1" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "mesh" }, spec };
}

async function isCalled(cluster: Cluster): Promise<boolean> {
  return await triedStatus(cluster, pod("probe")) !== undefined;
}

type Load = ReturnType<typeof loadOf>;

/** Clients that create pods as dry runs. */
function loadOf(api: KubeConnection) {
  const stop = new AbortController();
  const images = new Set<string>();
  const failures: string[] = [];
  let [count, latest, waiting] = [0, "", 0];
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (; !stop.signal.aborted; count++) {
      try {
        latest = proxyImage(await api.create("/api/v1/namespaces/mesh/pods?dryRun=All", pod("load")));
        images.add(latest);
      } catch (error) {
        failures.push(messageOf(error));
      }
      if (PAUSE > 0 && waiting === 0) await delay(PAUSE);
    }
  });
  return {
    images,
    failures,
    latest: () => latest,
    summary: () => `${count} pods, ${failures.length} failed`,
    async goesOn(pods: number) {
      const wanted = count + pods;
      waiting++;
      await until(() => count >= wanted, "Never: more pods are created").finally(() => waiting--);
    },
    async stop() {
      stop.abort();
      await Promise.all(clients);
    },
  };
}

/** The image of the proxy, `""` without one. */
function proxyImage({ spec = null }: ValueMap): string {
  const containers = isMap(spec) && Array.isArray(spec["containers"]) ? spec["containers"].filter(isMap) : [];
  return String(containers.find(({ name }) => name === "istio-proxy")?.["image"] ?? "");
}
