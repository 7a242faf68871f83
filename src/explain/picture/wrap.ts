/** Wraps a text at spaces to lines of at most `width` characters. Splits longer words. Returns at least one line. */
export function wrap(text: string, width: number): string[] {
  const most = Math.max(1, width);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if ([...joined].length <= most) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    const characters = [...word];
    while (characters.length > most) lines.push(characters.splice(0, most).join(""));
    line = characters.join("");
  }
  lines.push(line);
  return lines;
}

/** Cuts what is beyond `width` off a text, and puts `..` at the end. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 2)).join("")}..`;
}
