import assert from "node:assert/strict";
import { readConnection } from "../question/read_connection.ts";
import { marked, probeRequest } from "./request.ts";

function request(to: string, { isHttp = true, header = [], method }: {
  readonly isHttp?: boolean;
  readonly header?: readonly string[];
  readonly method?: string;
} = {}) {
  const connection = readConnection({ to, from: undefined, toPort: undefined, method, header, sni: undefined });
  assert.ok(connection !== undefined);
  return probeRequest(marked(connection, "MARK"), isHttp, "MARK");
}

Deno.test("probeRequest() sends the request of the question, with a mark in its headers", () => {
  const { command, text } = request("[fd00::1]:80/a?b", { header: ["Host: reviews", "x-empty:"], method: "HEAD" });
  assert.equal(text, "HEAD http://[fd00::1]:80/a?b");
  const all = command.join(" ");
  for (const part of ["curl -q ", " -I ", "-H host: reviews", "-H x-empty;", "-H x-request-id: MARK", "--noproxy *"]) {
    assert.ok(all.includes(part), `${part} in ${all}`);
  }
  assert.match(all, / http:\/\/\[fd00::1\]:80\/a\?b --next -s file:\/\/\/proc\/net\/tcp /);
});

Deno.test("probeRequest() keeps the headers of the question, and uses TLS if the question does", () => {
  const { command, text } = request("https://api.example.com/x", { header: ["x-request-id: mine"] });
  assert.equal(text, "GET https://api.example.com:443/x");
  assert.deepEqual(command.filter((each) => each.startsWith("x-request-id")), ["x-request-id: mine"]);
});

const PROC = "   3: 0900010A:9C5C 0900600A:2378 01 0:0 0:0 0  1000        0 77 1 0 20\n" +
  "   4: 0100007F:3A99 0900010A:9C5C 01 0:0 0:0 0  1337        0 78 1 0 20\n";

Deno.test("a probe over HTTP: reads curl's report and the sockets", () => {
  const report = { exitcode: 0, response_code: 200, local_ip: "10.1.0.9", local_port: 40028, remote_ip: "10.96.0.9" };
  const headers = "HTTP/1.1 200 OK\r\nServer: istio-envoy\r\nX-Request-Id: MARK\r\n\r\n";
  const stdout = `${headers}\nMARK ${JSON.stringify({ ...report, remote_port: 9080 })}\nMARK\n${PROC}`;
  const sent = request("a:80/").read({ code: 37, stdout, stderr: "" });
  assert.ok(typeof sent !== "string");
  assert.deepEqual([sent.status, sent.failure, sent.local?.port, sent.remote?.address], [200, "", 40028, "10.96.0.9"]);
  assert.deepEqual(sent.sockets.map(({ local }) => local.port), [40028, 15001]);
  assert.ok(sent.headers.has("server"));
});

Deno.test("a probe over HTTP: no answer, no curl, and cut output", () => {
  const { read } = request("a:80/");
  const report = JSON.stringify({ exitcode: 6, errormsg: "Could not resolve host: a" });
  const sent = read({ code: 0, stdout: `\nMARK ${report}\nMARK\n`, stderr: "" });
  assert.ok(typeof sent !== "string");
  assert.deepEqual([sent.local, sent.failure], [undefined, "Could not resolve host: a"]);
  assert.equal(read({ code: 127, stdout: "", stderr: "x" }), "curl is not installed");
  assert.equal(read({ code: 2, stdout: "", stderr: "curl: unknown option\n" }), "curl failed: curl: unknown option");
  assert.ok(typeof read({ code: 0, stdout: "\nMARK {half", stderr: "" }) !== "string");
});

Deno.test("a probe over TCP: finds its own socket by the inode", () => {
  const { read, text } = request("tcp://db:3306", { isHttp: false });
  assert.equal(text, "a connection to db:3306 without data");
  const sent = read({ code: 1, stdout: `socket:[77]\n${PROC}`, stderr: "" });
  assert.ok(typeof sent !== "string");
  assert.deepEqual([sent.local?.port, sent.remote], [40028, { address: "10.96.0.9", port: 9080 }]);
  const refused = read({
    code: 1,
    stdout: "",
    stderr: "db: line 1: connect: Connection refused\ndb: line 1: /dev/tcp/db/3306: x\n",
  });
  assert.ok(typeof refused !== "string");
  assert.equal(refused.failure, "connect: Connection refused");
  assert.equal(read({ code: 127, stdout: "", stderr: "" }), "bash is not installed");
});
