import type { Helper } from "./helper.ts";
import type { ByteConnection, DialOptions, Http2Client, UnixServer, UnixSocketOptions } from "./byte_connection.ts";
import type { DatagramAddress, DatagramOptions, DatagramSocket, TcpHandler, TcpListener } from "./datagram.ts";
import type { ClientOptions, HttpClient } from "./http_client.ts";
import type { SystemCalls } from "./system_calls.ts";
import type { TlsServeOptions, TlsServer } from "./tls_server.ts";

/**
 * The process as one object. Commands get it passed in and touch nothing else of the machine, so that a test can run a
 * whole command against a fake (`fake.ts`) and read off what it said and did.
 */
export interface World {
  /** The name the program was started by, without folder and `.exe`. */
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Environment;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  readonly files: Files;
  readonly processes: Processes;
  readonly signals: Signals;
  readonly network: Network;
  /** Linux only: each call throws `SystemError` elsewhere. */
  readonly system: SystemCalls;
  readonly permissions: Permissions;
  readonly machine: Machine;
}

/** Environment variables. */
export interface Environment {
  get(name: string): string | undefined;
  /** All of them, as a copy. */
  all(): Record<string, string>;
}

/** Bytes that come in. */
export interface Input {
  readonly isTerminal: boolean;
  chunks(): AsyncIterable<Uint8Array>;
}

/** Bytes that go out: written whole before `write` returns. Throws `ClosedPipeError` when the reader went away. */
export interface Output {
  readonly isTerminal: boolean;
  write(chunk: string | Uint8Array): void;
}

