/**
 * Runs the machine for `examples/demo.sh`: the cluster and the mesh of the tests, and a node. The argument is the
 * folder for its files, which is also `TMPDIR`. Prints `ready` when `FOLDER/kubeconfig` and `FOLDER/bin` can be used.
 * When standard input ends, it removes everything.
 */
import { killLeftBehind, removeNamespaces, RUN } from "../../../tools/test/left_behind.ts";
import { startNews } from "./news.ts";

const [folder = ""] = Deno.args;
const id = Deno.env.get(RUN) ?? "";

/** The import may build programs for minutes: meanwhile news is printed, and the end of standard input is seen. */
async function serve(): Promise<void> {
  const news = startNews();
  const machine = await import("./machine.ts");
  await machine.serve(folder, () => {
    news.stop();
    Deno.stdout.writeSync(new TextEncoder().encode("ready\n"));
  });
}

/** Waits for the end of standard input, which stays open as long as the demo runs. */
async function over(): Promise<void> {
  for await (const _ of Deno.stdin.readable);
}

/**
 * Kills the processes of the demo and removes its files. Returns whether something is left, because killed processes may
 * still write to the folder. Synchronous, so that a node that is starting a pod starts nothing more.
 */
function isLeft(): boolean {
  killLeftBehind(id);
  removeNamespaces(id);
  try {
    Deno.removeSync(folder, { recursive: true });
    return false;
  } catch {
    return true;
  }
}

let code = 0;
try {
  await Promise.race([serve(), over()]);
} catch (error) {
  await Deno.stderr.write(
    new TextEncoder().encode(`error: The demo cannot go on: ${error instanceof Error ? error.message : error}\n`),
  );
  code = 1;
}
for (let tries = 3000; isLeft(); tries--) {
  if (tries === 0) throw new Error(`Cannot remove ${folder}`);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}
Deno.exit(code);
