/**
 * The search of the reference, which needs no script: a page of the routes and events that have all words of a question, in their names,
 * summaries, fields or errors.
 */
import type { OpenApiDocument, OperationItem, Schema } from "../openapi/openapi-types.ts";
import { TAGS } from "../openapi/tags.ts";
import { entriesOf, slugOf } from "./entries.ts";
import { AFTER, before, MOST_CHARACTERS } from "./frame.ts";
import { badge, breakable, escaped, inline } from "./markup.ts";
import { TASKS } from "./tasks.ts";

interface Line {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  /**
   * Where words are looked for, in lower case, each place with what a word counts there: name, path, what readers want of it in their
   * words, summary, and names of fields with errors and their meaning.
   */
  readonly places: readonly (readonly [text: string, weight: number])[];
}

/** As JSON, which is kept compressed between two searches. */
export function* indexPieces(document: OpenApiDocument): Generator<string> {
  const { title, version } = document.info;
  yield `{"title":${JSON.stringify(title)},"version":${JSON.stringify(version)},"lines":[`;
  let comma = "";
  for (const { name } of TAGS) {
    for (const { method, path, item } of entriesOf(document, name)) {
      const { operationId: id, summary } = item;
      const wants = TASKS.flatMap(({ tasks }) => tasks)
        .filter(({ by }) => by.includes(id))
        .map(({ want }) => want)
        .join(" ");
      const places = [
        [`${id} ${name}`, WEIGHTS.name],
        [path, WEIGHTS.path],
        [wants, WEIGHTS.wants],
        [summary, WEIGHTS.summary],
        [moreOf(item), WEIGHTS.more],
      ] as const;
      const line: Line = {
        id,
        method,
        path,
        group: name,
        summary,
        places: places.map(([text, weight]) => [text.toLowerCase(), weight]),
      };
      yield comma + JSON.stringify(line);
      comma = ",";
    }
  }
  yield "]}";
}

function moreOf({ parameters = [], requestBody, responses }: OperationItem): string {
  const words = new Set<string>(parameters.map(({ name }) => name));
  const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
  for (const content of contents) {
    for (const { schema } of Object.values(content ?? {})) addNames(schema, words);
  }
  const errors = Object.entries(responses)
    .filter(([status]) => status >= "400")
    .map(([status, { description }]) => `${status} ${description}`);
  return [...words, ...errors].join(" ");
}

/** Deeper fields are named by the page. */
const MAX_DEPTH = 6;

function addNames(schema: Schema | boolean | undefined, words: Set<string>, depth = 0): void {
  if (typeof schema !== "object" || depth > MAX_DEPTH) return;
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    words.add(name);
    addNames(value, words, depth + 1);
  }
  for (const value of schema.enum ?? []) words.add(String(value));
  const inside = [
    schema.items,
    schema.additionalProperties,
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ];
  for (const one of inside.flat()) addNames(one as Schema | boolean | undefined, words, depth + 1);
}

/** As many as are shown. */
const MOST = 50;

/** Words beyond these are not looked for. */
const MOST_WORDS = 8;

/** How much each place of a word counts. */
const WEIGHTS = { name: 8, path: 6, wants: 4, summary: 3, more: 1 } as const;

/** Lines that have all words, those first that have them in names. */
export function found(lines: readonly Line[], query: string): readonly Line[] {
  const words = query
    .toLowerCase()
    .split(/[\s/]+/)
    .filter(Boolean)
    .slice(0, MOST_WORDS);
  if (words.length === 0) return [];
  return lines
    .map((line) => ({ line, weight: weightOf(line, words) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST)
    .map(({ line }) => line);
}

/** 0 where a word is missing. */
function weightOf({ places }: Line, words: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    let best = 0;
    for (const [text, weight] of places) if (weight > best && text.includes(word)) best = weight;
    if (best === 0) return 0;
    sum += best;
  }
  return sum;
}

/** @param index text of `indexPieces` @param asked the question, as it came */
export function searchPage(index: string, asked: string): string {
  const query = asked.slice(0, MOST_CHARACTERS).trim();
  const { title, version, lines } = JSON.parse(index) as {
    readonly title: string;
    readonly version: string;
    readonly lines: readonly Line[];
  };
  const results = found(lines, query);
  const items = results.map(
    ({ id, method, path, group, summary }) =>
      `<li><a href="../docs/${slugOf(group)}#${escaped(id)}">${badge(method)} <code>${breakable(path)}</code></a> ${inline(summary)} <small>${escaped(group)}</small></li>`,
  );
  return `${before({ title, version, up: "../", query })}<header><h1>${query === "" ? "Search" : `“${escaped(query)}”`}</h1>
<p>${saying(query, results.length)}</p></header>
<ul class="all">${items.join("\n")}</ul>
${AFTER}`;
}

function saying(query: string, count: number): string {
  if (query === "") return "Type a word: a route, a field, an error, or what you want to do.";
  if (count === 0)
    return 'Nothing has all these words. Try fewer, or look at <a href="../docs#tasks">the tasks</a>.';
  if (count === MOST) return `The first ${MOST} that have all these words. Add one to find fewer.`;
  return count === 1 ? "One entry has all these words." : `${count} entries have all these words.`;
}
