/**
 * The usual shapes of named providers: a request with what only they take, and their answers to it, whole and streamed, as their
 * documentation and their SDKs show them. Names and structure are the providers'; the contents are ours.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Member, skim } from "../../../src/wire/json/json.ts";

const FOLDER = join(import.meta.dirname, "../../fixtures/providers");

export interface Shape {
  readonly name: string;
  readonly path: string;
  readonly dialect: "chat" | "messages" | "responses";
  /** The client's body but for model, stream and svc: an object's JSON text. */
  readonly request: string;
  readonly reply: string;
  /** An event stream. */
  readonly stream: string;
  /** Units of the cost's lines by their kind. */
  readonly metered: Readonly<Record<string, number>>;
}

const DIALECTS: Readonly<Record<string, Pick<Shape, "dialect" | "path">>> = {
  anthropic: { dialect: "messages", path: "/v1/messages" },
  "openai-responses": { dialect: "responses", path: "/v1/responses" },
};

export const SHAPES: readonly Shape[] = readdirSync(FOLDER)
  .sort()
  .map((file) => shapeOf(file.replace(".txt", ""), readFileSync(join(FOLDER, file), "utf8")));

function shapeOf(name: string, text: string): Shape {
  const [, ...pieces] = text.split(/^=== (\w+)\n/m);
  const sections = new Map<string, string>();
  for (let i = 0; i < pieces.length; i += 2) sections.set(pieces[i] as string, pieces[i + 1] as string);
  const section = (key: string): string => {
    const found = sections.get(key);
    if (found === undefined) throw new Error(`${name} has no section ${key}`);
    return found;
  };
  return {
    name,
    ...(DIALECTS[name] ?? { dialect: "chat", path: "/v1/chat/completions" }),
    request: section("request").trim(),
    reply: section("reply"),
    stream: section("stream"),
    metered: JSON.parse(section("metered")),
  };
}

export interface SseEvent {
  readonly name: string;
  readonly data: string;
}

/** The events of a stream; comments are none. */
export const eventsOf = (stream: string): SseEvent[] =>
  stream
    .split(/\n\n+/)
    .map((block) => block.split("\n"))
    .map((lines) => ({
      name: lines.find((line) => line.startsWith("event: "))?.slice(7) ?? "",
      data: lines.find((line) => line.startsWith("data: "))?.slice(6) ?? "",
    }))
    .filter(({ data }) => data !== "");

/** The members of an object's text, each as it is written, in their order, but for those of these names. */
export function membersBut(text: string, ...names: string[]): string[] {
  const latin1 = Buffer.from(text).toString("latin1");
  const rest = skim(latin1.trim()).members.filter(({ key }) => !names.includes(key));
  return rest.map((member) => written(latin1.trim(), member));
}

/** The text of a member's value; undefined where there is none. */
export function valueAt(text: string, key: string): string | undefined {
  const latin1 = Buffer.from(text).toString("latin1").trim();
  const member = skim(latin1).members.find((one) => one.key === key);
  return member && Buffer.from(latin1.slice(member.valueStart, member.valueEnd), "latin1").toString();
}

const written = (latin1: string, { start, valueEnd }: Member): string =>
  Buffer.from(latin1.slice(start, valueEnd), "latin1").toString();

export interface CostLine {
  readonly kind: string;
  readonly units: number;
}

/** What a cost counts of each kind: a kind may stand in several lines, such as writes to caches of two ages. */
export function unitsOf(lines: readonly CostLine[]): Record<string, number> {
  const units: Record<string, number> = {};
  for (const line of lines) units[line.kind] = (units[line.kind] ?? 0) + line.units;
  return units;
}
