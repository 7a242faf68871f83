/** East Asian characters and emoji, which terminals and monospaced fonts draw two columns wide. */
const WIDE = /(?![\uff61-\uffdc])[\p{sc=Han}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u30ff\uff00-\uffe6]/gu;

/** Returns the width of a text in columns. */
export function textWidth(text: string): number {
  return [...text].length + (text.match(WIDE)?.length ?? 0);
}

/** Appends spaces to a text, up to this width in columns. */
export function paddedTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}
