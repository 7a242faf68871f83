/**
 * Replaces the secrets in a value, and lists them. Finds secrets by field name and by form, also within longer texts.
 */
import { REDACTED } from "../../base/redacted.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import { isMap, type Value, type ValueMap } from "../../base/value.ts";
import { parseYaml, toYaml } from "../../yaml/mod.ts";
import { replaceAssigned } from "./assignments.ts";
import { replaceCredentials } from "./credentials.ts";
import { isCookie, isReference, isSecretEntry, isSecretName, mayBeRandom } from "./names.ts";
import { replaceRandom } from "./random_text.ts";

export interface Removed {
  /** A JSON pointer. It continues into a string that contains JSON or YAML, and ends at any other string. */
  readonly path: string;
  /** The SHA-256 hash, if the value is code. */
  readonly sha256?: string;
}

/** Public fields of a JSON Web Key. */
const PUBLIC_JWK = new Set("kty n e x y crv alg use kid key_ops x5c x5t x5t#S256 x5u".split(" "));
/** Fields with the value of a named entry, such as `{"key": "authorization", "value": "..."}`. */
const VALUES = ["value", "raw_value", "values", "string_value"];
const MATCHES = ["exact_match", "prefix_match", "suffix_match", "contains_match", "safe_regex_match", "string_match"];
/** Matches names of fields whose text is code. */
const CODE = /^(inline_?code|(default_?)?source_?codes?|code)$/i;
const CODE_TEXT = /^(inline_?(code|string|bytes))$/i;
/** Placeholders of Envoy, Kubernetes and templates, which are references and not secrets. */
const PLACEHOLDER = /^(%[A-Z_]+(\([^()]*\))?(:\d+)?%|\$\([A-Za-z0-9_]+\)|\$\{[A-Za-z0-9_]+\}|\{\{[^{}]*\}\})$/;
/** Matches a text that may be JSON or YAML, and not a sentence with a colon. */
const STRUCTURED = /^\s*[{["]|\n/;
const PUBLIC_PEM =
  /-----BEGIN (?:CERTIFICATE|PUBLIC KEY|CERTIFICATE REQUEST|X509 CRL)-----[A-Za-z0-9+/=\s]*-----END [A-Z0-9 ]{1,40}-----/g;
const BASE64 = /^(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const UNPRINTABLE = /[^\t\n\r\u0020-\u007e\u00a0-\uffff]/;
/** Minimum length of a text with a name and a value. */
const MIN_TEXT = 6;
/** Maximum depth of nested JSON or YAML texts. */
const MAX_NESTED = 5;

/** The context of a value: whether it is within a secret or code, and the name of its field. */
interface Place {
  readonly name: string;
  readonly isSecret: boolean;
  readonly isCode: boolean;
}

const TOP: Place = { name: "", isSecret: false, isCode: false };

/** Redacts the values of one file. */
export class Redactor {
  readonly removed: Removed[] = [];
  readonly #path: string[] = [];
  /** A cache of texts and names without secrets, because a configuration repeats most of them. */
  readonly #clean = new Set<string>();
  #nested = 0;

  /** Replaces secrets in a value, in place. Returns the same value, or the text that replaces it. */
  value(value: Value): Value {
    return this.#walk(value, TOP);
  }

  /**
   * Replaces all texts except references such as file names. `path`: the path of the value, for the list of replaced
   * values.
   */
  all(value: Value, ...path: readonly string[]): Value {
    return this.#at(path, () => this.#walk(value, { ...TOP, isSecret: true }));
  }

  /**
   * Replaces the secrets in a text that is not JSON. `isNumbers`: the values after names are numbers and not secrets.
   */
  text(text: string, { isNumbers = false } = {}): string {
    return isNumbers ? this.credentials(text) : this.#plain(text, "");
  }

  /** Replaces only credentials that have a known form. */
  credentials(text: string): string {
    return withoutPublic(text, (part) => replaceEncoded(replaceCredentials(part, this.#replace), this.#replace));
  }

  readonly #replace = (secret: string): string => {
    if (secret === "" || secret === REDACTED || PLACEHOLDER.test(secret)) return secret;
    this.removed.push({ path: this.#pointer() });
    return REDACTED;
  };

  #pointer(): string {
    return this.#path.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  }

  #at<T>(path: readonly string[], work: () => T): T {
    this.#path.push(...path);
    try {
      return work();
    } finally {
      this.#path.length -= path.length;
    }
  }

  #walk(value: Value, place: Place): Value {
    if (Array.isArray(value)) return this.#list(value, place);
    if (isMap(value)) return this.#map(value, place);
    if (typeof value === "string") return this.#leaf(value, place);
    // Numbers within a secret object are ports and times, unless their own field is secret.
    return isNumber(value) && isSecretName(place.name) ? this.#replace(String(value)) : value;
  }

  #leaf(text: string, place: Place): string {
    if (place.isCode && CODE_TEXT.test(place.name)) return this.#code(text);
    return place.isSecret ? this.#replace(text) : this.#once(text, () => this.#string(text, place.name));
  }

  #once(text: string, work: () => string): string {
    if (text.length < MIN_TEXT || this.#clean.has(text)) return text;
    const result = work();
    if (result === text) this.#clean.add(text);
    return result;
  }

  #code(code: string): string {
    if (code === "" || code === REDACTED) return code;
    this.removed.push({ path: this.#pointer(), sha256: nodeCrypto().createHash("sha256").update(code).digest("hex") });
    return REDACTED;
  }

  /** Redacts a list. In a list of arguments, the item after `--password` is secret. */
  #list(list: Value[], place: Place): Value[] {
    list.forEach((item, index) => {
      const before = list[index - 1];
      const isArgument = typeof before === "string" && /^--?[A-Za-z]/.test(before) && isSecretName(before) &&
        typeof item === "string" && !item.startsWith("-");
      list[index] = this.#at(
        [String(index)],
        () => this.#walk(item, isArgument ? { ...place, isSecret: true } : place),
      );
    });
    return list;
  }

  #map(map: ValueMap, place: Place): ValueMap {
    const beside = besideSecret(map);
    for (const [key, held] of Object.entries(map)) {
      const decided = beside(key);
      if (decided === "public") continue;
      const isSecret = decided ?? (!isReference(key) && (place.isSecret || isSecretField(key, held)));
      const inner: Place = { name: key, isSecret, isCode: place.isCode || CODE.test(key) };
      const name = this.#once(key, () => this.credentials(key));
      const result = this.#at([name], () => this.#walk(held, inner));
      if (name !== key) delete map[key];
      map[name] = result;
    }
    return map;
  }

  /** Redacts a string as JSON or YAML if it parses, and otherwise as plain text. */
  #string(text: string, name: string): string {
    if (name === "@type") return text;
    const structured = this.#nested < MAX_NESTED && STRUCTURED.test(text) ? structureOf(text) : undefined;
    if (structured === undefined) return this.#plain(text, name);
    const before = this.removed.length;
    this.#nested++;
    const value = this.#walk(structured.value, { ...TOP, name });
    this.#nested--;
    if (this.removed.length > before) return structured.isJson ? JSON.stringify(value) : toYaml(value);
    // Also redacts YAML as plain text, because comments may contain secrets.
    return structured.isJson ? text : this.#plain(text, name);
  }

  #plain(text: string, name: string): string {
    const decoded = this.#nested < MAX_NESTED ? decodedText(text) : undefined;
    if (decoded !== undefined) return this.#encoded(text, decoded, name);
    const random = mayBeRandom(name);
    const assigned = replaceAssigned(text, (secret) => this.#replace(secret));
    return withoutPublic(this.credentials(assigned), (part) => {
      return random === "any" ? part : replaceRandom(part, random === "hex" ? "open" : "secret", this.#replace);
    });
  }

  /** Redacts a base64 text. Replaces the whole text if a part is secret. */
  #encoded(text: string, decoded: string, name: string): string {
    const inner = new Redactor();
    inner.#nested = this.#nested + 1;
    inner.#string(decoded, name);
    return inner.removed.length === 0 ? text : this.#replace(text);
  }
}

/**
 * Returns a function that decides whether a field of the mapping is secret, judging by a sibling field: the name of a
 * header or variable, the type of a message, or the type of a JSON Web Key.
 */
function besideSecret(map: ValueMap): (field: string) => boolean | "public" | undefined {
  if (typeof map["kty"] === "string") return (field) => PUBLIC_JWK.has(field) ? "public" : true;
  if (typeof map["@type"] === "string" && map["@type"].endsWith(".Secret")) {
    return (field) => field === "generic_secret" || field === "session_ticket_keys";
  }
  const entry = map["key"] ?? map["name"] ?? map["header_name"];
  if (typeof entry !== "string" || !isSecretEntry(entry)) return () => undefined;
  const fields = isCookie(entry) ? VALUES : [...VALUES, ...MATCHES];
  return (field) => fields.includes(field) ? true : undefined;
}

function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** Whether a field is secret because of its name, or because it is Envoy's list of users or a Wasm VM's environment. */
function isSecretField(name: string, held: Value): boolean {
  if (name === "users" || name === "key_values") return isMap(held);
  return name === "secret" && isMap(held) ? "inline_string" in held || "inline_bytes" in held : isSecretName(name);
}

function structureOf(text: string): { readonly value: Value; readonly isJson: boolean } | undefined {
  const json = parsed(() => JSON.parse(text));
  const value = json ?? parsed(() => parseYaml(text));
  return typeof value === "object" && value !== null ? { value, isJson: json !== undefined } : undefined;
}

function parsed(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch {
    // The text is not JSON or YAML, but a sentence, a certificate or a template.
    return undefined;
  }
}

/** Decodes a base64 text; returns `undefined` if the text is not base64, or the result is not text. */
function decodedText(text: string): string | undefined {
  if (!BASE64.test(text)) return undefined;
  const decoded = new TextDecoder().decode(Uint8Array.fromBase64(text));
  return UNPRINTABLE.test(decoded) || decoded.includes("\ufffd") ? undefined : decoded;
}

/** Applies `work` to the text outside of PEM certificates and public keys. */
function withoutPublic(text: string, work: (part: string) => string): string {
  if (!text.includes("-----BEGIN ")) return work(text);
  const blocks = text.match(PUBLIC_PEM) ?? [];
  return text.split(PUBLIC_PEM).map((part, index) => work(part) + (blocks[index] ?? "")).join("");
}

/** Matches base64 of a text that starts with `-----BEGIN `. */
const ENCODED_PEM = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g;

/** Replaces private keys in base64 within a text. */
function replaceEncoded(text: string, replace: (secret: string) => string): string {
  return text.replaceAll(ENCODED_PEM, (encoded) => {
    const bare = encoded.replaceAll("=", "");
    return atob(bare.slice(0, bare.length - bare.length % 4)).includes("PRIVATE KEY") ? replace(encoded) : encoded;
  });
}
