/**
 * The body of an error answer, as values: JSON, also cut off, on lines or within events, and what an answer that is no JSON says.
 */
import { isObject } from "../../json/values.ts";
import { SseReader } from "../sse.ts";
import { isErrorObject } from "./bare-error.ts";
import { cutJson, jsonOf } from "./literal.ts";

/** Characters of a page's title. */
const TITLE_LIMIT = 200;
/** Bytes of what is no JSON as a whole that are looked at. */
const TEXT_LIMIT = 64 * 1024;
/** Events or lines that are looked at. */
const MAX_PIECES = 20;

/**
 * @returns values for `saidBy`, the most telling first; none where the body says nothing that a client can use: pages but for their
 * title, and what is no text
 */
export function bodyValues(body: Buffer): readonly unknown[] {
  const text = textOf(body);
  const whole = jsonOf(text);
  if (whole !== undefined) return [whole];
  const looked = text.slice(0, TEXT_LIMIT);
  if (looked.startsWith("<")) return [markupValue(looked)];
  if (EVENTS.test(looked)) return eventValues(looked);
  return linesOf(looked) ?? [valueOfText(looked)];
}

/** UTF-8, or UTF-16 by its mark, or by the zeros that its JSON begins with; zeros elsewhere are filling. */
function textOf(body: Buffer): string {
  const head = body.toString("latin1", 0, 4);
  const isBig = /^(?:\xFE\xFF|(?:\0[^\0]){2})/.test(head);
  const isLittle = /^(?:\xFF\xFE|(?:[^\0]\0){2})/.test(head);
  if (!isBig && !isLittle) return plain(body.toString());
  const even = Buffer.from(body.subarray(0, body.length - (body.length % 2)));
  return plain((isBig ? even.swap16() : even).toString("utf16le"));
}

const plain = (text: string): string =>
  (text.includes("\0") ? text.replaceAll("\0", "") : text).replace(/^\uFEFF/, "").trim();

/** JSON that was cut off, or the text itself; undefined where it is no text. */
export function valueOfText(text: string): unknown {
  const cut = text.startsWith("{") || text.startsWith("[") ? cutJson(text) : undefined;
  return cut ?? (isText(text) ? text : undefined);
}

/** AWS's XML has a code and a message. A page is not ours to show; its title is the reason that a proxy gives. */
function markupValue(text: string): unknown {
  const element = (tag: RegExp, limit: number): string | undefined => {
    const open = tag.exec(text);
    const start = open === null ? 0 : open.index + open[0].length;
    const end = open === null ? -1 : text.indexOf("<", start);
    return end < 0 ? undefined : text.slice(start, end).trim().slice(0, limit);
  };
  const message = element(/<Message>/, TITLE_LIMIT * 10);
  if (message !== undefined) return { code: element(/<Code>/, TITLE_LIMIT), message };
  return element(/<title(?:\s[^>]{0,200})?>/i, TITLE_LIMIT);
}

/** Bytes that are no text, such as compressed ones, have control characters, or are no UTF-8. */
const isText = (text: string): boolean => !/[^\t\n\r -~\u00A0-\uFFFC]/.test(text.slice(0, 2000));

/** Fields that event streams begin with, and llama.cpp's own (ggml-org/llama.cpp#16109). */
const EVENTS = /^(?:data:|event:|id:|retry:|error:[ \t]{0,4}\{|:)/;

/** The data of each event: before an error there may be pings, and the beginning of an answer. */
function eventValues(text: string): readonly unknown[] {
  const values: unknown[] = [];
  const named: unknown[] = [];
  const reader = new SseReader(TEXT_LIMIT);
  const take = (data: string, name: string) => {
    if (values.length + named.length >= MAX_PIECES || data === "[DONE]") return;
    const value = jsonOf(data) ?? valueOfText(data);
    if (name === "error") named.push(value);
    else values.push(value);
  };
  reader.push(text, take);
  reader.end({ onEvent: take });
  return [...named, ...errorsFirst(values)];
}

/** Objects on lines of their own (Ollama's streams), also with the end of a stream behind them; undefined where the text is another one. */
function linesOf(text: string): readonly unknown[] | undefined {
  if (!text.startsWith("{")) return undefined;
  const lines = text
    .split("\n", MAX_PIECES)
    .filter((line) => line.trim() !== "" && !line.startsWith("data:"));
  const values = lines.map(jsonOf);
  return values.every(isObject) ? errorsFirst(values) : undefined;
}

const errorsFirst = (values: readonly unknown[]): readonly unknown[] => [
  ...values.filter(isErrorObject),
  ...values.filter((value) => !isErrorObject(value)),
];
