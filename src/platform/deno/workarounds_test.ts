import assert from "node:assert/strict";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { testAuthority } from "../../../test/support/tls/authority.ts";
import { temporaryFolder } from "../../../test/support/temporary_folder.ts";
import { RUNTIME_VERSION } from "../../../tools/compile/platforms.ts";
import { socketLibc } from "../linux/sockets.ts";
import { endpointOf } from "../linux/socket_address.ts";

const pair = testAuthority().issue({ dnsNames: ["server.test"] });
const LOOPBACK = { hostname: "127.0.0.1", port: 0 };
const CERTIFIED = { cert: pair.certificate, key: pair.key };

/** A workaround for the pinned Deno. */
interface Workaround {
  readonly id: string;
  /** What the runtime lacks or does wrong. */
  readonly problem: string;
  /** The files that work around it. */
  readonly where: readonly string[];
  /** Whether it is needed on the Deno that runs; a text says how to find out by hand. */
  readonly isNeeded: string | (() => Promise<boolean>);
}

/**
 * Everything that only works around Deno 2.6.10. On an upgrade of Deno run this test on the new version: it reports the entries
 * that are no longer needed. The texts of errors that the program matches are in `../runtime_errors.ts` and `../tls_errors.ts`.
 */
const WORKAROUNDS: readonly Workaround[] = [
  {
    id: "fetch-forgets-signal",
    problem: "fetch() forgets the signal of a request whose Response was collected as garbage: its body never ends",
    where: ["src/platform/deno/network/fetch.ts"],
    isNeeded: async () => {
      const script = decodeURIComponent(
        new URL("../../../test/support/runtime/abort_of_body.ts", import.meta.url).pathname,
      );
      const flags = ["--quiet", "--no-check", "--allow-all", "--v8-flags=--expose-gc"];
      return (await deno(["run", ...flags, script, "fetch"])).trim() === "never";
    },
  },
  {
    id: "absolute-form",
    problem: "fetch() through a Unix socket sends the whole URL in the first line of HTTP/1.1, as to a proxy",
    where: ["src/platform/deno/network/http.ts"],
    isNeeded: async () => {
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
  },
  {
    id: "http-over-connection",
    problem: "an HTTP client cannot be given an open connection: it gets a Unix socket in a private folder",
    where: ["src/platform/deno/network/http.ts"],
    isNeeded: () => hasNoOption(/connect|socket|stream/i, (options) => Deno.createHttpClient(options).close()),
  },
  {
    id: "client-server-name",
    problem: "an HTTP client can neither expect another name in the server's certificate nor skip its verification",
    where: ["src/platform/deno/network/client.ts", "src/platform/deno/network/exchange.ts"],
    isNeeded: () =>
      hasNoOption(/servername|hostname|reject|insecure|verif/i, (options) => Deno.createHttpClient(options).close()),
  },
  {
    id: "tls-server-name",
    problem: "Deno.connectTls has an option for the server's name under a symbol only",
    where: ["src/platform/deno/network/tls.ts"],
    isNeeded: () =>
      hasNoOption(/servername|sni/i, (options) => Deno.connectTls({ ...LOOPBACK, port: 1, ...options }), LOOPBACK),
  },
  {
    id: "connect-source",
    problem: "Deno.connect and node:net cannot choose the local address of a connection",
    where: ["src/platform/deno/network/connect_from.ts", "src/platform/deno/network/insecure_tls.ts"],
    isNeeded: () => hasNoOption(/local|source|bind/i, (options) => Deno.connect({ port: 1, ...options })),
  },
  {
    id: "node-tls-over-unix",
    problem:
      "node:tls over a Unix socket never finishes its handshake: a TLS probe from a source goes through loopback",
    where: ["src/platform/deno/network/insecure_tls.ts"],
    isNeeded: async () => {
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
  },
  {
    id: "node-tls-late-start",
    problem: "node:tls hangs on a socket that was connected before: it has to start in the event of the connection",
    where: ["src/platform/deno/network/insecure_tls.ts"],
    isNeeded: async () => {
      using server = tlsServer();
      return await handshakeHangs(net.connect({ host: "127.0.0.1", port: server.port }), 20);
    },
  },
  {
    id: "bad-pair-ends-process",
    problem: "a TLS client whose key does not fit its certificate ends the process: a TLS listener is asked first",
    where: ["src/platform/deno/network/key_pair.ts"],
    isNeeded: async () => {
      const other = testAuthority().issue({ dnsNames: ["other.test"] });
      const code = `try { Deno.createHttpClient(${
        JSON.stringify({ cert: pair.certificate, key: other.key })
      }) } catch {}
      console.log("alive")`;
      return !(await evaluate(code)).includes("alive");
    },
  },
  {
    id: "proxy-for-loopback",
    problem: "an HTTP client asks the proxy of the environment for loopback too, and only NO_PROXY prevents it",
    where: ["src/platform/deno/network/proxies.ts"],
    isNeeded: async () => {
      const code =
        `const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("direct"));
      const url = "http://127.0.0.1:" + server.addr.port;
      console.log(await fetch(url).then((answer) => answer.text(), () => "proxy")); Deno.exit();`;
      return (await evaluate(code, { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "" })).includes("proxy");
    },
  },
  {
    id: "tls-client-no-delay",
    problem: "Deno.connectTls has no TCP_NODELAY: the second part of a message waits 40 ms for an acknowledgement",
    where: ["src/platform/linux/socket_options.ts"],
    isNeeded: async () => {
      using server = tlsServer();
      using connection = await Deno.connectTls({ hostname: "127.0.0.1", port: server.port });
      await connection.handshake().catch(() => {});
      return !("setNoDelay" in connection) && noDelayOf(addressPort(connection.localAddr)) !== 1;
    },
  },
  {
    id: "tls-server-no-delay",
    problem: "connections that a TLS listener accepts have no TCP_NODELAY: the second piece of a response waits 40 ms",
    where: ["src/platform/linux/socket_options.ts", "src/platform/deno/network/https/server.ts"],
    isNeeded: async () => {
      using server = tlsServer();
      using connection = await Deno.connectTls({ hostname: "127.0.0.1", port: server.port });
      await connection.handshake().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 50));
      return noDelayOf(server.port) !== 1;
    },
  },
  {
    id: "certificate-not-replaceable",
    problem: "no HTTPS server can replace its certificate: there is a TLS listener on loopback for each certificate",
    where: ["src/platform/deno/network/https/server.ts"],
    isNeeded: () => {
      const server = https.createServer(CERTIFIED);
      return Promise.resolve(!("setSecureContext" in server));
    },
  },
  {
    id: "node-http2",
    problem:
      "node:http2 loses headers and trailers, so that no gRPC library works: gRPC runs over fetch and Deno.serve",
    where: ["src/agent/grpc", "src/agent/sds"],
    isNeeded: async () => {
      const script = decodeURIComponent(
        new URL("../../../test/support/runtime/http2_trailers.ts", import.meta.url).pathname,
      );
      return (await deno(["run", "--quiet", "--no-check", "--allow-all", script])).trim() !== "1,0";
    },
  },
  {
    id: "real-time-signals",
    problem: "the status of a child that a real-time signal ended is an error: the number is read from its text",
    where: ["src/platform/deno/processes.ts"],
    isNeeded: async () => {
      const child = new Deno.Command("sh", { args: ["-c", "kill -40 $$"] }).spawn();
      return await child.status.then(() => false, () => true);
    },
  },
  {
    id: "proc-needs-all-permissions",
    problem: "a process that gave up any permission cannot read /proc and /sys: some commands keep all",
    where: ["src/iptables/run.ts"],
    isNeeded: async () => {
      const code = `Deno.permissions.revokeSync({ name: "import" });
      try { Deno.readTextFileSync("/proc/self/stat"); console.log("read") } catch { console.log("refused") }`;
      return (await evaluate(code)).includes("refused");
    },
  },
  {
    id: "own-part-is-copied",
    problem: "a compiled program reads and copies all that is embedded at each start: the scripts lie before that part",
    where: ["tools/compile/behind_runtime.ts"],
    isNeeded: "compare the start of the binaries of tools/compile.ts with and without --plain",
  },
  {
    id: "server-ends-without-files",
    problem:
      "Deno.serve stops listening when it cannot accept a connection, and its error ends the process: it is started again",
    where: ["src/platform/deno/network/lasting_server.ts"],
    isNeeded: "let serve() of deno/network/network.ts use Deno.serve alone, and run lasting_server_test.ts",
  },
  {
    id: "server-without-limits",
    problem: "Deno.serve keeps silent connections for ever, and any number of them: they are closed from outside",
    where: ["src/platform/linux/idle_connections.ts"],
    isNeeded: "look for options of Deno.serve that limit connections in time and number",
  },
  {
    id: "shared-code-cache",
    problem: "the code cache of a compiled program is a file in the temporary folder whose owner is not checked",
    where: ["tools/compile/build.ts", "tools/compile/code_cache.ts"],
    isNeeded: "compile without --no-code-cache, and trace the files that a start opens",
  },
  {
    id: "require-by-module-url",
    problem: "the bundler lets packages of CommonJS require Node's modules by the URL of the module: a script has none",
    where: ["tools/compile/scripts.ts"],
    isNeeded: async () => {
      await using folder = await temporaryFolder();
      await Deno.writeTextFile(`${folder.path}/package.cjs`, 'module.exports = require("node:path").sep;');
      await Deno.writeTextFile(`${folder.path}/main.mjs`, 'import sep from "./package.cjs"; console.log(sep);');
      const code = await deno(["bundle", "--quiet", "--no-config", "--platform", "deno", `${folder.path}/main.mjs`]);
      return code.includes("(import.meta.url)");
    },
  },
];

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
  const { symbols } = socketLibc();
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

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);

for (const { id, problem, where, isNeeded } of WORKAROUNDS) {
  Deno.test({
    name: `workaround ${id}: ${problem}`,
    ignore: Deno.build.os !== "linux",
    // Probes leave behind what the runtime cannot end.
    sanitizeResources: false,
    sanitizeOps: false,
    async fn(test) {
      for (const path of where) assert.ok(await Deno.stat(`${ROOT}${path}`), path);
      if (typeof isNeeded === "string") return;
      const needed = await isNeeded();
      const { deno: version } = Deno.version;
      await test.step(`Deno ${version}: ${needed ? "still needed" : "NO LONGER NEEDED"}`, () => {
        assert.ok(needed || version !== RUNTIME_VERSION, "the list is wrong about the pinned Deno");
      });
    },
  });
}
