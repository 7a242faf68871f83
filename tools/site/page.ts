/** Reads a Markdown page: its anchors, which other pages may link to, and its links. */
import { Marked, type Token, type Tokens } from "marked";

/** A link or an image, as written in the page. */
export interface Link {
  readonly href: string;
  /** The link text as Markdown. */
  readonly text: string;
  readonly raw: string;
}

/** A link, or a piece of code, which contains no links. */
type Piece = Link | { readonly raw: string };

/** A Markdown page that has been read. */
export interface Page {
  readonly path: string;
  readonly text: string;
  /** The anchors of its headings, as both GitHub and mdBook generate them. */
  readonly anchors: ReadonlySet<string>;
  /** Links and code, in order. */
  readonly pieces: readonly Piece[];
}

/**
 * Reads a page. Throws if it does not begin with its title, or if it contains HTML, which the site would show as text
 * or drop.
 */
export function readPage(path: string, text: string): Page {
  const marked = new Marked();
  const tokens = marked.lexer(text);
  const [first] = tokens;
  if (first?.type !== "heading" || first["depth"] !== 1) throw new Error(`${path} does not begin with a title`);
  const pieces: Piece[] = [];
  const inLinks = new Set<Token>();
  marked.walkTokens(tokens, (token) => {
    if (inLinks.has(token)) return;
    if (token.type === "html") refuseHtml(path, token.raw);
    const piece = pieceOf(token);
    if (piece === undefined) return;
    if ("tokens" in token) marked.walkTokens(token.tokens ?? [], (each) => void inLinks.add(each));
    pieces.push(piece);
  });
  return { path, text, anchors: anchorsOf(tokens), pieces };
}

function pieceOf(token: Token): Piece | undefined {
  const { type, raw } = token;
  if (type === "code" || type === "codespan") return { raw };
  return type === "link" || type === "image" ? { href: token["href"], text: token["text"], raw } : undefined;
}

function refuseHtml(path: string, html: string): void {
  if (/^\s*<!--[^]*?-->\s*$/.test(html)) return;
  throw new Error(`${path} has HTML: "${html.trim()}"; write it as code`);
}

/** The links of a page. */
export function linksOf({ pieces }: Page): Link[] {
  return pieces.filter((piece): piece is Link => "href" in piece);
}

/**
 * Returns the page with new link targets. `resolve` returns the target of a link, or `undefined` to keep only its text.
 */
export function withLinks({ path, text, pieces }: Page, resolve: (link: Link) => string | undefined): string {
  const parts: string[] = [];
  let at = 0;
  for (const piece of pieces) {
    const start = text.indexOf(piece.raw, at);
    // The parser changes code in two places: it removes the indentation in lists, and the backslash before `|` in
    // tables.
    if (start < 0 && !("href" in piece)) continue;
    if (start < 0) throw new Error(`${path}: the link ${piece.raw} is not found in the text`);
    parts.push(text.slice(at, start), "href" in piece ? replaced(piece, resolve(piece)) : piece.raw);
    at = start + piece.raw.length;
  }
  return [...parts, text.slice(at)].join("");
}

function replaced({ href, raw, text }: Link, target: string | undefined): string {
  if (target === href) return raw;
  return target === undefined ? text : raw.replace(`](${href}`, () => `](${target}`);
}

/**
 * Generates anchors as GitHub does: lower case, words joined by hyphens, other characters removed; a second heading of
 * the same name gets `-1`.
 */
function anchorsOf(tokens: readonly Token[]): Set<string> {
  const seen = new Map<string, number>();
  const headings = tokens.filter((token): token is Tokens.Heading => token.type === "heading");
  return new Set(headings.map(({ tokens }) => {
    const name = plainText(tokens).toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  }));
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map((token) =>
    "tokens" in token && token.tokens !== undefined ? plainText(token.tokens) : textOf(token)
  ).join("");
}

function textOf(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : "";
}
