/** Continuous requests of a client that respects `connection: close`. */
export interface Load extends AsyncDisposable {
  /** The number of responses with status 200. */
  answered(): number;
  /** Stops the load. Returns the failures. */
  stop(): Promise<readonly string[]>;
}

/** The pause of each client after a response. Envoy needs the processors too. */
const PAUSE_MILLISECONDS = 5;

/**
 * Uses new and persistent connections in parallel. A persistent connection is reused until a response contains
 * `connection: close`. A connection that is closed between two requests is not a failure (RFC 9112, 9.3.1).
 */
export function startLoad(port: number): Load {
  let going = true;
  let answered = 0;
  const failures: string[] = [];
  /** Requests on one connection, until it is closed or a limit is reached. */
  const use = async (connection: Deno.TcpConn, requests: number) => {
    for (let first = true; requests > 0 && going; requests--, first = false) {
      const answer = await ask(connection);
      if (answer === "" && !first) return;
      if (!answer.startsWith("HTTP/1.1 200")) throw new Error(`the answer is "${answer}"`);
      answered++;
      if (/^connection: close\r$/m.test(answer)) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
    }
  };
  const client = async (perConnection: number) => {
    while (going) {
      try {
        using connection = await Deno.connect({ hostname: "127.0.0.1", port });
        await use(connection, perConnection);
      } catch (error) {
        failures.push(String(error));
      }
    }
  };
  const clients = [1, 1, 20, 1000].map(client);
  const stop = async () => {
    going = false;
    await Promise.all(clients);
    return failures;
  };
  return { answered: () => answered, stop, [Symbol.asyncDispose]: async () => void await stop() };
}

const REQUEST = new TextEncoder().encode("GET / HTTP/1.1\r\nhost: test\r\n\r\n");

/** Returns the response to one request; `""` if the connection was closed instead. */
async function ask(connection: Deno.TcpConn): Promise<string> {
  await connection.write(REQUEST);
  const buffer = new Uint8Array(4096);
  let text = "";
  while (!text.endsWith("application\n")) {
    const count = await connection.read(buffer);
    if (count === null) return text;
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text;
}
