/**
 * Prints whether each kind of client trusts the server in the first argument. The second argument is the trusted root
 * certificate.
 */
import { connectTls } from "../../../src/platform/deno/network/tls.ts";
import { download } from "../../../src/platform/deno/network/download.ts";
import { realNetwork } from "../../../src/platform/deno/network/network.ts";
import { messageOf } from "../../../src/base/errors.ts";

const [server = "", rootFile = "", first = ""] = Deno.args;
const { hostname: host, port } = new URL(server);
const authorities = Deno.readTextFileSync(rootFile);
const signal = AbortSignal.timeout(30_000);
const tls = { serverName: host, authorities, protocols: [] };

const CLIENTS: Readonly<Record<string, () => Promise<unknown>>> = {
  async dial() {
    (await realNetwork.dial({ host, port: Number(port), tls, signal })).close();
  },
  async "tls to an address"() {
    (await connectTls("127.0.0.1", { host, port: Number(port), tls, signal }, tls)).close();
  },
  async client() {
    const client = await realNetwork.client({ server, authorities });
    await (await client.request("/", { signal })).text().finally(() => client.close());
  },
  async "client with another name"() {
    const client = await realNetwork.client({ server, authorities, serverName: "localhost" });
    await (await client.request("/", { signal })).text().finally(() => client.close());
  },
  async "web socket"() {
    const client = await realNetwork.client({ server, authorities });
    (await client.webSocket("/", { protocols: [], headers: new Headers(), signal })).close();
  },
  async request() {
    await (await realNetwork.request(server, { signal })).text();
  },
  async download() {
    await Array.fromAsync(await download(server));
  },
  async "exchange without verification"() {
    await realNetwork.exchange({
      method: "GET",
      url: server,
      headers: new Headers(),
      protocol: "http/1.1",
      maxBodyBytes: 100,
      signal,
    });
  },
};

/** If TLS fails for a WebSocket, the client retries with HTTP/2, and reports only that this failed too. */
const REFUSED = /UnknownIssuer|a trusted authority|HTTP\/2 not supported/;

const names = Object.keys(CLIENTS);
for (const name of [first, ...names.filter((name) => name !== first)]) {
  const outcome = await CLIENTS[name]?.().then(() => "taken", messageOf);
  await Deno.stdout.write(new TextEncoder().encode(`${name}: ${REFUSED.test(outcome ?? "") ? "refused" : outcome}\n`));
}
Deno.exit();
