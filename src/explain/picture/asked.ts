/** Names the two ends of the connection in question. */
import { joinHostPort } from "../../golang/net/mod.ts";
import type { Connection } from "../question/question.ts";

export type Asked = Pick<Connection, "direction" | "host" | "port" | "path">;

/** Returns the title of a picture, such as `pod shop/a to web:80`, or `10.1.9.9 to port 80 of pod shop/a`. */
export function titleOf(pod: string, asked: Asked): string {
  const name = pod === "" ? "the pod" : `pod ${pod}`;
  return asked.direction === "inbound"
    ? `${asked.host} to port ${asked.port} of ${name}`
    : `${name} to ${destination(asked)}`;
}

/** Returns the start of a short answer, such as `shop/a -> web:80`, or `10.1.9.9 -> shop/a:80`. */
export function arrowOf(pod: string, asked: Asked): string {
  const name = pod === "" ? "-" : pod;
  return asked.direction === "inbound" ? `${asked.host} -> ${name}:${asked.port}` : `${name} -> ${destination(asked)}`;
}

function destination({ host, port, path }: Asked): string {
  return `${joinHostPort(host, port)}${path === "/" ? "" : path}`;
}
