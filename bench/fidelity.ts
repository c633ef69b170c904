/**
 * Checks whether an answer arrived complete: its text, and for streams the number of events with text. Gateways may
 * change ids, model names and spacing and may add events without content, so only content is compared.
 */

export interface Content {
  readonly text: string;
  /** Events with content in a stream; 0 for a JSON answer. */
  readonly events: number;
}

/**
 * The content of a chat-completions answer: JSON, or the `data:` events of a stream.
 * @throws Error when it is neither.
 */
export function readContent(body: string, stream: boolean): Content {
  return stream ? readStream(body) : { text: contentOf(JSON.parse(body), "message"), events: 0 };
}

/** True when `body` contains exactly the expected content. Fast where the upstream's formatting was kept. */
export function isIntact(body: string, expected: Content): boolean {
  if (expected.events === 0 && body.includes(JSON.stringify(expected.text))) return true;
  try {
    const seen = readContent(body, expected.events > 0);
    return seen.events === expected.events && seen.text === expected.text;
  } catch {
    return false;
  }
}

const KEY = '"content":"';

function readStream(body: string): Content {
  let text = "";
  let events = 0;
  let done = false;
  let at = 0;
  while (at < body.length) {
    const end = body.indexOf("\n", at);
    const line = body.slice(at, end === -1 ? body.length : end);
    at = end === -1 ? body.length : end + 1;
    if (!line.startsWith("data:")) continue;
    if (line.startsWith("data: [DONE]")) {
      done = true;
      continue;
    }
    const piece = deltaText(line);
    if (piece === "") continue;
    text += piece;
    events += 1;
  }
  if (!done) throw new Error("the stream has no [DONE]");
  return { text, events };
}

/** The text of one event's delta: taken from the line by position where that is safe, else parsed. */
function deltaText(line: string): string {
  const from = line.indexOf(KEY);
  if (from !== -1) {
    const start = from + KEY.length;
    const end = line.indexOf('"', start);
    const text = line.slice(start, end);
    if (end !== -1 && !text.includes("\\")) return text;
  } else if (!line.includes('"content"')) {
    return "";
  }
  return contentOf(JSON.parse(line.slice(5)), "delta");
}

function contentOf(answer: unknown, part: "message" | "delta"): string {
  const choices = field(answer, "choices");
  if (!Array.isArray(choices)) throw new Error("the answer has no choices");
  const content = field(field(choices[0], part), "content");
  return typeof content === "string" ? content : "";
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
