/**
 * What the data of an event mean that are no JSON. Some servers end their events by one line feed, so that several are read as one
 * (rexxars/eventsource-parser#31), and some name the field `data` twice (openclaw/openclaw#96497).
 */

/** More lines than a stream has events that no blank line ends. */
const MAX_LINES = 20_000;
/** One that an error cut off, and what a proxy may have put before the first. */
const MAX_DAMAGED = 4;

const FIELD = "data:";

/**
 * The data that were meant, each of which is shorter than these; none where nothing is known of them.
 * @param data latin1, of one event
 */
export function meantBy(data: string): readonly string[] {
  if (!data.includes("\n")) return data.startsWith(FIELD) ? withoutField(data) : [];
  const lines = data.split("\n", MAX_LINES + 1);
  const damaged = lines.filter((line) => !isAlone(line));
  // JSON on several lines that is damaged is no list of events.
  return lines.length > MAX_LINES || damaged.length > MAX_DAMAGED || damaged.length === lines.length
    ? []
    : lines;
}

/** Whether a line may be the data of an event by itself. */
const isAlone = (line: string): boolean =>
  (line.startsWith("{") && line.endsWith("}")) || line === "[DONE]" || line.startsWith(FIELD);

/** Nothing where the field is named more than twice: no server does that. */
function withoutField(data: string): readonly string[] {
  const value = data.slice(data.startsWith(" ", FIELD.length) ? FIELD.length + 1 : FIELD.length);
  return value.startsWith(FIELD) ? [] : [value];
}
