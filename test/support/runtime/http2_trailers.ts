/**
 * Prints a header and a trailer from a response of `node:http2`, for a request to its own server; prints nothing if
 * they do not arrive.
 */
import http2 from "node:http2";

const server = http2.createServer();
server.on("stream", (stream) => {
  stream.respond({ ":status": 200, "x-head": "1" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end("body");
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const client = http2.connect(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`);
const request = client.request({ ":path": "/" });
const head = new Promise((resolve) => request.once("response", (headers) => resolve(headers["x-head"])));
const trailer = new Promise((resolve) => request.once("trailers", (headers) => resolve(headers["grpc-status"])));
request.resume();
request.end();
setTimeout(() => Deno.exit(1), 2000);
const found = await Promise.all([head, trailer]);
await Deno.stdout.write(new TextEncoder().encode(`${found.join()}\n`));
Deno.exit();
