import { getLogger } from "@logtape/logtape";
import assert from "node:assert/strict";
import { testAuthority } from "../../../test/support/tls/authority.ts";
import { FakeIdentity } from "../../../test/support/agent/fake_identity.ts";
import { freePort } from "../../../test/support/ports.ts";
import { temporaryFolder } from "../../../test/support/temporary_folder.ts";
import { until } from "../../../test/support/until.ts";
import { type ControlPlaneMetrics, controlPlaneMetrics } from "../metrics/control_plane_metrics.ts";
import { realWorld } from "../../platform/deno/world.ts";
import type { XdsOptions, XdsSettings } from "./options.ts";
import { startXds } from "./server.ts";

const NAME = "istiod.istio-system.svc";

/** A control plane that greets, sends back what it gets, and knows its connections. */
function controlPlane(listener: Deno.Listener) {
  const open: Deno.Conn[] = [];
  const served: Promise<void>[] = [];
  const ended = (async () => {
    for (;;) {
      try {
        const connection = await listener.accept();
        open.push(connection);
        served.push(serve(connection));
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      }
    }
  })();
  return {
    address: `localhost:${"port" in listener.addr ? listener.addr.port : 0}`,
    open,
    /** Resolve when the other end has ended a connection. */
    served,
    async [Symbol.asyncDispose]() {
      listener.close();
      await ended;
      await Promise.all(served);
    },
  };
}

async function serve(connection: Deno.Conn): Promise<void> {
  try {
    await connection.write(new TextEncoder().encode("hello "));
    await connection.readable.pipeTo(connection.writable);
  } catch {
    // The other end has gone, or the handshake failed.
  }
  try {
    connection.close();
  } catch {
    // It was closed with its streams, or by the test.
  }
}

const inClear = () => controlPlane(Deno.listen({ hostname: "127.0.0.1", port: 0 }));

function overTls({ certificate, key }: { readonly certificate: string; readonly key: string }, port = 0) {
  return controlPlane(Deno.listenTls({ hostname: "127.0.0.1", port, cert: certificate, key, alpnProtocols: ["h2"] }));
}

async function started(folder: string, settings: Partial<XdsSettings & XdsOptions>) {
  const options = {
    path: `${folder}/XDS`,
    address: "localhost:1",
    tls: undefined,
    headers: {},
    identity: new FakeIdentity(),
    log: getLogger(["test", "xdsproxy"]),
    ...settings,
  };
  const xds = await startXds(realWorld(), options);
  return { ...xds, path: options.path, [Symbol.asyncDispose]: () => xds.close() };
}

const mesh = (folder: string) => ({ from: "mesh", files: [`${folder}/none.pem`, `${folder}/root-cert.pem`] }) as const;

/** What Envoy gets for these words before as many bytes have come. */
async function say(path: string, words: string): Promise<string> {
  using envoy = await Deno.connect({ transport: "unix", path });
  await envoy.write(new TextEncoder().encode(words));
  return await hear(envoy, "hello ".length + words.length);
}

/** So many bytes, or all that come before the end. */
async function hear(connection: Deno.Conn, count: number): Promise<string> {
  const buffer = new Uint8Array(count);
  let at = 0;
  while (at < count) {
    const read = await connection.read(buffer.subarray(at)).catch(() => null);
    if (read === null) break;
    at += read;
  }
  return new TextDecoder().decode(buffer.subarray(0, at));
}

Deno.test("startXds: Envoy connects to istiod in plain text, and the socket is removed at the end", async () => {
  await using folder = await temporaryFolder();
  await using plane = inClear();
  let connected = 0;
  const xds = await started(`${folder.path}/etc/istio/proxy`, { address: plane.address, connected: () => connected++ });
  assert.equal(((await Deno.stat(xds.path)).mode ?? 0) & 0o777, 0o666);
  assert.equal(await say(xds.path, "xDS"), "hello xDS");
  assert.deepEqual([xds.problem(), connected], [undefined, 1]);
  await xds.close();
  await assert.rejects(Deno.lstat(xds.path), Deno.errors.NotFound);
});

