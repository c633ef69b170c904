/**
 * Reads the mails that this room wrote, for the pages at `/dev/mail`: headers (RFC 5322, RFC 2047) and the two texts of a
 * `multipart/alternative` (RFC 2046). It shows what it can of other mails. Linear in the length, whatever it is given.
 */

interface ReadMail {
  readonly subject: string;
  readonly to: string;
  readonly date: string;
  readonly messageId: string;
  readonly text: string;
  readonly html: string;
}

export function readEml(bytes: Buffer): ReadMail {
  const { headers, body } = entityOf(bytes.toString("latin1"));
  const header = (name: string) => decodedWords(headers.get(name) ?? "");
  const parts = partsOf(headers.get("content-type") ?? "", body);
  const textOf = (type: string): string => {
    const part = parts.find(({ headers }) => headers.get("content-type")?.toLowerCase().startsWith(type));
    return part === undefined ? "" : decodedBody(part).replaceAll("\r\n", "\n");
  };
  return {
    subject: header("subject"),
    to: header("to"),
    date: header("date"),
    messageId: header("message-id"),
    text: textOf("text/plain"),
    html: textOf("text/html"),
  };
}

interface Entity {
  /** By name in lower case, of repeated ones the last. */
  readonly headers: ReadonlyMap<string, string>;
  /** One character a byte. */
  readonly body: string;
}

function entityOf(text: string): Entity {
  const end = text.indexOf("\r\n\r\n");
  const head = end < 0 ? text : text.slice(0, end);
  const lines = head.replace(/\r\n[ \t]/g, " ").split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, Math.max(0, colon)).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { headers: new Map(headers), body: end < 0 ? "" : text.slice(end + 4) };
}

function partsOf(type: string, body: string): Entity[] {
  const boundary = /boundary="([^"]{1,70})"/.exec(type)?.[1];
  if (boundary === undefined) return [];
  return partsWithin(boundary, body).flatMap((part) => {
    const within = part.headers.get("content-type") ?? "";
    // The texts of a mail with files are a part of their own.
    const inner = /^multipart\/alternative/i.test(within) && /boundary="([^"]{1,70})"/.exec(within)?.[1];
    return inner ? partsWithin(inner, part.body) : [part];
  });
}

const partsWithin = (boundary: string, body: string): Entity[] =>
  `\r\n${body}`
    .split(`\r\n--${boundary}`)
    .slice(1)
    .filter((part) => part.startsWith("\r\n"))
    .map((part) => entityOf(part.slice(2)));

function decodedBody({ headers, body }: Entity): string {
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase();
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  if (encoding === "quoted-printable") return unquoted(body.replaceAll("=\r\n", ""));
  return Buffer.from(body, "latin1").toString("utf8");
}

const unquoted = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  ).toString("utf8");

/** Encoded words in UTF-8; white space between two of them does not count (RFC 2047, section 6.2). */
const decodedWords = (text: string): string =>
  text
    .replace(/\?= +=\?/g, "?==?")
    .replace(/=\?utf-8\?([qb])\?([^? ]*)\?=/gi, (_, encoding: string, word: string) =>
      encoding.toLowerCase() === "b"
        ? Buffer.from(word, "base64").toString("utf8")
        : unquoted(word.replaceAll("_", " ")),
    );
