import assert from "node:assert/strict";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { testWhen } from "../../../../test/support/test_when.ts";
import { privateSocket } from "./private_socket.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Another process connects to an abstract socket, says so, and prints what it gets until the end. */
const FOREIGN = `
const connection = await Deno.connect({ transport: "unix", path: "\\0" + Deno.args[0] });
console.log("connected");
const buffer = new Uint8Array(10);
const count = await connection.read(buffer).catch(() => null);
console.log(count === null ? "closed" : "got " + count);
`;

testWhen(notLinux, "privateSocket() has no file on Linux, and accepts one connection of this process", async () => {
  const socket = privateSocket();
  assert.match(socket.path, /^\0kubectl-mesh-/);
  const accepted = socket.accept();
  using mine = await Deno.connect({ transport: "unix", path: socket.path });
  const other = await accepted;
  await mine.write(encoder.encode("hello"));
  const buffer = new Uint8Array(10);
  const count = await other.read(buffer) ?? 0;
  assert.equal(decoder.decode(buffer.subarray(0, count)), "hello");
  await assert.rejects(Deno.connect({ transport: "unix", path: socket.path }), /refused/i);
  other.close();
});

testWhen(
  notLinux,
  "privateSocket() closes the connection of another process, and waits for the connection of this process",
  async () => {
    const socket = privateSocket();
    const accepted = socket.accept();
    const foreign = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "--no-check", "--allow-all", "-", socket.path.slice(1)],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = foreign.stdin.getWriter();
    await writer.write(encoder.encode(FOREIGN));
    await writer.close();
    const output = await foreign.output();
    assert.equal(decoder.decode(output.stdout), "connected\nclosed\n");
    using mine = await Deno.connect({ transport: "unix", path: socket.path });
    const other = await accepted;
    await other.write(encoder.encode("mine"));
    const buffer = new Uint8Array(10);
    assert.equal(await mine.read(buffer), 4);
    other.close();
  },
);

Deno.test("privateSocket() that is closed before rejects accept()", async () => {
  const socket = privateSocket();
  const accepted = socket.accept();
  socket.close();
  socket.close();
  await assert.rejects(accepted);
});

testWhen(
  notLinux,
  "privateSocket() without library calls finds a folder where TMPDIR is too long for a socket",
  async () => {
    await using folder = await temporaryFolder();
    const long = `${folder.path}/${"x".repeat(90)}`;
    await Deno.mkdir(long);
    const program = `${folder.path}/program.ts`;
    const module = new URL("./private_socket.ts", import.meta.url).href;
    await Deno.writeTextFile(
      program,
      `import { privateSocket } from "${module}"; const { path, close } = privateSocket(); close(); console.log(path);`,
    );
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "--no-check", "-R", "-W", "-E", "-N", "--allow-sys", program],
      env: { TMPDIR: long },
      stdin: "null",
    });
    const { stdout, stderr } = await child.output();
    assert.match(new TextDecoder().decode(stdout), /^\/tmp\/kubectl-mesh-/, new TextDecoder().decode(stderr));
    assert.deepEqual(await Array.fromAsync(Deno.readDir(long)), []);
  },
);
