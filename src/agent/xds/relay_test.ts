import { getLogger } from "@logtape/logtape";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import assert from "node:assert/strict";
import { FakeIdentity } from "../../../test/support/agent/fake_identity.ts";
import { testAuthority } from "../../../test/support/tls/authority.ts";
import { temporaryFolder } from "../../../test/support/temporary_folder.ts";
import { until } from "../../../test/support/until.ts";
import { encodeFrame, frames } from "../grpc/frames.ts";
import { CODE, type GrpcStream, grpcStream } from "../grpc/mod.ts";
import { realWorld } from "../../platform/deno/world.ts";
import type { ByteConnection, HttpConnection, World } from "../../platform/mod.ts";
import type { HealthReport } from "../health/options.ts";
import type { XdsMetrics } from "../metrics/control_plane_metrics.ts";
import { connectionStatus } from "./connection_status.ts";
import type { XdsOptions } from "./options.ts";
import { relay } from "./relay.ts";
import { HEALTH_TYPE, LISTENER_TYPE, reportMessage, requestForm, typeOf } from "./report_message.ts";
import { startXds } from "./server.ts";

const METHOD = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";

const NAME = "istiod.istio-system.svc";
const AUTHORITY = testAuthority();
const { certificate: cert, key } = AUTHORITY.issue({ dnsNames: [NAME] });
const keyPair = { cert, key };

