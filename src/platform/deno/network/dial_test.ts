import assert from "node:assert/strict";
import { testAuthority } from "../../../../test/support/tls/authority.ts";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { CERTIFICATE } from "../../../../test/support/tls/self_signed.ts";
import { DialError, type DialStage, type DialTls } from "../../connection.ts";
import { realNetwork } from "./network.ts";

const NAMES = ["istiod.istio-system.svc", "istio-pilot.istio-system.svc"];

/** A server that sends back what it gets, until the other end closes. */
function echo(listener: Deno.Listener) {
  const open: Promise<void>[] = [];
  const ended = (async () => {
    try {
      for await (const connection of listener) {
        open.push(connection.readable.pipeTo(connection.writable).catch(() => {}));
      }
    } catch {
      // A handshake failed.
    }
  })();
  const address = listener.addr;
  return {
    port: "port" in address ? address.port : 0,
    async [Symbol.asyncDispose]() {
      listener.close();
      await ended;
      await Promise.all(open);
    },
  };
}

function tlsEcho(pair: { readonly certificate: string; readonly key: string }) {
  const { certificate: cert, key } = pair;
  return echo(Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key, alpnProtocols: ["h2"] }));
}

function dial(port: number, tls: Partial<DialTls> | undefined, host = "localhost") {
  const all = { serverName: NAMES[0] ?? "", authorities: undefined, protocols: ["h2"] };
  const signal = AbortSignal.timeout(20_000);
  return realNetwork.dial({ host, port, tls: tls === undefined ? undefined : { ...all, ...tls }, signal });
}

async function assertEchoes(port: number, tls: Partial<DialTls> | undefined): Promise<void> {
  const connection = await dial(port, tls);
  await connection.write(Uint8Array.of(1, 2, 3));
  const buffer = new Uint8Array(10);
  assert.equal(await connection.read(buffer), 3);
  assert.deepEqual(buffer.subarray(0, 3), Uint8Array.of(1, 2, 3));
  connection.close();
  connection.close();
}

async function failure(port: number, tls: Partial<DialTls> | undefined, host?: string): Promise<[DialStage, string]> {
  try {
    (await dial(port, tls, host)).close();
  } catch (error) {
    assert.ok(error instanceof DialError, String(error));
    return [error.stage, error.message];
  }
  return assert.fail("it connected");
}

Deno.test("dial() without TLS, by name", async () => {
  await using server = echo(Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  await assertEchoes(server.port, undefined);
});

Deno.test("dial() over TLS trusts the given roots and verifies the server name", async () => {
  const authority = testAuthority();
  await using server = tlsEcho(authority.issue({ dnsNames: NAMES }));
  const identity = authority.issue({ uris: ["spiffe://cluster.local/ns/a/sa/b"] });
  for (const serverName of NAMES) await assertEchoes(server.port, { serverName, authorities: authority.roots });
  await assertEchoes(server.port, { authorities: `${CERTIFICATE}\n${authority.roots}`, identity });
});

Deno.test("dial() reports an unknown name", async () => {
  const [stage, text] = await failure(1, undefined, "no.such.host.invalid");
  assert.equal(stage, "name");
  assert.match(text, /^Cannot find the address of "no\.such\.host\.invalid"/);
});

Deno.test("dial() reports a refused connection", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  for (const tls of [undefined, {}]) {
    const [stage, text] = await failure(listener.addr.port, tls);
    assert.equal(stage, "connection");
    assert.match(text, /^Cannot connect to "localhost:\d+" \(127\.0\.0\.1\): connection refused$/);
  }
});

Deno.test("dial() reports the names in the server's certificate when none matches", async () => {
  const authority = testAuthority();
  await using server = tlsEcho(authority.issue({ dnsNames: NAMES }));
  const [stage, text] = await failure(server.port, { serverName: "istiod.other.svc", authorities: authority.roots });
  assert.equal(stage, "tls");
  assert.ok(
    text.endsWith(
      `the server's certificate is not for "istiod.other.svc", but for ${NAMES.map((n) => `"${n}"`).join(", ")}`,
    ),
    text,
  );
});

