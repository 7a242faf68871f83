/** One question to one server over TCP. */
import { unlessAborted } from "../../core/world/mod.ts";
import { MessageReader, writeMessage } from "./stream.ts";
import { isAnswerTo } from "./upstream_answer.ts";
import type { Ask, AskContext } from "./upstream_udp.ts";

/** Asks on a connection of its own. Rejects when there is none, for a wrong answer, and with the signal's reason. */
export async function askTcp({ network }: Pick<AskContext, "network">, ask: Ask): Promise<Uint8Array> {
  const { server, query, message, signal } = ask;
  const connection = await network.dial({ host: server.host, port: server.port, tls: undefined, signal });
  try {
    const answered = writeMessage(connection, message).then(() => new MessageReader(connection).next());
    answered.catch(() => {});
    const answer = await unlessAborted(answered, signal);
    if (answer === undefined) throw new Error("it ended the connection without an answer");
    if (!isAnswerTo(answer, query, message)) throw new Error("its answer is none to the question");
    return answer;
  } finally {
    connection.close();
  }
}