/** Time. */
export interface Clock {
  now(): Date;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number;
  /** Waits; an aborted signal ends the wait early without an error. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** What is known of a file without reading it. */
export interface FileFacts {
  readonly kind: "file" | "directory" | "other";
  /** Bytes. */
  readonly size: number;
  /** Permission bits, such as 0o644; `undefined` where the system has none. */
  readonly mode: number | undefined;
}

/** An entry of a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileFacts["kind"];
}

/** A file that is being written beside the one it will replace: exactly one of `commit` and `abort` ends it. */
export interface Replacement {
  write(chunk: string | Uint8Array): void;
  /** Puts the new content in place of the old in one step. The file's permissions are kept, unless others were told. */
  commit(): void;
  /** Leaves the old file as it was. */
  abort(): void;
}

/** Files. Failures are `MeshError`s that name the path. */
export interface Files {
  /** The content in pieces: a large file is never held whole. */
  chunks(path: string): AsyncIterable<Uint8Array>;
  /** The whole text as UTF-8; an error if it is larger than `maxBytes` (16 MiB unless told) or is not UTF-8. */
  readText(path: string, maxBytes?: number): Promise<string>;
  /** `undefined` if nothing is there; symbolic links are followed. */
  facts(path: string): Promise<FileFacts | undefined>;
  /** Sorted by name. */
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Starts to replace (or create) a file, with these permission bits if told; a symbolic link keeps being one. */
  replace(path: string, mode?: number): Replacement;
  /** Writes a small file in one step (through `replace`), with these permission bits if it is new. */
  writeText(path: string, text: string, mode?: number): void;
  /** Makes a folder and those above it that are not there, with these permission bits (0700 unless told). */
  makeFolder(path: string, mode?: number): Promise<void>;
  /** Removes a file or a tree; no error if it is not there. */
  remove(path: string): Promise<void>;
  /**
   * Calls back when the content of any of these files has changed and is calm again, until the returned function is
   * called. A directory stands for the files in it; a file may come and go. Links are followed, swaps of them are seen.
   */
  watch(paths: readonly string[], milliseconds: number, changed: () => void): () => void;
  /** An exclusive lock on a file that is made if absent (flock), waited for at most so long; `undefined` if the time ran out. */
  lock(path: string, waitMilliseconds: number): Promise<Lock | undefined>;
}

/** A lock held; given back by `release` or by the end of the process. */
export interface Lock {
  release(): void;
}

/** A program to run to its end. */
export interface Run {
  readonly command: string;
  readonly args?: readonly string[];
  readonly stdin?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Ends it with SIGKILL when it takes longer. */
  readonly timeoutMilliseconds?: number;
}

/** How a program ended. */
export interface RunResult {
  /** The exit code; 128 + signal number if a signal ended it; 127 if the program is not there. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** A program to start that lives on. */
export interface Spawn {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Where its standard error goes: that of this process unless told. */
  readonly errorOutput?: "inherit" | "piped";
}

/** Signals that a program is sent. */
export type ChildSignal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGQUIT" | "SIGHUP" | "SIGUSR1" | "SIGUSR2";

/** How a program that lived on has ended. */
export interface ChildEnd {
  /** The exit code; 128 + signal number if a signal ended it. */
  readonly code: number;
  /** Name of the signal that ended it. */
  readonly signal: string | undefined;
}

/** A program that was started. */
export interface Child {
  readonly pid: number;
  /** Resolves when it has ended and the system has forgotten it (reaped). */
  readonly ended: Promise<ChildEnd>;
  /** Its standard error, if that is piped: it has to be read, or the program comes to a halt. */
  readonly errorOutput: ReadableStream<Uint8Array> | undefined;
  /** Sends a signal to its process group; `false` if it has ended. */
  signal(name: ChildSignal): boolean;
}

/** A program that runs in place of this one, as its child. */
export interface AttachedChild {
  readonly ended: Promise<ChildEnd>;
  /** Sends a signal to it alone; `false` if it has ended. */
  signal(name: ChildSignal): boolean;
}

/** Other programs. */
export interface Processes {
  /** Runs a program to its end. A program that is not there is the result 127, not an error. */
  run(run: Run): Promise<RunResult>;
  /**
   * Starts a program that ends soon; the function waits for its end and gives what `run` gives. This process may stand still
   * while it waits, deaf to signals that have handlers, which spares 3 ms.
   */
  begin(run: Run): () => Promise<RunResult>;
  /**
   * Starts a program in a session and process group of its own, without input, with an empty signal mask. Throws
   * `MeshError` if it is absent or not executable.
   */
  spawn(spawn: Spawn): Child;
  /**
   * Starts a program that has the standard streams, the session, the process group and the terminal of this process.
   * Throws `SystemError` if it is absent (ENOENT) or not executable (EACCES).
   */
  attach(command: string, args: readonly string[]): AttachedChild;
  /** Starts this program once more, with these arguments, to do work for this process. Throws `MeshError` if it cannot. */
  help(args: readonly string[]): Helper;
}

/** Signals that this process can handle. */
export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT" | "SIGUSR1" | "SIGUSR2" | "SIGCHLD";

/** Signals of the operating system. */
export interface Signals {
  /** Calls the handler instead of the default action until the returned function is called. */
  on(signal: SignalName, handler: () => void): () => void;
}

/** An address of a network interface. */
export interface InterfaceAddress {
  readonly name: string;
  readonly family: "IPv4" | "IPv6";
  readonly address: string;
}

/** The network of the machine, or of the network namespace that was entered. */
export interface Network {
  /** Addresses of all interfaces of this network namespace, in the kernel's order. */
  interfaces(): readonly InterfaceAddress[];
  /** The IP addresses of a host, as the system's resolver finds them; none if it finds none. */
  lookup(host: string): Promise<readonly string[]>;
  /** Whether a program accepts connections on the Unix socket at a path; a socket file that was left behind is none. */
  isServed(path: string): Promise<boolean>;
  /** Fetches an https URL in pieces. */
  fetch(url: string): Promise<AsyncIterable<Uint8Array>>;
  /** One HTTP request, with the types and the errors of the web's `fetch`; `init.signal` ends it. */
  request(url: string, init?: RequestInit): Promise<Response>;
  /**
   * A TCP connection, perhaps from an address of choice (Linux). Rejects with `SystemError` if that address cannot be
   * had, and for what the kernel answers; an aborted signal ends the attempt.
   */
  connect(options: ConnectOptions): Promise<Connection>;
  /**
   * One HTTP request on a connection of its own, which is closed with the answer: how Kubernetes probes. Redirects are
   * not followed, certificates of https are not verified. Errors are those of the web's `fetch` and of `connect`.
   */
  exchange(request: Exchange): Promise<ExchangeAnswer>;
  /** A client of one server, with an identity and a trust of its own. Rejects with a `MeshError` if they cannot be used. */
  client(options: ClientOptions): Promise<HttpClient>;
  /** Serves HTTP on a TCP address. Rejects with a `MeshError` that names the address if it cannot be had. */
  serve(options: ServeOptions, handler: HttpHandler): Promise<HttpServer>;
  /**
   * Serves HTTPS, TLS 1.2 and newer, HTTP/1.1 and HTTP/2, on a TCP address. Rejects with a `MeshError` that names the
   * address if it cannot be had, and for a certificate or a key that cannot be used.
   */
  serveTls(options: TlsServeOptions, handler: HttpHandler): Promise<TlsServer>;
  /**
   * A connection to a server by its name, perhaps over TLS; addresses are tried in turn. It breaks within a minute when the
   * other end has gone without a word (Linux). Rejects with a `DialError`.
   */
  dial(options: DialOptions): Promise<ByteConnection>;
  /** HTTP/2 on a connection that nothing was sent over, which belongs to the client from then on. */
  http2(connection: ByteConnection): Promise<Http2Client>;
  /** Serves HTTP/1.1 and HTTP/2, both in clear, on a Unix socket. Rejects with a `MeshError` if it cannot be had. */
  serveUnix(
    options: UnixSocketOptions,
    handler: (request: Request) => Response | Promise<Response>,
  ): Promise<UnixServer>;
  /** Takes connections on a Unix socket. Rejects with a `MeshError` if it cannot be had. */
  listenUnix(options: UnixSocketOptions, accepted: (connection: ByteConnection) => void): Promise<UnixServer>;
  /** Takes connections on a TCP port; a port of 0 takes a free one. Rejects with a `MeshError` if it cannot be had. */
  listenTcp(options: DatagramAddress, accepted: TcpHandler): Promise<TcpListener>;
  /** Binds a UDP socket. Rejects with a `MeshError` if the port cannot be had. */
  bindDatagram(options: DatagramOptions): Promise<DatagramSocket>;
}

/** Where to connect to, and from. */
export interface ConnectOptions {
  /** An IP address, or the name `localhost`. */
  readonly hostname: string;
  readonly port: number;
  /** The IP address of the own end. */
  readonly source?: string;
  readonly signal: AbortSignal;
}

/** A connection that is open. */
export interface Connection {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  /** Ends both directions; may be called more than once. */
  close(): void;
}

/** An HTTP request that is not sent over a kept connection. */
export interface Exchange {
  readonly method: "GET" | "POST";
  /** Of an IP address or `localhost`. */
  readonly url: string;
  /** `host` may be among them. */
  readonly headers: Headers;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The IP address of the own end. */
  readonly source?: string;
  /** `negotiated`: HTTP/2 if the server chooses it in the TLS handshake, else HTTP/1.1. */
  readonly protocol: "http/1.1" | "h2" | "negotiated";
  /** How much of the answer's body is read; the rest is not waited for. */
  readonly maxBodyBytes: number;
  readonly signal: AbortSignal;
}

/** What came back. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** What came of the body before its end, its limit or the signal. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Where to serve: a port of 0 takes a free one. */
export interface ServeOptions {
  readonly hostname: string;
  readonly port: number;
}

/** Answers one request; `remote` is the address, without port, of who asks. */
export type HttpHandler = (request: Request, remote: string) => Response | Promise<Response>;

/** A server that runs. */
export interface HttpServer {
  readonly port: number;
  /** Takes no more connections; resolves when the requests in flight are answered. */
  close(): Promise<void>;
}

/** Names of the permissions that Deno knows. */
export type PermissionName = "read" | "write" | "net" | "run" | "env" | "sys" | "ffi" | "import";

/** What this process is still allowed to do. */
export interface Permissions {
  /** Gives up, for good, every permission that is not named. */
  keepOnly(names: readonly PermissionName[]): void;
}

/** The machine that the program runs on. */
export interface Machine {
  readonly os: "linux" | "darwin" | "windows" | "other";
  readonly arch: string;
  readonly pid: number;
  /** Processors that this process may use: of the machine, or fewer by its affinity or the quota of its container. */
  readonly processors: number;
  /** `undefined` where the system has no such thing. */
  readonly uid: number | undefined;
}
