import { ClosedPipeError, MeshError } from "../../src/base/errors.ts";
import { decodeUtf8, trimmedEnd } from "../../src/base/text/mod.ts";
import { ENOENT, type SystemCalls, SystemError } from "../../src/platform/system_calls.ts";
import { DialError } from "../../src/platform/connection.ts";
import { DEFAULT_PATH } from "../../src/platform/program_path.ts";
import type {
  Child,
  ClientOptions,
  Dialed,
  DialOptions,
  Exchange,
  ExchangeAnswer,
  Files,
  FileStatus,
  HttpHandler,
  InterfaceAddress,
  Output,
  PermissionName,
  Processes,
  Run,
  RunResult,
  SignalName,
  Spawn,
  WebSocketConnection,
  WebSocketRequest,
  World,
} from "../../src/platform/world.ts";

/** The initial state and the responses of a fake world. All fields are optional. */
export interface FakeWorldOptions {
  readonly name?: string;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** Contents of files, by path. */
  readonly files?: Record<string, string | Uint8Array>;
  readonly now?: Date;
  /** Runs programs; if undefined, no program exists. */
  readonly run?: (run: Run) => RunResult;
  /** Starts long-running programs; if undefined, no program exists. */
  readonly spawn?: (spawn: Spawn) => Child;
  /** Starts attached programs; if undefined, no program exists. */
  readonly attach?: Processes["attach"];
  /** Whether this process waits for a child; by default it waits for none. */
  readonly isAwaited?: Processes["isAwaited"];
  readonly interfaces?: readonly InterfaceAddress[];
  /** IP addresses by host name. */
  readonly hosts?: Readonly<Record<string, readonly string[]>>;
  /** Paths of Unix sockets that are served. */
  readonly sockets?: readonly string[];
  /** Returns the content of a URL. */
  readonly fetch?: (url: string) => string;
  /** Responds to requests; if undefined, every connection is refused. */
  readonly request?: (url: string, init?: RequestInit) => Response | Promise<Response>;
  /** Opens WebSockets for clients; if undefined, every connection is refused. */
  readonly webSocket?: (url: string, request: WebSocketRequest) => Promise<WebSocketConnection>;
  /** Called for each new client. Responses to its requests come from `request`. */
  readonly client?: (options: ClientOptions) => void;
  /** Responds to exchanges; if undefined, every connection is refused. */
  readonly exchange?: (request: Exchange) => ExchangeAnswer | Promise<ExchangeAnswer>;
  /** Opens connections; if undefined, every connection is refused. */
  readonly dial?: (options: DialOptions) => Dialed | Promise<Dialed>;
  /** System calls; all others throw ENOSYS. */
  readonly system?: Partial<SystemCalls>;
  readonly uid?: number;
  /** Number of bytes after which the reader of stdout closes it. */
  readonly stdoutClosesAfter?: number;
  /** Whether standard output and standard error are a terminal. */
  readonly terminal?: boolean;
  /** The number of columns of the terminal. */
  readonly columns?: number;
  /** The number of lines of the terminal. */
  readonly rows?: number;
}

/** A world in memory, with a record of the changes made to it. */
export interface FakeWorld extends World {
  /** Everything that was written to stdout and stderr. */
  readonly said: { stdout: string; stderr: string };
  readonly content: Map<string, Uint8Array>;
  readonly runs: Run[];
  /** Handlers of the running servers, by port. */
  readonly servers: Map<number, HttpHandler>;
  /** The last argument of `keepOnly`. */
  readonly kept: { names: readonly PermissionName[] | undefined };
  /** Delivers a signal to the handlers. */
  raise(signal: SignalName): void;
  /** Notifies the watchers of a path. */
  change(path: string): void;
}

const encoder = new TextEncoder();

