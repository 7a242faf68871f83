import assert from "node:assert/strict";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { testWhen } from "../../../../test/support/test_when.ts";

const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const NETWORK = new URL("./network.ts", import.meta.url).href;
const CONFIG = decodeURIComponent(new URL("../../../../deno.json", import.meta.url).pathname);

/** What a server needs besides its address, and says: its port, and each failure. */
const MORE = `failed: (reason) => console.log(reason)`;
const ANSWER = `() => new Response("well")`;

type Connect = () => Promise<Deno.Conn>;

const SERVERS = {
  "serve()": {
    program: `const { port } = await realNetwork.serve({ hostname: "127.0.0.1", port: 0, ${MORE} }, ${ANSWER});
console.log(port);`,
    connectTo: (port: string): Connect => () => Deno.connect({ hostname: "127.0.0.1", port: Number(port) }),
  },
  "serveUnix()": {
    program: `const path = import.meta.dirname + "/socket";
await realNetwork.serveUnix({ path, mode: 0o600, ${MORE} }, ${ANSWER});
console.log(path);`,
    connectTo: (path: string): Connect => () => Deno.connect({ transport: "unix", path }),
  },
};

for (const [name, { program, connectTo }] of Object.entries(SERVERS)) {
  testWhen(notLinux, `${name} goes on after too many open files, and reports the reason`, async () => {
    await using folder = await temporaryFolder();
    await Deno.writeTextFile(`${folder.path}/program.ts`, `import { realNetwork } from "${NETWORK}";\n${program}`);
    const run = `run --quiet --config ${CONFIG} --no-check --allow-all ${folder.path}/program.ts`;
    await using child = new Deno.Command("sh", {
      args: ["-c", `ulimit -n 50; exec "${Deno.execPath()}" ${run}`],
      stdout: "piped",
    }).spawn();
    const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const connect = connectTo((await lines.read()).value?.trim() ?? "");
    const opened = await Promise.allSettled(Array.from({ length: 100 }, async () => await connect()));
    assert.equal((await lines.read()).value?.split("\n")[0], "Too many open files");
    for (const connection of opened) if (connection.status === "fulfilled") connection.value.close();
    assert.match(await answer(connect), /^HTTP\/1.1 200 OK/);
    child.kill();
    await lines.cancel();
  });
}

/** The first answer: a connection is refused, or closed, until the server has started again. */
async function answer(connect: Connect): Promise<string> {
  for (let tries = 0; tries < 500; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    try {
      using connection = await connect();
      await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
      const buffer = new Uint8Array(1000);
      const count = await connection.read(buffer) ?? 0;
      if (count > 0) return new TextDecoder().decode(buffer.subarray(0, count));
    } catch {
      // Not yet.
    }
  }
  return "no answer";
}
