import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { FakeIdentity } from "../../../test/support/agent/fake_identity.ts";
import { RawStream } from "../../../test/support/grpc/raw_http2.ts";
import { asked, sdsClient, type SdsStream } from "../../../test/support/agent/sds_client.ts";
import { until } from "../../../test/support/until.ts";
import { encodeFrame } from "../grpc/mod.ts";
import { startLog } from "../../platform/log.ts";
import { realWorld } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { MAX_STREAMS, secretHandler } from "./handler.ts";
import { type SdsOptions, startSds } from "./server.ts";

const ONE = { certificate: "chain 1", key: "key 1" };
const TWO = { certificate: "chain 2", key: "key 2" };

/** A server on a socket in a folder of its own, with an identity to change, and what it logs. */
async function start(change: Partial<SdsOptions> = {}, place?: string) {
  const folder = place ?? await Deno.makeTempDir({ prefix: "mesh-sds-" });
  const path = `${folder}/spiffe/socket`;
  const identity = new FakeIdentity();
  const said = fakeWorld();
  const log = startLog(said, "agent", { level: "debug" }).getChild("sds");
  const sds = await startSds(realWorld(), { path, identity, log, ...change });
  const client = sdsClient(path);
  return {
    folder,
    path,
    identity,
    sds,
    client,
    log: () => said.said.stderr,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await sds.close();
      if (place === undefined) await Deno.remove(folder, { recursive: true });
    },
  };
}

async function asking(client: ReturnType<typeof sdsClient>, ...names: string[]): Promise<SdsStream> {
  const stream = await client.stream();
  await stream.ask({ names, type: TYPE });
  return stream;
}

const METHOD = "/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets";
const TYPE = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

Deno.test("an available secret is sent at once, in Envoy's form", async () => {
  await using server = await start();
  server.identity.issue(ONE);
  server.identity.trust("roots 1");
  const [pair, roots] = [await asking(server.client, "default"), await asking(server.client, "ROOTCA")];
  const [first, second] = [await pair.accepted(), await roots.accepted()];
  assert.deepEqual([...first.secrets], [["default", "chain 1|key 1"]]);
  assert.deepEqual([...second.secrets], [["ROOTCA", "roots 1"]]);
  assert.equal(first.type, TYPE);
  assert.match(first.version, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\/1$/);
  assert.match(second.version, /Z\/2$/);
  assert.match(first.nonce, /^[0-9a-f-]{36}$/);
  await Promise.all([pair.close(), roots.close()]);
});

Deno.test("a request before the first certificate waits for it; roots alone do not end the wait", async () => {
  await using server = await start();
  const stream = await asking(server.client, "default");
  await until(() => server.log().includes('requests the secret "default" and waits: the CA does not answer'));
  server.identity.trust("roots 1");
  server.identity.issue(ONE);
  assert.deepEqual([...(await stream.accepted()).secrets], [["default", "chain 1|key 1"]]);
  await stream.close();
});

Deno.test("renewals and new roots are pushed to all streams, with new versions and nonces", async () => {
  await using server = await start();
  server.identity.issue(ONE);
  server.identity.trust("roots 1");
  // Two Envoys, as in a hot restart.
  using other = sdsClient(server.path);
  const streams = [await asking(server.client, "default"), await asking(other, "default")];
  const roots = await asking(other, "ROOTCA");
  const before = await Promise.all(streams.map((stream) => stream.accepted()));
  await roots.accepted();
  server.identity.issue(TWO);
  const after = await Promise.all(streams.map((stream) => stream.accepted()));
  assert.deepEqual(after.map(({ secrets }) => secrets.get("default")), ["chain 2|key 2", "chain 2|key 2"]);
  assert.equal(new Set([...before, ...after].flatMap(({ nonce, version }) => [nonce, version])).size, 8);
  server.identity.trust("roots 2");
  assert.deepEqual([...(await roots.accepted()).secrets], [["ROOTCA", "roots 2"]]);
  await Promise.all([...streams, roots].map((stream) => stream.close()));
});

Deno.test("several names on one stream: each response has all available secrets, and names come and go", async () => {
  await using server = await start();
  server.identity.trust("roots 1");
  const stream = await asking(server.client, "default", "ROOTCA");
  const first = await stream.accepted();
  assert.deepEqual([...first.secrets.keys()], ["ROOTCA"]);
  // What is accepted names ROOTCA alone: from now on nothing else is asked for.
  await until(() => server.log().includes('accepted "ROOTCA"'));
  server.identity.issue(ONE);
  server.identity.trust("roots 2");
  const second = await stream.next();
  assert.deepEqual([...second?.secrets ?? []], [["ROOTCA", "roots 2"]]);
  await stream.ask({ names: ["default", "ROOTCA"], nonce: second?.nonce ?? "", version: second?.version ?? "" });
  const third = await stream.accepted();
  assert.deepEqual(new Map(third.secrets), new Map([["ROOTCA", "roots 2"], ["default", "chain 1|key 1"]]));
  await stream.close();
});