/** Creates a world in memory, so that tests can run whole commands. */
export function fakeWorld(options: FakeWorldOptions = {}): FakeWorld {
  const said = { stdout: "", stderr: "" };
  const content = new Map(Object.entries(options.files ?? {}).map(([path, data]) => [path, toBytes(data)]));
  const runs: Run[] = [];
  const servers: FakeWorld["servers"] = new Map();
  const kept: FakeWorld["kept"] = { names: undefined };
  const handlers = new Map<string, Set<() => void>>();
  const watchers: Watchers = new Set();
  const env = { ...options.env };
  return {
    name: options.name ?? "kubectl-mesh",
    args: options.args ?? [],
    env: { get: (name) => Object.hasOwn(env, name) ? env[name] : undefined, all: () => ({ ...env }) },
    stdin: { isTerminal: options.stdin === undefined, chunks: () => pieces(toBytes(options.stdin ?? "")) },
    stdout: fakeOutput((text) => said.stdout += text, options),
    stderr: fakeOutput((text) => said.stderr += text, { terminal: options.terminal ?? false }),
    clock: fakeClock(options.now ?? new Date("2026-01-02T03:04:05Z")),
    files: fakeFiles(content, watchers),
    processes: fakeProcesses(options, runs, content),
    signals: {
      on(signal, handler) {
        const set = handlers.get(signal) ?? new Set();
        handlers.set(signal, set.add(handler));
        return () => set.delete(handler);
      },
    },
    network: fakeNetwork(options, servers),
    system: { ...NO_SYSTEM_CALLS, ...options.system },
    permissions: { keepOnly: (names) => kept.names = names },
    machine: {
      os: "linux",
      arch: "x86_64",
      deno: "2.0.0",
      pid: 4242,
      uid: options.uid ?? 1000,
      program: ["/usr/bin/kubectl-mesh"],
    },
    said,
    content,
    runs,
    servers,
    kept,
    raise: (signal) => handlers.get(signal)?.forEach((handler) => handler()),
    change: (path) => watchers.forEach((each) => each.paths.includes(path) && each.changed()),
  };
}

function fakeProcesses(options: FakeWorldOptions, runs: Run[], content: FakeWorld["content"]): World["processes"] {
  const run = (run: Run) => {
    runs.push(run);
    const absent: RunResult = { code: 127, stdout: "", stderr: `${run.command}: not found`, timedOut: false };
    return Promise.resolve(options.run?.(run) ?? absent);
  };
  return {
    run,
    spawn(spawn) {
      if (options.spawn !== undefined) return options.spawn(spawn);
      throw new MeshError(`Cannot start "${spawn.command}": program not found`);
    },
    attach(command, args) {
      if (options.attach !== undefined) return options.attach(command, args);
      throw new SystemError("execvp", ENOENT);
    },
    find(name) {
      const folders = (options.env?.["PATH"] ?? DEFAULT_PATH).split(":");
      return folders.map((folder) => `${folder}/${name}`).find((path) => path.startsWith("/") && content.has(path));
    },
    isAwaited: options.isAwaited ?? (() => false),
  };
}

function fakeNetwork(options: FakeWorldOptions, servers: FakeWorld["servers"]): World["network"] {
  return {
    interfaces: () => options.interfaces ?? [],
    lookup: (host) => Promise.resolve(options.hosts?.[host] ?? []),
    isServed: (path) => Promise.resolve(options.sockets?.includes(path) ?? false),
    fetch: (url) => Promise.resolve(pieces(toBytes(answer(options, url)))),
    request: async (url, init) => {
      if (options.request === undefined) throw new TypeError("connection refused");
      return await options.request(url, init);
    },
    client(client) {
      options.client?.(client);
      const request = async (path: string, init: RequestInit) => {
        if (options.request === undefined) throw new TypeError("connection refused");
        return await options.request(`${client.server}${path}`, init);
      };
      const webSocket = async (path: string, wanted: WebSocketRequest) => {
        if (options.webSocket === undefined) throw new TypeError("connection refused");
        return await options.webSocket(`${client.server}${path}`, wanted);
      };
      return Promise.resolve({ request, webSocket, close: () => {} });
    },
    exchange: async (request) => {
      if (options.exchange === undefined) throw new TypeError("connection refused");
      return await options.exchange(request);
    },
    serve({ port }, handler) {
      servers.set(port, handler);
      return Promise.resolve({ port, close: () => Promise.resolve(void servers.delete(port)) });
    },
    serveTls({ port }, handler) {
      servers.set(port, handler);
      const close = () => Promise.resolve(servers.delete(port));
      return Promise.resolve({ port, replaceCertificate: () => Promise.resolve(), drain: () => {}, close });
    },
    dial: async (dial) => {
      if (options.dial !== undefined) return await options.dial(dial);
      throw new DialError("connection", `Cannot connect to "${dial.host}:${dial.port}": connection refused`);
    },
    http: () => noSockets(),
    serveUnix: () => noSockets(),
    listenUnix: () => noSockets(),
    listenTcp: () => noSockets(),
    bindDatagram: () => noSockets(),
  };
}

/** Tests of sockets use real sockets, in a temporary folder. */
function noSockets(): Promise<never> {
  return Promise.reject(new MeshError("This world has no sockets"));
}

type Watchers = Set<{ readonly paths: readonly string[]; readonly changed: () => void }>;

