/** Requests of one application to another without end, each of which must be answered by the right one. */
import type { Mesh } from "./mesh.ts";
import { spiffe } from "./resources.ts";

/** Requests that are open at once. */
const CLIENTS = 4;

/** What was asked for, and what came. */
export interface MeshLoad extends AsyncDisposable {
  /** Requests that were answered as they must be. */
  answered(): number;
  /** Ends the load; resolves with what went wrong. */
  stop(): Promise<readonly string[]>;
}

/** Asks `b` from `a`; each answer has to tell that `b` saw the identity of `a`. */
export function startMeshLoad(mesh: Mesh): MeshLoad {
  let going = true;
  let answered = 0;
  const failures: string[] = [];
  const client = async () => {
    while (going) {
      const { status, text } = await mesh.ask();
      if (status === 200 && text.includes(`URI=${spiffe("a")}`)) answered++;
      else failures.push(`${status} ${text}`);
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