Deno.test("an ACK or an unchanged secret gets no response", async () => {
  await using server = await start();
  server.identity.issue(ONE);
  const stream = await asking(server.client, "default");
  const first = await stream.accepted();
  server.identity.issue({ ...ONE });
  await stream.ask({ names: ["default"], nonce: "of another answer", version: first.version });
  server.identity.issue(TWO);
  assert.equal((await stream.accepted()).secrets.get("default"), "chain 2|key 2");
  await stream.close();
});

Deno.test("a rejection is logged with its reason and reported, until a newer secret is accepted or Envoy disconnects", async () => {
  await using server = await start();
  server.identity.issue(ONE);
  const stream = await asking(server.client, "default");
  const refuse = async (refusal: string) => {
    const { nonce = "" } = await stream.next() ?? {};
    await stream.ask({ names: ["default"], nonce, refusal });
  };
  await refuse("Failed to load\ncertificate chain");
  const refusal = 'Envoy rejects the secret "default": Failed to load certificate chain';
  await until(() => server.sds.problem() !== undefined);
  assert.equal(server.sds.problem(), refusal);
  assert.equal(server.sds.problem(), refusal);
  assert.match(server.log(), new RegExp(`error agent·sds: ${refusal} \\(version [^ ]+/1\\)\n`));
  server.identity.issue(TWO);
  await stream.accepted();
  await until(() => server.sds.problem() === undefined);
  server.identity.issue(ONE);
  await refuse("again");
  await until(() => server.sds.problem()?.endsWith("again") === true);
  await stream.close();
  await until(() => server.sds.problem() === undefined);
});

Deno.test("a stream that ends leaves nothing behind, and a new one gets everything again", async () => {
  await using server = await start();
  server.identity.issue(ONE);
  const { handlers } = server.identity;
  const streams = [await asking(server.client, "default"), await asking(server.client, "default")];
  const [first] = await Promise.all(streams.map((stream) => stream.accepted()));
  assert.equal(handlers.size, 2);
  await Promise.all(streams.map((stream) => stream.close()));
  await until(() => handlers.size === 0);
  // As Envoy begins when it has lost its connection: with the version that it has, and no nonce.
  const again = await server.client.stream();
  await again.ask({ names: ["default"], version: first?.version ?? "" });
  const answer = await again.accepted();
  assert.equal(answer.secrets.get("default"), "chain 1|key 1");
  assert.notEqual(answer.nonce, first?.nonce);
  await again.close();
});

Deno.test("a reset stream and a broken connection leave nothing behind", async () => {
  await using server = await start();
  server.identity.issue(ONE);
  const { handlers } = server.identity;
  const request = encodeFrame(asked({ names: ["default", "ROOTCA"] }));
  using raw = await RawStream.open(server.path, METHOD);
  await raw.send(request);
  await until(() => handlers.size === 2);
  await raw.reset();
  await until(() => handlers.size === 0);
  {
    using broken = await RawStream.open(server.path, METHOD);
    // Half of a message.
    await broken.send(request.subarray(0, 9));
    await broken.send(request.subarray(9));
    await broken.send(request.subarray(0, 9));
    await until(() => handlers.size === 2);
  }
  await until(() => handlers.size === 0);
  assert.doesNotMatch(server.log(), /(warning|error) agent/);
});

Deno.test("other methods are not implemented, as trailers-only; requests that are not gRPC are refused", async () => {
  await using server = await start();
  for (const method of ["DeltaSecrets", "FetchSecrets", "/grpc.health.v1.Health/Check"]) {
    const { status, headers, text } = await server.client.call(method);
    assert.deepEqual([status, headers.get("grpc-status"), text], [200, "12", ""], method);
    assert.match(headers.get("grpc-message") ?? "", /not%20implemented|unknown%20service/);
  }
  assert.equal((await server.client.call("StreamSecrets", { "content-type": "application/json" })).status, 415);
});

Deno.test("a stream above the limit is refused, and accepted after another stream ends", async () => {
  const log = startLog(fakeWorld(), "agent").getChild("sds");
  const handle = secretHandler({ open: () => undefined, log, nextVersion: () => "1", streams: new Set() });
  const headers = { "content-type": "application/grpc" };
  const call = () =>
    handle(new Request(`http://agent${METHOD}`, { method: "POST", headers, body: new ReadableStream() }));
  const open = Array.from({ length: MAX_STREAMS }, call);
  assert.equal(call().headers.get("grpc-status"), "8");
  await open.pop()?.body?.cancel();
  open.push(call());
  assert.deepEqual(open.filter((response) => response.headers.has("grpc-status")), []);
  await Promise.all(open.map((response) => response.body?.cancel()));
});

