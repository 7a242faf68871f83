/** Secrets in texts and values of any kind: what they are known by, and their replacement. */
import { isMap, type Value, type ValueMap } from "./value.ts";

/** What stands in place of a secret: Envoy's own word. */
export const REDACTED = "[redacted]";

/** How many were replaced. */
export interface RedactCount {
  redacted: number;
}

/** Private keys, tokens of the form JWT, and credentials of the header Authorization, wherever they are. */
const SECRET_TEXTS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /(?<=\b(?:Bearer|Basic) )[A-Za-z0-9._~+/=-]{8,}/gi,
];
/** Base64 of `-----BEGIN `, and what follows. */
const ENCODED_PEM = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g;
/** Of the start of a PEM file, to see what it is. */
const PEM_START = 4096;

/** The text without secrets. */
export function redactText(text: string, count: RedactCount): string {
  let result = text;
  for (const pattern of SECRET_TEXTS) {
    result = result.replaceAll(pattern, () => {
      count.redacted++;
      return REDACTED;
    });
  }
  return result.replaceAll(ENCODED_PEM, (encoded) => {
    if (!holdsPrivateKey(encoded)) return encoded;
    count.redacted++;
    return REDACTED;
  });
}

function holdsPrivateKey(encoded: string): boolean {
  for (let at = 0; at < encoded.length; at += PEM_START / 2) {
    const piece = encoded.slice(at, at + PEM_START).replaceAll("=", "");
    if (atob(piece.slice(0, piece.length - piece.length % 4)).includes("PRIVATE KEY")) return true;
  }
  return false;
}

/** Names of fields whose whole content is secret, in the spellings of protobuf and of JSON. */
const SECRET_FIELD =
  /^(private_?key|password|passphrase|client_?secret|secret_?(access_?)?key|access_?token|refresh_?token|id_?token|api_?key|session_?ticket_?keys|session_?token|generic_?secret|hmac_?secret|token_?secret|credential|users)$/i;
/** Names of headers and variables whose value is secret. */
const SECRET_NAME = /authorization|cookie|token|secret|passw|credential|api-?_?key|private-?_?key|access-?_?key/i;
/** Paths of files and references, which are no secrets. */
const REFERENCE = /^(filename|path|name|sds_config|watched_directory|trusted_ca)$/i;

/** Fields beside a secret name. What routes match in a cookie decides where a request goes, and is no session. */
const VALUES = ["value", "raw_value"];
const MATCHES = ["exact_match", "string_match"];

/** Replaces secret fields, and values that stand beside a secret name: `{"key": "authorization", "value": "..."}`. */
export function redactFields(value: Value, count: RedactCount): void {
  if (Array.isArray(value)) {
    for (const item of value) redactFields(item, count);
    return;
  }
  if (!isMap(value)) return;
  for (const [key, held] of Object.entries(value)) {
    if (SECRET_FIELD.test(key)) value[key] = redactAll(held, count);
    else redactFields(held, count);
  }
  redactNamed(value, count);
}

function redactNamed(value: ValueMap, count: RedactCount): void {
  const name = value["key"] ?? value["name"] ?? value["header_name"];
  if (typeof name !== "string" || !SECRET_NAME.test(name)) return;
  for (const key of SECRET_NAME.test(name.replace(/cookie/i, "")) ? [...VALUES, ...MATCHES] : VALUES) {
    const held = value[key];
    if (held !== undefined) value[key] = redactAll(held, count);
  }
}

/** The same value with every text in it replaced, but names of files. */
export function redactAll(value: Value, count: RedactCount): Value {
  if (Array.isArray(value)) return value.map((item) => redactAll(item, count));
  if (isMap(value)) {
    for (const [key, held] of Object.entries(value)) if (!REFERENCE.test(key)) value[key] = redactAll(held, count);
    return value;
  }
  if (typeof value !== "string" || value === "" || value === REDACTED) return value;
  count.redacted++;
  return REDACTED;
}
