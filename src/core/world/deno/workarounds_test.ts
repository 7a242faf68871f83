import assert from "node:assert/strict";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { testAuthority } from "../../../../test/support/tls/authority.ts";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { RUNTIME_VERSION } from "../../../../tools/compile/platforms.ts";
import { openSocketLibc } from "../linux/libc.ts";
import { endpointOf } from "../linux/socket_address.ts";
import { type ProbedId, WORKAROUNDS } from "./workarounds.ts";

const pair = testAuthority().issue({ dnsNames: ["server.test"] });
const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const CERTIFIED = { cert: pair.certificate, key: pair.key };

/** Whether each workaround is needed on the Deno that runs. */
const PROBES: Readonly<Record<ProbedId, () => Promise<boolean>>> = {
  "fetch-forgets-signal": async () => {
    const script = decodeURIComponent(new URL("./network/testdata/abort_of_body.ts", import.meta.url).pathname);
    const flags = ["--quiet", "--no-check", "--allow-all", "--v8-flags=--expose-gc"];
    return (await deno(["run", ...flags, script, "fetch"])).trim() === "never";
  },
  "absolute-form": async () => {
    await using folder = await temporaryFolder();
    const path = `${folder.path}/socket`;
    using listener = Deno.listen({ transport: "unix", path });
    using client = Deno.createHttpClient({ proxy: { transport: "unix", path } });
    const asked = fetch("http://server.test/path", { client }).then((answer) => answer.text());
    using connection = await listener.accept();
    const buffer = new Uint8Array(4096);
    const text = new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0));
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
    await asked;
    return text.startsWith("GET http://");
  },
  "http-over-connection": () =>
    hasNoOption(/connect|socket|stream/i, (options) => Deno.createHttpClient(options).close()),
  "client-server-name": () =>
    hasNoOption(/servername|hostname|reject|insecure|verif/i, (options) => Deno.createHttpClient(options).close()),
  "tls-server-name": () =>
    hasNoOption(/servername|sni/i, (options) => Deno.connectTls({ ...LOOPBACK, port: 1, ...options }), LOOPBACK),
  "connect-source": () => hasNoOption(/local|source|bind/i, (options) => Deno.connect({ port: 1, ...options })),
  "node-tls-over-unix": async () => {
    using server = tlsServer();
    await using folder = await temporaryFolder();
    const path = `${folder.path}/socket`;
    using listener = Deno.listen({ transport: "unix", path });
    const bridged = listener.accept().then(async (inner) => {
      const outer = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
      inner.readable.pipeTo(outer.writable).catch(() => {});
      outer.readable.pipeTo(inner.writable).catch(() => {});
    });
    const hangs = await handshakeHangs(net.connect({ path }), 0);
    await bridged;
    return hangs;
  },
  "node-tls-late-start": async () => {
    using server = tlsServer();
    return await handshakeHangs(net.connect({ host: "127.0.0.1", port: server.port }), 20);
  },
  "bad-pair-ends-process": async () => {
    const other = testAuthority().issue({ dnsNames: ["other.test"] });
    const code = `try { Deno.createHttpClient(${JSON.stringify({ cert: pair.certificate, key: other.key })}) } catch {}
      console.log("alive")`;
    return !(await evaluate(code)).includes("alive");
  },
  "proxy-for-loopback": async () => {
    const code =
      `const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("direct"));
      const url = "http://127.0.0.1:" + server.addr.port;
      console.log(await fetch(url).then((answer) => answer.text(), () => "proxy")); Deno.exit();`;
    return (await evaluate(code, { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "" })).includes("proxy");
  },
  "tls-client-no-delay": async () => {
    using server = tlsServer();
    using connection = await Deno.connectTls({ hostname: "127.0.0.1", port: server.port });
    await connection.handshake().catch(() => {});
    return !("setNoDelay" in connection) && noDelayOf(addressPort(connection.localAddr)) !== 1;
  },
  "tls-server-no-delay": async () => {
    using server = tlsServer();
    using connection = await Deno.connectTls({ hostname: "127.0.0.1", port: server.port });
    await connection.handshake().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    return noDelayOf(server.port) !== 1;
  },
  "certificate-not-replaceable": () => {
    const server = https.createServer(CERTIFIED);
    return Promise.resolve(!("setSecureContext" in server));
  },
  "node-http2": async () => {
    const script = decodeURIComponent(new URL("./testdata/http2_trailers.ts", import.meta.url).pathname);
    return (await deno(["run", "--quiet", "--no-check", "--allow-all", script])).trim() !== "1,0";
  },
  "unstable-datagrams": async () => (await evaluate("console.log(typeof Deno.listenDatagram)")).includes("undefined"),
  "real-time-signals": async () => {
    const child = new Deno.Command("sh", { args: ["-c", "kill -40 $$"] }).spawn();
    return await child.status.then(() => false, () => true);
  },
  "proc-needs-all-permissions": async () => {
    const code = `Deno.permissions.revokeSync({ name: "import" });
      try { Deno.readTextFileSync("/proc/self/stat"); console.log("read") } catch { console.log("refused") }`;
    return (await evaluate(code)).includes("refused");
  },
};

