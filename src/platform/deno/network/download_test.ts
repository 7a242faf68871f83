import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { testAuthority } from "../../../../test/support/tls/authority.ts";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { MeshError } from "../../../base/errors.ts";
import { AnswerError, type Download, type DownloadLimits } from "../../http.ts";
import { download } from "./download.ts";
import { withVariables } from "./trust.ts";

const LIMITS: DownloadLimits = { silence: 30_000, whole: 30_000, bytes: 1_000_000 };

/** What a server sends as it is, for the path of a request; one with "silent" keeps the connection open. */
type Answers = Readonly<Record<string, readonly (string | Uint8Array)[]>>;

/** A server of raw answers while `body` runs; `body` gets its origin. */
async function withServer(answers: Answers, body: (origin: string) => Promise<void>) {
  await using folder = await temporaryFolder();
  const authority = testAuthority();
  const { certificate: cert, key } = authority.issue({ dnsNames: ["localhost"] });
  const roots = `${folder.path}/roots.pem`;
  await Deno.writeTextFile(roots, authority.roots);
  using listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key });
  const open: Deno.TlsConn[] = [];
  const answering: Promise<void>[] = [];
  const serving = (async () => {
    for await (const connection of listener) {
      open.push(connection);
      answering.push(answer(connection, answers).catch(() => {}));
    }
  })().catch(() => {});
  const before = Deno.env.get("SSL_CERT_FILE");
  Deno.env.set("SSL_CERT_FILE", roots);
  try {
    await body(`https://localhost:${listener.addr.port}`);
  } finally {
    if (before === undefined) Deno.env.delete("SSL_CERT_FILE");
    else Deno.env.set("SSL_CERT_FILE", before);
    listener.close();
    for (const connection of open) closeOnce(connection);
    await serving;
    await Promise.all(answering);
  }
}

