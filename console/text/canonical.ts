/**
 * A request in canonical form (that of `POST /v1/svc/generate`) as turns to read. Pure. What is in it comes from clients and models: nothing
 * is taken for granted, and what is not known is shown as JSON.
 */

export interface ShownPart {
  /** `text`, `reasoning`, `tool call`, `tool result`, `image`, … */
  readonly kind: string;
  readonly text: string;
  /** The name that a tool or a document has. */
  readonly name?: string;
  /** A picture that is in the request itself: a `data:` address of a kind that browsers draw. */
  readonly picture?: string;
  readonly isError?: boolean;
}

export interface Turn {
  readonly role: string;
  readonly parts: readonly ShownPart[];
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The turns of a conversation; of an embedding its inputs, of a ranking its query and documents. */
export function turnsOf(request: unknown): readonly Turn[] {
  if (!isFields(request)) return [];
  const messages = listOf(request.messages).filter(isFields);
  if (messages.length > 0)
    return messages.map(({ role, content }) => ({
      role: textOf(role) || "message",
      parts: partsOf(content),
    }));
  return [
    ...one("query", request.query),
    ...listOf(request.input).flatMap((each) => one("input", each)),
    ...listOf(request.documents).flatMap((each) => one("input", each)),
  ];
}

const one = (role: string, value: unknown): Turn[] =>
  value === undefined ? [] : [{ role, parts: partsOf(value) }];

/** A text, or a list of parts. */
export function partsOf(content: unknown): readonly ShownPart[] {
  if (typeof content === "string") return [{ kind: "text", text: content }];
  if (isFields(content)) return [partOf(content)];
  return listOf(content).map((part) =>
    isFields(part) ? partOf(part) : { kind: "text", text: String(part) },
  );
}

function partOf(part: Fields): ShownPart {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return { kind: part.type, text: textOf(part.text) };
    case "tool_call":
      return { kind: "tool call", name: textOf(part.name), text: indented(textOf(part.arguments)) };
    case "tool_result":
      return {
        kind: "tool result",
        name: textOf(part.name) || textOf(part.id),
        text: partsOf(part.content)
          .map(({ text }) => text)
          .join("\n"),
        ...(part.is_error === true && { isError: true }),
      };
    case "image":
      return { kind: "image", text: textOf(part.url) || textOf(part.file_id), ...pictureOf(part) };
    case "document":
    case "audio":
    case "video":
      return {
        kind: part.type,
        name: textOf(part.name),
        text: textOf(part.text) || textOf(part.url) || textOf(part.file_id) || sizeOf(part),
      };
    default:
      return { kind: textOf(part.type) || "part", text: JSON.stringify(part, null, 2) };
  }
}

/** Kinds that a browser draws and that hold no script. */
const DRAWN = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/=]+$/;

function pictureOf({ data, media_type: type }: Fields): Pick<ShownPart, "picture"> {
  const bytes = textOf(data);
  const isDrawn = DRAWN.test(textOf(type)) && BASE64.test(bytes);
  return isDrawn ? { picture: `data:${textOf(type)};base64,${bytes}` } : {};
}

const sizeOf = ({ data, media_type: type }: Fields): string =>
  textOf(data) === "" ? "" : `${textOf(type)}, ${Math.round((textOf(data).length * 3) / 4)} bytes`;

/** JSON with its members on lines of their own; other text as it is. */
export function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A piece of a text: one that was redacted has the name of what it was. */
export interface Piece {
  readonly text: string;
  readonly redacted?: string;
}

/** Where a text was redacted: `[REDACTED:card]`. */
export function pieces(text: string): readonly Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(/\[REDACTED:([\w.-]{1,64})\]/g)) {
    if (match.index > from) found.push({ text: text.slice(from, match.index) });
    found.push({ text: match[0], redacted: match[1] as string });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}
