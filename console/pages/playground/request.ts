/** The request of the playground in the native format, and the way back from a recorded one. Pure. */
import { type Fields, isFields, type Message, type Part, proseOf, textPart } from "./message.ts";
import { readSettings, type Settings, typedSettings } from "./settings.ts";

/** A body of `POST /v1/svc/generate`, without `stream`. */
export interface Body {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly [member: string]: unknown;
}

export function bodyOf(model: string, settings: Settings, messages: readonly Message[]): Body {
  const { system } = settings;
  const first: readonly Message[] =
    system.trim() === "" ? [] : [{ role: "system", content: [textPart(system)] }];
  return { model, messages: [...first, ...messages], ...readSettings(settings).members };
}

/** A picture of one pixel: a dry run counts pictures, and does not look at them. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==";

/** The body with small pictures in the place of large ones, for questions that would send them again and again. */
export const withoutPictures = (body: Body): Body => ({
  ...body,
  messages: body.messages.map((message) => ({
    ...message,
    content: message.content.map((part) =>
      part.type === "image" && typeof part.data === "string"
        ? { ...part, data: PIXEL, media_type: "image/png" }
        : part,
    ),
  })),
});

export interface Loaded {
  readonly model: string;
  readonly settings: Settings;
  readonly messages: readonly Message[];
}

/** What a recorded request asks, to be asked again. Undefined where it is no generation. */
export function loadedFrom(request: unknown): Loaded | undefined {
  if (!isFields(request) || !Array.isArray(request.messages)) return undefined;
  const messages = request.messages.filter(isFields).map(messageOf);
  const [first] = messages;
  const isPlain = first?.role === "system" && first.content.every(({ type }) => type === "text");
  const system = first !== undefined && isPlain ? proseOf(first) : "";
  return {
    model: typeof request.model === "string" ? request.model : "",
    settings: typedSettings(request, system),
    messages: isPlain ? messages.slice(1) : messages,
  };
}

function messageOf({ role, content }: Fields): Message {
  const known = role === "system" || role === "assistant" ? role : "user";
  if (typeof content === "string") return { role: known, content: [textPart(content)] };
  const parts = Array.isArray(content) ? content.filter(isPart) : [];
  return { role: known, content: parts };
}

const isPart = (value: unknown): value is Part => isFields(value) && typeof value.type === "string";