async function answer(connection: Deno.TlsConn, answers: Answers): Promise<void> {
  const buffer = new Uint8Array(4096);
  const count = await connection.read(buffer) ?? 0;
  const [, path = ""] = new TextDecoder().decode(buffer.subarray(0, count)).split(" ");
  const pieces = answers[path.split("?")[0] ?? ""] ?? [head("404 Not Found", "content-length: 0")];
  for (const piece of pieces) {
    const bytes = typeof piece === "string" ? new TextEncoder().encode(piece) : piece;
    for (let done = 0; done < bytes.length;) done += await connection.write(bytes.subarray(done));
  }
  for (let left = 100; path.includes("drip") && left > 0; left--) {
    await connection.write(new Uint8Array([10]));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (!path.includes("silent")) closeOnce(connection);
}

function closeOnce(connection: Deno.TlsConn): void {
  try {
    connection.close();
  } catch {
    // It is closed.
  }
}

const head = (status: string, ...fields: string[]) => `HTTP/1.1 ${status}\r\n${[...fields, "", ""].join("\r\n")}`;
const moved = (to: string) => [head("302 Found", `location: ${to}`, "content-length: 0")];

async function textOf(url: string, limits = LIMITS, options: Download = {}): Promise<string> {
  const pieces = await Array.fromAsync(await download(url, { ...options, limits }));
  return await new Blob(pieces.map((piece) => new Uint8Array(piece))).text();
}

async function failure(url: string, limits = LIMITS): Promise<string> {
  const error = await textOf(url, limits).then(() => assert.fail("it was read"), (error) => error);
  assert.ok(error instanceof MeshError, String(error));
  return error.message;
}

const ANSWERS: Answers = {
  "/good": [head("200 OK", "content-length: 4"), "a: 1"],
  "/moved": moved("/good"),
  "/http": moved("http://user:secret@localhost:1/a?secret"),
  "/file": moved("file:///etc/passwd"),
  "/data": moved("data:text/plain,a"),
  "/loop": moved("/loop"),
  "/split": [
    head("302 Found", "location: /good\r\nset-cookie: a=b\r\nlocation: http://localhost/", "content-length: 0"),
  ],
  "/nowhere": moved("https://"),
  "/short": [head("200 OK", "content-length: 400"), "a: 1"],
  "/cut": [head("200 OK", "transfer-encoding: chunked"), "4\r\na: 1\r\n"],
  "/drip": [head("200 OK", "content-length: 400")],
  "/silent": [],
  "/silent-body": [head("200 OK", "content-length: 400"), "a: 1"],
  "/large": [head("200 OK", "content-length: 1000001"), new Uint8Array(1_000_001)],
  "/bomb": bomb(),
  "/no-http": ["hello\r\n\r\n"],
};

function bomb(): readonly (string | Uint8Array)[] {
  const bytes = gzipSync(new Uint8Array(50_000_000));
  return [head("200 OK", "content-encoding: gzip", `content-length: ${bytes.length}`), bytes];
}

Deno.test("download() reads https URLs, also after redirects", () =>
  withServer(ANSWERS, async (origin) => {
    assert.equal(await textOf(`${origin}/good`), "a: 1");
    assert.equal(await textOf(`${origin}/moved`), "a: 1");
  }));

Deno.test("download() rejects responses of a hostile server, with an error without credentials", () =>
  withServer(ANSWERS, async (origin) => {
    const cases: readonly (readonly [path: string, reason: RegExp])[] = [
      ["/http", /: the server redirects to "http:\/\/localhost:1\/a\?\[redacted\]", but only https URLs are allowed$/],
      ["/file", /: the server redirects to "file:\/\/\/etc\/passwd", but only https URLs are allowed$/],
      ["/data", /: the server redirects to "data:.*", but only https URLs are allowed$/],
      ["/loop", /: the server redirects more than 10 times$/],
      // Both fields are one path of the same server.
      ["/split", /: the server answered 404 Not Found$/],
      ["/nowhere", /: the server redirects to an invalid URL$/],
      ["/missing", /: the server answered 404 Not Found$/],
      ["/short", /: .*(?:end of file|eof|closed|IncompleteBody|body)/i],
      ["/cut", /: .*(?:end of file|eof|closed|IncompleteBody|body)/i],
      ["/large", /: the body is larger than 1000000 bytes$/],
      ["/bomb", /: the body is larger than 1000000 bytes$/],
      ["/no-http", /: .*invalid HTTP/],
    ];
    for (const [path, reason] of cases) {
      const url = `${origin.replace("//", "//user:secret@")}${path}?token=secret`;
      const message = await failure(url);
      assert.ok(message.startsWith(`Cannot read "${origin}${path}?[redacted]": `), message);
      assert.match(message, reason, path);
      assert.doesNotMatch(message, /secret/);
    }
  }));

Deno.test("download() ends with a server that sends nothing, or too slowly", () =>
  withServer(ANSWERS, async (origin) => {
    const quiet = { ...LIMITS, silence: 300 };
    assert.match(await failure(`${origin}/silent-body`, quiet), /: the server sent nothing for 0.3 s$/);
    assert.match(await failure(`${origin}/silent`, quiet), /: the server sent nothing for 0.3 s$/);
    assert.match(await failure(`${origin}/drip`, { ...LIMITS, whole: 300 }), /: the download takes longer than 0.3 s$/);
  }));

Deno.test("download() does not time out while its reader is slow", () =>
  withServer(ANSWERS, async (origin) => {
    let text = "";
    for await (const piece of await download(`${origin}/good`, { limits: { ...LIMITS, silence: 1000 } })) {
      await new Promise((resolve) => setTimeout(resolve, 1200));
      text += new TextDecoder().decode(piece);
    }
    assert.equal(text, "a: 1");
  }));

Deno.test("download() explains how to trust your own authority", () =>
  withServer(ANSWERS, async (origin) => {
    const reading = withVariables({ SSL_CERT_FILE: undefined }, () => download(`${origin}/good`));
    await assert.rejects(reading, { message: /UnknownIssuer/, hint: /SSL_CERT_FILE/ });
  }));

/** Two servers of plain HTTP; `headers` gets the fields of the second one's requests. */
async function withPlain(body: (origin: string, headers: Headers[]) => Promise<void>) {
  const headers: Headers[] = [];
  const quiet = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using second = Deno.serve(quiet, (request) => (headers.push(request.headers), new Response("second")));
  await using first = Deno.serve(quiet, async (request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/other") return Response.redirect(`http://127.0.0.1:${second.addr.port}/`);
    if (pathname === "/self") return new Response(null, { status: 307, headers: { location: "/form" } });
    const seen = { authorization: request.headers.get("authorization"), form: await request.text() };
    return Response.json(seen, { status: pathname === "/busy" ? 503 : 200 });
  });
  await body(`http://127.0.0.1:${first.addr.port}`, headers);
}

Deno.test("download() sends headers, and the URL's user, only to the first server", () =>
  withPlain(async (origin, headers) => {
    const options = { headers: { authorization: "Bearer secret" } };
    assert.match(await textOf(`${origin}/`, LIMITS, options), /"authorization":"Bearer secret"/);
    assert.match(await textOf(`${origin.replace("//", "//a:b@")}/`), /"authorization":"Basic YTpi"/);
    assert.equal(await textOf(`${origin}/other`, LIMITS, options), "second");
    assert.equal(await textOf(`${origin.replace("//", "//a:b@")}/other`), "second");
    assert.deepEqual(headers.map((each) => each.get("authorization")), [null, null]);
  }));

Deno.test("download() sends a form, which no redirect gets", () =>
  withPlain(async (origin, headers) => {
    const options = { form: { a: "b c", d: "e" } };
    assert.match(await textOf(`${origin}/form`, LIMITS, options), /"form":"a=b\+c&d=e"/);
    for (const path of ["/self", "/other"]) {
      await assert.rejects(textOf(`${origin}${path}`, LIMITS, options), /but credentials must not follow a redirect$/);
    }
    assert.equal(headers.length, 0);
  }));

Deno.test("download() asks its caller before a redirect, and reports the status of an error", () =>
  withPlain(async (origin, headers) => {
    const options = { follows: ({ port }: URL) => origin.endsWith(`:${port}`) };
    assert.match(await textOf(`${origin}/self`, LIMITS, options), /"form":""/);
    await assert.rejects(textOf(`${origin}/other`, LIMITS, options), /redirects to "http:.*", which is not allowed$/);
    assert.equal(headers.length, 0);
    const error = await textOf(`${origin}/busy`).catch((error) => error);
    assert.ok(error instanceof AnswerError);
    assert.equal(error.status, 503);
  }));

Deno.test("download() of a host whose certificate is not verified", () =>
  withServer(ANSWERS, async (origin) => {
    await withVariables({ SSL_CERT_FILE: undefined }, async () => {
      assert.equal(await textOf(`${origin}/moved`, LIMITS, { insecure: true }), "a: 1");
      await assert.rejects(textOf(`${origin}/http`, LIMITS, { insecure: true }), /only https URLs are allowed$/);
    });
  }));

Deno.test("download() ends with its caller's signal", () =>
  withServer(ANSWERS, async (origin) => {
    const signal = AbortSignal.timeout(200);
    await assert.rejects(textOf(`${origin}/silent`, LIMITS, { signal }), MeshError);
  }));
