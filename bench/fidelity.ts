/**
 * Checks whether an answer arrived complete: its text, and for streams the number of events with text. Gateways may
 * change ids, model names and spacing and may add events without content, so only content is compared.
 */
import { type BenchFormat, FORMATS, type FormatName } from "./formats.ts";

export interface Content {
  readonly text: string;
  /** Events with content in a stream; 0 for a JSON answer. */
  readonly events: number;
}

/**
 * The content of an answer: JSON, or the `data:` events of a stream.
 * @throws Error when it is neither, or when the stream has no end.
 */
export function readContent(body: string, stream: boolean, name: FormatName): Content {
  const format = FORMATS[name];
  return stream ? readStream(body, format) : { text: format.textOf(JSON.parse(body)), events: 0 };
}

/** True when `body` contains exactly the expected content. Fast where the upstream's formatting was kept. */
export function isIntact(body: string, expected: Content, name: FormatName): boolean {
  if (expected.events === 0 && body.includes(JSON.stringify(expected.text))) return true;
  try {
    const seen = readContent(body, expected.events > 0, name);
    return seen.events === expected.events && seen.text === expected.text;
  } catch {
    return false;
  }
}

function readStream(body: string, format: BenchFormat): Content {
  let text = "";
  let events = 0;
  let done = false;
  let at = 0;
  while (at < body.length) {
    const end = body.indexOf("\n", at);
    const line = body.slice(at, end === -1 ? body.length : end);
    at = end === -1 ? body.length : end + 1;
    if (!line.startsWith("data:")) continue;
    const piece = deltaText(line, format);
    if (piece === "") {
      done ||= line.includes(format.end);
      continue;
    }
    text += piece;
    events += 1;
  }
  if (!done) throw new Error(`the stream has no ${format.end}`);
  return { text, events };
}

/** The text of one event's delta: taken from the line by position where that is safe, else parsed. */
function deltaText(line: string, { deltaKey, deltaOf }: BenchFormat): string {
  const from = line.indexOf(deltaKey);
  if (from !== -1) {
    const start = from + deltaKey.length;
    const end = line.indexOf('"', start);
    const text = line.slice(start, end);
    if (end !== -1 && !text.includes("\\")) return text;
  } else if (!line.includes(deltaKey.slice(0, -2))) {
    return "";
  }
  return deltaOf(JSON.parse(line.slice(5)));
}