Deno.test("dial() reports an unknown authority, and an expired certificate", async () => {
  const authority = testAuthority();
  await using server = tlsEcho(authority.issue({ dnsNames: NAMES }));
  const [, untrusted] = await failure(server.port, { authorities: testAuthority().roots });
  assert.match(untrusted, /is not signed by a trusted authority$/);
  await using old = tlsEcho(authority.issue({ dnsNames: NAMES, days: -1n }));
  const [stage, expired] = await failure(old.port, { authorities: authority.roots });
  assert.equal(stage, "tls");
  assert.match(expired, /has expired, or the clock of this machine is wrong$/);
});

Deno.test("dial() reports roots and key pairs that TLS cannot use, for which Deno would end the process", async () => {
  const authority = testAuthority();
  await using server = tlsEcho(authority.issue({ dnsNames: NAMES }));
  const { authorities, identity } = {
    authorities: authority.roots,
    identity: { certificate: authority.issue({}).certificate, key: authority.issue({}).key },
  };
  assert.match((await failure(server.port, { authorities, identity }))[1], /key does not belong to the certificate$/);
  const torn = { ...identity, certificate: identity.certificate.slice(0, 99) };
  assert.match((await failure(server.port, { authorities, identity: torn }))[1], /cannot use the client certificate/);
  const [stage, text] = await failure(server.port, { authorities: authorities.slice(0, 99) });
  assert.equal(stage, "tls");
  assert.match(text, /trusted authorities cannot be read$/);
});

Deno.test("dial() reports a server that does not speak TLS, and one that closes the connection", async () => {
  const answering = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answered = answering.accept().then(async (connection) => {
    await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await connection.read(new Uint8Array(4096));
    connection.close();
  });
  assert.match((await failure(answering.addr.port, {}))[1], /does not speak TLS on this port$/);
  await answered;
  answering.close();
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const closed = silent.accept().then(async (connection) => {
    await connection.read(new Uint8Array(4096));
    connection.close();
  });
  const [stage, text] = await failure(silent.addr.port, {});
  await closed;
  silent.close();
  assert.equal(stage, "tls");
  assert.match(text, /the server closed the connection during the handshake$/);
});

Deno.test("dial() ends when the signal fires, also in the handshake", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const end = new AbortController();
  const accepted = listener.accept().then((connection) => {
    end.abort();
    return connection;
  });
  const tls = { serverName: "a.test", authorities: undefined, protocols: [] };
  const options = { host: "127.0.0.1", port: listener.addr.port, tls, signal: end.signal };
  await assert.rejects(realNetwork.dial(options), { name: "DialError", message: /timed out without an answer$/ });
  (await accepted).close();
  listener.close();
  await assert.rejects(realNetwork.dial(options), { name: "DialError", stage: "connection" });
});

Deno.test({
  name: "dial() ends when the signal fires, also in the lookup of a name",
  // A lookup cannot be cancelled: it may end after the test.
  sanitizeOps: false,
  async fn() {
    const options = { host: "localhost", port: 1, tls: undefined, signal: AbortSignal.abort() };
    await assert.rejects(realNetwork.dial(options), { name: "DialError", stage: "name" });
  },
});

Deno.test({
  name: "dial() enables TCP keepalive after half a minute",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using server = echo(Deno.listen({ hostname: "127.0.0.1", port: 0 }));
    const connection = await dial(server.port, undefined);
    const remote = `0100007F:${server.port.toString(16).toUpperCase().padStart(4, "0")}`;
    const rows = (await Deno.readTextFile("/proc/net/tcp")).split("\n").map((line) => line.trim().split(/\s+/));
    // proc_net_tcp.txt: the kind of the timer (2: keepalive), and when it fires in hundredths of a second.
    const [kind, when] = rows.find(([, , other]) => other === remote)?.[5]?.split(":") ?? [];
    assert.equal(kind, "02");
    assert.ok(parseInt(when ?? "", 16) <= 3000, when);
    connection.close();
  },
});