/** Opens streams as Envoy does. */
interface Envoy {
  stream(
    method: string,
    options: { readonly signal: AbortSignal; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<GrpcStream>;
}

/** An agent with a header of its user's, in front of a control plane. */
async function withRelay(
  handler: (request: Request) => Response | Promise<Response>,
  body: (envoy: Envoy, facts: { problem(): string | undefined; stop(): Promise<void> }) => Promise<void>,
  given: Partial<XdsOptions> = {},
): Promise<void> {
  await using folder = await temporaryFolder();
  const listening = Promise.withResolvers<number>();
  const end = new AbortController();
  const options = { hostname: "127.0.0.1", port: 0, signal: end.signal };
  const onListen = ({ port }: { readonly port: number }) => listening.resolve(port);
  const plane = Deno.serve(
    given.tls === undefined ? { ...options, onListen } : { ...options, onListen, ...keyPair },
    handler,
  );
  const world = realWorld();
  const path = `${folder.path}/XDS`;
  const address = `127.0.0.1:${await listening.promise}`;
  const xds = await startXds(world, {
    path,
    address,
    tls: undefined,
    headers: { "x-tenant": "a" },
    identity: new FakeIdentity(),
    log: getLogger(["test", "xdsproxy"]),
    ...given,
  });
  const dial = async () => {
    const made = await Deno.connect({ transport: "unix", path });
    let isOpen = true;
    const close = () => {
      if (isOpen) made.close();
      isOpen = false;
    };
    return { read: made.read.bind(made), write: made.write.bind(made), close };
  };
  const streams: GrpcStream[] = [];
  const envoy: Envoy = {
    async stream(method, { signal, headers = {} }) {
      const endpoint = { address: "xds-grpc:59991", tls: undefined };
      const stream = await grpcStream({ ...world.network, dial }, { endpoint, method, headers, signal });
      streams.push(stream);
      return stream;
    },
  };
  const stop = async () => {
    end.abort();
    await plane.finished;
  };
  await body(envoy, { problem: xds.problem, stop });
  for (const stream of streams) stream.close();
  await xds.close();
  await stop();
}

const GRPC = { "content-type": "application/grpc" };
const soon = () => ({ signal: AbortSignal.timeout(20_000) });

async function heard(messages: AsyncIterator<Uint8Array>): Promise<string | undefined> {
  const { value, done } = await messages.next();
  return done === true ? undefined : new TextDecoder().decode(value);
}

Deno.test("relay: the user's headers are added to Envoy's, and messages pass both ways", async () => {
  const seen: Headers[] = [];
  const plane = (request: Request) => {
    seen.push(request.headers);
    assert.equal(new URL(request.url).pathname, METHOD);
    return new Response(request.body, { headers: GRPC });
  };
  await withRelay(plane, async (envoy, { problem }) => {
    const stream = await envoy.stream(METHOD, { ...soon(), headers: { "x-envoy": "b" } });
    const messages = stream.messages()[Symbol.asyncIterator]();
    for (const word of ["one", "two"]) {
      await stream.send(new TextEncoder().encode(word));
      assert.equal(await heard(messages), word);
    }
    assert.deepEqual(seen.map((headers) => [headers.get("x-tenant"), headers.get("x-envoy")]), [["a", "b"]]);
    assert.equal(problem(), undefined);
    stream.close();
  });
});

Deno.test("relay: metrics count messages, and the side that ends the call", async () => {
  const counted = { requests: 0, responses: 0, ends: new Array<string>() };
  const metrics: XdsMetrics = {
    connectionFailed: () => void counted.ends.push("failed"),
    connectionEnded: (by, isBroken) => void counted.ends.push(`${by} ${isBroken}`),
    requested: (count) => void (counted.requests += count),
    responded: (count) => void (counted.responses += count),
  };
  const plane = (request: Request) => new Response(request.body, { headers: GRPC });
  await withRelay(plane, async (envoy) => {
    const stream = await envoy.stream(METHOD, soon());
    const messages = stream.messages()[Symbol.asyncIterator]();
    for (const word of ["one", "two"]) {
      await stream.send(new TextEncoder().encode(word));
      assert.equal(await heard(messages), word);
    }
    stream.close();
    await until(() => counted.ends.length > 0);
    assert.deepEqual(counted, { requests: 2, responses: 2, ends: ["envoy false"] });
  }, { metrics });
});

Deno.test("relay: istiod's refusal reaches Envoy with its status", () => {
  const refusal = { ...GRPC, "grpc-status": "16", "grpc-message": "authentication failure" };
  return withRelay(() => new Response(null, { headers: refusal }), async (envoy) => {
    const stream = await envoy.stream(METHOD, soon());
    await assert.rejects(heard(stream.messages()[Symbol.asyncIterator]()), {
      code: CODE.Unauthenticated,
      message: /authentication failure$/,
    });
  });
});

Deno.test("relay: a lost connection to istiod ends Envoy's stream; an unreachable istiod is a status and a problem", () =>
  withRelay((request) => new Response(request.body, { headers: GRPC }), async (envoy, { problem, stop }) => {
    const stream = await envoy.stream(METHOD, soon());
    const messages = stream.messages()[Symbol.asyncIterator]();
    await stream.send(new TextEncoder().encode("one"));
    assert.equal(await heard(messages), "one");
    await stop();
    assert.equal(await heard(messages), undefined);
    const again = await envoy.stream(METHOD, soon());
    await assert.rejects(heard(again.messages()[Symbol.asyncIterator]()), {
      code: CODE.Unavailable,
      stage: "status",
      message: /connection refused$/,
    });
    assert.match(problem() ?? "", /^Cannot connect to "127\.0\.0\.1:\d+": connection refused$/);
  }));

Deno.test("relay: a call counts before it is connected; a token that cannot be read closes its connection", async () => {
  const real = realWorld();
  const [dialed, ended] = [Promise.withResolvers<ByteConnection>(), Promise.withResolvers<undefined>()];
  const client: HttpConnection = {
    request: () => assert.fail(),
    ended: ended.promise,
    why: (error) => Promise.resolve(error),
    close: () => ended.resolve(undefined),
  };
  const world: World = {
    ...real,
    files: { ...real.files, stat: () => Promise.reject(new Error("no permission")) },
    network: { ...real.network, dial: () => dialed.promise, http: () => Promise.resolve(client) },
  };
  const log = getLogger(["test", "xdsproxy"]);
  const tls = { serverName: NAME, roots: { from: "system" } } as const;
  const options = { path: "", address: "istiod:15012", tls, headers: {}, identity: undefined, tokenFile: "token", log };
  const connection = connectionStatus(options.address, log);
  const upstream = { world, options, connection, modules: undefined, signal: new AbortController().signal };
  const open = { calls: new Set<Request>(), max: 1 };
  const call = () => relay(upstream, new Request(`http://xds${METHOD}`, { method: "POST", body: "a" }), open);
  const first = call();
  const refused = await call();
  assert.match(
    decodeURIComponent(refused.headers.get("grpc-message") ?? ""),
    /^Too many concurrent calls to istiod: the limit is 1$/,
  );
  dialed.resolve({ read: () => Promise.resolve(null), write: () => Promise.resolve(0), close() {} });
  assert.match((await first).headers.get("grpc-message") ?? "", /permission/);
  await ended.promise;
  assert.equal(open.calls.size, 0);
});

Deno.test("relay: without a certificate the agent sends the current token with each call", async () => {
  await using folder = await temporaryFolder();
  const [roots, tokenFile] = [`${folder.path}/roots.pem`, `${folder.path}/token`];
  await Deno.writeTextFile(roots, AUTHORITY.roots);
  const seen: (string | null)[] = [];
  const plane = (request: Request) => {
    seen.push(request.headers.get("authorization"));
    return new Response(request.body, { headers: GRPC });
  };
  const tls = { serverName: NAME, roots: { from: "file", file: roots } } as const;
  await withRelay(plane, async (envoy) => {
    for (const token of ["one", "two"]) {
      await Deno.writeTextFile(tokenFile, `${token}\n`);
      const stream = await envoy.stream(METHOD, soon());
      await stream.send(new TextEncoder().encode(token));
      assert.equal(await heard(stream.messages()[Symbol.asyncIterator]()), token);
      stream.close();
    }
  }, { identity: undefined, headers: {}, tls, tokenFile });
  assert.deepEqual(seen, ["Bearer one", "Bearer two"]);
});

for (const method of ["StreamAggregatedResources", "DeltaAggregatedResources"]) {
  Deno.test(`relay: health is reported after the listener request, on each new stream, while Envoy is silent: ${method}`, async () => {
    const path = `${METHOD.slice(0, METHOD.lastIndexOf("/"))}/${method}`;
    const form = requestForm(path);
    assert.ok(form);
    const seen: string[] = [];
    const plane = ({ body }: Request) => {
      assert.ok(body);
      // What it hears is what it answers, so that a test can wait for it.
      const messages = frames(body);
      return new Response(
        ReadableStream.from(async function* () {
          for await (const message of messages) {
            seen.push(typeOf(form, message));
            yield encodeFrame(message);
          }
        }()),
        { headers: GRPC },
      );
    };
    let current: HealthReport = { problem: "ill" };
    const listeners = new Set<() => void>();
    const reports = {
      current: () => current,
      subscribe(changed: () => void) {
        listeners.add(changed);
        return () => void listeners.delete(changed);
      },
    };
    const asking = new BinaryWriter().tag(form.typeUrl, 2).string(LISTENER_TYPE).finish();
    await withRelay(plane, async (envoy) => {
      for (const problem of [undefined, "ill again"]) {
        const stream = await envoy.stream(path, soon());
        const messages = stream.messages()[Symbol.asyncIterator]();
        await stream.send(asking);
        for (let count = 0; count < 2; count++) await messages.next();
        current = { problem };
        for (const listener of listeners) listener();
        const { value } = await messages.next();
        assert.deepEqual(value, reportMessage(form, current));
        stream.close();
      }
    }, { headers: {}, reports });
    const each = [LISTENER_TYPE, HEALTH_TYPE, HEALTH_TYPE];
    assert.deepEqual(seen, [...each, ...each]);
    assert.equal(listeners.size, 0);
  });
}