Deno.test("startXds: over TLS with the mounted roots or the identity's current ones", async () => {
  await using folder = await temporaryFolder();
  const [old, next] = [testAuthority(), testAuthority()];
  const identity = new FakeIdentity();
  identity.issue(old.issue({ uris: ["spiffe://cluster.local/ns/a/sa/b"] }));
  await using plane = overTls(old.issue({ dnsNames: [NAME] }));
  const tls = { serverName: NAME, roots: mesh(folder.path) };
  await using xds = await started(folder.path, { address: plane.address, tls, identity });
  assert.equal(await say(xds.path, ""), "");
  assert.match(xds.problem() ?? "", /root-cert\.pem" does not exist; mount the ConfigMap/);
  await Deno.writeTextFile(`${folder.path}/root-cert.pem`, next.roots);
  assert.equal(await say(xds.path, ""), "");
  assert.match(xds.problem() ?? "", /is not signed by a trusted authority/);
  identity.trust(old.roots);
  assert.equal(await say(xds.path, "a"), "hello a");
  assert.equal(xds.problem(), undefined);
  await Deno.writeTextFile(`${folder.path}/root-cert.pem`, old.roots);
  identity.trust(next.roots);
  assert.equal(await say(xds.path, "b"), "hello b");
});

Deno.test("startXds: roots from a chosen file are exclusive", async () => {
  await using folder = await temporaryFolder();
  const authority = testAuthority();
  const identity = new FakeIdentity();
  identity.issue(authority.issue({}));
  identity.trust(authority.roots);
  await using plane = overTls(authority.issue({ dnsNames: [NAME] }));
  const file = `${folder.path}/chosen.pem`;
  const tls = { serverName: NAME, roots: { from: "file", file } } as const;
  await using xds = await started(folder.path, { address: plane.address, tls, identity });
  assert.equal(await say(xds.path, ""), "");
  assert.match(xds.problem() ?? "", /chosen\.pem"/);
  await Deno.writeTextFile(file, testAuthority().roots);
  assert.equal(await say(xds.path, ""), "");
  assert.match(xds.problem() ?? "", /is not signed by a trusted authority/);
  await Deno.writeTextFile(file, authority.roots);
  assert.equal(await say(xds.path, "a"), "hello a");
});

Deno.test("startXds: a connection waits for the first certificate, and the problem says so", async () => {
  await using folder = await temporaryFolder();
  const authority = testAuthority();
  const identity = new FakeIdentity();
  identity.trust(authority.roots);
  await using plane = overTls(authority.issue({ dnsNames: [NAME] }));
  const tls = { serverName: NAME, roots: mesh(folder.path) };
  await using xds = await started(folder.path, { address: plane.address, tls, identity });
  const said = say(xds.path, "a");
  await until(() => xds.problem() !== undefined);
  assert.equal(
    xds.problem(),
    `waiting for the workload's certificate before connecting to "${plane.address}"`,
  );
  assert.equal(plane.open.length, 0);
  identity.issue(authority.issue({}));
  assert.equal(await said, "hello a");
  assert.equal(identity.handlers.size, 0);
});

Deno.test("startXds: Envoy's connection ends without a certificate at the timeout, or when the agent ends", async () => {
  await using folder = await temporaryFolder();
  const identity = new FakeIdentity();
  const tls = { serverName: NAME, roots: mesh(folder.path) };
  for (const certificateTimeout of [1, 60_000]) {
    const xds = await started(folder.path, { address: "localhost:1", tls, identity, certificateTimeout });
    const said = say(xds.path, "");
    if (certificateTimeout > 1) {
      await until(() => identity.handlers.size > 0);
      await xds.close();
    }
    assert.equal(await said, "");
    if (certificateTimeout === 1) {
      assert.match(xds.problem() ?? "", /^No certificate for the connection to .* the CA does not answer$/);
    }
    assert.equal(identity.handlers.size, 0);
    await xds.close();
  }
});

Deno.test("startXds: the problem names the step, and ends with the next connection", async () => {
  await using folder = await temporaryFolder();
  const authority = testAuthority();
  const identity = new FakeIdentity();
  identity.issue(authority.issue({}));
  identity.trust(authority.roots);
  const port = freePort();
  const tls = { serverName: NAME, roots: mesh(folder.path) };
  await using xds = await started(folder.path, { address: `localhost:${port}`, tls, identity });
  await using unknown = await started(`${folder.path}/b`, { address: "no.such.host.invalid:15012", tls, identity });
  assert.equal(await say(unknown.path, ""), "");
  assert.match(unknown.problem() ?? "", /^Cannot find the address of "no\.such\.host\.invalid"/);
  assert.equal(await say(xds.path, ""), "");
  assert.equal(xds.problem(), `Cannot connect to "localhost:${port}" (127.0.0.1): connection refused`);
  {
    await using _plane = overTls(authority.issue({ dnsNames: ["istiod.other.svc"] }), port);
    assert.equal(await say(xds.path, ""), "");
    assert.match(
      xds.problem() ?? "",
      /certificate is not for "istiod\.istio-system\.svc", but for "istiod\.other\.svc"$/,
    );
  }
  await using _plane = overTls(authority.issue({ dnsNames: [NAME] }), port);
  assert.equal(await say(xds.path, "a"), "hello a");
  assert.equal(xds.problem(), undefined);
});

Deno.test("startXds: when one side ends, the other side ends; a new connection gets a new upstream connection", async () => {
  await using folder = await temporaryFolder();
  await using plane = inClear();
  await using xds = await started(folder.path, { address: plane.address });
  const envoy = await Deno.connect({ transport: "unix", path: xds.path });
  assert.equal(await hear(envoy, 6), "hello ");
  plane.open[0]?.close();
  assert.equal(await hear(envoy, 1), "");
  envoy.close();
  const again = await Deno.connect({ transport: "unix", path: xds.path });
  assert.equal(await hear(again, 6), "hello ");
  assert.equal(plane.open.length, 2);
  again.close();
  await plane.served[1];
});

Deno.test("startXds: a connection above the limit is closed, without a connection to istiod", async () => {
  await using folder = await temporaryFolder();
  await using plane = inClear();
  await using xds = await started(folder.path, { address: plane.address });
  const open = await Promise.all(Array.from({ length: 100 }, async () => {
    const envoy = await Deno.connect({ transport: "unix", path: xds.path });
    assert.equal(await hear(envoy, 6), "hello ");
    return envoy;
  }));
  assert.equal(await say(xds.path, "xDS").catch(() => ""), "");
  assert.equal(plane.open.length, 100);
  open.forEach((envoy) => envoy.close());
  await Promise.all(plane.served);
  assert.equal(await say(xds.path, "xDS"), "hello xDS");
});

/** The samples by name and type. */
async function samplesOf(metrics: ControlPlaneMetrics): Promise<Record<string, number>> {
  const samples = (await metrics.collect()).flatMap(({ name, samples }) =>
    samples.map(({ labels = {}, value }): [string, number] => [[name, ...Object.values(labels)].join(" "), value])
  );
  return Object.fromEntries(samples);
}

Deno.test("startXds: metrics count failed connections, and ended connections by side", async () => {
  await using folder = await temporaryFolder();
  await using plane = inClear();
  const metrics = controlPlaneMetrics();
  await using xds = await started(folder.path, { address: plane.address, metrics });
  assert.equal(await say(xds.path, ""), "hello ");
  await until(async () => (await samplesOf(metrics))["envoy_connection_terminations cancelled"] === 1);
  using envoy = await Deno.connect({ transport: "unix", path: xds.path });
  assert.equal(await hear(envoy, 6), "hello ");
  plane.open[1]?.close();
  assert.equal(await hear(envoy, 1), "");
  await using absent = await started(`${folder.path}/b`, { address: `127.0.0.1:${freePort()}`, metrics });
  assert.equal(await say(absent.path, ""), "");
  await until(async () => (await samplesOf(metrics))["istiod_connection_failures"] === 1);
  assert.deepEqual(await samplesOf(metrics), {
    "istiod_connection_failures": 1,
    "istiod_connection_terminations cancelled": 1,
    "envoy_connection_terminations cancelled": 1,
  });
});

Deno.test("startXds: a side that does not read stops the other: buffers are bounded", async () => {
  await using folder = await temporaryFolder();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using xds = await started(folder.path, { address: `127.0.0.1:${listener.addr.port}` });
  using envoy = await Deno.connect({ transport: "unix", path: xds.path });
  using plane = await listener.accept();
  listener.close();
  const [sent, size] = [{ bytes: 0 }, 64 * 1024 * 1024];
  const sending = (async () => {
    for (const piece = new Uint8Array(64 * 1024); sent.bytes < size;) sent.bytes += await plane.write(piece);
  })();
  let before = -1;
  await until(() => {
    const isStill = before === sent.bytes && before > 0;
    before = sent.bytes;
    return isStill;
  });
  assert.ok(sent.bytes < size, `${sent.bytes} bytes were taken, and nobody read them`);
  const buffer = new Uint8Array(256 * 1024);
  for (let read = 0; read < size;) read += await envoy.read(buffer) ?? assert.fail("it ended");
  await sending;
});
