/** The client of names_client.ts as a program. Its argument is the server; queries and answers are JSON. */
import { answersOf, askTcp, askUdp, decoded, questionBytes } from "../../../support/dns/client.ts";
import type { NameQuestion, NameReply } from "./names_client.ts";

/** Concurrent queries over UDP. More could overflow the socket's buffer. */
const AT_ONCE = 40;
const PORT = 53;

const [server = ""] = Deno.args;
const questions: readonly NameQuestion[] = await new Response(Deno.stdin.readable).json();
const numbered = questions.map(({ transport, name, type }, at) => ({
  transport,
  bytes: questionBytes(name, type, { id: at + 1 }),
}));
const replies = new Map<number, NameReply>();

function take(bytes: Uint8Array): void {
  const { id = 0, rcode = "", flag_aa = false, flag_tc = false, questions = [], ...message } = decoded(bytes);
  const asked = questions.map(({ name, type }) => ({ name, type }));
  replies.set(id, { rcode, isAuthoritative: flag_aa, isCut: flag_tc, asked, answers: answersOf(message) });
}

const datagrams = numbered.filter(({ transport }) => transport === "udp");
for (let at = 0; at < datagrams.length; at += AT_ONCE) {
  const some = datagrams.slice(at, at + AT_ONCE);
  (await Promise.all(some.map(({ bytes }) => askUdp(PORT, bytes, server)))).forEach(take);
}
const messages = numbered.filter(({ transport }) => transport === "tcp").map(({ bytes }) => bytes);
if (messages.length > 0) (await askTcp(PORT, messages, server)).forEach(take);

const output = JSON.stringify(questions.map((_, at) => replies.get(at + 1)));
await new Blob([output]).stream().pipeTo(Deno.stdout.writable);
Deno.exit();
