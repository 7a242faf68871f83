/** Decides whether the name of a field, variable, flag, header or query parameter means a secret value. */

/**
 * Splits a name such as `AWS_SECRET_ACCESS_KEY`, `accessToken`, `x-api-key` or `spring.datasource.password` into words.
 */
function wordsOf(name: string): readonly string[] {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z0-9]+/).filter((word) => word !== "");
}

/** Matches the strings that make a name secret at any position in the name. */
const SECRET_PART =
  /token|secret|passw|passphrase|credential|api_?key|access_?key|private_?key|auth_?key|encryption_?key|signing_?key/;
/** Words that make a name secret. */
const SECRET_WORD = new Set(["auth", "oauth", "passwd", "pwd", "pw", "passcode", "psk", "bearer", "hmac"]);
/** Words that make a name secret if they come last. */
const SECRET_END = new Set(["pass", "authorization", "signature", "sig"]);
/** Words that show that `key` in the same name is not a secret: it is an index or a public key. */
const OPEN_KEY = new Set(
  ("public topology map runtime metadata hash descriptor request header cookie host env fallback object factory generic " +
    "group label labels disable max redundant pool partition sort primary match mismatch retain patch merge by value " +
    "lookup storage cache field tag routing").split(" "),
);
/** Last words of names that refer to a secret or describe one. */
const DESCRIBES = new Set(
  ("name names ref refs path paths file files filename type types url uri uris endpoint policy policies prefix header " +
    "headers audience audiences format mode provider config configs size seconds interval lifetime expiration expires " +
    "ttl timeout duration cluster clusters scopes location locations domain builder selector formatter usage exchange " +
    "log sources params case count enabled suffix version bucket spec session discovery mount factory").split(" "),
);
/** Fields of Envoy, Istio and Kubernetes whose names look secret, but whose values are not. */
const OPEN_FIELDS = new Set(
  ("tokens tokensperfill maxtokens statictokens secrets staticsecrets dynamicactivesecrets dynamicwarmingsecrets " +
    "imagepullsecrets serviceaccounttoken automountserviceaccounttoken tokenrequests").split(" "),
);

/** Keys that are names of objects: Istio's policies in RBAC rules, and hosts of Services in a name table. */
const OBJECT = /^[\w-]*ns\[[^\]]*\]-policy\[|\.svc\./;

/** Whether the value under this name is secret. */
export function isSecretName(name: string): boolean {
  if (OBJECT.test(name)) return false;
  const words = wordsOf(name);
  const last = words.at(-1) ?? "";
  if (DESCRIBES.has(last) || OPEN_FIELDS.has(words.join(""))) return false;
  if (SECRET_PART.test(words.join("_")) || SECRET_END.has(last)) return true;
  if (words.some((word) => SECRET_WORD.has(word))) return true;
  const isKey = words.length > 1 && words.some((word) => word === "key" || word === "keys");
  return isKey && !words.some((word) => OPEN_KEY.has(word));
}

/** Whether the value of a header or variable is secret; includes cookies. */
export function isSecretEntry(name: string): boolean {
  return isSecretName(name) || isCookie(name);
}

/** Whether a header contains cookies. Routes may match cookies; these patterns are configuration and not secret. */
export function isCookie(name: string): boolean {
  return wordsOf(name).includes("cookie");
}

/** Fields of a secret object that refer to the secret or describe it, and are not secret. */
const REFERENCE =
  /^(filename|path|name|sds_config|watched_directory|trusted_ca|secretName|environment_variable|aud|audience|@type)$/i;

/** Whether a field of a secret object is not secret itself. */
export function isReference(name: string): boolean {
  return REFERENCE.test(name);
}

/** Names of hashes, identities and versions, whose random texts are not secret. */
const OPEN_RANDOM = new Set(
  "hash digest sha sha1 sha256 uid serial fingerprint version revision nonce commit etag spki image build kid".split(
    " ",
  ),
);

/**
 * Returns which random strings in a field are not secrets: all of them, only hexadecimal ones (in an `id`), or none.
 */
export function mayBeRandom(name: string): "any" | "hex" | "no" {
  const words = wordsOf(name);
  if (words.some((word) => OPEN_RANDOM.has(word))) return "any";
  return words.includes("id") ? "hex" : "no";
}
