/** A workaround for the pinned Deno. */
export interface Workaround {
  readonly id: string;
  /** What the runtime lacks or does wrong. */
  readonly problem: string;
  /** The files that work around it. */
  readonly where: readonly string[];
  /** How to find out that it is no longer needed: by the probe in `workarounds_test.ts`, or as told here. */
  readonly check: "probe" | { readonly byHand: string };
}

/**
 * Everything that only works around Deno 2.6.10. On an upgrade of Deno run `workarounds_test.ts` on the new version: it reports
 * the entries that are no longer needed. The texts of errors that the program matches are in `../runtime_errors.ts`.
 */
export const WORKAROUNDS = [
  {
    id: "fetch-forgets-signal",
    problem: "fetch() forgets the signal of a request whose Response was collected as garbage: its body never ends",
    where: ["src/core/world/deno/network/fetch.ts"],
    check: "probe",
  },
  {
    id: "absolute-form",
    problem: "fetch() through a Unix socket sends the whole URL in the first line of HTTP/1.1, as to a proxy",
    where: ["src/core/world/deno/network/http.ts"],
    check: "probe",
  },
  {
    id: "http-over-connection",
    problem: "an HTTP client cannot be given an open connection: it gets a Unix socket in a private folder",
    where: ["src/core/world/deno/network/http.ts"],
    check: "probe",
  },
  {
    id: "client-server-name",
    problem: "an HTTP client can neither expect another name in the server's certificate nor skip its verification",
    where: ["src/core/world/deno/network/client.ts", "src/core/world/deno/network/exchange.ts"],
    check: "probe",
  },
  {
    id: "tls-server-name",
    problem: "Deno.connectTls has an option for the server's name under a symbol only",
    where: ["src/core/world/deno/network/tls.ts"],
    check: "probe",
  },
  {
    id: "connect-source",
    problem: "Deno.connect and node:net cannot choose the local address of a connection",
    where: ["src/core/world/linux/connect_from.ts", "src/core/world/deno/network/insecure_tls.ts"],
    check: "probe",
  },
  {
    id: "node-tls-over-unix",
    problem:
      "node:tls over a Unix socket never finishes its handshake: a TLS probe from a source goes through loopback",
    where: ["src/core/world/deno/network/insecure_tls.ts"],
    check: "probe",
  },
  {
    id: "node-tls-late-start",
    problem: "node:tls hangs on a socket that was connected before: it has to start in the event of the connection",
    where: ["src/core/world/deno/network/insecure_tls.ts"],
    check: "probe",
  },
  {
    id: "bad-pair-ends-process",
    problem: "a TLS client whose key does not fit its certificate ends the process: a TLS listener is asked first",
    where: ["src/core/world/deno/network/key_pair.ts"],
    check: "probe",
  },
  {
    id: "proxy-for-loopback",
    problem: "an HTTP client asks the proxy of the environment for loopback too, and only NO_PROXY prevents it",
    where: ["src/core/world/deno/network/proxies.ts"],
    check: "probe",
  },
  {
    id: "tls-client-no-delay",
    problem: "Deno.connectTls has no TCP_NODELAY: the second part of a message waits 40 ms for an acknowledgement",
    where: ["src/core/world/linux/socket_options.ts"],
    check: "probe",
  },
  {
    id: "tls-server-no-delay",
    problem: "connections of Deno.serve with TLS have no TCP_NODELAY: the body of a response over HTTP/2 waits 40 ms",
    where: ["src/core/world/linux/socket_options.ts", "src/core/world/deno/https/server.ts"],
    check: "probe",
  },
  {
    id: "certificate-not-replaceable",
    problem: "no HTTPS server can replace its certificate: there is one on loopback for each certificate",
    where: ["src/core/world/deno/https/server.ts"],
    check: "probe",
  },
  {
    id: "http2-shutdown",
    problem:
      "Deno.serve never answers requests of HTTP/2 that arrive when it is told to end: an idle moment is waited for",
    where: ["src/core/world/deno/https/server.ts"],
    check: { byHand: "let close() of https/server.ts call shutdown() at once, and run server_test.ts" },
  },
  {
    id: "node-http2",
    problem:
      "node:http2 loses headers and trailers, so that no gRPC library works: gRPC runs over fetch and Deno.serve",
    where: ["src/core/grpc", "src/agent/sds"],
    check: "probe",
  },
  {
    id: "unstable-datagrams",
    problem: "Deno.listenDatagram needs --unstable-net, and node:dgram takes twice the processor time",
    where: ["deno.json", "tools/compile/build.ts"],
    check: "probe",
  },
  {
    id: "real-time-signals",
    problem: "the status of a child that a real-time signal ended is an error: the number is read from its text",
    where: ["src/core/world/deno/child_process.ts"],
    check: "probe",
  },
  {
    id: "proc-needs-all-permissions",
    problem: "a process that gave up any permission cannot read /proc and /sys: some commands keep all",
    where: ["src/iptables/run.ts"],
    check: "probe",
  },
  {
    id: "slow-child-processes",
    problem: "Deno.Command takes 3 ms more than posix_spawn to run a program and wait",
    where: ["src/core/world/linux/run_and_wait.ts"],
    check: { byHand: "let begin() of deno/processes.ts use Deno.Command, and compare bench/iptables.ts" },
  },
  {
    id: "own-part-is-copied",
    problem: "a compiled program reads and copies all that is embedded at each start: the scripts lie before that part",
    where: ["tools/compile/behind_runtime.ts"],
    check: { byHand: "compare the start of the binaries of tools/compile.ts with and without --plain" },
  },
  {
    id: "shared-code-cache",
    problem: "the code cache of a compiled program is a file in the temporary folder whose owner is not checked",
    where: ["tools/compile/build.ts", "tools/compile/code_cache.ts"],
    check: { byHand: "compile without --no-code-cache, and trace the files that a start opens" },
  },
] as const satisfies readonly Workaround[];

/** Ids of the workarounds that a probe checks. */
export type ProbedId = Extract<typeof WORKAROUNDS[number], { readonly check: "probe" }>["id"];
