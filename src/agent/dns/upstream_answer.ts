/** Whether bytes are the answer to a question that was sent. */
import { byteAt, countsOf, FLAG, HEAD, type Query, readRecords } from "./wire.ts";

const RCODE = 0x0f;

/**
 * Whether it has the question's number and the question itself, in whatever case, and is whole. A server that fails may leave
 * the question out.
 */
export function isAnswerTo(answer: Uint8Array, query: Query, message: Uint8Array): boolean {
  if (answer.length < HEAD || (byteAt(answer, 2) & FLAG.response) === 0) return false;
  if (answer[0] !== message[0] || answer[1] !== message[1]) return false;
  const [questions, ...others] = countsOf(answer);
  const records = others.reduce((sum, count) => sum + count);
  if (questions === 0) {
    return (byteAt(answer, 3) & RCODE) !== 0 && readRecords(answer, HEAD, records) !== undefined;
  }
  return questions === 1 && hasQuestion(answer, query) && readRecords(answer, query.questionEnd, records) !== undefined;
}

function hasQuestion(answer: Uint8Array, { bytes, questionEnd }: Query): boolean {
  if (answer.length < questionEnd) return false;
  for (let at = HEAD; at < questionEnd - 4; at++) {
    if (lower(byteAt(answer, at)) !== lower(byteAt(bytes, at))) return false;
  }
  for (let at = questionEnd - 4; at < questionEnd; at++) if (answer[at] !== bytes[at]) return false;
  return true;
}

/** Lengths of labels are less than the codes of letters. */
function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

/** The answer as who asked it has to have it: with its number, and its question in its own case. */
export function addressed(answer: Uint8Array, { bytes, questionEnd }: Query): Uint8Array {
  answer.set(bytes.subarray(0, 2));
  if (countsOf(answer)[0] === 1) answer.set(bytes.subarray(HEAD, questionEnd), HEAD);
  return answer;
}
