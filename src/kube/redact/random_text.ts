/** Finds long random texts, such as generated passwords and keys. */

/** Frequent pairs of letters in names: 86% of the pairs in this project's names, 27% in random texts. */
const PAIRS = new Set(
  ("abacadagaialamanaparasatauaybabebiblbocacechcickclcocrctcudadedidodseaecedeeefegelemeneperesetevewexfafefffifogeghgi" +
    "grgshahehihoiaicidieifigiliminioipirisitivkelaldlelilllolslulymamemimompnancndnenfngninnnonsntobocodolomonoooporosotouov" +
    "owpapepiplpoppprpsptqurarcrdrerirmrnrorrrsrtrurvrysascseshsisospssstsutatctethtitltotrtstttutyubueuiulumunupurusutvaveviwawe")
    .match(/../g),
);
const MIN_LENGTH = 20;
/** Minimum length of a random text, because Pod names end with up to ten random characters. */
const MIN_PART = 12;
const MIN_HEX = 32;
const RUN = /(?<![A-Za-z0-9+])[A-Za-z0-9+][A-Za-z0-9+/_=-]{19,}/g;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Matches the prefix of a hash or an identity. */
const OPEN_PREFIX = /(?:sha\d{3}[:-]|(?:containerd|docker|cri-o):\/\/)$/;
/** Matches a label of a host name: lower case and digits. */
const HOST_LABEL = /^[a-z0-9_-]+$/;

/** Replaces each random part of a text. `hex`: whether hexadecimal texts are secrets, or hashes that stay. */
export function replaceRandom(text: string, hex: "open" | "secret", replace: (secret: string) => string): string {
  return text.replaceAll(RUN, (run: string, at: number) => {
    const before = text.slice(Math.max(0, at - 16), at);
    const isInHost = (before.endsWith(".") || text[at + run.length] === ".") && HOST_LABEL.test(run);
    if (isInHost || UUID.test(run)) return run;
    return isRandom(run, hex === "open" || OPEN_PREFIX.test(before)) ? replace(run) : run;
  });
}

function isRandom(run: string, isHexOpen: boolean): boolean {
  const parts = run.split(/[^A-Za-z0-9]+/);
  if (!/[A-Z]/.test(run)) return parts.some((part) => part.length >= MIN_LENGTH && isRandomPart([part], isHexOpen));
  return parts.some((part) => part.length >= MIN_PART) && isRandomPart(parts, isHexOpen);
}

function isRandomPart(parts: readonly string[], isHexOpen: boolean): boolean {
  const text = parts.join("");
  if (text.length < MIN_LENGTH || new Set(text).size < 8 || /^\d+$/.test(text)) return false;
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(text)) return text.length >= MIN_HEX && !isHexOpen;
  const pairs = parts.flatMap(pairsOf);
  const letters = pairs.filter((pair) => /^[A-Za-z]+$/.test(pair));
  const frequent = letters.filter((pair) => PAIRS.has(pair.toLowerCase())).length;
  const changes = pairs.filter(isChange).length;
  return changes >= text.length / 4 || (letters.length >= MIN_PART && frequent < letters.length / 2);
}

function pairsOf(part: string): readonly string[] {
  return Array.from({ length: Math.max(0, part.length - 1) }, (_, at) => part.slice(at, at + 2));
}

/** Whether the kind of character changes between two characters, except after a capital at the start of a word. */
function isChange(pair: string): boolean {
  const [from, to] = [kindOf(pair.slice(0, 1)), kindOf(pair.slice(1))];
  return from !== to && !(from === "upper" && to === "lower");
}

function kindOf(character: string): "upper" | "lower" | "digit" {
  if (character >= "0" && character <= "9") return "digit";
  return character >= "a" ? "lower" : "upper";
}
