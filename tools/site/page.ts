/** A page of Markdown as HTML, with what others may link to. */
import { Marked, type Token, type Tokens } from "marked";

/** A heading that can be linked to. */
export interface Heading {
  readonly depth: number;
  /** As text. */
  readonly title: string;
  /** The anchor, as GitHub makes it. */
  readonly id: string;
}

/** A link or an image, as the page has it. */
export interface Link {
  readonly href: string;
  readonly isImage: boolean;
}

/** A page that was read. */
export interface Page {
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly links: readonly Link[];
  readonly tokens: readonly Token[];
}

/** What a link becomes on the site; `undefined` where its text alone stays. */
export type Resolve = (href: string) => string | undefined;

/** Reads a page. It must begin with its title; throws otherwise. */
export function readPage(path: string, text: string): Page {
  const marked = new Marked();
  const tokens = marked.lexer(text);
  const headings = headingsOf(tokens);
  const links: Link[] = [];
  marked.walkTokens(tokens, (token) => {
    if (token.type === "link" || token.type === "image") {
      links.push({ href: token.href, isImage: token.type === "image" });
    }
  });
  const [first] = headings;
  if (first?.depth !== 1) throw new Error(`${path} does not begin with a title`);
  return { title: first.title, headings, links, tokens };
}

/** The page as HTML. HTML in it is shown as text, comments are left out. */
export function pageHtml({ tokens, headings }: Page, resolve: Resolve): string {
  const ids = headings.map(({ id }) => id).values();
  const marked = new Marked({
    renderer: {
      heading({ depth, tokens }) {
        const id = escaped(ids.next().value ?? "");
        return `<h${depth} id="${id}">${
          this.parser.parseInline(tokens)
        } <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      html: ({ text }) => escaped(text.replaceAll(/<!--[^]*?-->\n?/g, "")),
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>\n`,
      table(token) {
        const row = (cells: readonly Tokens.TableCell[]) =>
          `<tr>${cells.map((cell) => this.tablecell(cell)).join("")}</tr>\n`;
        const head = token.header.every(({ text }) => text === "") ? "" : `<thead>\n${row(token.header)}</thead>\n`;
        return `<div class="table" tabindex="0"><table>\n${head}<tbody>\n${
          token.rows.map(row).join("")
        }</tbody>\n</table></div>\n`;
      },
      link({ href, tokens, raw }) {
        const text = this.parser.parseInline(tokens);
        // Markdown of GitHub makes a link of each address: addresses of a pod's own ports are no links.
        const target = raw === href && href.startsWith("http:") ? undefined : resolve(href);
        return target === undefined ? text : `<a href="${escaped(target)}">${text}</a>`;
      },
      image: ({ href, text }) => `<img src="${escaped(resolve(href) ?? "")}" alt="${escaped(text)}">`,
    },
  });
  return marked.parser([...tokens]);
}

/** Text as HTML shows it. */
export function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };
  return text.replaceAll(/[&<>"]/g, (character) => `&${names[character]};`);
}

/** GitHub's rule: lower case, words joined by hyphens, other signs left out; the second of a name gets `-1`. */
function headingsOf(tokens: readonly Token[]): Heading[] {
  const seen = new Map<string, number>();
  return tokens.filter((token): token is Tokens.Heading => token.type === "heading").map(({ depth, tokens }) => {
    const title = plainText(tokens);
    const name = title.toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return { depth, title, id: count === 0 ? name : `${name}-${count}` };
  });
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map((token) =>
    "tokens" in token && token.tokens !== undefined ? plainText(token.tokens) : textOf(token)
  )
    .join("");
}

function textOf(token: Token): string {
  return "text" in token && typeof token.text === "string" ? token.text : "";
}
