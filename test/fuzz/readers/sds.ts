/** Fuzzes messages from Envoy to the agent's secret server, and from the CA to the agent. */
import { checkAnswer } from "../../../src/agent/identity/ca_response.ts";
import { decodeResponse } from "../../../src/agent/identity/messages.ts";
import { discoveryResponse, readDiscoveryRequest, SECRET_TYPE } from "../../../src/agent/sds/messages.ts";
import { parseSecretName } from "../../../src/agent/sds/secret.ts";
import { FrameReader } from "../../../src/agent/grpc/frames.ts";
import { BinaryWriter } from "../../../src/base/protobuf.ts";
import { accepts, type FuzzReader, holds, isPlainError } from "../reader.ts";

function framed(message: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(5 + message.length);
  new DataView(bytes.buffer).setUint32(1, message.length);
  bytes.set(message, 5);
  return bytes;
}

const request = new BinaryWriter().uint32(10).string("1").uint32(26).string("default").uint32(26).string(
  "file-cert:/a~/b",
).uint32(34).string(SECRET_TYPE).uint32(42).string("nonce").uint32(50).bytes(
  new BinaryWriter().uint32(18).string("no").finish(),
);
const response = new BinaryWriter().uint32(10).string("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");

export const SDS: FuzzReader = {
  name: "sds",
  seeds: [
    framed(request.finish()),
    framed(response.finish()),
    discoveryResponse({ version: "1", nonce: "n", secrets: new Map() }),
  ],
  words: [
    "\x0a",
    "\x12\x00",
    "\x1a\xff",
    "\x22",
    "\x7a",
    "\x80\x80\x80\x80\x10",
    "default",
    "ROOTCA",
    "file-root:",
    "~",
    "\x00\x00\x00\x00\x05",
    "\x01\x00\x00\x00\x05",
  ],
  refuses: isPlainError,
  open: () => (input) => {
    // A stream arrives in pieces. The messages must be the same as in one piece.
    const whole = [...new FrameReader(1 << 16).push(input)];
    const reader = new FrameReader(1 << 16);
    const cut = input.length >> 1;
    const parts = [...reader.push(input.subarray(0, cut)), ...reader.push(input.subarray(cut))];
    holds(whole.length === parts.length, "the pieces of a stream change its messages");
    return [...whole, input].map(readMessage).includes(true);
  },
};

function readMessage(message: Uint8Array): boolean {
  const isRequest = accepts(() => {
    for (const name of readDiscoveryRequest(message).resourceNames) parseSecretName(name);
  });
  const isAnswer = accepts(() => void checkAnswer(decodeResponse(message), new Uint8Array(0), 0));
  return isRequest || isAnswer;
}