const NO_SYSTEM_CALLS: SystemCalls = {
  adoptOrphans: () => notImplemented("prctl"),
  memoryReleaser: () => notImplemented("madvise"),
  hasEndedChild: () => notImplemented("waitid"),
  reap: () => notImplemented("waitpid"),
  netlink: () => notImplemented("netlink"),
  enterNetworkNamespace: () => notImplemented("setns"),
  enterRoot: () => notImplemented("chroot"),
  openNetlink: () => notImplemented("netlink"),
  interfaceIndex: () => notImplemented("if_nametoindex"),
  internetOption: () => notImplemented("getsockopt"),
  openSocket: () => notImplemented("socket"),
  execute: () => notImplemented("execvp"),
};

function notImplemented(call: string): never {
  throw new SystemError(call, 38);
}

function answer(options: FakeWorldOptions, url: string): string {
  if (options.fetch === undefined) throw new MeshError(`Cannot read "${url}": this world has no network`);
  return options.fetch(url);
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? encoder.encode(data) : data;
}

async function* pieces(bytes: Uint8Array) {
  if (bytes.length > 0) yield await Promise.resolve(bytes);
}

function fakeOutput(take: (text: string) => void, options: FakeWorldOptions): Output {
  let left = options.stdoutClosesAfter ?? Infinity;
  const decoder = new TextDecoder();
  return {
    isTerminal: options.terminal ?? false,
    columns: options.columns,
    rows: options.rows,
    write(chunk) {
      const bytes = toBytes(chunk);
      if (bytes.length > left) throw new ClosedPipeError("The reader of the output has closed the pipe");
      left -= bytes.length;
      take(decoder.decode(bytes, { stream: true }));
    },
  };
}

/** Time passes only in `sleep`, which returns immediately. */
function fakeClock(start: Date): World["clock"] {
  let passed = 0;
  return {
    now: () => new Date(start.getTime() + passed),
    monotonic: () => passed,
    sleep(milliseconds) {
      passed += milliseconds;
      return Promise.resolve();
    },
  };
}

function fakeFiles(content: Map<string, Uint8Array>, watchers: Watchers): Files {
  const read = (path: string): Uint8Array => {
    const bytes = content.get(path);
    if (bytes !== undefined) return bytes;
    const reason = isFolder(content, path) ? "it is a directory" : "no such file or directory";
    throw new MeshError(`Cannot read "${path}": ${reason}`);
  };
  return {
    chunks: (path) => pieces(read(path)),
    readText: (path) => Promise.resolve().then(() => decodeUtf8(read(path), path)),
    stat: (path) => Promise.resolve(statusOf(content, trimmedEnd(path, "/", 1))),
    list(path) {
      const names = new Set(under(content, path).map((rest) => rest.split("/", 1)[0] ?? ""));
      return Promise.resolve(
        [...names].sort().map((name) => ({ name, kind: statusOf(content, `${path}/${name}`)?.kind ?? "other" })),
      );
    },
    replace(path) {
      let text = "";
      return {
        write: (chunk) => text += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk),
        commit: () => content.set(path, encoder.encode(text)),
        abort: () => text = "",
      };
    },
    tidyTemporary: () => {},
    temporaryFolder: () => ({ path: "/tmp/mesh", remove: () => {} }),
    scratch() {
      const written: Uint8Array[] = [];
      return { write: (bytes) => void written.push(bytes), chunks: () => written, close: () => void written.splice(0) };
    },
    writeText: (path, text) => content.set(path, encoder.encode(text)),
    makeFolder: () => Promise.resolve(),
    remove(path) {
      for (const name of [...content.keys()]) if (name === path || name.startsWith(`${path}/`)) content.delete(name);
      return Promise.resolve();
    },
    watch(paths, _milliseconds, changed) {
      const watcher = { paths, changed };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    lock: () => Promise.resolve({ release: () => {} }),
  };
}

function under(content: Map<string, Uint8Array>, path: string): string[] {
  return [...content.keys()].filter((name) => name.startsWith(`${path}/`)).map((name) => name.slice(path.length + 1));
}

function isFolder(content: Map<string, Uint8Array>, path: string): boolean {
  return under(content, path).length > 0;
}

function statusOf(content: Map<string, Uint8Array>, path: string): FileStatus | undefined {
  const bytes = content.get(path);
  if (bytes !== undefined) return { kind: "file", size: bytes.length, mode: 0o644 };
  return isFolder(content, path) ? { kind: "directory", size: 0, mode: 0o755 } : undefined;
}
