/** Messages of the native format as the playground keeps them. What it does not know of a part stays as it came. Pure. */

export interface Part {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: readonly Part[];
}

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const textPart = (text: string): Part => ({ type: "text", text });

/** The texts of a message, which can be edited; its other parts cannot. */
export const proseOf = ({ content }: Message): string =>
  content
    .filter(({ type }) => type === "text")
    .map(({ text }) => textOf(text))
    .join("\n\n");

/** The message with another text: it stands where the first text stood, or behind the other parts. */
export function withProse(message: Message, text: string): Message {
  const at = message.content.findIndex(({ type }) => type === "text");
  const others = message.content.filter(({ type }, place) => type !== "text" || place === at);
  if (at < 0) return { ...message, content: text === "" ? others : [...others, textPart(text)] };
  const content = others.flatMap((part) => {
    if (part.type !== "text") return [part];
    return text === "" ? [] : [textPart(text)];
  });
  return { ...message, content };
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** Calls of tools in the last message, which wait for their results. */
export function openCalls(messages: readonly Message[]): readonly ToolCall[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return [];
  return last.content
    .filter(({ type }) => type === "tool_call")
    .map((part) => ({
      id: textOf(part.id),
      name: textOf(part.name),
      arguments: textOf(part.arguments),
    }));
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

/** The message that answers calls of tools, in their order. */
export const resultsMessage = (calls: readonly ToolCall[], results: readonly ToolResult[]): Message => ({
  role: "user",
  content: calls.map(({ id, name }, at) => ({
    type: "tool_result",
    id,
    name,
    content: results[at]?.text ?? "",
    ...(results[at]?.isError === true && { is_error: true }),
  })),
});
