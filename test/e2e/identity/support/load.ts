/** Continuous requests between two applications. The right one must answer each. */
import type { Mesh } from "./mesh.ts";
import { spiffe } from "./resources.ts";

/** Requests that are open at once. */
const CLIENTS = 4;

/** The pause of each client after a request, which leaves processor time to the proxies. */
const PAUSE_MILLISECONDS = 40;

/** Requests and their results. */
export interface MeshLoad extends AsyncDisposable {
  /** Number of correct answers. */
  answered(): number;
  /** Stops the load. Resolves with the failures. */
  stop(): Promise<readonly string[]>;
}

/** Sends requests from `a` to `b`. Each answer must show that `b` saw the identity of `a`. */
export function startMeshLoad(mesh: Mesh): MeshLoad {
  let going = true;
  let answered = 0;
  const failures: string[] = [];
  const client = async () => {
    while (going) {
      const { status, text } = await mesh.ask();
      if (status === 200 && text.includes(`URI=${spiffe("a")}`)) answered++;
      else failures.push(`${status} ${text}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  const stop = async () => {
    going = false;
    await Promise.all(clients);
    return failures;
  };
  return { answered: () => answered, stop, [Symbol.asyncDispose]: async () => void await stop() };
}