/** A server that asks for certificates of this authority, and sends lines back reversed. */
async function asking(folder: string, authority: ReturnType<typeof testAuthority>) {
  const { certificate, key } = authority.issue({ dnsNames: NAMES });
  await Deno.writeTextFile(`${folder}/pair.pem`, certificate + key);
  await Deno.writeTextFile(`${folder}/roots.pem`, authority.roots);
  const files = ["-cert", `${folder}/pair.pem`, "-key", `${folder}/pair.pem`, "-CAfile", `${folder}/roots.pem`];
  const child = new Deno.Command("openssl", {
    args: ["s_server", "-accept", "127.0.0.1:0", ...files, "-Verify", "2", "-verify_return_error", "-rev"],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!/ACCEPT \S+:\d+/.test(said)) said += (await reader.read()).value ?? assert.fail(`openssl says ${said}`);
  return {
    port: Number(/ACCEPT \S+:(\d+)/.exec(said)?.[1]),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await reader.cancel();
    },
  };
}

const hasOpenssl = await new Deno.Command("openssl", { args: ["version"], stdout: "null", stderr: "null" }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "dial() presents the client's certificate; reports a server that refuses it or misses it",
  ignore: !hasOpenssl,
  async fn() {
    await using folder = await temporaryFolder();
    const authority = testAuthority();
    await using server = await asking(folder.path, authority);
    const wanted = { authorities: authority.roots };
    const identity = authority.issue({ uris: ["spiffe://cluster.local/ns/a/sa/b"] });
    const connection = await dial(server.port, { ...wanted, identity });
    await connection.write(new TextEncoder().encode("abc\n"));
    const buffer = new Uint8Array(100);
    const count = await connection.read(buffer);
    assert.equal(new TextDecoder().decode(buffer.subarray(0, count ?? 0)), "cba\n");
    connection.close();
    const foreign = testAuthority().issue({});
    const refusals = [[undefined, /requires a client certificate$/], [foreign, /refused the client's/]] as const;
    for (const [identity, text] of refusals) {
      const connection = await dial(server.port, { ...wanted, identity });
      await assert.rejects(connection.read(buffer), { name: "DialError", stage: "tls", message: text });
      connection.close();
    }
  },
});

Deno.test("dial() trusts the system's roots by default", async () => {
  await using folder = await temporaryFolder();
  const authority = testAuthority();
  await using server = tlsEcho(authority.issue({ dnsNames: NAMES }));
  const file = `${folder.path}/system.pem`;
  await Deno.writeTextFile(file, authority.roots);
  const before = Deno.env.get("SSL_CERT_FILE");
  Deno.env.set("SSL_CERT_FILE", file);
  try {
    await assertEchoes(server.port, { authorities: undefined });
  } finally {
    if (before === undefined) Deno.env.delete("SSL_CERT_FILE");
    else Deno.env.set("SSL_CERT_FILE", before);
  }
});

Deno.test("dial() tries the addresses in turn, and reports the last failure", async () => {
  await using server = echo(Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  const dns = globalThis.process.getBuiltinModule("node:dns");
  const { lookup } = dns;
  const resolvesTo = (...addresses: readonly string[]) =>
    Object.assign(dns, {
      lookup(_host: string, _options: unknown, found: (error: null, addresses: unknown) => void) {
        found(null, addresses.map((address) => ({ address, family: 4 })));
      },
    });
  try {
    resolvesTo("127.0.0.2", "127.0.0.1");
    const connection = await dial(server.port, undefined, "two.test");
    connection.close();
    resolvesTo("127.0.0.2", "127.0.0.3");
    const [stage, text] = await failure(server.port, undefined, "two.test");
    assert.deepEqual([stage, text], [
      "connection",
      `Cannot connect to "two.test:${server.port}" (127.0.0.3): connection refused`,
    ]);
  } finally {
    Object.assign(dns, { lookup });
  }
});