const LARGE = new Uint8Array(5);
new DataView(LARGE.buffer).setUint32(1, 4 * 1024 * 1024 + 1);

const WRONG: Readonly<Record<string, Uint8Array>> = {
  "a message is compressed": Uint8Array.of(1, 0, 0, 0, 0),
  "a message has 4194305 bytes": LARGE,
  "Invalid SDS request": encodeFrame(Uint8Array.of(0x0a, 0x7f, 1)),
  "illegal tag: field no 1 wire type 6": encodeFrame(Uint8Array.of(0x0e, 1)),
  'resources of the type "type.googleapis.com/x.Listener"': encodeFrame(
    asked({ type: "type.googleapis.com/x.Listener" }),
  ),
  "Envoy requests 1001 secrets": encodeFrame(asked({ names: Array.from({ length: 1001 }, (_, at) => `n${at}`) })),
};

for (const [reason, bytes] of Object.entries(WRONG)) {
  Deno.test(`an invalid stream is ended, others continue: ${reason}`, async () => {
    await using server = await start();
    server.identity.issue(ONE);
    const good = await asking(server.client, "default");
    await good.accepted();
    const stream = await server.client.stream();
    await stream.send(bytes).catch(() => {});
    await assert.rejects(async () => await stream.next());
    await stream.close();
    await until(() => server.log().includes("An SDS stream ended: "));
    assert.ok(server.log().includes(reason), server.log());
    server.identity.issue(TWO);
    assert.equal((await good.accepted()).secrets.get("default"), "chain 2|key 2");
    await good.close();
  });
}

Deno.test("a large node is accepted, and unknown names are logged quoted", async () => {
  await using server = await start();
  server.identity.issue(ONE);
  const stream = await server.client.stream();
  await stream.ask({ names: ["default", 'x\n"y'], metadata: 1_000_000 });
  assert.deepEqual([...(await stream.accepted()).secrets.keys()], ["default"]);
  assert.match(server.log(), /warning agent·sds: Envoy requests the secret "x\\n\\"y", which is unknown/);
  await stream.close();
});

Deno.test("file certificates are served by Istio's names, and pushed when they change", async () => {
  await using server = await start();
  const root = `${server.folder}/ca.crt`;
  const [one, two] = [testCertificate(), testCertificate()];
  await Deno.writeTextFile(root, one.authority);
  const stream = await asking(server.client, `file-root:${root}`);
  assert.deepEqual([...(await stream.accepted()).secrets], [[`file-root:${root}`, one.authority]]);
  await Deno.writeTextFile(root, two.authority);
  assert.deepEqual([...(await stream.accepted()).secrets], [[`file-root:${root}`, two.authority]]);
  await stream.close();
});

/** As a process that is killed leaves it: a name of it stays when it is removed. */
async function leaveSocket(path: string): Promise<void> {
  const listener = Deno.listen({ transport: "unix", path: `${path}.new` });
  await Deno.link(`${path}.new`, path);
  listener.close();
  assert.equal((await Deno.stat(path)).isSocket, true);
}

Deno.test("a leftover socket is replaced; folder and socket have Istio's modes; close() removes it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "mesh-sds-" });
  await Deno.mkdir(`${folder}/spiffe`, { mode: 0o750 });
  await leaveSocket(`${folder}/spiffe/socket`);
  {
    await using server = await start({}, folder);
    server.identity.issue(ONE);
    const stream = await asking(server.client, "default");
    await stream.accepted();
    assert.equal(((await Deno.stat(server.path)).mode ?? 0) & 0o777, 0o666);
    assert.equal(((await Deno.stat(`${folder}/spiffe`)).mode ?? 0) & 0o777, 0o750);
    await stream.close();
  }
  await assert.rejects(Deno.stat(`${folder}/spiffe/socket`), Deno.errors.NotFound);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("without an identity, only file secrets are served", async () => {
  await using server = await start({ identity: undefined });
  const { authority } = testCertificate();
  await Deno.writeTextFile(`${server.folder}/ca.crt`, authority);
  const stream = await asking(server.client, `file-root:${server.folder}/ca.crt`, "default");
  assert.deepEqual([...(await stream.accepted()).secrets.values()], [authority]);
  assert.match(server.log(), /the secret "default", which is unknown/);
  await stream.close();
});

Deno.test("a socket that cannot be bound is reported, not thrown", async () => {
  const folder = await Deno.makeTempDir({ prefix: "mesh-sds-" });
  await Deno.writeTextFile(`${folder}/spiffe`, "a file where the folder should be");
  {
    await using server = await start({}, folder);
    assert.match(server.sds.problem() ?? "", /^Envoy gets no certificates: Cannot listen on the Unix socket /);
    assert.match(server.log(), /error agent·sds: Envoy gets no certificates/);
  }
  await Deno.remove(folder, { recursive: true });
});