/** Whether a function of the runtime looks for no option of such a name. */
async function hasNoOption(
  name: RegExp,
  use: (options: Record<string, unknown>) => unknown,
  known: Record<string, unknown> = {},
): Promise<boolean> {
  const asked: string[] = [];
  const options = new Proxy(known, {
    get(target, key) {
      if (typeof key === "string") asked.push(key);
      return Reflect.get(target, key);
    },
  });
  try {
    await use(options);
  } catch {
    // Nobody listens there.
  }
  return !asked.some((key) => name.test(key));
}

function tlsServer() {
  const end = new AbortController();
  const server = Deno.serve({ ...LOOPBACK, ...CERTIFIED, signal: end.signal, onListen() {} }, () => new Response());
  return { port: server.addr.port, [Symbol.dispose]: () => end.abort() };
}

/** Whether `node:tls` finishes no handshake that starts so long after the socket has connected. */
async function handshakeHangs(socket: net.Socket, milliseconds: number): Promise<boolean> {
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  const secure = tls.connect({ socket, rejectUnauthorized: false });
  secure.on("error", () => {});
  const done = new Promise<boolean>((resolve) => secure.once("secureConnect", () => resolve(true)));
  const isDone = await within(1000, done);
  secure.destroy();
  socket.destroy();
  return !isDone;
}

async function within(milliseconds: number, work: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), milliseconds);
  try {
    return await Promise.race([work, late.promise]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** TCP_NODELAY of the connection of this process from a port; `undefined` if there is none. */
function noDelayOf(port: number): number | undefined {
  const { symbols } = openSocketLibc();
  const [value, address] = [new Uint8Array(4), new Uint8Array(28)];
  const size = (bytes: Uint8Array) => new Uint8Array([bytes.length, 0, 0, 0]);
  for (let file = 3; file < 4096; file++) {
    if (symbols.getsockname(file, address, size(address)) !== 0 || endpointOf(address).port !== port) continue;
    const isListener = symbols.getsockopt(file, 1, 30, value, size(value)) === 0 && value[0] === 1;
    if (!isListener && symbols.getsockopt(file, 6, 1, value, size(value)) === 0) return value[0];
  }
  return undefined;
}

function addressPort(address: Deno.Addr): number {
  return "port" in address ? address.port : 0;
}

async function deno(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: [...args], env, stderr: "null" }).output();
  return new TextDecoder().decode(stdout);
}

/** A program that runs without the configuration of this project. */
async function evaluate(code: string, env: Record<string, string> = {}): Promise<string> {
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${folder.path}/probe.mjs`, code);
  return await deno(["run", "--quiet", "--no-config", "--no-check", "--allow-all", `${folder.path}/probe.mjs`], env);
}

const ROOT = decodeURIComponent(new URL("../../../../", import.meta.url).pathname);

for (const { id, problem, where, check } of WORKAROUNDS) {
  Deno.test({
    name: `workaround ${id}: ${problem}`,
    ignore: Deno.build.os !== "linux",
    // Probes leave behind what the runtime cannot end.
    sanitizeResources: false,
    sanitizeOps: false,
    async fn(test) {
      for (const path of where) assert.ok(await Deno.stat(`${ROOT}${path}`), path);
      if (check !== "probe") return;
      const isNeeded = await PROBES[id]();
      const { deno: version } = Deno.version;
      await test.step(`Deno ${version}: ${isNeeded ? "still needed" : "NO LONGER NEEDED"}`, () => {
        assert.ok(isNeeded || version !== RUNTIME_VERSION, "the list is wrong about the pinned Deno");
      });
    },
  });
}
